//! `get_league`. Every answer fits into the maximum body; `next` names the following page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::query::{LeagueStatus, ScheduledRound};
use super::standings::StandingsRow;
use crate::dialect::PeerDialect;
use crate::id::{LeagueId, MatchId, PlayerId, RefereeId};
use crate::quirk::Quirks;

/// What can be looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeagueView {
    /// Where the league stands.
    Status,
    /// The table.
    Standings,
    /// The rounds with their matches, those that were played with their winners.
    Schedule,
    /// Who takes part, and where; for the operator.
    Agents,
    /// What the operator should look at: referees that may have cheated.
    Alerts,
    /// One match with everything that was said in it; for the operator.
    Match,
}

/// `get_league`: show me this.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GetLeague {
    /// The league; the only one there is when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// What to show.
    pub view: LeagueView,
    /// Which match, where one is looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_id: Option<MatchId>,
    /// Where to go on: the `next` of the page before.
    #[serde(default)]
    pub from: u64,
}

/// A page of what was asked for. Each fills the field that belongs to its view.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LeaguePage {
    /// Where the league stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<LeagueStatus>,
    /// Lines of the table, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub standings: Vec<StandingsRow>,
    /// Rounds in order. One that does not fit into a page goes on in the next one, with the rest of its matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<ScheduledRound>,
    /// Referees, then players.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentEntry>,
    /// Open alerts, by match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    pub alerts: Vec<AlertEntry>,
    /// A piece of the match's file, which is JSON when all of it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Where the next page begins; nothing when this was the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Evidence that a referee may have cheated.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AlertEntry {
    /// The match.
    pub match_id: MatchId,
    /// The attempt.
    pub attempt: u32,
    /// The referee of the attempt.
    pub referee_id: RefereeId,
    /// The player that the evidence is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// What happened.
    pub reason: SmolStr,
    /// Whether the match waits for the operator's decision.
    #[serde(default)]
    pub waits: bool,
}

/// A manager, referee or player, without its secrets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentEntry {
    /// Its id.
    pub id: SmolStr,
    /// `referee` or `player`.
    pub role: SmolStr,
    /// By name.
    pub name: SmolStr,
    /// The version that it said.
    pub version: SmolStr,
    /// Where it listens.
    pub endpoint: String,
    /// `ACTIVE`; a player may be `SUSPENDED` or `WITHDRAWN`, a referee `LOST`.
    pub state: SmolStr,
    /// How it is spoken to.
    #[serde(rename = "manner", default)]
    pub dialect: PeerDialect,
    /// What it does differently.
    #[serde(default)]
    pub quirks: Quirks,
}
