//! What a manager is told when it starts, beside the rules of its league.

use std::time::Duration;

use league_core::rules::seed::Seed;
use league_protocol::message::start_match::MatchMode;
use league_protocol::token::{Credential, TokenDigest};
use league_store::home::Home;

/// What a manager is told when it starts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The league starts once so many players are there.
    pub expect_players: Option<u32>,
    /// And so many referees.
    pub expect_referees: Option<u32>,
    /// Without expectations, or when they are not met: how long registrations are waited for.
    pub registration_window: Option<Duration>,
    /// How long a notice or an order may take to be answered.
    pub patience: Duration,
    /// How often referees that hold matches are looked after.
    pub watch: Duration,
    /// How many calls are under way at a time.
    pub concurrency: usize,
    /// The seed of a repeatable league.
    pub seed: Option<Seed>,
    /// Whether matches run by themselves.
    pub mode: MatchMode,
    /// What recognises the operator; without it, only this machine may operate.
    pub operator: Option<TokenDigest>,
    /// What referees must show.
    pub referee_key: Option<Credential>,
    /// What players must show.
    pub player_key: Option<Credential>,
    /// Hosts that a registrant may name although it calls from elsewhere.
    pub allowed_hosts: Vec<String>,
    /// Where the files of its matches are, for the operator to look at.
    pub home: Option<Home>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            expect_players: None,
            expect_referees: None,
            registration_window: Some(Duration::from_secs(60)),
            patience: Duration::from_secs(10),
            watch: Duration::from_secs(2),
            concurrency: 64,
            seed: None,
            mode: MatchMode::Flowing,
            operator: None,
            referee_key: None,
            player_key: None,
            allowed_hosts: Vec::new(),
            home: None,
        }
    }
}
