//! Answers that a player posts after a bare acknowledgement: when they count, and each case in which they do not.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::ConversationId;
use league_protocol::lenient::Field;
use league_protocol::token::Credential;
use league_store::home::Home;
use league_store::journal::{JournalLimits, JournalWriter};
use league_store::views::writer::{ViewLimits, ViewWriter};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::*;

const HERE: &str = "127.0.0.1:5000";
const ELSEWHERE: &str = "10.0.0.9:5000";

fn pass(token: &str) -> Value {
    let pass = Credential::new(token).digest().player_pass(&"league".parse().unwrap(), &"R1M1".parse().unwrap());
    json!(Credential::from(pass).reveal())
}

/// A match in which the player P02 acknowledges the call for its choice and posts the choice.
pub(super) struct Stage {
    referee: Referee,
    home: tempfile::TempDir,
    views: ViewWriter,
    journal_writer: JournalWriter,
    manager: HttpServer,
    opponent: HttpServer,
    poster: HttpServer,
    calls: UnboundedReceiver<Value>,
}

pub(super) struct Post<'a> {
    field: &'a str,
    text: &'a str,
    token: Option<&'a str>,
    conversation: Option<&'a Value>,
    from: &'a str,
    signature: Option<&'a str>,
}

impl<'a> Post<'a> {
    pub(super) fn of(choice: &'a str) -> Self {
        Self::with("parity_choice", choice)
    }

    fn with(field: &'a str, text: &'a str) -> Self {
        Self { field, text, token: None, conversation: None, from: HERE, signature: None }
    }

    pub(super) fn with_token(self, token: &'a str) -> Self {
        Self { token: Some(token), ..self }
    }

    pub(super) fn answering(self, call: &'a Value) -> Self {
        Self { conversation: Some(&call["conversation_id"]), ..self }
    }

    pub(super) fn signed(self, signature: &'a str) -> Self {
        Self { signature: Some(signature), ..self }
    }

    fn from(self, from: &'a str) -> Self {
        Self { from, ..self }
    }
}

impl Stage {
    /// P02 joins with the token `joins_with`. With `acknowledgements` it answers the call for its choice with the next one.
    async fn new(joins_with: &'static str, acknowledgements: Option<Receiver<Value>>, opponent: HttpServer) -> Self {
        let (called, calls) = unbounded_channel();
        let acknowledgements = acknowledgements.map(Mutex::new);
        let poster = stub(move |request| {
            let mut message = answer(&request["params"], "P02");
            message["auth_token"] = json!(joins_with);
            if !["CHOOSE_PARITY_RESPONSE", "GAME_MOVE_RESPONSE"].contains(&message["message_type"].as_str().unwrap()) {
                return result(request, &message);
            }
            called.send(request["params"].clone()).unwrap();
            let acknowledgement = acknowledgements.as_ref().map(|receiver| receiver.lock().unwrap().recv().unwrap());
            result(request, &acknowledgement.unwrap_or_else(|| json!({"status": "RECEIVED"})))
        })
        .await;
        let (home, manager) = (tempfile::tempdir().unwrap(), manager().await);
        let views = ViewWriter::start(Home::at(home.path()), ViewLimits::default()).unwrap();
        let journal_writer = JournalWriter::start(JournalLimits::default()).unwrap();
        let journal = Some((journal_writer.clone(), Home::at(home.path())));
        let settings = RefereeSettings { journal, ..settings(&manager) };
        let referee = Referee::new(settings, Client::default(), Some(views.clone()), Environment::real());
        referee.register().await.unwrap();
        Self { referee, home, views, journal_writer, manager, opponent, poster, calls }
    }

    /// The match is started, and P02 has received the call for its choice.
    pub(super) async fn called(joins_with: &'static str, poster: Value, extra: Value) -> (Self, Value) {
        let mut stage = Self::new(joins_with, None, canonical("P01").await).await;
        stage.start(poster, extra).await;
        let call = stage.next_call().await;
        (stage, call)
    }

    /// Like `called`, but the test sends the answers to the calls for a choice.
    async fn held() -> (Self, Value, Sender<Value>) {
        let (sender, acknowledgements) = channel();
        let mut stage = Self::new("tok", Some(acknowledgements), canonical("P01").await).await;
        stage.start(json!({}), json!({})).await;
        let call = stage.next_call().await;
        (stage, call, sender)
    }

    async fn next_call(&mut self) -> Value {
        self.calls.recv().await.unwrap()
    }

    async fn start(&self, poster: Value, extra: Value) {
        let mut players = json!([
            {"player_id": "P01", "endpoint": self.opponent.endpoint()},
            {"player_id": "P02", "endpoint": self.poster.endpoint(), "player_pass": pass("tok-P02-b")},
        ]);
        players[1].as_object_mut().unwrap().extend(poster.as_object().unwrap().clone());
        let mut own = json!({"league_id": "league", "round_id": 1, "players": players});
        own.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let order = order([&self.opponent.endpoint(), &self.poster.endpoint()], &own);
        self.referee.call(incoming(Call::StartMatch(order))).await.unwrap();
    }

    pub(super) async fn post(&self, post: Post<'_>) -> Result<(), RequestError> {
        let mut message = json!({"match_id": "R1M1", "player_id": "P02", post.field: post.text});
        if let Some(signature) = post.signature {
            message["signature"] = json!(signature);
        }
        let mut incoming = incoming(Call::PostChoice(serde_json::from_value(message).unwrap()));
        incoming.peer = post.from.parse::<SocketAddr>().unwrap();
        incoming.head.auth_token = post.token.map(Credential::new);
        if let Some(conversation) = post.conversation {
            incoming.head.conversation_id = Field::Good(ConversationId::named(conversation.as_str().unwrap()));
        }
        self.referee.call(incoming).await.map(drop)
    }

    /// The report and the transcript of the match.
    pub(super) async fn ended(&self) -> (Value, Vec<Value>) {
        while self.referee.running() > 0 {
            tokio::task::yield_now().await;
        }
        self.views.flush().await.unwrap();
        let file = std::fs::read(self.home.path().join("data/matches/league/R1M1.json")).unwrap();
        let file: Value = serde_json::from_slice(&file).unwrap();
        let report = self.manager.calls("report_match_result").remove(0)["params"].clone();
        (report, file["transcript"].as_array().unwrap().clone())
    }

    /// No player forfeits, and this choice of P02 counts. Returns why posts were refused.
    async fn counts(&self, choice: &str) -> Vec<String> {
        let (report, transcript) = self.ended().await;
        assert_eq!((forfeits(&report), choice_of(&report)), (0, &json!(choice)), "{report}");
        refused(&transcript)
    }

    fn log(&self) -> String {
        self.journal_writer.flush();
        std::fs::read_to_string(self.home.path().join("logs/agents/REF01.log.jsonl")).unwrap()
    }
}

fn choice_of(report: &Value) -> &Value {
    &report["result"]["details"]["choices"]["P02"]
}

fn reason(report: &Value) -> &str {
    report["result"]["details"]["reason"].as_str().unwrap()
}

fn refused(transcript: &[Value]) -> Vec<String> {
    transcript.iter().filter_map(|entry| Some(entry["refused"].as_str()?.to_owned())).collect()
}

/// Tries of half a second. With one try, a refused post decides the match.
fn tries(count: u8) -> Value {
    json!({"timeouts": {"game_join_ack_timeout_sec": 8.0, "move_timeout_sec": 0.5, "game_over_timeout_sec": 8.0,
        "max_retries": count}})
}

#[tokio::test]
async fn a_player_cannot_post_an_answer_for_its_opponent() {
    let (stage, _) = Stage::called("tok", json!({"shows_token": true}), json!({})).await;
    let of_opponent = pass("tok-P01-a");
    for token in [None, Some("tok-P01-a"), of_opponent.as_str(), Some("pass-x"), Some("")] {
        let error = stage.post(Post { token, ..Post::of("odd") }).await.unwrap_err();
        let code = if token.is_none() { ErrorCode::E011 } else { ErrorCode::E012 };
        assert_eq!(error.code, Some(code), "{token:?}");
    }
    stage.post(Post::of("even").with_token(pass("tok-P02-b").as_str().unwrap())).await.unwrap();
    assert_eq!(stage.counts("even").await.len(), 5);
}

#[tokio::test]
async fn a_stale_or_absent_token_counts_from_a_player_that_never_showed_a_right_one() {
    for (token, quirk) in [(None, "no_token"), (Some("tok-P02-old"), "odd_token")] {
        for echoes in [true, false] {
            let (stage, call) = Stage::called("tok", json!({}), json!({})).await;
            let post = Post { token, ..Post::of("odd") };
            stage.post(if echoes { post.answering(&call) } else { post }).await.unwrap();
            assert_eq!(stage.counts("odd").await, [""; 0]);
            let (report, transcript) = stage.ended().await;
            let learned = &report["learned"]["P02"];
            assert_eq!(learned["manner"], json!({"frame": "A", "posts": true}));
            for expected in [quirk, "posts_answers"] {
                assert!(learned["quirks"].as_array().unwrap().contains(&json!(expected)), "{learned}");
            }
            assert_eq!(learned.get("shows_token"), None);
            let posted = transcript.iter().find(|entry| entry["message"]["parity_choice"] == "odd").unwrap();
            assert_eq!((&posted["from"], &posted["message_type"]), (&json!("P02"), &json!("CHOOSE_PARITY_RESPONSE")));
            assert_eq!(stage.poster.calls("choose_parity").len(), 1);
        }
    }
}

#[tokio::test]
async fn a_right_token_counts_and_the_manager_is_told_of_it_once() {
    let (stage, _) = Stage::called("tok", json!({}), json!({})).await;
    stage.post(Post::of("odd").with_token("tok-P02-b").from(ELSEWHERE)).await.unwrap();
    let (report, _) = stage.ended().await;
    assert_eq!((choice_of(&report), &report["learned"]["P02"]["shows_token"]), (&json!("odd"), &json!(true)));
}

#[tokio::test]
async fn another_address_does_not_count_and_the_verdict_says_so() {
    let (stage, call) = Stage::called("tok", json!({"manner": {"frame": "A", "posts": true}}), tries(1)).await;
    let error = stage.post(Post::of("odd").answering(&call).from(ELSEWHERE)).await.unwrap_err();
    assert_eq!(error.code, Some(ErrorCode::E012), "{error:?}");
    let (report, transcript) = stage.ended().await;
    assert_eq!(report["result"]["details"]["technical_losses"], json!(["P02"]));
    assert!(reason(&report).contains("P02 answered from another address"), "{}", reason(&report));
    assert!(refused(&transcript)[0].contains("another address"), "{transcript:?}");
}

#[tokio::test]
async fn a_player_needs_its_token_after_it_showed_it_and_in_a_strict_league() {
    let strict = {
        let mut order = tries(1);
        order["strict"] = json!(true);
        order
    };
    let (stale, none) = (Some("tok-P02-old"), None);
    // The manager says that the player shows its token, or the player showed it when it joined. A strict league needs it.
    for (joins_with, known, order, token) in [
        ("tok", true, tries(1), stale),
        ("tok", true, tries(1), none),
        ("tok-P02-b", false, tries(1), stale),
        ("tok-P02-b", false, tries(1), none),
        ("tok-P02-b", false, strict, none),
    ] {
        let (stage, call) = Stage::called(joins_with, json!({"shows_token": known}), order).await;
        let error = stage.post(Post { token, ..Post::of("odd").answering(&call) }).await.unwrap_err();
        let (words, code) = match token {
            Some(_) => ("answered with a wrong token", ErrorCode::E012),
            None => ("answered without a token", ErrorCode::E011),
        };
        assert_eq!(error.code, Some(code), "{error:?}");
        assert!(error.message.contains("auth_token"), "{error:?}");
        let (report, transcript) = stage.ended().await;
        assert_eq!(report["result"]["details"]["technical_losses"], json!(["P02"]));
        assert!(reason(&report).contains(&format!("P02 {words}")), "{}", reason(&report));
        assert_eq!(refused(&transcript), [words]);
    }
}

#[tokio::test]
async fn before_the_next_try_the_player_is_told_why_its_answer_did_not_count() {
    let (mut stage, _) = Stage::called("tok", json!({"shows_token": true}), tries(2)).await;
    stage.post(Post::of("odd").with_token("tok-P02-old")).await.unwrap_err();
    stage.next_call().await;
    stage.post(Post::of("odd").with_token("tok-P02-b")).await.unwrap();
    stage.counts("odd").await;
    let error = &stage.poster.calls("notify_game_error")[0]["params"];
    assert_eq!(error["error_code"], "E012");
    assert!(error["hint"].as_str().unwrap().contains("token"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_on_the_call_itself_goes_before_a_posted_one() {
    let (stage, call, acknowledge) = Stage::held().await;
    stage.post(Post::of("odd").answering(&call)).await.unwrap();
    acknowledge.send(answer(&call, "P02")).unwrap();
    assert_eq!(stage.counts("even").await, ["another answer counts"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_posted_answer_that_echoes_the_conversation_goes_before_one_that_does_not() {
    let (stage, call, acknowledge) = Stage::held().await;
    let guessed = json!({"conversation_id": "conv-r1m1-001"});
    stage.post(Post::of("odd").answering(&guessed)).await.unwrap();
    stage.post(Post::of("even").answering(&call)).await.unwrap();
    acknowledge.send(json!({"status": "RECEIVED"})).unwrap();
    assert_eq!(stage.counts("even").await, ["another answer counts"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_posted_answers_that_differ_are_an_alert_and_the_player_is_asked_again() {
    let (mut stage, _, acknowledge) = Stage::held().await;
    stage.post(Post::of("odd")).await.unwrap();
    let error = stage.post(Post::of("even")).await.unwrap_err();
    assert_eq!((error.code, error.rpc), (Some(ErrorCode::E010), 4005));
    acknowledge.send(json!({"status": "RECEIVED"})).unwrap();
    let call = stage.next_call().await;
    stage.post(Post::of("even").answering(&call)).await.unwrap();
    acknowledge.send(json!({"status": "RECEIVED"})).unwrap();
    assert_eq!(stage.counts("even").await, ["another posted answer differs"; 2]);
    assert_eq!(stage.poster.calls("choose_parity").len(), 2);
    assert!(stage.log().contains("\"WARN\"") && stage.log().contains("two different answers"), "{}", stage.log());
    let error = &stage.poster.calls("notify_game_error")[0]["params"];
    assert!(error["hint"].as_str().unwrap().contains("two different answers"), "{error}");
}

/// A player P01 that answers `message_type` only after a signal, and says when it was called.
async fn waiting_opponent(message_type: &'static str) -> (HttpServer, UnboundedReceiver<()>, Sender<()>) {
    let ((called, is_called), (signal, signalled)) = (unbounded_channel(), channel::<()>());
    let signalled = Mutex::new(signalled);
    let opponent = stub(move |request| {
        if request["params"]["message_type"] == message_type {
            called.send(()).unwrap();
            signalled.lock().unwrap().recv().unwrap();
        }
        result(request, &answer(&request["params"], "P01"))
    });
    (opponent.await, is_called, signal)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_second_choice_is_4005_with_a_warning_and_an_illegal_one_is_4004() {
    let (opponent, _called, let_answer) = waiting_opponent("CHOOSE_PARITY_CALL").await;
    let (acknowledge, acknowledgements) = channel();
    let mut stage = Stage::new("tok", Some(acknowledgements), opponent).await;
    stage.start(json!({}), json!({})).await;
    stage.next_call().await;
    let illegal = stage.post(Post::of("maybe").with_token("tok-P02-b")).await.unwrap_err();
    assert_eq!((illegal.code, illegal.rpc), (Some(ErrorCode::E004), 4004));
    acknowledge.send(json!({"status": "RECEIVED"})).unwrap();
    stage.next_call().await;
    stage.post(Post::of("even").with_token("tok-P02-b")).await.unwrap();
    acknowledge.send(json!({"status": "RECEIVED"})).unwrap();
    let second = stage.post(Post::of("odd").with_token("tok-P02-b")).await.unwrap_err();
    assert_eq!((second.code, second.rpc), (Some(ErrorCode::E010), 4005));
    let_answer.send(()).unwrap();
    assert_eq!(stage.counts("even").await, ["a second choice"]);
    assert!(stage.log().contains("SECOND_CHOICE") && stage.log().contains("\"WARN\""), "{}", stage.log());
    let late = stage.post(Post::of("odd").with_token("tok-P02-b")).await.unwrap_err();
    assert_eq!((late.code, late.rpc), (Some(ErrorCode::E010), 4005), "the match is over");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_counts_before_it_is_asked_for() {
    // The opponent joins only after the choice has been posted.
    let (opponent, mut invited, let_answer) = waiting_opponent("GAME_INVITATION").await;
    let mut stage = Stage::new("tok", None, opponent).await;
    stage.start(json!({}), json!({})).await;
    invited.recv().await.unwrap();
    for token in [Some("tok-P02-b"), None] {
        let error = stage.post(Post { token, ..Post::of("odd") }).await.unwrap_err();
        assert_eq!((error.code, error.rpc), (Some(ErrorCode::E010), 4005));
    }
    let_answer.send(()).unwrap();
    stage.next_call().await;
    stage.post(Post::of("even").with_token("tok-P02-b")).await.unwrap();
    assert_eq!(stage.counts("even").await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_posted_move_is_read_as_a_move_of_its_game() {
    // P01 takes the first free cell: 1 at once, 2 and 4 when the test lets it.
    let (let_answer, signalled) = channel::<()>();
    let signalled = Mutex::new(signalled);
    let opponent = stub(move |request| {
        if request["params"]["context"]["state"].as_str().is_some_and(|board| board.contains('X')) {
            signalled.lock().unwrap().recv().unwrap();
        }
        result(request, &answer(&request["params"], "P01"))
    })
    .await;
    let mut stage = Stage::new("tok", None, opponent).await;
    stage.start(json!({}), json!({"game_type": "tic_tac_toe"})).await;
    for (field, text) in [("parity_choice", "3"), ("move", "1")] {
        stage.next_call().await;
        let error = stage.post(Post::with(field, text).with_token("tok-P02-b")).await.unwrap_err();
        assert_eq!((error.code, error.field.as_deref()), (Some(ErrorCode::E004), Some("move")), "{error:?}");
    }
    for cell in ["3", "5"] {
        stage.next_call().await;
        stage.post(Post::with("move", cell).with_token("tok-P02-b")).await.unwrap();
        let error = stage.post(Post::with("move", "9").with_token("tok-P02-b")).await.unwrap_err();
        assert_eq!((error.code, error.rpc), (Some(ErrorCode::E010), 4005));
        assert!(error.message.contains("a second move; the first move of a turn counts"), "{error:?}");
        let_answer.send(()).unwrap();
    }
    stage.next_call().await;
    stage.post(Post::with("move", "7").with_token("tok-P02-b")).await.unwrap();
    let (report, transcript) = stage.ended().await;
    assert_eq!((forfeits(&report), &report["result"]["winner"]), (0, &json!("P02")), "{report}");
    let posted = transcript.iter().filter(|entry| entry["from"] == "P02" && entry["message"].get("move").is_some());
    assert!(posted.clone().count() > 2 && posted.clone().all(|entry| entry["message_type"] == "GAME_MOVE_RESPONSE"));
    assert!(!stage.log().contains("SECOND_CHOICE") && stage.log().contains("SECOND_MOVE"), "{}", stage.log());
}
