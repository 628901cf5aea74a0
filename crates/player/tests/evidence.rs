//! A player signs its answers, and tells its manager what speaks against a referee. The manager is a stub on a socket; the test is
//! the referee.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail, and so may what helps it")]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use league_core::season::agent::AgentId;
use league_player::player::{Player, PlayerSettings};
use league_player::strategy::registry::strategy;
use league_player::strategy_runner::StrategyRunner;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::frame::Frame;
use league_protocol::id::{LeagueId, MatchId};
use league_protocol::quirk::Quirks;
use league_protocol::request::{self, Incoming};
use league_protocol::table::MethodSpelling;
use league_protocol::token::{Pass, Token};
use league_store::home::Home;
use league_store::journal::{JournalLimits, JournalWriter};
use league_test_agents::http_server::{HttpReply, HttpServer, ReservedPort, Then};
use league_wire::agent::{Agent, IncomingCall};
use league_wire::client::Client;
use league_wire::environment::Environment;
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(20);

fn token() -> Token {
    Token::mint("P01", &[0xA5; 32])
}

fn league() -> LeagueId {
    "harbour_cup".parse().unwrap()
}

fn registered(request: &Value) -> HttpReply {
    let answer = json!({
        "message_type": "LEAGUE_REGISTER_RESPONSE", "status": "ACCEPTED", "player_id": "P01", "league_id": "harbour_cup",
        "auth_token": token().reveal(), "pass_scheme": "hmac-sha256",
    });
    // The client would replace a pooled connection that is closed without an answer, beside its own tries.
    HttpReply::result(request, &answer).then(Then::Close)
}

/// Registers the player; `others` answers every other call.
fn manager(others: impl Fn(&Value) -> HttpReply + Send + Sync + 'static) -> HttpServer {
    let answer = move |request: &Value| {
        if request["method"] == "register_player" { registered(request) } else { others(request) }
    };
    HttpServer::stub(move |request| answer(&request.json())).unwrap()
}

fn acknowledging() -> HttpServer {
    manager(|request| HttpReply::result(request, &json!({ "status": "ACKNOWLEDGED" })))
}

/// Takes any call but the registration and never answers it. Returns the requests as well.
fn silent() -> (HttpServer, mpsc::Receiver<Value>) {
    let (note, requests) = mpsc::channel();
    let server = ReservedPort::free().unwrap().serve(move |request| {
        let request = request.json();
        let answer = (request["method"] == "register_player").then(|| registered(&request));
        drop(note.send(request));
        async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        }
    });
    (server.unwrap(), requests)
}

struct Registered {
    player: Player,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Registered {
    async fn with(manager: &HttpServer) -> Self {
        Self::of(PlayerSettings::new(
            "Alpha",
            manager.endpoint().parse().unwrap(),
            "http://127.0.0.1:9".parse().unwrap(),
        ))
        .await
    }

    async fn of(settings: PlayerSettings) -> Self {
        let strategy = StrategyRunner::new(strategy("random").unwrap());
        let player = Player::new(settings, strategy, Client::default(), Environment::real());
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&lines);
        player.on_news(move |line| heard.lock().unwrap().push(line.to_owned()));
        player.register().await.unwrap();
        Self { player, lines }
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    async fn called(&self, method: &str, sender: &str, pass: &Pass, fields: &Value) -> Result<Value, RequestError> {
        let mut params = json!({
            "protocol": "league.v2", "sender": sender, "timestamp": "2026-03-04T09:00:00Z", "conversation_id": "conv-1",
            "auth_token": pass.reveal(), "league_id": "harbour_cup", "match_id": "R2M3", "player_id": "P01", "attempt": 1,
        });
        params.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let body = json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": 1 }).to_string();
        let Incoming::Call(request) = request::read(body.as_bytes()).unwrap() else { panic!("{body}") };
        let incoming = IncomingCall {
            method: request.call.method(),
            call: request.call.try_into().unwrap(),
            head: request.head,
            quirks: Quirks::default(),
            frame: Frame::Direct,
            spelling: MethodSpelling::Name,
            one_name: None,
            peer: SocketAddr::from(([127, 0, 0, 1], 1)),
        };
        Ok(serde_json::from_str(self.player.call(incoming).await?.body.get()).unwrap())
    }

    async fn asked(&self, method: &str, fields: Value) -> Result<Value, RequestError> {
        let match_id: MatchId = "R2M3".parse().unwrap();
        let pass = token().digest().referee_pass(&league(), &match_id, &"REF01".parse().unwrap());
        self.called(method, "referee:REF01", &pass, &fields).await
    }

    async fn told(&self, method: &str, fields: Value) -> Value {
        self.called(method, "league_manager", &token().digest().manager_pass(&league()), &fields).await.unwrap()
    }

    async fn seen(&self) -> Value {
        let said = self.told("confirm_match", json!({})).await;
        json!([said["called"], said["joined"], said["moves"], said["revealed"], said["draw_commitment"]])
    }
}

fn invitation() -> Value {
    json!({ "role_in_match": "PLAYER_A", "opponent_id": "P02", "draw_commitment": "ab".repeat(32) })
}

fn question() -> Value {
    json!({ "game_number": 1, "turn": 1, "context": { "opponent_id": "P02" } })
}

fn announcement(commitment: &str) -> Value {
    json!({ "round_id": 2, "matches": [{
        "match_id": "R2M3", "player_A_id": "P01", "player_B_id": "P02", "referee_id": "REF01", "attempt": 1,
        "draw_commitment": commitment,
    }] })
}

/// Waits without blocking the runtime, on which the stub runs.
async fn calls(manager: &HttpServer, method: &str, count: usize) -> Vec<Value> {
    let began = Instant::now();
    while manager.calls(method).len() < count && began.elapsed() < LIMIT {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    manager.calls(method)
}

#[tokio::test]
async fn a_move_that_the_referee_asks_for_again_is_deposited_without_a_delay() {
    let (manager, requests) = silent();
    let player = Registered::with(&manager).await;
    let joined = player.asked("handle_game_invitation", invitation()).await.unwrap();
    assert_eq!(player.asked("handle_game_invitation", invitation()).await.unwrap()["signature"], joined["signature"]);
    assert_eq!(joined["signature"].as_str().unwrap().len(), 64, "{joined}");
    let first = player.asked("choose_parity", question()).await.unwrap();
    let began = Instant::now();
    for _ in 0..3 {
        let again = player.asked("choose_parity", question()).await.unwrap();
        assert_eq!((&again["parity_choice"], &again["signature"]), (&first["parity_choice"], &first["signature"]));
    }
    player.asked("notify_game_error", json!({ "error_code": "E001" })).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(5), "the answers wait for the manager");
    tokio::time::sleep(Duration::from_millis(500)).await;
    let deposits: Vec<Value> = requests.try_iter().filter(|request| request["method"] == "deposit_move").collect();
    let [deposit] = &deposits[..] else { panic!("{deposits:?}") };
    let deposit = &deposit["params"];
    assert_eq!(
        (&deposit["message_type"], &deposit["auth_token"]),
        (&json!("MOVE_DEPOSIT"), &json!(token().reveal())),
        "{deposit}"
    );
    assert_eq!((&deposit["move"], &deposit["signature"]), (&first["parity_choice"], &first["signature"]));
    assert_eq!((&deposit["attempt"], &deposit["game_number"], &deposit["turn"]), (&json!(1), &json!(1), &json!(1)));
}

#[tokio::test]
async fn an_unreachable_manager_gets_three_tries_and_one_that_knows_no_deposits_gets_one() {
    let tries = AtomicUsize::new(0);
    let hangs_up_twice = manager(move |request| match tries.fetch_add(1, Ordering::Relaxed) {
        0 | 1 => HttpReply::default().then(Then::Close),
        _ => HttpReply::result(request, &json!({})),
    });
    let hangs_up = manager(|_| HttpReply::default().then(Then::Close));
    let knows_nothing = manager(|request| {
        HttpReply::json(
            200,
            &json!({ "jsonrpc": "2.0", "error": { "code": -32601, "message": "?" }, "id": request["id"] }),
        )
    });
    for (manager, expected) in [(&hangs_up_twice, 3), (&hangs_up, 3), (&knows_nothing, 1)] {
        let player = Registered::with(manager).await;
        player.asked("choose_parity", question()).await.unwrap();
        player.asked("choose_parity", question()).await.unwrap();
        calls(manager, "deposit_move", expected).await;
        // As long as another try would take.
        tokio::time::sleep(Duration::from_millis(1200)).await;
        assert_eq!(manager.calls("deposit_move").len(), expected);
    }
}

#[tokio::test]
async fn another_commitment_than_announced_is_refused_printed_logged_and_disputed() {
    let manager = acknowledging();
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    let journal = home.agent_journal(&AgentId::Player("P01".parse().unwrap()));
    let writer = JournalWriter::start(JournalLimits::default()).unwrap();
    let endpoint = manager.endpoint().parse().unwrap();
    let settings = PlayerSettings {
        home: Some(home),
        journal_writer: Some(writer.clone()),
        ..PlayerSettings::new("Alpha", endpoint, "http://127.0.0.1:9".parse().unwrap())
    };
    let player = Registered::of(settings).await;
    player.told("notify_round", announcement(&"cd".repeat(32))).await;
    for _ in 0..2 {
        let refused = player.asked("handle_game_invitation", invitation()).await.unwrap_err();
        assert_eq!(refused.code, Some(ErrorCode::E010));
        assert!(refused.message.contains("another one than the manager announced for R2M3"), "{refused}");
        assert_eq!(player.asked("choose_parity", question()).await.unwrap_err().code, Some(ErrorCode::E010));
    }
    let disputes = calls(&manager, "dispute_match", 1).await;
    let [dispute] = &disputes[..] else { panic!("{disputes:?}") };
    let dispute = &dispute["params"];
    assert_eq!(
        (&dispute["message_type"], &dispute["auth_token"]),
        (&json!("MATCH_DISPUTE"), &json!(token().reveal())),
        "{dispute}"
    );
    assert_eq!((&dispute["match_id"], &dispute["attempt"]), (&json!("R2M3"), &json!(1)));
    assert_eq!(dispute["reason"], "other_commitment");
    assert_eq!(
        player.lines(),
        ["R2M3: this player was shown another commitment than the assigned one; the manager is told"]
    );
    assert_eq!(player.seen().await, json!([true, false, 0, false, "ab".repeat(32)]));
    writer.flush();
    let logged = std::fs::read_to_string(journal).unwrap();
    let line = logged.lines().find(|line| line.contains("MATCH_DISPUTED")).unwrap();
    assert!(line.contains("WARN"), "{line}");
}

#[tokio::test]
async fn a_result_with_another_move_is_disputed_before_the_player_leaves() {
    let manager = acknowledging();
    let player = Registered::with(&manager).await;
    player.asked("handle_game_invitation", invitation()).await.unwrap();
    let chosen = player.asked("choose_parity", question()).await.unwrap();
    let other = if chosen["parity_choice"] == "even" { "odd" } else { "even" };
    let over = json!({ "result": "LOSS", "your_choice": other, "provisional": true });
    player.asked("notify_match_result", over).await.unwrap();
    player.told("notify_league_completed", json!({})).await;
    tokio::time::timeout(LIMIT, player.player.until_done()).await.unwrap();
    let disputes = manager.calls("dispute_match");
    assert_eq!(disputes[0]["params"]["reason"], "other_move", "{disputes:?}");
    let lines = player.lines();
    assert_eq!(lines[0], "R2M3: over (provisional: the manager does not answer the referee yet)");
    assert!(lines[1].contains("was told of another move than it made"), "{lines:?}");
}

#[tokio::test]
async fn a_league_ends_although_the_manager_takes_no_evidence() {
    let (manager, _requests) = silent();
    let player = Registered::with(&manager).await;
    player.asked("choose_parity", question()).await.unwrap();
    player.asked("choose_parity", question()).await.unwrap();
    player.told("notify_league_completed", json!({})).await;
    let began = Instant::now();
    tokio::time::timeout(LIMIT, player.player.until_done()).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
}

#[tokio::test]
async fn the_player_tells_its_manager_what_it_saw() {
    let manager = acknowledging();
    let player = Registered::with(&manager).await;
    assert_eq!(player.seen().await, json!([false, false, 0, false, null]));
    player.asked("handle_game_invitation", invitation()).await.unwrap();
    assert_eq!(player.seen().await, json!([true, true, 0, false, "ab".repeat(32)]));
    player.asked("choose_parity", question()).await.unwrap();
    player.asked("choose_parity", question()).await.unwrap();
    assert_eq!(player.seen().await, json!([true, true, 1, false, "ab".repeat(32)]));
    player.asked("notify_match_result", json!({ "result": "WIN" })).await.unwrap();
    assert_eq!(player.seen().await, json!([true, true, 1, true, "ab".repeat(32)]));
    let refused = player.asked("confirm_match", json!({})).await.unwrap_err();
    assert_eq!(refused.code, Some(ErrorCode::E012));
}
