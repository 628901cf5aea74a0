//! A player loses nothing when the referee itself is late, and the receipts show the delay.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use league_protocol::table::Call;
use league_referee::Referee;
use league_store::home::Home;
use league_store::views::writer::{ViewLimits, ViewWriter};
use league_wire::agent::Agent;
use league_wire::client::{Client, ClientSettings};
use league_wire::environment::Environment;
use league_wire::runtime_lag::LagMonitor;
use serde_json::{Value, json};

use crate::{answer, canonical, incoming, manager, order, result, settings, stub};

/// How long the runtime is blocked each time.
const BLOCKED: Duration = Duration::from_millis(400);

async fn play_starved(a: &str, b: &str) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let (home, manager) = (Home::at(directory.path()), manager().await);
    let extra = json!({
        "league_id": "starved", "round_id": 1,
        "timeouts": {"game_join_ack_timeout_sec": 0.2, "move_timeout_sec": 0.2, "game_over_timeout_sec": 0.2,
            "max_retries": 1},
    });
    let (settings, order) = (settings(&manager), order([a, b], &extra));
    let starved = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let views = ViewWriter::start(home, ViewLimits::default()).unwrap();
            let client =
                Client::new(ClientSettings { lag_monitor: Some(LagMonitor::start()), ..ClientSettings::default() });
            let referee = Referee::new(settings, client, Some(views.clone()), Environment::real());
            referee.register().await.unwrap();
            referee.call(incoming(Call::StartMatch(order))).await.unwrap();
            while referee.running() > 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
                thread::sleep(BLOCKED);
            }
            views.flush().await.unwrap();
        });
    });
    tokio::task::spawn_blocking(move || starved.join().unwrap()).await.unwrap();
    let file = directory.path().join("data/matches/starved/R1M1.json");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn receipts<'a>(file: &'a Value, player: &str) -> Vec<&'a Value> {
    let entries = file["transcript"].as_array().unwrap().iter();
    let own = entries.filter(|entry| entry["from"] == player || entry["to"] == player).map(|entry| &entry["receipt"]);
    own.filter(|receipt| receipt.is_object()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_player_that_answers_in_time_is_not_charged_for_a_blocked_referee() {
    // Both players answer slowly, but within their limit.
    let slow = |id: &'static str| {
        stub(move |request| {
            thread::sleep(Duration::from_millis(60));
            result(request, &answer(&request["params"], id))
        })
    };
    let file = play_starved(&slow("P01").await.endpoint(), &slow("P02").await.endpoint()).await;
    assert!(file["result"]["details"]["drawn_number"].is_number(), "no player forfeits: {file}");
    let granted = receipts(&file, "P01").into_iter().filter(|receipt| receipt["granted_ms"].is_u64()).count();
    assert!(granted > 0, "{file}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_player_is_charged_although_the_referee_was_blocked() {
    // The kernel accepts the connection, and no program reads from it.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let there = format!("http://{}/mcp", silent.local_addr().unwrap());
    let file = play_starved(&there, &canonical("P02").await.endpoint()).await;
    assert_eq!(file["result"]["details"]["technical_losses"], json!(["P01"]));
    let charged = receipts(&file, "P01").into_iter().find(|receipt| receipt["given_up_ms"].is_u64()).unwrap();
    let span = |name: &str| charged[name].as_u64().unwrap();
    assert!(span("given_up_ms") >= span("limit_ms") + span("granted_ms"), "{charged}");
}
