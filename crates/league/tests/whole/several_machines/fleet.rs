//! A fleet of referees that pull, on machines of their own: one after the other is killed, and the results are those of an
//! undisturbed league.

use std::net::IpAddr;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use league_core::rules::seed::Seed;
use league_player::chance::Chance;
use league_player::player::{Player, PlayerSettings};
use league_player::strategy::registry::strategy;
use league_player::strategy_runner::StrategyRunner;
use league_protocol::id::PlayerId;
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use league_wire::server::serve;
use league_wire::settings::ServerSettings;
use rusqlite::Connection;
use serde_json::json;
use tokio::net::TcpListener;

use super::network::{Host, Network};
use crate::support::Process;

const SEED: u64 = 21;
const KEY: &str = "a-key-for-the-referees";
const MANAGER: &str = "http://192.168.1.10:8000/mcp";
/// Set for the process that hosts the players.
const PLAYERS: &str = "LEAGUE_FLEET_PLAYERS";
const BETWEEN_KILLS: Duration = Duration::from_secs(5);

/// Without times and referees.
const RESULTS: &str = "SELECT match_id || ' ' || player_a || ' ' || player_b || ' ' || outcome || ' ' || drawn_number
    || ' ' || move_a || ' ' || move_b FROM matches ORDER BY match_id";

struct League {
    digest: Vec<String>,
    took: Duration,
    kills: u32,
    attempts: u32,
    reports: u32,
    /// Players that made no move.
    charged: u32,
}

/// Hosts seeded players until their league is over. Without the number of players it does nothing.
#[test]
#[ignore = "a part of the other tests of this file"]
fn players_of_the_fleet() {
    let Ok(count) = std::env::var(PLAYERS) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut playing = Vec::new();
        for number in 1..=count.parse().unwrap() {
            playing.push(tokio::spawn(host_player(number).await));
        }
        for player in playing {
            player.await.unwrap();
        }
    });
}

async fn host_player(number: u32) -> impl Future<Output = ()> {
    let host: IpAddr = "192.168.1.12".parse().unwrap();
    let listener = TcpListener::bind((host, 0)).await.unwrap();
    let contact: Endpoint = format!("http://{}/mcp", listener.local_addr().unwrap()).parse().unwrap();
    let settings = PlayerSettings {
        requested_id: Some(PlayerId::numbered(number)),
        chance: Chance::Seeded(Seed::new(SEED, "league_2025_even_odd".parse().unwrap())),
        answer_limit: Duration::from_secs(30),
        ..PlayerSettings::new(format!("slow {number}"), MANAGER.parse().unwrap(), contact)
    };
    // About a second for a move, so that kills hit matches.
    let runner = StrategyRunner::new(strategy("slow:3").unwrap()).on_the_callers_task();
    let player = Player::new(settings, runner, Client::default(), Environment::real());
    tokio::spawn(serve(listener, Arc::new(player.clone()), ServerSettings::default(), std::future::pending()));
    async move {
        player.register().await.unwrap();
        player.until_done().await;
    }
}

/// Plays a seeded Swiss league, and kills a referee every five seconds if it is to be `disturbed`.
fn play(players: u32, referees: u8, rounds: u32, disturbed: bool) -> League {
    let network = Network::new();
    let expected = format!("--expect-players {players} --expect-referees {referees} --registration-window 600");
    let rules = format!("--seed {SEED} --format swiss:rounds={rounds} --referee-key {KEY}");
    let mut manager = network.manager.league(&format!("manager --host 0.0.0.0 {expected} {rules} --exit-when-done"));
    manager.address();
    let hosts: Vec<Host> = (0..referees).map(|number| network.further(20 + number)).collect();
    let line = format!("referee --pull --concurrency 4 --manager {MANAGER} --join-key {KEY}");
    let mut fleet: Vec<Process> = hosts.iter().map(|host| host.league(&line)).collect();
    fleet.iter_mut().for_each(|referee| drop(referee.wait_for_line("is ready")));
    let mut hosting = Command::new(std::env::current_exe().unwrap());
    hosting.args(["--exact", "several_machines::fleet::players_of_the_fleet", "--ignored"]);
    hosting.env(PLAYERS, players.to_string());
    let mut hosted = network.players.start(&hosting);
    manager.wait_for_line("Round 1 of");
    let (began, mut kills) = (Instant::now(), 0);
    while !manager.has_exited() {
        assert!(began.elapsed() < Duration::from_secs(900), "the league does not end");
        if disturbed && began.elapsed() >= BETWEEN_KILLS * (kills + 1) {
            let place = kills as usize % fleet.len();
            fleet[place].kill();
            // The next machine of the fleet takes its place, under a name of its own.
            fleet[place] = hosts[place].league(&line);
            kills += 1;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let took = began.elapsed();
    manager.wait().success();
    drop(hosted.wait_within(Duration::from_secs(60)));
    let report = network.manager.league("verify --json").wait().success().json();
    assert_eq!((&report["differences"], &report["stale"]), (&json!([]), &json!([])), "{report}");
    network.manager.league("export --sqlite league.sqlite").wait().success();
    let tables = Connection::open(network.manager.home().join("league.sqlite")).unwrap();
    let count = |query: &str| tables.query_row(query, [], |row| row.get::<_, u32>(0)).unwrap();
    let attempts = count("SELECT count(*) FROM events WHERE kind = 'match_assigned'");
    let reports = count("SELECT count(*) FROM events WHERE kind = 'match_reported'");
    let charged = count("SELECT count(*) FROM results WHERE move IS NULL");
    let mut matches = tables.prepare(RESULTS).unwrap();
    let digest = matches.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    League { digest, took, kills, attempts, reports, charged }
}

fn compare(players: u32, referees: u8, rounds: u32) {
    let calm = play(players, referees, rounds, false);
    let disturbed = play(players, referees, rounds, true);
    let matches = calm.digest.len();
    println!(
        "{players} players, {referees} referees, {matches} matches: {:?} and {} attempts undisturbed; {:?}, {} kills and {} attempts disturbed",
        calm.took, calm.attempts, disturbed.took, disturbed.kills, disturbed.attempts
    );
    assert_eq!(matches, players as usize / 2 * rounds as usize);
    assert!(disturbed.digest == calm.digest, "a result differs");
    assert_eq!((disturbed.charged, disturbed.reports as usize), (0, matches), "each result counts once");
    assert!(disturbed.kills > 0);
}

/// 40 players, 3 referees and 12 rounds, unless `LEAGUE_FLEET` names other numbers: `LEAGUE_FLEET="200 8 14"` takes minutes.
#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed"]
fn killed_referees_of_a_fleet_change_no_result() {
    let wanted = std::env::var("LEAGUE_FLEET").unwrap_or_else(|_| String::from("40 3 12"));
    let numbers: Vec<u32> = wanted.split(' ').map(|number| number.parse().unwrap()).collect();
    let [players, referees, rounds] = numbers[..] else { panic!("LEAGUE_FLEET has three numbers, not {wanted:?}") };
    compare(players, referees.try_into().unwrap(), rounds);
}
