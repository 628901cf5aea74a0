//! What a referee gets at its start.

use std::num::NonZeroU32;
use std::time::Duration;

use league_protocol::id::{GameType, RefereeId};
use league_protocol::token::{Credential, TokenDigest};
use league_store::home::Home;
use league_store::journal::JournalWriter;
use league_wire::endpoint::Endpoint;
use smol_str::SmolStr;

#[derive(Clone, Debug)]
pub struct RefereeSettings {
    pub name: SmolStr,
    /// The id that the referee asks the manager for.
    pub requested_id: Option<RefereeId>,
    pub manager: Endpoint,
    /// The endpoint that the referee registers.
    pub contact: Endpoint,
    pub capacity: u32,
    /// Whether the referee asks the manager for its matches. The manager then never calls it.
    pub pulls: bool,
    pub games: Vec<GameType>,
    pub join_key: Option<Credential>,
    /// Without it only clients on this machine may operate the referee.
    pub operator: Option<TokenDigest>,
    pub journal: Option<(JournalWriter, Home)>,
    pub home: Option<Home>,
    /// The limit for an answer of the manager.
    pub answer_limit: Duration,
    /// The pause after a manager could not be reached; it doubles up to [`RefereeSettings::MAX_PAUSE`].
    pub pause: Duration,
    /// How many tries a referee makes to reach its manager; without a number it never gives up.
    pub give_up_after: Option<NonZeroU32>,
}

impl RefereeSettings {
    pub const MAX_PAUSE: Duration = Duration::from_secs(5);

    /// A referee of Even/Odd without a home or a log.
    pub fn new(name: impl Into<SmolStr>, manager: Endpoint, contact: Endpoint) -> Self {
        Self {
            name: name.into(),
            requested_id: None,
            manager,
            contact,
            capacity: 8,
            pulls: false,
            games: vec![GameType::even_odd()],
            join_key: None,
            operator: None,
            journal: None,
            home: None,
            answer_limit: Duration::from_secs(10),
            pause: Duration::from_millis(50),
            give_up_after: None,
        }
    }
}
