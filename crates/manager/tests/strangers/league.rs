//! Our manager and referee, on free ports; without a disk, unless a test names a home.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use league_core::season::Season;
use league_core::season::config::LeagueConfig;
use league_manager::{LeagueHandle, Manager, ManagerSettings};
use league_protocol::time::Timestamp;
use league_protocol::token::Credential;
use league_referee::{Referee, RefereeSettings};
use league_store::log::memory::SyncMode;
use league_store::log::{EventLog, LogHead, MemoryDisk};
use league_store::views::writer::{ViewLimits, ViewWriter};
use league_test_agents::player::dialect::Speech;
use league_test_agents::player::{Plan, Player};
use league_wire::agent::Agent;
use league_wire::client::Client;
use league_wire::environment::Environment;
use league_wire::net::Listener;
use league_wire::server::serve;
use league_wire::settings::ServerSettings;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::hostile::caller::Caller;
use crate::remote_listener::RemoteListener;

const LIMIT: Duration = Duration::from_secs(30);
/// The managers that [`League::through`] starts know it.
pub(crate) const RELAY_KEY: &str = "the-key-of-the-managers";

pub(crate) struct League {
    manager: Manager,
    pub(crate) url: String,
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn open<A: Agent>(listener: impl Listener, agent: A) {
    tokio::spawn(serve(listener, Arc::new(agent), ServerSettings::default(), std::future::pending()));
}

impl League {
    pub(crate) async fn of(players: u32, referees: u32, settings: ManagerSettings) -> Self {
        Self::under(LeagueConfig::even_odd("league".parse().unwrap()), players, referees, settings).await
    }

    pub(crate) async fn under(rules: LeagueConfig, players: u32, referees: u32, settings: ManagerSettings) -> Self {
        let settings = ManagerSettings { expect_players: Some(players), expect_referees: Some(referees), ..settings };
        Self::on(&MemoryDisk::new(SyncMode::AtOnce), rules, settings).await
    }

    /// The manager writes match files if `settings` name a home. The first append is made durable here.
    pub(crate) async fn on(disk: &MemoryDisk, rules: LeagueConfig, settings: ManagerSettings) -> Self {
        let environment = Environment::real();
        let log = disk.open();
        let views = settings.home.clone().map(|home| {
            home.prepare(&rules.league_id).unwrap();
            ViewWriter::start(home, ViewLimits::default()).unwrap()
        });
        let (season, opened) = Season::open(rules.clone(), Timestamp::EPOCH);
        let appending = log.append(LogHead::GENESIS, vec![opened]);
        disk.sync();
        let head = appending.await.unwrap();
        let (league_handle, work) = LeagueHandle::open(season, head, log, environment.clone(), |_| {});
        tokio::spawn(work);
        let manager = Manager::new(&rules, settings, league_handle, Client::default(), views, environment);
        let (listener, address) = listen().await;
        open(listener, manager.clone());
        Self { manager, url: format!("http://{address}/mcp") }
    }

    pub(crate) async fn with_referee(self) -> Self {
        self.with_referee_that_writes(None).await
    }

    pub(crate) async fn with_referee_that_writes(self, views: Option<ViewWriter>) -> Self {
        self.register_referee(views).await;
        self
    }

    pub(crate) async fn register_referee(&self, views: Option<ViewWriter>) {
        let (listener, address) = listen().await;
        let contact = format!("http://{address}/mcp").parse().unwrap();
        let settings = RefereeSettings::new(format!("Ours at {address}"), self.url.parse().unwrap(), contact);
        let referee = Referee::new(settings, Client::default(), views, Environment::real());
        open(listener, referee.clone());
        referee.register().await.unwrap();
    }

    /// Registers a referee that pulls through the manager at `url`, and lets it work.
    pub(crate) async fn pulling_referee(&self, name: &str, url: &str) -> (Referee, JoinHandle<()>) {
        let contact = "http://127.0.0.1:1/mcp".parse().unwrap();
        let settings = RefereeSettings { pulls: true, ..RefereeSettings::new(name, url.parse().unwrap(), contact) };
        let referee = Referee::new(settings, Client::default(), None, Environment::real());
        referee.register().await.unwrap();
        let working = referee.clone();
        (referee, tokio::spawn(async move { working.until_done().await }))
    }

    pub(crate) fn caller(&self) -> Caller {
        Caller::at(self.url.clone())
    }

    /// A client that calls from `address`, through a listener of its own.
    pub(crate) async fn caller_from(&self, address: &str) -> Caller {
        let (listener, local) = listen().await;
        open(RemoteListener { listener, caller: format!("{address}:5000").parse().unwrap() }, self.manager.clone());
        Caller::at(format!("http://{local}/mcp"))
    }

    /// A connection from `address` to a manager that trusts the proxies in `trusted`.
    pub(crate) async fn through(&self, address: &str, trusted: &[&str]) -> Caller {
        let (listener, local) = listen().await;
        let trusted_proxies = trusted.iter().map(|network| network.parse().unwrap()).collect();
        let relay_key = Some(Credential::new(RELAY_KEY).digest());
        let settings = ServerSettings { trusted_proxies, relay_key, ..ServerSettings::default() };
        let listener = RemoteListener { listener, caller: SocketAddr::new(address.parse().unwrap(), 5000) };
        tokio::spawn(serve(listener, Arc::new(self.manager.clone()), settings, std::future::pending()));
        Caller::at(format!("http://{local}/mcp"))
    }

    /// Plain foreign players with these names.
    pub(crate) async fn join(&self, names: &[&str]) -> Vec<Player> {
        let mut players = Vec::new();
        for name in names {
            players.push(Plan::new(name, Speech::Direct).join(&self.url).await.unwrap());
        }
        players
    }

    pub(crate) async fn conduct(&self) {
        self.manager.conduct().await.unwrap();
    }

    pub(crate) async fn season(&self) -> Season {
        self.manager.league_handle().read(|season, _| season.clone()).await.unwrap()
    }

    pub(crate) fn handle(&self) -> LeagueHandle {
        self.manager.league_handle().clone()
    }

    pub(crate) async fn play(&self) -> Season {
        self.play_within(LIMIT).await
    }

    pub(crate) async fn play_within(&self, limit: Duration) -> Season {
        tokio::time::timeout(limit, self.manager.conduct()).await.unwrap().unwrap();
        self.season().await
    }
}

pub(crate) fn forfeits(season: &Season) -> usize {
    let rounds = season.scheduled_rounds();
    let matches = rounds.iter().flat_map(|round| &round.matches);
    let outcomes = matches.filter_map(|game| season.outcome(&game.match_id));
    let forfeited = |outcome: &league_core::rules::outcome::Outcome| {
        league_protocol::side::Side::BOTH.into_iter().any(|side| outcome.forfeited(side))
    };
    outcomes.filter(forfeited).count()
}
