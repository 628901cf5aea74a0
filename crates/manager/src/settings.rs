//! The settings of a manager, beside the rules of its league.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use league_core::rules::seed::Seed;
use league_protocol::message::start_match::MatchMode;
use league_protocol::token::TokenDigest;
use league_store::home::Home;
use league_store::journal::Journal;
use league_store::log::HeldLease;
use league_wire::endpoint::Endpoint;
use league_wire::failed_secrets::FailedSecrets;
use smol_str::SmolStr;

use crate::rate_limits::RateSettings;

/// Resolves to an error that says why the player is not fit.
pub type Inspection = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

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

#[derive(Clone, Debug)]
pub struct ManagerSettings {
    pub expect_players: Option<u32>,
    pub expect_referees: Option<u32>,
    /// How long the manager waits for registrations if the expected numbers are not met.
    pub registration_window: Option<Duration>,
    /// The limit for the answer to a notice or an order.
    pub answer_limit: Duration,
    /// How long a registered agent may take to listen, before the first round.
    pub grace: Duration,
    /// The interval between two checks of referees that hold matches.
    pub referee_check_interval: Duration,
    /// A pause before each match, so that a fast league can be watched: the matches of a round begin one after the other.
    pub pace: Duration,
    pub seed: Option<Seed>,
    pub mode: MatchMode,
    /// Recognises the operator. Without it, only this machine may operate.
    pub operator: Option<TokenDigest>,
    /// Recognises the key of referees. Without it, no key is needed.
    pub referee_key: Option<TokenDigest>,
    pub player_key: Option<TokenDigest>,
    /// Keeps the digests of new keys for a successor.
    pub lease: Option<HeldLease>,
    /// No agent may register this address.
    pub here: Option<SocketAddr>,
    /// Agents on the manager's machine may register any of these.
    pub own_addresses: fn() -> Vec<IpAddr>,
    pub contact: Option<String>,
    /// Hosts that an agent may register although it calls from elsewhere.
    pub allowed_hosts: Vec<String>,
    pub home: Option<Home>,
    /// Shows a referee whether it writes into `home`. Without it the manager asks for no transcripts.
    pub home_mark: Option<SmolStr>,
    pub journal: Option<Journal>,
    pub inspector: Option<Inspector>,
    pub rates: RateSettings,
    /// Shared with the dashboard, so that wrong secrets count together.
    pub strikes: Arc<FailedSecrets>,
}

impl Default for ManagerSettings {
    fn default() -> Self {
        Self {
            expect_players: None,
            expect_referees: None,
            registration_window: Some(Duration::from_secs(60)),
            answer_limit: Duration::from_secs(10),
            grace: Duration::from_secs(5),
            referee_check_interval: Duration::from_secs(2),
            pace: Duration::ZERO,
            seed: None,
            mode: MatchMode::Flowing,
            operator: None,
            referee_key: None,
            player_key: None,
            lease: None,
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
