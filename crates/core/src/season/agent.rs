use std::collections::VecDeque;
use std::str::FromStr;

use league_protocol::dialect::PeerDialect;
use league_protocol::draw::DrawCommitment;
use league_protocol::id::{GameType, PlayerId, RefereeId};
use league_protocol::message::registration::AgentMeta;
use league_protocol::quirk::Quirks;
use league_protocol::time::Timestamp;
use league_protocol::token::TokenDigest;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::identity::AgentIdentity;

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct AgentProfile {
    pub name: SmolStr,
    pub version: SmolStr,
    pub endpoint: String,
    pub games: Vec<GameType>,
    /// Whether this referee forwards passes to players, as our referees do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shows_passes: bool,
    /// Whether the agent takes several notices as one JSON-RPC batch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accepts_batches: bool,
    /// Whether this player signs its joins and moves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub signs_moves: bool,
    /// Whether this referee takes its matches from `next_match`, because the manager cannot call it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pulls: bool,
}

impl AgentProfile {
    /// The endpoint of a referee that pulls: where it called from, which no agent can call.
    pub fn pull_endpoint(host: impl std::fmt::Display) -> String {
        format!("{PULL}{host}")
    }

    /// The host of a referee that pulls.
    pub(super) fn pull_host(&self) -> Option<&str> {
        self.endpoint.strip_prefix(PULL).filter(|_| self.pulls)
    }
}

const PULL: &str = "pull://";

impl From<&AgentMeta> for AgentProfile {
    fn from(meta: &AgentMeta) -> Self {
        Self {
            name: SmolStr::new(meta.display_name.trim()),
            version: meta.version.clone(),
            endpoint: meta.contact_endpoint.trim().to_owned(),
            games: meta.game_types.clone(),
            shows_passes: meta.shows_passes(),
            accepts_batches: meta.accepts_batches,
            signs_moves: meta.signs_moves,
            pulls: meta.pulls,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoredCredential {
    pub digest: TokenDigest,
    pub expires: Timestamp,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentId {
    Player(PlayerId),
    Referee(RefereeId),
}

impl AgentId {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Player(id) => id.as_str(),
            Self::Referee(id) => id.as_str(),
        }
    }

    /// The agent that the token itself names, such as `tok-P01-…`.
    pub fn claimed_by(token: &str) -> Option<Self> {
        let (id, _) = token.strip_prefix("tok-")?.split_once('-')?;
        let player = PlayerId::from_str(id).ok().filter(|id| id.number().is_some()).map(Self::Player);
        let referee = || RefereeId::from_str(id).ok().filter(|id| id.number().is_some()).map(Self::Referee);
        player.or_else(referee)
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct RegisteredPlayer {
    pub id: PlayerId,
    /// The number of the event with which it registered: the order of registration.
    pub registered: u64,
    pub profile: AgentProfile,
    pub identity: AgentIdentity,
    pub grant: StoredCredential,
    /// Keys that it replaced during the attempt that it plays; the attempt may be signed with them.
    pub former_keys: Vec<TokenDigest>,
    /// Technical losses since it last played a match.
    pub forfeits_running: u32,
    pub dialect: PeerDialect,
    pub quirks: Quirks,
    /// Whether it has shown a valid token or pass in this league.
    pub shows_token: bool,
    /// Whether the operator withdrew it after the first round started.
    pub withdrawn: bool,
}

impl RegisteredPlayer {
    /// A player that has replaced this many keys during one match must end the match before it registers again.
    pub const MAX_FORMER_KEYS: usize = 8;
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PlayerCondition {
    Active,
    Suspended,
    Withdrawn,
}

impl PlayerCondition {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Suspended => "SUSPENDED",
            Self::Withdrawn => "WITHDRAWN",
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Withdrawn => "withdrawn",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RefereeCondition {
    Active,
    Lost,
    /// The operator found it at fault too often.
    Suspended,
    /// The operator took it out of the league, or it left by itself.
    Withdrawn,
}

impl RefereeCondition {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Lost => "LOST",
            Self::Suspended => "SUSPENDED",
            Self::Withdrawn => "WITHDRAWN",
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Lost => "lost",
            Self::Suspended => "suspended",
            Self::Withdrawn => "withdrawn",
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct RegisteredReferee {
    pub id: RefereeId,
    pub profile: AgentProfile,
    pub identity: AgentIdentity,
    pub grant: StoredCredential,
    pub capacity: u32,
    pub running: u32,
    /// The manager could not reach it and waits for it to register again.
    pub lost: bool,
    /// It pulls, and has ended without a match. The operator need not look for it.
    pub left: bool,
    /// The operator took it out of the league.
    pub withdrawn: bool,
    /// It let a match lie, so it gets one at a time until it has reported one.
    pub stalled: bool,
    /// How often the operator found it at fault.
    pub faults: u32,
    /// What it deposited and no attempt has used yet, the oldest first.
    pub commitments: VecDeque<DrawCommitment>,
    /// Whether it deposits commitments, so that it gets no match without one.
    pub deposits: bool,
    pub dialect: PeerDialect,
    pub quirks: Quirks,
}

impl RegisteredReferee {
    /// The operator's decisions that suspend a referee.
    pub const MAX_FAULTS: u32 = 3;

    pub fn condition(&self) -> RefereeCondition {
        match (self.withdrawn || self.left, self.faults >= Self::MAX_FAULTS, self.lost) {
            (true, _, _) => RefereeCondition::Withdrawn,
            (false, true, _) => RefereeCondition::Suspended,
            (false, false, true) => RefereeCondition::Lost,
            (false, false, false) => RefereeCondition::Active,
        }
    }

    pub fn is_absent(&self) -> bool {
        self.condition() != RefereeCondition::Active
    }

    /// Whether it will get no match: it is absent, or has nothing to do and no commitment left.
    pub fn is_unavailable(&self) -> bool {
        self.is_absent() || self.capacity == 0 || (self.needs_commitments() && self.running == 0)
    }

    /// Whether it gets no match before it deposits again.
    pub fn needs_commitments(&self) -> bool {
        self.deposits && self.commitments.is_empty()
    }

    pub fn free(&self) -> u32 {
        if self.is_absent() {
            return 0;
        }
        let capacity = if self.stalled { 1 } else { self.capacity };
        let committed =
            if self.deposits { u32::try_from(self.commitments.len()).unwrap_or(u32::MAX) } else { u32::MAX };
        capacity.saturating_sub(self.running).min(committed)
    }
}
