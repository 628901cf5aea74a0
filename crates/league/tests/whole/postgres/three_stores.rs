//! The same seeded league with its log in memory, in SQLite and in PostgreSQL.

use std::collections::BTreeMap;
use std::sync::Arc;

use league_core::record::MatchRecord;
use league_core::rules::seed::Seed;
use league_core::season::Season;
use league_core::season::config::LeagueConfig;
use league_core::season::event::Fact;
use league_manager::{LeagueHandle, Manager, ManagerSettings};
use league_player::chance::Chance;
use league_player::player::{Player, PlayerSettings};
use league_player::strategy::registry::strategy;
use league_player::strategy_runner::StrategyRunner;
use league_protocol::id::{LeagueId, PlayerId, RefereeId};
use league_protocol::message::transcript::TranscriptDigest;
use league_protocol::time::Timestamp;
use league_referee::{Referee, RefereeSettings};
use league_store::home::Home;
use league_store::log::memory::SyncMode;
use league_store::log::{EventLog, LogHead, MemoryDisk, PostgresStore, replay};
use league_wire::agent::Agent;
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use league_wire::server::serve;
use league_wire::settings::ServerSettings;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{league, named, store};
use crate::support::TestHome;

const SEED: u64 = 7;
const PLAYERS: u32 = 6;
/// As `league run` gives them to players.
const STRATEGIES: [&str; 4] = ["random", "frequency", "pattern", "markov"];

/// What a league came to.
#[derive(PartialEq, Debug)]
struct Results {
    /// Of the match records by id, without times, referees, attempts, tokens and endpoints.
    digest: String,
    matches: usize,
    table: Value,
}

impl Results {
    fn of(log: &dyn EventLog) -> Self {
        let mut records = BTreeMap::new();
        let (replayed, _) = replay(log, |season, event| {
            let Fact::MatchReported { match_id, record, .. } = event.fact else { return };
            let players = season.contestants(&match_id).unwrap().map(|player| player.id.to_string());
            let MatchRecord { outcome, moves, course, drawn, score, .. } = record;
            records.insert(match_id, json!([players.a, players.b, outcome, moves, course, drawn, score]));
        })
        .unwrap();
        let bytes = serde_json::to_vec(&records.iter().collect::<Vec<_>>()).unwrap();
        let table = serde_json::to_value(replayed.finish().unwrap().standings()).unwrap();
        Self { digest: TranscriptDigest::of(&bytes).to_string(), matches: records.len(), table }
    }
}

async fn listen() -> (TcpListener, Endpoint) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}/mcp", listener.local_addr().unwrap()).parse().unwrap();
    (listener, endpoint)
}

fn open<A: Agent>(listener: TcpListener, agent: A) {
    tokio::spawn(serve(listener, Arc::new(agent), ServerSettings::default(), std::future::pending()));
}

/// A league as `league run` plays it, in this process and with its log in memory.
async fn in_memory(league: &LeagueId) -> Results {
    let (disk, environment) = (MemoryDisk::new(SyncMode::AtOnce), Environment::real());
    let lots = Seed::new(SEED, league.clone()).lot_secret();
    let rules = LeagueConfig::even_odd(league.clone()).with_lots(lots);
    let seed = Seed::new(SEED, "seeded".parse().unwrap());
    let (season, opened) = Season::open(rules.clone(), Timestamp::EPOCH);
    let log = disk.open();
    let head = log.append(LogHead::GENESIS, vec![opened]).await.unwrap();
    let (league_handle, work) = LeagueHandle::open(season, head, log, environment.clone(), |_| {});
    tokio::spawn(work);
    let settings = ManagerSettings {
        expect_players: Some(PLAYERS),
        expect_referees: Some(1),
        seed: Some(seed.clone()),
        ..ManagerSettings::default()
    };
    let manager = Manager::new(&rules, settings, league_handle, Client::default(), None, environment.clone());
    let (listener, at) = listen().await;
    open(listener, manager.clone());
    let (listener, contact) = listen().await;
    let settings = RefereeSettings {
        requested_id: Some(RefereeId::numbered(1)),
        ..RefereeSettings::new("Referee 1", at.clone(), contact)
    };
    let referee = Referee::new(settings, Client::default(), None, environment.clone());
    open(listener, referee.clone());
    referee.register().await.unwrap();
    for (number, kind) in (1..=PLAYERS).zip(STRATEGIES.iter().cycle()) {
        let (listener, contact) = listen().await;
        let settings = PlayerSettings {
            requested_id: Some(PlayerId::numbered(number)),
            chance: Chance::Seeded(seed.clone()),
            ..PlayerSettings::new(format!("{kind} {number}"), at.clone(), contact)
        };
        let runner = StrategyRunner::new(strategy(kind).unwrap());
        let player = Player::new(settings, runner, Client::default(), environment.clone());
        open(listener, player.clone());
        player.register().await.unwrap();
    }
    manager.conduct().await.unwrap();
    Results::of(&disk.reader())
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn the_three_stores_give_the_same_results_and_table() {
    let (lite, shared, id) = (TestHome::new(), TestHome::new(), named("three"));
    let league_id: LeagueId = id.parse().unwrap();
    let (seed, players) = (SEED.to_string(), PLAYERS.to_string());
    let run = ["run", "--port", "0", "--json", "--seed", &seed, "--players", &players];
    lite.league(&[&run[..], &["--league-id", &id]].concat()).success();
    league(&shared, &id, &run).success();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let memory = runtime.block_on(in_memory(&league_id));
    let sqlite = Results::of(&*Home::at(lite.path()).log(&league_id));
    let postgres = PostgresStore::open(&store().parse().unwrap()).unwrap();
    let postgres = Results::of(&*Home::at(shared.path()).with_store(postgres).log(&league_id));
    println!("{} matches, digest {} in memory", memory.matches, memory.digest);
    assert_eq!(memory.matches, (PLAYERS * (PLAYERS - 1) / 2) as usize);
    assert_eq!(sqlite, memory, "SQLite and memory");
    assert_eq!(postgres, memory, "PostgreSQL and memory");
}
