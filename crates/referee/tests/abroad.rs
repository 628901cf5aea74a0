//! Our agents in leagues of other implementations: they register in the form that the manager understands, and play.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;
use std::time::Duration;

use league_player::player::{Player, PlayerSettings};
use league_player::strategy::registry::strategy;
use league_player::strategy_runner::StrategyRunner;
use league_protocol::id::{PlayerId, RefereeId};
use league_referee::{Referee, RefereeSettings};
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
const NOBODY: &str = "http://127.0.0.1:9/mcp";

const FRAMES: [(Frame, Speech); 5] = [
    (Frame::Direct, Speech::Direct),
    (Frame::Types, Speech::Types),
    (Frame::Tools, Speech::Tools),
    (Frame::Bare, Speech::Bare),
    (Frame::Nested, Speech::Nested),
];

async fn call(endpoint: &str, method: &str, params: Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    post(endpoint, &[], &request).await.unwrap().json()
}

async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}/mcp", listener.local_addr().unwrap());
    (listener, endpoint)
}

fn open<A: Agent>(listener: TcpListener, agent: A) {
    let settings = league_wire::settings::ServerSettings::default();
    tokio::spawn(serve(listener, Arc::new(agent), settings, std::future::pending()));
}

fn settings(manager: &str, endpoint: &str) -> RefereeSettings {
    RefereeSettings::new("Ours", manager.parse().unwrap(), endpoint.parse().unwrap())
}

async fn our_referee(manager: &str) -> (Referee, String) {
    let (referee, endpoint) = listening_referee(manager, None, None).await;
    referee.register().await.unwrap();
    (referee, endpoint)
}

async fn listening_referee(manager: &str, id: Option<RefereeId>, views: Option<ViewWriter>) -> (Referee, String) {
    let (listener, endpoint) = listen().await;
    let settings = RefereeSettings { requested_id: id, ..settings(manager, &endpoint) };
    let referee = Referee::new(settings, Client::default(), views, Environment::real());
    open(listener, referee.clone());
    (referee, endpoint)
}

async fn our_player(manager: &str) -> Player {
    let player = listening_player(manager, None).await.0;
    player.register().await.unwrap();
    player
}

async fn listening_player(manager: &str, requested_id: Option<PlayerId>) -> (Player, String) {
    let (listener, endpoint) = listen().await;
    let settings = PlayerSettings::new("Ours", manager.parse().unwrap(), endpoint.parse().unwrap());
    let settings = PlayerSettings { requested_id, ..settings };
    let runner = StrategyRunner::new(strategy("random").unwrap());
    let player = Player::new(settings, runner, Client::default(), Environment::real());
    open(listener, player.clone());
    (player, endpoint)
}

async fn foreign_players(manager: &manager::Manager, speech: Speech, count: usize) -> Vec<player::Player> {
    let mut players = Vec::new();
    for name in ["One", "Two", "Three"].into_iter().take(count) {
        players.push(player::Plan::new(name, speech).join(manager.endpoint()).await.unwrap());
    }
    players
}

/// Our players and foreign ones play all matches, and our agents leave at the end.
async fn play(manager: &manager::Manager, referee: Option<Referee>, ours: usize, (speech, others): (Speech, usize)) {
    let mut players = Vec::new();
    for _ in 0..ours {
        players.push(our_player(manager.endpoint()).await);
    }
    let _others = foreign_players(manager, speech, others).await;
    assert!(manager.finished(LIMIT).await.is_some(), "{:#?}", manager.log().refused());
    let matches = (ours + others) * (ours + others - 1) / 2;
    assert_eq!((manager.reports().len(), games(manager)), (matches, matches));
    for player in players {
        tokio::time::timeout(LIMIT, player.until_done()).await.unwrap();
    }
    if let Some(referee) = referee {
        tokio::time::timeout(LIMIT, referee.until_done()).await.unwrap();
    }
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
async fn our_agents_play_with_a_manager_a_referee_and_players_of_any_frame() {
    for (frame, speech) in FRAMES {
        let manager = manager::Plan::new(frame, 3).serve().unwrap();
        let referee = referee::Plan::new("Whistle", frame).join(manager.endpoint()).await.unwrap();
        play(&manager, None, 1, (speech, 2)).await;
        assert_eq!(referee.reports().len(), 3, "{frame:?}");
        assert!(wasted(&manager) <= allowed(frame), "{frame:?}: {:#?}", manager.log().refused());
        for (ours, others) in [(0, 3), (2, 2)] {
            let manager = manager::Plan::new(frame, ours + others).serve().unwrap();
            let (referee, _) = our_referee(manager.endpoint()).await;
            play(&manager, Some(referee), ours, (speech, others)).await;
            let agents = ours + 1;
            assert!(wasted(&manager) <= agents * allowed(frame), "{frame:?}: {:#?}", manager.log().refused());
        }
    }
}

#[tokio::test]
async fn our_referee_works_for_the_manager_that_it_was_sent_to() {
    let (first, second) = (manager::Plan::new(Frame::Direct, 2), manager::Plan::new(Frame::Nested, 2));
    let (first, second) = (first.serve().unwrap(), second.serve().unwrap());
    let (_referee, endpoint) = our_referee(first.endpoint()).await;
    let answer = call(&endpoint, "register_to_league", json!({"manager_endpoint": second.endpoint()})).await;
    assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
    let _players = foreign_players(&second, Speech::Nested, 2).await;
    assert!(second.finished(LIMIT).await.is_some());
    assert_eq!((games(&second), first.reports().len()), (1, 0));
}

/// The senders of all messages to a manager, flat fields included.
fn senders(manager: &manager::Manager) -> Vec<String> {
    let places = ["/sender", "/params/sender", "/params/message/sender", "/params/arguments/sender"];
    let sender = |body: &Value| places.iter().find_map(|place| Some(body.pointer(place)?.as_str()?.to_owned()));
    manager.log().all().iter().filter_map(|request| sender(&request.body)).collect()
}

#[tokio::test]
async fn our_agents_register_in_every_form_whatever_the_manager_complains_of() {
    let complaints = [Complaint::Usual, Complaint::Status, Complaint::Code, Complaint::Exception, Complaint::HangsUp];
    let usual = Frame::ALL.map(|frame| manager::Plan::new(frame, 2));
    let others =
        [Entrance::Register, Entrance::Session].map(|door| manager::Plan::new(Frame::Direct, 2).entering_by(door));
    let plans = usual.into_iter().chain(others);
    for plan in plans.flat_map(|plan| complaints.map(|complaint| plan.clone().complains(complaint))) {
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
    let manager = manager.entering_by(Entrance::Closed).serve().unwrap();
    let (player, _) = listening_player(manager.endpoint(), None).await;
    let rejected = tokio::time::timeout(LIMIT, player.register()).await.unwrap().unwrap_err();
    assert!(rejected.to_string().contains("player_meta"), "{rejected}");
}

#[tokio::test]
async fn our_agents_play_under_managers_with_a_register_path_and_under_mcp_servers() {
    for door in [Entrance::Register, Entrance::Session] {
        let manager = manager::Plan::new(Frame::Direct, 3).entering_by(door).serve().unwrap();
        let (referee, _) = our_referee(manager.endpoint()).await;
        play(&manager, Some(referee), 3, (Speech::Direct, 0)).await;
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
        let invited = &player.log().of("GAME_INVITATION")[0];
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
        let (referee, _) = our_referee(manager.endpoint()).await;
        play(&manager, Some(referee), 0, (Speech::Nested, 2)).await;
        let report = &manager.reports()[0];
        assert_eq!((&report["league_id"], &report["round_id"]), (&json!("league_of_others"), &json!(1)), "{report}");
    }
}

#[tokio::test]
async fn an_announced_match_of_another_referee_is_left_alone() {
    let manager = manager::Plan::new(Frame::Direct, 99).serve().unwrap();
    let (_referee, endpoint) = our_referee(manager.endpoint()).await;
    let game = json!({"match_id": "R1M1", "player_A_id": "P01", "player_B_id": "P02", "referee_endpoint": NOBODY,
        "player_A_endpoint": NOBODY, "player_B_endpoint": NOBODY});
    call(&endpoint, "notify_round", json!({"round_id": 1, "matches": [game]})).await;
    tokio::time::sleep(Duration::from_millis(2500)).await;
    let state = call(&endpoint, "get_match_state", json!({"match_id": "R1M1"})).await;
    assert_eq!(state["error"]["data"]["error_code"], "E007", "{state}");
}

#[tokio::test]
async fn answers_before_the_registration_carry_the_id_that_the_agent_was_started_with() {
    let (_player, endpoint) = listening_player(NOBODY, Some("P01".parse().unwrap())).await;
    assert_eq!(call(&endpoint, "get_player_state", json!({})).await["result"]["sender"], "player:P01");
    let refused = call(&endpoint, "choose_parity", json!({})).await;
    assert_eq!(refused["error"]["data"]["sender"], "player:P01", "{refused}");
    let (_referee, endpoint) = listening_referee(NOBODY, Some("REF02".parse().unwrap()), None).await;
    let refused = call(&endpoint, "get_match_state", json!({"match_id": "R1M1"})).await;
    assert_eq!(refused["error"]["data"]["sender"], "referee:REF02", "{refused}");
}

#[tokio::test]
async fn register_to_league_answers_in_time_where_no_manager_is() {
    let (listener, endpoint) = listen().await;
    let settings = RefereeSettings { answer_limit: Duration::from_secs(2), ..settings(NOBODY, &endpoint) };
    open(listener, Referee::new(settings, Client::default(), None, Environment::real()));
    let (_silent, silent) = listen().await;
    for manager in [NOBODY, &silent] {
        let registering = call(&endpoint, "register_to_league", json!({"manager_endpoint": manager}));
        let answer = tokio::time::timeout(Duration::from_secs(10), registering).await.unwrap();
        assert_eq!(answer["error"]["data"]["error_code"], "E009", "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("start it there"), "{answer}");
    }
}

/// How many messages the manager did not understand; MCP requests do not count.
fn wasted(manager: &manager::Manager) -> usize {
    let probes = ["server/discover", "initialize", "tools/list"];
    let refused = manager.log().refused();
    refused.iter().filter(|request| !probes.contains(&request.body["method"].as_str().unwrap_or_default())).count()
}

/// A manager that takes tool calls and lists no tools can only be found by trying.
fn allowed(frame: Frame) -> usize {
    if frame == Frame::Tools { 2 } else { 1 }
}
