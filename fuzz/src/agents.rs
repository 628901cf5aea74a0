//! Our manager with its dashboard, our referee and our player, each behind an in-memory listener.
//!
//! Random bytes come from a counter and the clock stands still: every run issues the same tokens, so inputs may name them.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use league_core::season::Season;
use league_core::season::config::LeagueConfig;
use league_core::season::event::Event;
use league_dashboard::{Archive, Dashboard};
use league_manager::{LeagueHandle, Manager};
use league_player::player::Player;
use league_player::strategy::registry::strategy;
use league_player::strategy_runner::StrategyRunner;
use league_protocol::id::LeagueId;
use league_protocol::time::Timestamp;
use league_referee::Referee;
use league_store::home::Home;
use league_store::log::memory::MemoryDisk;
use league_store::log::{EventLog, LogHead};
use league_wire::agent::Agent;
use league_wire::client::{Client, ClientSettings};
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use league_wire::server::serve;
use league_wire::settings::ServerSettings;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::memory_net::{MemoryConnector, RefusingConnector, listener};

/// Longer than any limit of a request.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// In bytes. An answer may be an endless stream.
const MAX_ANSWER: u64 = 1024 * 1024;

pub struct LeagueAgents {
    runtime: Runtime,
    connectors: [MemoryConnector; 3],
    requests: Cell<u32>,
}

impl LeagueAgents {
    pub fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        let connectors = runtime.block_on(open());
        Self { runtime, connectors, requests: Cell::new(0) }
    }

    /// True after so many requests that the target starts new agents.
    pub fn needs_restart(&self) -> bool {
        self.requests.get() >= 300
    }

    /// The answers of manager, referee and player, until they close the connection or fall silent.
    pub fn send(&self, bytes: &[u8]) -> [Vec<u8>; 3] {
        self.requests.set(self.requests.get() + 1);
        self.connectors.each_ref().map(|connector| {
            self.runtime.block_on(async {
                let mut stream = connector.connect();
                stream.write_all(bytes).await.expect("there is room for every input");
                let mut answer = Vec::new();
                let mut listening = (&mut stream).take(MAX_ANSWER);
                // Waiting ends without an error where a connection stays open.
                drop(timeout(ANSWER_LIMIT, listening.read_to_end(&mut answer)).await);
                answer
            })
        })
    }
}

impl Default for LeagueAgents {
    fn default() -> Self {
        Self::new()
    }
}

fn environment() -> Environment {
    let drawn = AtomicU64::new(0);
    let random = move || {
        let mut bytes = [7; 32];
        bytes[..8].copy_from_slice(&drawn.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        bytes
    };
    Environment::new(|| Timestamp::from_unix_millis(1_767_225_600_000), random)
}

fn rules() -> LeagueConfig {
    LeagueConfig::even_odd("league_fuzz".parse::<LeagueId>().expect("an id"))
}

async fn open() -> [MemoryConnector; 3] {
    let client = Client::new(ClientSettings { connector: Arc::new(RefusingConnector), ..ClientSettings::default() });
    let (manager, contact): (Endpoint, Endpoint) =
        ("http://127.0.0.1:8000/mcp".parse().expect("a URL"), "http://127.0.0.1:8101/mcp".parse().expect("a URL"));
    let environment = environment();
    let (season, opened) = Season::open(rules(), environment.now());
    let log = MemoryDisk::default().open();
    let head = log.append(LogHead::GENESIS, vec![opened.clone()]).await.expect("a log of memory");
    let (league_handle, work) = LeagueHandle::open(season, head, log, environment.clone(), |_| ());
    let settings = league_manager::ManagerSettings::default();
    let managing = Manager::new(&rules(), settings, league_handle, client.clone(), None, environment.clone());
    tokio::spawn(work);
    let conducting = managing.clone();
    tokio::spawn(async move { drop(conducting.conduct().await) });
    let dashboard = pages(opened).await;

    let referee = Referee::new(
        league_referee::RefereeSettings::new("Referee", manager.clone(), contact.clone()),
        client.clone(),
        None,
        environment.clone(),
    );
    let player = Player::new(
        league_player::player::PlayerSettings::new("Player", manager, contact),
        StrategyRunner::new(strategy("random").expect("a strategy")).on_the_callers_task(),
        client,
        environment,
    );
    [serve_agent(managing, Some(dashboard)), serve_agent(referee, None), serve_agent(player, None)]
}

fn serve_agent<A: Agent>(agent: A, pages: Option<Dashboard>) -> MemoryConnector {
    let (connector, listener) = listener();
    let pages = pages.map(|pages| Arc::new(pages) as _);
    let settings = ServerSettings { pages, ..ServerSettings::default() };
    tokio::spawn(serve(listener, Arc::new(agent), settings, std::future::pending()));
    connector
}

/// The dashboard of a league on disk, created once, because no target writes to it.
async fn pages(opened: Event) -> Dashboard {
    static DIRECTORY: OnceLock<TempDir> = OnceLock::new();
    let league = rules().league_id;
    let home = Home::at(DIRECTORY.get_or_init(|| tempfile::tempdir().expect("a directory")).path());
    if !home.database(&league).exists() {
        home.prepare(&league).expect("a home");
        home.log(&league).append(LogHead::GENESIS, vec![opened]).await.expect("an event");
    }
    let settings = league_dashboard::DashboardSettings::default();
    let (dashboard, feed, work) =
        Dashboard::open(Archive::of(home.log(&league), home, league), settings).expect("pages");
    tokio::spawn(async move {
        let _open = feed;
        work.await;
    });
    dashboard
}
