//! Our agents in leagues of other implementations: they register in the form that the manager understands, and play.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use league_player::chance::Chance;
use league_player::player::Player;
use league_player::strategy::registry::strategy;
use league_player::strategy_runner::StrategyRunner;
use league_protocol::id::{GameType, PlayerId, RefereeId};
use league_referee::Referee;
use league_store::home::Home;
use league_store::views::writer::{ViewLimits, ViewWriter};
use league_test_agents::frame::Frame;
use league_test_agents::manager::{Complaint, Entrance, Orders};
use league_test_agents::player::dialect::Speech;
use league_test_agents::post::post;
use league_test_agents::{manager, player, referee};
use league_wire::agent::Agent;
use league_wire::client::Client;
use league_wire::environment::Environment;
use league_wire::server::serve;
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
    let settings = league_wire::settings::ServerSettings::default();
    tokio::spawn(serve(listener, Arc::new(agent), settings, std::future::pending()));
}

fn settings(manager: &str, address: SocketAddr) -> league_referee::RefereeSettings {
    league_referee::RefereeSettings {
        name: "Ours".into(),
        wish: None,
        manager: manager.parse().unwrap(),
        contact: format!("http://{address}/mcp").parse().unwrap(),
        capacity: 8,
        games: vec![GameType::even_odd()],
        join_key: None,
        operator: None,
        journal: None,
        home: None,
        give_up_after: None,
        patience: PATIENCE,
        pause: PAUSE,
    }
}

async fn our_referee(manager: &str) -> Referee {
    let referee = listening_referee(manager, None, None).await.0;
    referee.register().await.unwrap();
    referee
}

async fn listening_referee(manager: &str, wish: Option<RefereeId>, views: Option<ViewWriter>) -> (Referee, String) {
    let (listener, address) = place().await;
    let settings = league_referee::RefereeSettings { wish, ..settings(manager, address) };
    let referee = Referee::new(settings, Client::default(), views, Environment::real());
    open(listener, referee.clone());
    (referee, format!("http://{address}/mcp"))
}

async fn our_player(manager: &str) -> Player {
    let player = listening_player(manager, None).await.0;
    player.register().await.unwrap();
    player
}

async fn listening_player(manager: &str, wish: Option<PlayerId>) -> (Player, String) {
    let (listener, address) = place().await;
    let settings = league_player::player::PlayerSettings {
        name: "Ours".into(),
        wish,
        manager: manager.parse().unwrap(),
        contact: format!("http://{address}/mcp").parse().unwrap(),
        join_key: None,
        home: None,
        recalls: false,
        journal_writer: None,
        histories: None,
        give_up_after: None,
        chance: Chance::System,
        patience: PATIENCE,
        pause: PAUSE,
    };
    let player =
        Player::new(settings, StrategyRunner::new(strategy("random").unwrap()), Client::default(), Environment::real());
    open(listener, player.clone());
    (player, format!("http://{address}/mcp"))
}

/// The matches in which both players chose and a number was drawn.
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
        assert!(wasted(&manager) <= allowed(frame), "{frame:?}: {:#?}", manager.log().refused());
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
    let referee = Referee::new(settings(first.endpoint(), address), Client::default(), None, Environment::real());
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

/// The senders of all messages to a manager, flat fields included.
fn senders(manager: &manager::Manager) -> Vec<String> {
    let places = ["/sender", "/params/sender", "/params/message/sender", "/params/arguments/sender"];
    let heard = manager.log().all();
    let sender = |body: &Value| places.iter().find_map(|place| Some(body.pointer(place)?.as_str()?.to_owned()));
    heard.iter().filter_map(|heard| sender(&heard.body)).collect()
}

#[tokio::test]
async fn our_agents_register_in_every_form_whatever_the_manager_complains_of() {
    let complaints = [Complaint::Usual, Complaint::Status, Complaint::Code, Complaint::Exception, Complaint::HangsUp];
    let framed = Frame::ALL
        .into_iter()
        .flat_map(|frame| complaints.map(|complaint| manager::Plan::new(frame, 2).complains(complaint)));
    let others = complaints.into_iter().flat_map(|complaint| {
        [Entrance::Register, Entrance::Session]
            .map(|door| manager::Plan::new(Frame::Direct, 2).by(door).complains(complaint))
    });
    for plan in framed.chain(others) {
        let manager = plan.clone().serve().unwrap();
        let (player, _) = listening_player(manager.endpoint(), Some("P04".parse().unwrap())).await;
        let registered = tokio::time::timeout(LIMIT, player.register()).await;
        assert!(matches!(registered, Ok(Ok(_))), "{plan:?}: {registered:?} {:#?}", manager.log().refused());
        let (referee, _) = listening_referee(manager.endpoint(), Some("REF02".parse().unwrap()), None).await;
        let registered = tokio::time::timeout(LIMIT, referee.register()).await;
        assert!(matches!(registered, Ok(Ok(_))), "{plan:?}: {registered:?} {:#?}", manager.log().refused());
        let senders = senders(&manager);
        assert!(
            !senders.is_empty() && senders.iter().all(|sender| sender == "player:P04" || sender == "referee:REF02")
        );
    }
}

#[tokio::test]
async fn a_manager_that_understands_no_form_is_quoted_by_its_most_specific_complaint() {
    let manager = manager::Plan::new(Frame::Direct, 2).complains(Complaint::Exception);
    // The manager takes registrations only by posts to a separate path, and does not list this player.
    let manager = manager.by(Entrance::Closed).serve().unwrap();
    let (player, _) = listening_player(manager.endpoint(), None).await;
    let rejected = tokio::time::timeout(LIMIT, player.register()).await.unwrap().unwrap_err();
    assert!(rejected.to_string().contains("player_meta"), "{rejected}");
}

#[tokio::test]
async fn our_agents_play_under_managers_with_a_register_path_and_under_mcp_servers() {
    for door in [Entrance::Register, Entrance::Session] {
        let manager = manager::Plan::new(Frame::Direct, 3).by(door).serve().unwrap();
        let referee = our_referee(manager.endpoint()).await;
        let ours = [our_player(manager.endpoint()).await, our_player(manager.endpoint()).await];
        let third = our_player(manager.endpoint()).await;
        assert!(manager.finished(LIMIT).await.is_some(), "{door:?}: {:#?}", manager.log().refused());
        assert_eq!((manager.reports().len(), games(&manager)), (3, 3), "{door:?}");
        for player in ours.into_iter().chain([third]) {
            tokio::time::timeout(LIMIT, player.until_done()).await.unwrap();
        }
        tokio::time::timeout(LIMIT, referee.until_done()).await.unwrap();
    }
}

#[tokio::test]
async fn an_order_of_ids_and_endpoints_alone_gives_whole_invitations_a_whole_report_and_a_file() {
    let home = tempfile::tempdir().unwrap();
    let views = ViewWriter::start(Home::at(home.path()), ViewLimits::default()).unwrap();
    let manager = manager::Plan::new(Frame::Direct, 2).orders(Orders::Ids).serve().unwrap();
    let (referee, _) = listening_referee(manager.endpoint(), None, Some(views.clone())).await;
    referee.register().await.unwrap();
    let mut players = Vec::new();
    for name in ["One", "Two"] {
        let plan = player::Plan::new(name, Speech::Direct).dialect(player::dialect::PlayerDialect::WantsToken);
        players.push(plan.join(manager.endpoint()).await.unwrap());
    }
    assert!(manager.finished(LIMIT).await.is_some(), "{:#?}", manager.answers());
    assert_eq!(games(&manager), 1);
    for player in &players {
        let heard = player.log().all();
        let invited = heard.iter().find(|heard| heard.kind == "GAME_INVITATION").unwrap();
        let named = (&invited.message["league_id"], &invited.message["round_id"]);
        assert_eq!(named, (&json!("league_of_others"), &json!(1)), "{}", invited.message);
        let token = invited.message["auth_token"].as_str().unwrap();
        assert!(
            !token.is_empty() && token != "tok-REF01-x",
            "a token of the referee's own travels to the manager only"
        );
    }
    let report = &manager.reports()[0];
    assert_eq!((&report["league_id"], &report["round_id"]), (&json!("league_of_others"), &json!(1)), "{report}");
    views.flush().await.unwrap();
    let file = home.path().join("data/matches/league_of_others/R1M1.json");
    let kept: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!((&kept["league_id"], &kept["round_id"]), (&json!("league_of_others"), &json!(1)));
    assert!(kept["result"].is_object() && !kept["transcript"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn a_manager_that_only_announces_rounds_has_its_matches_played() {
    for orders in [Orders::None, Orders::NoneButAgents, Orders::NoneButDirectory] {
        let manager = manager::Plan::new(Frame::Nested, 2).orders(orders).serve().unwrap();
        let referee = our_referee(manager.endpoint()).await;
        let mut players = Vec::new();
        for name in ["One", "Two"] {
            players.push(player::Plan::new(name, Speech::Nested).join(manager.endpoint()).await.unwrap());
        }
        assert!(manager.finished(LIMIT).await.is_some(), "{orders:?}");
        assert_eq!((manager.reports().len(), games(&manager)), (1, 1), "{orders:?}");
        let report = &manager.reports()[0];
        assert_eq!((&report["league_id"], &report["round_id"]), (&json!("league_of_others"), &json!(1)), "{report}");
        tokio::time::timeout(LIMIT, referee.until_done()).await.unwrap();
    }
}

#[tokio::test]
async fn an_announced_match_of_another_referee_is_left_alone() {
    let manager = manager::Plan::new(Frame::Direct, 99).serve().unwrap();
    let (referee, at) = listening_referee(manager.endpoint(), None, None).await;
    referee.register().await.unwrap();
    let announce = |referee: &str| {
        let game = json!({"match_id": "R1M1", "player_A_id": "P01", "player_B_id": "P02", "referee_endpoint": referee,
            "player_A_endpoint": "http://127.0.0.1:9/mcp", "player_B_endpoint": "http://127.0.0.1:9/mcp"});
        json!({"jsonrpc": "2.0", "id": 1, "method": "notify_round", "params": {"round_id": 1, "matches": [game]}})
    };
    let state = json!({"jsonrpc": "2.0", "id": 2, "method": "get_match_state", "params": {"match_id": "R1M1"}});
    post(&at, &[], &announce("http://127.0.0.1:9/mcp")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    let asked = post(&at, &[], &state).await.unwrap().json();
    assert_eq!(asked["error"]["data"]["error_code"], "E007", "{asked}");
}

#[tokio::test]
async fn answers_before_the_registration_carry_the_id_that_the_agent_was_started_with() {
    let nobody = "http://127.0.0.1:9/mcp";
    let (_player, at) = listening_player(nobody, Some("P01".parse().unwrap())).await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "get_player_state", "params": {}});
    assert_eq!(post(&at, &[], &ping).await.unwrap().json()["result"]["sender"], "player:P01");
    let unknown = json!({"jsonrpc": "2.0", "id": 1, "method": "choose_parity", "params": {}});
    let refused = post(&at, &[], &unknown).await.unwrap().json();
    assert_eq!(refused["error"]["data"]["sender"], "player:P01", "{refused}");
    let (_referee, at) = listening_referee(nobody, Some("REF02".parse().unwrap()), None).await;
    let look = json!({"jsonrpc": "2.0", "id": 1, "method": "get_match_state", "params": {"match_id": "R1M1"}});
    let refused = post(&at, &[], &look).await.unwrap().json();
    assert_eq!(refused["error"]["data"]["sender"], "referee:REF02", "{refused}");
}

#[tokio::test]
async fn register_to_league_answers_in_time_where_no_manager_is() {
    let (listener, address) = place().await;
    let quick = Duration::from_secs(2);
    let settings = league_referee::RefereeSettings { patience: quick, ..settings("http://127.0.0.1:9/mcp", address) };
    open(listener, Referee::new(settings, Client::default(), None, Environment::real()));
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}/mcp", silent.local_addr().unwrap());
    for nobody in ["http://127.0.0.1:9/mcp", silent.as_str()] {
        let order = json!({"jsonrpc": "2.0", "id": 1, "method": "register_to_league",
            "params": {"manager_endpoint": nobody}});
        let at = format!("http://{address}/mcp");
        let answered = post(&at, &[], &order);
        let told = tokio::time::timeout(PATIENCE, answered).await.unwrap().unwrap().json();
        assert_eq!(told["error"]["data"]["error_code"], "E009", "{told}");
        assert!(told["error"]["message"].as_str().unwrap().contains("start it there"), "{told}");
    }
}

/// How many messages the manager did not understand; MCP requests do not count.
fn wasted(manager: &manager::Manager) -> usize {
    let probes = ["server/discover", "initialize", "tools/list"];
    let refused = manager.log().refused();
    refused.iter().filter(|heard| !probes.contains(&heard.body["method"].as_str().unwrap_or_default())).count()
}

/// A manager that takes tool calls and lists no tools can only be found by trying.
fn allowed(frame: Frame) -> usize {
    if frame == Frame::Tools { 2 } else { 1 }
}
