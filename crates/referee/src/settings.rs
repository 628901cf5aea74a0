//! What a referee is told when it starts.

use std::num::NonZeroU32;
use std::time::Duration;

use league_protocol::id::{GameType, RefereeId};
use league_protocol::token::{Credential, TokenDigest};
use league_store::home::Home;
use league_store::journal::JournalWriter;
use league_wire::endpoint::Endpoint;
use smol_str::SmolStr;

/// What a referee is told when it starts.
#[derive(Clone, Debug)]
pub struct RefereeSettings {
    pub name: SmolStr,
    pub wish: Option<RefereeId>,
    pub manager: Endpoint,
    /// Where it listens itself, as it tells the manager.
    pub contact: Endpoint,
    /// How many matches it runs at a time.
    pub capacity: u32,
    pub games: Vec<GameType>,
    /// The league's join key, where one is needed.
    pub join_key: Option<Credential>,
    /// What recognises the operator; without it, only this machine may operate the referee.
    pub operator: Option<TokenDigest>,
    /// Who writes its log and where, if anywhere.
    pub journal: Option<(JournalWriter, Home)>,
    /// Where its match files are, if anywhere.
    pub home: Option<Home>,
    /// How long it waits for the manager's answer.
    pub patience: Duration,
    /// The pause after a manager could not be reached; it doubles up to [`RefereeSettings::MAX_PAUSE`].
    pub pause: Duration,
    /// After how many tries it gives up on a manager that is not there; it waits for ever where nothing is said.
    pub give_up_after: Option<NonZeroU32>,
}

impl RefereeSettings {
    /// A manager that is away is asked at least this often.
    pub const MAX_PAUSE: Duration = Duration::from_secs(5);
}
