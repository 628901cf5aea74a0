use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use league_protocol::id::GameType;
use league_protocol::table::LimitKind;
use league_wire::agent::Agent;
use league_wire::endpoint::Endpoint;
use league_wire::lan;
use league_wire::server::serve;
use league_wire::settings::ServerSettings;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};

use crate::set::RuleSet;

#[derive(Clone, Debug)]
pub struct CheckOptions {
    pub set: &'static RuleSet,
    pub game: GameType,
    /// The longest wait for an answer, whatever the protocol allows.
    pub max_wait: Duration,
    /// Where the checker listens when it acts as a manager. Its players take free ports at the same address.
    pub listen: SocketAddr,
    /// The URL at which a remote agent reaches that manager, if it differs from `listen`. The players are at the same
    /// host.
    pub advertise: Option<Endpoint>,
    /// Whether to send the end of the league. Some players exit then; a registering player must not.
    pub to_the_end: bool,
    /// How long to wait for a referee that registers itself.
    pub registration: Duration,
    /// The current call, for a progress display.
    pub progress: watch::Sender<&'static str>,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            set: RuleSet::newest(),
            game: GameType::even_odd(),
            max_wait: Duration::from_secs(30),
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            advertise: None,
            to_the_end: true,
            registration: Duration::from_secs(10),
            progress: watch::Sender::new(""),
        }
    }
}

impl CheckOptions {
    async fn reached_at(&self, address: SocketAddr, agent: &Endpoint) -> std::io::Result<Endpoint> {
        let endpoint = match &self.advertise {
            Some(advertised) if advertised.host().contains(':') => {
                format!("http://[{}]:{}/mcp", advertised.host(), address.port()).parse()
            }
            Some(advertised) => format!("http://{}:{}/mcp", advertised.host(), address.port()).parse(),
            None => lan::advertised(address, "http", agent).await,
        };
        endpoint.map_err(std::io::Error::other)
    }

    /// Serves until the sender is dropped. Returns the endpoint at which `agent` reaches the server.
    pub(crate) async fn serve(
        &self,
        server: impl Agent,
        port: u16,
        agent: &Endpoint,
    ) -> std::io::Result<(Endpoint, oneshot::Sender<()>)> {
        let listener = TcpListener::bind(SocketAddr::new(self.listen.ip(), port)).await?;
        let address = listener.local_addr()?;
        let (close, closed) = oneshot::channel::<()>();
        let (grace, allowed_hosts) = (Duration::ZERO, vec![String::from("*")]);
        let settings = ServerSettings { grace, allowed_hosts, ..ServerSettings::default() };
        tokio::spawn(serve(listener, Arc::new(server), settings, async { drop(closed.await) }));
        Ok((self.reached_at(address, agent).await?, close))
    }

    pub(crate) fn show_progress(&self, call: &'static str) {
        self.progress.send_replace(call);
    }

    pub(crate) fn wait(&self, limit: LimitKind) -> Duration {
        limit.default_span().min(self.max_wait)
    }
}
