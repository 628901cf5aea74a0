//! What a manager is told when it starts, beside the rules of its league.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use league_core::rules::seed::Seed;
use league_protocol::message::start_match::MatchMode;
use league_protocol::token::{Credential, TokenDigest};
use league_store::home::Home;
use league_store::journal::Journal;
use league_wire::endpoint::Endpoint;
use league_wire::failed_secrets::FailedSecrets;
use smol_str::SmolStr;

use crate::rate_limits::RateSettings;

/// An inspection under way: nothing, or why the player is not fit.
pub type Inspection = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// Checks a player before it is registered. The manager only asks, and passes the answer on.
#[derive(Clone)]
pub struct Inspector(Arc<dyn Fn(Endpoint) -> Inspection + Send + Sync>);

impl Inspector {
    pub fn new(inspect: impl Fn(Endpoint) -> Inspection + Send + Sync + 'static) -> Self {
        Self(Arc::new(inspect))
    }

    pub fn inspect(&self, endpoint: Endpoint) -> Inspection {
        (self.0)(endpoint)
    }
}

impl fmt::Debug for Inspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inspector")
    }
}

/// What a manager is told when it starts.
#[derive(Clone, Debug)]
pub struct ManagerSettings {
    /// The league starts once so many players are there.
    pub expect_players: Option<u32>,
    pub expect_referees: Option<u32>,
    /// Without expectations, or when they are not met: how long registrations are waited for.
    pub registration_window: Option<Duration>,
    /// How long a notice or an order may take to be answered.
    pub patience: Duration,
    /// How long agents that have registered may take until they listen, before the first round.
    pub grace: Duration,
    /// How often referees that hold matches are looked after.
    pub watch: Duration,
    /// The seed of a repeatable league.
    pub seed: Option<Seed>,
    pub mode: MatchMode,
    /// What recognises the operator; without it, only this machine may operate.
    pub operator: Option<TokenDigest>,
    pub referee_key: Option<Credential>,
    pub player_key: Option<Credential>,
    /// Where the manager itself listens: no agent may name this address.
    pub here: Option<SocketAddr>,
    /// The addresses of the manager's machine: agents that are on it may name any of them.
    pub own_addresses: fn() -> Vec<IpAddr>,
    /// Where agents find the manager, for the register of agents.
    pub contact: Option<String>,
    /// Hosts that a registrant may name although it calls from elsewhere.
    pub allowed_hosts: Vec<String>,
    /// Where the files of its matches are, for the operator to look at.
    pub home: Option<Home>,
    /// The mark in that home, by which a referee sees whether it writes there too; without one no transcripts are asked for.
    pub home_mark: Option<SmolStr>,
    /// The league's log, where one is kept.
    pub journal: Option<Journal>,
    /// Checks players before they are registered; without it, every player is accepted.
    pub inspector: Option<Inspector>,
    pub rates: RateSettings,
    /// Secrets that were wrong, here and wherever else they are shown.
    pub strikes: Arc<FailedSecrets>,
}

impl Default for ManagerSettings {
    fn default() -> Self {
        Self {
            expect_players: None,
            expect_referees: None,
            registration_window: Some(Duration::from_secs(60)),
            patience: Duration::from_secs(10),
            grace: Duration::from_secs(5),
            watch: Duration::from_secs(2),
            seed: None,
            mode: MatchMode::Flowing,
            operator: None,
            referee_key: None,
            player_key: None,
            here: None,
            contact: None,
            own_addresses: Vec::new,
            allowed_hosts: Vec::new(),
            home: None,
            home_mark: None,
            journal: None,
            inspector: None,
            rates: RateSettings::default(),
            strikes: Arc::default(),
        }
    }
}
