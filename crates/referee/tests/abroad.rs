//! Our agents in leagues that others run: they register in whatever form is understood there, and play.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use league_player::chance::Chance;
use league_player::player::Player;
use league_player::strategy::registry::strategy;
use league_player::thinker::Thinker;
use league_protocol::id::GameType;
use league_referee::Referee;
use league_strangers::frame::Frame;
use league_strangers::player::habit::Speech;
use league_strangers::post::post;
use league_strangers::{manager, player, referee};
use league_wire::agent::Agent;
use league_wire::client::Client;
use league_wire::server::serve;
use league_wire::world::World;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

const LIMIT: Duration = Duration::from_secs(20);
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);

const FRAMES: [(Frame, Speech); 5] = [
    (Frame::Direct, Speech::Direct),
    (Frame::Types, Speech::Types),
    (Frame::Tools, Speech::Tools),
    (Frame::Bare, Speech::Bare),
    (Frame::Nested, Speech::Nested),
];

async fn place() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn open<A: Agent>(listener: TcpListener, agent: A) {
    let settings = league_wire::settings::Settings::default();
    tokio::spawn(serve(listener, Arc::new(agent), settings, std::future::pending()));
}

fn settings(manager: &str, address: SocketAddr) -> league_referee::Settings {
    league_referee::Settings {
        name: "Ours".into(),
        wish: None,
        manager: manager.parse().unwrap(),
        contact: format!("http://{address}/mcp").parse().unwrap(),
        capacity: 8,
        games: vec![GameType::even_odd()],
        join_key: None,
        journal: None,
        patience: PATIENCE,
        pause: PAUSE,
    }
}

async fn our_referee(manager: &str) -> Referee {
    let (listener, address) = place().await;
    let referee = Referee::new(settings(manager, address), Client::default(), None, World::real());
    open(listener, referee.clone());
    referee.register().await.unwrap();
    referee
}

async fn our_player(manager: &str) -> Player {
    let (listener, address) = place().await;
    let settings = league_player::player::Settings {
        name: "Ours".into(),
        wish: None,
        manager: manager.parse().unwrap(),
        contact: format!("http://{address}/mcp").parse().unwrap(),
        join_key: None,
        home: None,
        recalls: false,
        scribe: None,
        chance: Chance::System,
        patience: PATIENCE,
        pause: PAUSE,
    };
    let player = Player::new(settings, Thinker::new(strategy("random").unwrap()), Client::default(), World::real());
    open(listener, player.clone());
    player.register().await.unwrap();
    player
}

/// How many of the matches were games: both chose, and a number was drawn.
fn games(manager: &manager::Manager) -> usize {
    let chosen = |choices: &Map<String, Value>| choices.values().filter(|choice| choice.is_string()).count();
    let played = |report: &Value| {
        let details = &report["result"]["details"];
        details["drawn_number"].is_number() && details["choices"].as_object().map(chosen) == Some(2)
    };
    manager.reports().iter().filter(|report| played(report)).count()
}

#[tokio::test]
async fn our_player_plays_whatever_frame_the_others_use() {
    for (frame, speech) in FRAMES {
        let manager = manager::Plan::new(frame, 3).serve().unwrap();
        let referee = referee::Plan::new("Whistle", frame).join(manager.endpoint()).await.unwrap();
        let player = our_player(manager.endpoint()).await;
        assert!(wasted(&manager) <= allowed(frame), "{frame:?}: {:#?}", manager.diary().refused());
        let _one = player::Plan::new("One", speech).join(manager.endpoint()).await.unwrap();
        let _two = player::Plan::new("Two", speech).join(manager.endpoint()).await.unwrap();
        assert!(manager.finished(LIMIT).await.is_some(), "{frame:?}");
        assert_eq!((manager.reports().len(), games(&manager)), (3, 3), "{frame:?}");
        assert_eq!(referee.reports().len(), 3);
        tokio::time::timeout(LIMIT, player.until_done()).await.unwrap();
    }
}

#[tokio::test]
async fn our_referee_runs_the_matches_of_a_manager_of_any_frame() {
    for (frame, speech) in FRAMES {
        let manager = manager::Plan::new(frame, 3).serve().unwrap();
        let referee = our_referee(manager.endpoint()).await;
        let mut players = Vec::new();
        for name in ["One", "Two", "Three"] {
            players.push(player::Plan::new(name, speech).join(manager.endpoint()).await.unwrap());
        }
        assert!(manager.finished(LIMIT).await.is_some(), "{frame:?}");
        assert_eq!((manager.reports().len(), games(&manager)), (3, 3), "{frame:?}");
        assert!(wasted(&manager) <= allowed(frame), "{frame:?}: the form that was found is used for reports too");
        tokio::time::timeout(LIMIT, referee.until_done()).await.unwrap();
    }
}

#[tokio::test]
async fn our_agents_play_with_each_other_under_a_manager_of_any_frame() {
    for (frame, speech) in FRAMES {
        let manager = manager::Plan::new(frame, 4).serve().unwrap();
        let referee = our_referee(manager.endpoint()).await;
        let ours = [our_player(manager.endpoint()).await, our_player(manager.endpoint()).await];
        let mut others = Vec::new();
        for name in ["One", "Two"] {
            others.push(player::Plan::new(name, speech).join(manager.endpoint()).await.unwrap());
        }
        assert!(manager.finished(LIMIT).await.is_some(), "{frame:?}");
        assert_eq!((manager.reports().len(), games(&manager)), (6, 6), "{frame:?}");
        for player in ours {
            tokio::time::timeout(LIMIT, player.until_done()).await.unwrap();
        }
        tokio::time::timeout(LIMIT, referee.until_done()).await.unwrap();
    }
}

#[tokio::test]
async fn our_referee_works_for_the_manager_that_it_was_sent_to() {
    let (first, second) = (manager::Plan::new(Frame::Direct, 2), manager::Plan::new(Frame::Nested, 2));
    let (first, second) = (first.serve().unwrap(), second.serve().unwrap());
    let (listener, address) = place().await;
    let referee = Referee::new(settings(first.endpoint(), address), Client::default(), None, World::real());
    open(listener, referee.clone());
    referee.register().await.unwrap();
    let order = json!({"jsonrpc": "2.0", "id": 1, "method": "register_to_league",
        "params": {"manager_endpoint": second.endpoint()}});
    let sent = post(&format!("http://{address}/mcp"), &[], &order).await.unwrap().json();
    assert_eq!(sent["result"]["status"], "ACCEPTED", "{sent}");
    let mut players = Vec::new();
    for name in ["One", "Two"] {
        players.push(player::Plan::new(name, Speech::Nested).join(second.endpoint()).await.unwrap());
    }
    assert!(second.finished(LIMIT).await.is_some());
    assert_eq!((games(&second), first.reports().len()), (1, 0));
}

/// How many messages a manager did not understand; questions about MCP are none.
fn wasted(manager: &manager::Manager) -> usize {
    let probes = ["server/discover", "initialize", "tools/list"];
    let refused = manager.diary().refused();
    refused.iter().filter(|heard| !probes.contains(&heard.body["method"].as_str().unwrap_or_default())).count()
}

/// How many it may take to find out. A manager that calls tools and lists none is only found by trying.
fn allowed(frame: Frame) -> usize {
    if frame == Frame::Tools { 2 } else { 1 }
}
