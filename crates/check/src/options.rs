//! How to check.

use std::net::SocketAddr;
use std::time::Duration;

use league_protocol::id::GameType;
use league_protocol::table::LimitKind;
use league_wire::endpoint::Endpoint;
use league_wire::lan;
use tokio::sync::watch;

use crate::set::RuleSet;

#[derive(Clone, Debug)]
pub struct CheckOptions {
    pub set: &'static RuleSet,
    /// The game in which the agent is checked.
    pub game: GameType,
    /// No answer is waited for longer, whatever the protocol allows.
    pub patience: Duration,
    /// Where the checker listens when it acts as a manager; the players that it plays take free ports at the same address.
    pub listen: SocketAddr,
    /// The URL under which a remote agent reaches that manager, where it is not the address itself. The players are then taken
    /// to be at the same host.
    pub advertise: Option<Endpoint>,
    /// Whether a player is told of the end of the league at last: some leave then, and one that is about to register must not.
    pub to_the_end: bool,
    /// How long a referee that registers by itself is waited for.
    pub registration: Duration,
    /// Told what the agent is being asked, so that a person who waits sees it.
    pub progress: watch::Sender<&'static str>,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            set: RuleSet::newest(),
            game: GameType::even_odd(),
            patience: Duration::from_secs(30),
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            advertise: None,
            to_the_end: true,
            registration: Duration::from_secs(10),
            progress: watch::Sender::new(""),
        }
    }
}

impl CheckOptions {
    /// Where `agent` reaches the checker, which listens at `address`.
    pub(crate) async fn reached_at(&self, address: SocketAddr, agent: &Endpoint) -> std::io::Result<Endpoint> {
        let endpoint = match &self.advertise {
            Some(advertised) if advertised.host().contains(':') => {
                format!("http://[{}]:{}/mcp", advertised.host(), address.port()).parse()
            }
            Some(advertised) => format!("http://{}:{}/mcp", advertised.host(), address.port()).parse(),
            None => lan::advertised(address, "http", agent).await,
        };
        endpoint.map_err(std::io::Error::other)
    }

    /// Says what the agent is asked now.
    pub(crate) fn tell(&self, what: &'static str) {
        self.progress.send_replace(what);
    }

    /// How long an answer under this limit is waited for.
    pub(crate) fn wait(&self, limit: LimitKind) -> Duration {
        limit.default_span().min(self.patience)
    }
}
