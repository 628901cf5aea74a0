//! The agents of this workspace, in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use league_core::season::Season;
use league_core::season::config::LeagueConfig;
use league_manager::{LeagueHandle, Manager};
use league_player::player::{Player, PlayerSettings};
use league_player::strategy::registry::strategy;
use league_player::strategy_runner::StrategyRunner;
use league_referee::{Referee, RefereeSettings};
use league_store::log::memory::SyncMode;
use league_store::log::{EventLog, LogHead, MemoryDisk};
use league_wire::agent::Agent;
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use league_wire::server::serve;
use league_wire::settings::ServerSettings;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Stops when dropped.
pub(crate) struct Served {
    pub(crate) endpoint: Endpoint,
    _close: oneshot::Sender<()>,
}

pub(crate) async fn listen() -> (TcpListener, Endpoint) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}/mcp", listener.local_addr().unwrap()).parse().unwrap();
    (listener, endpoint)
}

pub(crate) fn start_agent<A: Agent>((listener, endpoint): (TcpListener, Endpoint), agent: A) -> Served {
    let (close, closed) = oneshot::channel::<()>();
    tokio::spawn(serve(listener, Arc::new(agent), ServerSettings::default(), async { drop(closed.await) }));
    Served { endpoint, _close: close }
}

/// A port below the ephemeral range, so that no connection takes it meanwhile.
pub(crate) fn free_port() -> u16 {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id() * 50 + TRIED.fetch_add(1, Ordering::Relaxed);
        let port = u16::try_from(10_000 + number % 22_000).unwrap();
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

pub(crate) fn player(contact: &Endpoint, manager: Endpoint) -> Player {
    let settings = PlayerSettings {
        answer_limit: Duration::from_secs(5),
        pause: Duration::from_millis(20),
        ..PlayerSettings::new("Alpha", manager, contact.clone())
    };
    Player::new(settings, StrategyRunner::new(strategy("random").unwrap()), Client::default(), Environment::real())
}

/// Registers as soon as a manager listens at `port`.
pub(crate) async fn referee(port: u16) -> Served {
    let address = listen().await;
    let manager = format!("http://127.0.0.1:{port}/mcp").parse().unwrap();
    let settings = RefereeSettings {
        capacity: 4,
        answer_limit: Duration::from_secs(5),
        pause: Duration::from_millis(20),
        ..RefereeSettings::new("Referee", manager, address.1.clone())
    };
    let referee = Referee::new(settings, Client::default(), None, Environment::real());
    let registering = referee.clone();
    tokio::spawn(async move { registering.register().await });
    start_agent(address, referee)
}

pub(crate) async fn manager(settings: league_manager::ManagerSettings) -> Manager {
    let log = MemoryDisk::new(SyncMode::AtOnce).open();
    let (environment, rules) = (Environment::real(), LeagueConfig::even_odd("league".parse().unwrap()));
    let (season, opened) = Season::open(rules.clone(), environment.now());
    let head = log.append(LogHead::GENESIS, vec![opened]).await.unwrap();
    let (league_handle, work) = LeagueHandle::open(season, head, log, environment.clone(), |_| {});
    tokio::spawn(work);
    Manager::new(&rules, settings, league_handle, Client::default(), None, environment)
}
