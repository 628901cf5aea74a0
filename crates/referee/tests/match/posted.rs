//! Answers that a player posts after a bare acknowledgement: when they count, and each case in which they do not.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::ConversationId;
use league_protocol::lenient::Field;
use league_protocol::token::Credential;
use league_store::home::Home;
use league_store::journal::{JournalLimits, JournalWriter};
use league_store::views::writer::{ViewLimits, ViewWriter};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::forged::pass;
use super::*;

const HERE: &str = "127.0.0.1:5000";
const ELSEWHERE: &str = "10.0.0.9:5000";

/// The player P02 acknowledges every call and posts its answers.
struct Stage {
    referee: Referee,
    home: tempfile::TempDir,
    views: ViewWriter,
    transcript_writer: JournalWriter,
    manager: HttpServer,
    poster: HttpServer,
    questions: UnboundedReceiver<Value>,
}

struct Letter<'a> {
    message: Value,
    token: Option<&'a str>,
    conversation: Option<&'a Value>,
    from: &'a str,
}

impl<'a> Letter<'a> {
    fn choice(choice: &str) -> Self {
        Self::with("parity_choice", choice)
    }

    fn with(field: &str, text: &str) -> Self {
        let message = json!({"match_id": "R1M1", "player_id": "P02", field: text});
        Self { message, token: None, conversation: None, from: HERE }
    }

    fn showing(self, token: &'a str) -> Self {
        Self { token: Some(token), ..self }
    }

    fn echoing(self, question: &'a Value) -> Self {
        Self { conversation: Some(&question["conversation_id"]), ..self }
    }

    fn from(self, from: &'a str) -> Self {
        Self { from, ..self }
    }
}

impl Stage {
    /// P02 joins in its answer with the token `joins_with`, and acknowledges the call for its choice after a message on
    /// `go`.
    async fn set(joins_with: &'static str, go: Option<Receiver<Value>>) -> Self {
        let (asked, questions) = unbounded_channel();
        let go = go.map(Mutex::new);
        let poster = stub(move |question| {
            let mut letter = answer(&question["params"], "P02");
            letter["auth_token"] = json!(joins_with);
            if !["CHOOSE_PARITY_RESPONSE", "GAME_MOVE_RESPONSE"].contains(&letter["message_type"].as_str().unwrap()) {
                return result(question, &letter);
            }
            asked.send(question["params"].clone()).unwrap();
            let said = go.as_ref().map(|go| go.lock().unwrap().recv().unwrap());
            result(question, &said.unwrap_or_else(|| json!({"status": "RECEIVED"})))
        })
        .await;
        let (home, manager) = (tempfile::tempdir().unwrap(), manager().await);
        let views = ViewWriter::start(Home::at(home.path()), ViewLimits::default()).unwrap();
        let transcript_writer = JournalWriter::start(JournalLimits::default()).unwrap();
        let settings =
            RefereeSettings { journal: Some((transcript_writer.clone(), Home::at(home.path()))), ..settings(&manager) };
        let referee = Referee::new(settings, Client::default(), Some(views.clone()), Environment::real());
        referee.register().await.unwrap();
        Self { referee, home, views, transcript_writer, manager, poster, questions }
    }

    async fn start(&self, a: &HttpServer, poster: Value, extra: Value) {
        let mut players = json!([
            {"player_id": "P01", "endpoint": a.endpoint()},
            {"player_id": "P02", "endpoint": self.poster.endpoint(), "player_pass": pass("tok-P02-b")},
        ]);
        players[1].as_object_mut().unwrap().extend(poster.as_object().unwrap().clone());
        let mut own = json!({"league_id": "league", "round_id": 1, "players": players});
        own.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let order = order([&a.endpoint(), &self.poster.endpoint()], &own);
        self.referee.call(arrived(Call::StartMatch(order))).await.unwrap();
    }

    async fn post(&self, letter: Letter<'_>) -> Result<(), RequestError> {
        let mut arrived = arrived(Call::PostChoice(serde_json::from_value(letter.message).unwrap()));
        arrived.peer = letter.from.parse::<SocketAddr>().unwrap();
        arrived.head.auth_token = letter.token.map(Credential::new);
        if let Some(conversation) = letter.conversation {
            arrived.head.conversation_id = Field::Good(ConversationId::named(conversation.as_str().unwrap()));
        }
        self.referee.call(arrived).await.map(drop)
    }

    async fn ended(&self) -> (Value, Vec<Value>) {
        while self.referee.running() > 0 {
            tokio::task::yield_now().await;
        }
        self.views.flush().await.unwrap();
        let file = std::fs::read(self.home.path().join("data/matches/league/R1M1.json")).unwrap();
        let file: Value = serde_json::from_slice(&file).unwrap();
        let report = self.manager.calls("report_match_result").remove(0)["params"].clone();
        (report, file["transcript"].as_array().unwrap().clone())
    }

    fn log(&self) -> String {
        self.transcript_writer.flush();
        std::fs::read_to_string(self.home.path().join("logs/agents/REF01.log.jsonl")).unwrap()
    }
}

fn choice_of(report: &Value) -> &Value {
    &report["result"]["details"]["choices"]["P02"]
}

fn reason(report: &Value) -> &str {
    report["result"]["details"]["reason"].as_str().unwrap()
}

fn refused(transcript: &[Value]) -> Vec<&str> {
    transcript.iter().filter_map(|said| said["refused"].as_str()).collect()
}

/// One try of half a second: a refused post then decides the match.
fn one_try() -> Value {
    json!({"timeouts": {"game_join_ack_timeout_sec": 8.0, "move_timeout_sec": 0.5, "game_over_timeout_sec": 8.0,
        "max_retries": 1}})
}

#[tokio::test]
async fn a_stale_or_absent_token_counts_from_a_player_that_never_showed_a_right_one() {
    for (token, quirk) in [(None, "no_token"), (Some("tok-P02-old"), "odd_token")] {
        for echoes in [true, false] {
            let (a, mut stage) = (canonical("P01").await, Stage::set("tok", None).await);
            stage.start(&a, json!({}), json!({})).await;
            let question = stage.questions.recv().await.unwrap();
            let mut letter = Letter { token, ..Letter::choice("odd") };
            if echoes {
                letter = letter.echoing(&question);
            }
            stage.post(letter).await.unwrap();
            let (report, transcript) = stage.ended().await;
            assert_eq!((forfeits(&report), choice_of(&report)), (0, &json!("odd")), "{report}");
            let learned = &report["learned"]["P02"];
            assert_eq!(learned["manner"], json!({"frame": "A", "posts": true}));
            for expected in [quirk, "posts_answers"] {
                assert!(learned["quirks"].as_array().unwrap().contains(&json!(expected)), "{learned}");
            }
            assert_eq!(learned.get("shows_token"), None);
            assert_eq!(refused(&transcript), [""; 0]);
            let posted = transcript.iter().find(|said| said["message"]["parity_choice"] == "odd").unwrap();
            assert_eq!((&posted["from"], &posted["message_type"]), (&json!("P02"), &json!("CHOOSE_PARITY_RESPONSE")));
            assert_eq!(stage.poster.calls("choose_parity").len(), 1);
        }
    }
}

#[tokio::test]
async fn a_right_token_counts_and_the_manager_is_told_of_it_once() {
    let (a, mut stage) = (canonical("P01").await, Stage::set("tok", None).await);
    stage.start(&a, json!({}), json!({})).await;
    stage.questions.recv().await.unwrap();
    stage.post(Letter::choice("odd").showing("tok-P02-b").from(ELSEWHERE)).await.unwrap();
    let (report, _) = stage.ended().await;
    assert_eq!((choice_of(&report), &report["learned"]["P02"]["shows_token"]), (&json!("odd"), &json!(true)));
}

#[tokio::test]
async fn another_address_does_not_count_and_the_verdict_says_so() {
    let (a, mut stage) = (canonical("P01").await, Stage::set("tok", None).await);
    stage.start(&a, json!({"manner": {"frame": "A", "posts": true}}), one_try()).await;
    let question = stage.questions.recv().await.unwrap();
    let fault = stage.post(Letter::choice("odd").echoing(&question).from(ELSEWHERE)).await.unwrap_err();
    assert_eq!(fault.code, Some(ErrorCode::E012), "{fault:?}");
    let (report, transcript) = stage.ended().await;
    assert_eq!(report["result"]["details"]["technical_losses"], json!(["P02"]));
    assert!(reason(&report).contains("P02 answered from another address"), "{}", reason(&report));
    assert!(refused(&transcript)[0].contains("another address"), "{transcript:?}");
}

#[tokio::test]
async fn a_player_that_has_shown_a_right_token_needs_it() {
    // The manager sends the token's digest, or the player showed the token when it joined this match.
    for (joins_with, known) in [("tok", true), ("tok-P02-b", false)] {
        for (token, words, code) in [
            (Some("tok-P02-old"), "answered with a wrong token", ErrorCode::E012),
            (None, "answered without a token", ErrorCode::E011),
        ] {
            let (a, mut stage) = (canonical("P01").await, Stage::set(joins_with, None).await);
            stage.start(&a, json!({"shows_token": known}), one_try()).await;
            let question = stage.questions.recv().await.unwrap();
            let letter = Letter { token, ..Letter::choice("odd").echoing(&question) };
            let fault = stage.post(letter).await.unwrap_err();
            assert_eq!(fault.code, Some(code), "{fault:?}");
            assert!(fault.message.contains("auth_token"), "{fault:?}");
            let (report, transcript) = stage.ended().await;
            assert_eq!(report["result"]["details"]["technical_losses"], json!(["P02"]));
            assert!(reason(&report).contains(&format!("P02 {words}")), "{}", reason(&report));
            assert_eq!(refused(&transcript), [words]);
        }
    }
}

#[tokio::test]
async fn before_the_next_try_the_player_is_told_why_its_answer_did_not_count() {
    let (a, mut stage) = (canonical("P01").await, Stage::set("tok", None).await);
    let twice = json!({"timeouts": {"game_join_ack_timeout_sec": 8.0, "move_timeout_sec": 0.5,
        "game_over_timeout_sec": 8.0, "max_retries": 2}});
    stage.start(&a, json!({"shows_token": true}), twice).await;
    stage.questions.recv().await.unwrap();
    stage.post(Letter::choice("odd").showing("tok-P02-old")).await.unwrap_err();
    stage.questions.recv().await.unwrap();
    stage.post(Letter::choice("odd").showing("tok-P02-b")).await.unwrap();
    let (report, _) = stage.ended().await;
    assert_eq!((forfeits(&report), choice_of(&report)), (0, &json!("odd")));
    let told = &stage.poster.calls("notify_game_error")[0]["params"];
    assert_eq!(told["error_code"], "E012");
    assert!(told["hint"].as_str().unwrap().contains("token"), "{told}");
}

#[tokio::test]
async fn a_strict_league_takes_no_answer_without_a_right_token() {
    let (a, mut stage) = (canonical("P01").await, Stage::set("tok-P02-b", None).await);
    let mut strict = one_try();
    strict["strict"] = json!(true);
    stage.start(&a, json!({}), strict).await;
    let question = stage.questions.recv().await.unwrap();
    let fault = stage.post(Letter::choice("odd").echoing(&question)).await.unwrap_err();
    assert_eq!(fault.code, Some(ErrorCode::E011));
    let (report, _) = stage.ended().await;
    assert!(reason(&report).contains("P02 answered without a token"), "{}", reason(&report));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_on_the_call_itself_goes_before_a_posted_one() {
    let (go, wait) = channel();
    let (a, mut stage) = (canonical("P01").await, Stage::set("tok", Some(wait)).await);
    stage.start(&a, json!({}), json!({})).await;
    let question = stage.questions.recv().await.unwrap();
    stage.post(Letter::choice("odd").echoing(&question)).await.unwrap();
    go.send(answer(&question, "P02")).unwrap();
    let (report, transcript) = stage.ended().await;
    assert_eq!((forfeits(&report), choice_of(&report)), (0, &json!("even")), "{report}");
    assert_eq!(refused(&transcript), ["another answer counts"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_posted_answer_that_echoes_the_conversation_goes_before_one_that_does_not() {
    let (go, wait) = channel();
    let (a, mut stage) = (canonical("P01").await, Stage::set("tok", Some(wait)).await);
    stage.start(&a, json!({}), json!({})).await;
    let question = stage.questions.recv().await.unwrap();
    let guessed = json!({"conversation_id": "conv-r1m1-001"});
    stage.post(Letter::choice("odd").echoing(&guessed)).await.unwrap();
    stage.post(Letter::choice("even").echoing(&question)).await.unwrap();
    go.send(json!({"status": "RECEIVED"})).unwrap();
    let (report, transcript) = stage.ended().await;
    assert_eq!((forfeits(&report), choice_of(&report)), (0, &json!("even")), "{report}");
    assert_eq!(refused(&transcript), ["another answer counts"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_posted_answers_that_differ_are_an_alert_and_the_player_is_asked_again() {
    let (go, wait) = channel();
    let (a, mut stage) = (canonical("P01").await, Stage::set("tok", Some(wait)).await);
    stage.start(&a, json!({}), json!({})).await;
    stage.questions.recv().await.unwrap();
    stage.post(Letter::choice("odd")).await.unwrap();
    let fault = stage.post(Letter::choice("even")).await.unwrap_err();
    assert_eq!((fault.code, fault.rpc), (Some(ErrorCode::E010), 4005));
    go.send(json!({"status": "RECEIVED"})).unwrap();
    let question = stage.questions.recv().await.unwrap();
    stage.post(Letter::choice("even").echoing(&question)).await.unwrap();
    go.send(json!({"status": "RECEIVED"})).unwrap();
    let (report, transcript) = stage.ended().await;
    assert_eq!((forfeits(&report), choice_of(&report)), (0, &json!("even")), "{report}");
    assert_eq!(stage.poster.calls("choose_parity").len(), 2);
    assert_eq!(refused(&transcript), ["another posted answer differs"; 2]);
    assert!(stage.log().contains("\"WARN\"") && stage.log().contains("two different answers"), "{}", stage.log());
    let told = &stage.poster.calls("notify_game_error")[0]["params"];
    assert!(told["hint"].as_str().unwrap().contains("two different answers"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_second_choice_is_4005_with_a_warning_and_an_illegal_one_is_4004() {
    let (go, wait) = channel();
    let (a, mut stage) = (canonical("P01").await, Stage::set("tok", Some(wait)).await);
    // The opponent is asked as well, and answers only at the end of this test.
    let (open, opened) = channel::<()>();
    let opened = Mutex::new(opened);
    let slow = stub(move |question| {
        if question["params"]["message_type"] == "CHOOSE_PARITY_CALL" {
            opened.lock().unwrap().recv().unwrap();
        }
        result(question, &answer(&question["params"], "P01"))
    })
    .await;
    drop(a);
    stage.start(&slow, json!({}), json!({})).await;
    stage.questions.recv().await.unwrap();
    let illegal = stage.post(Letter::choice("maybe").showing("tok-P02-b")).await.unwrap_err();
    assert_eq!((illegal.code, illegal.rpc), (Some(ErrorCode::E004), 4004));
    go.send(json!({"status": "RECEIVED"})).unwrap();
    stage.questions.recv().await.unwrap();
    stage.post(Letter::choice("even").showing("tok-P02-b")).await.unwrap();
    go.send(json!({"status": "RECEIVED"})).unwrap();
    let second = stage.post(Letter::choice("odd").showing("tok-P02-b")).await.unwrap_err();
    assert_eq!((second.code, second.rpc), (Some(ErrorCode::E010), 4005));
    open.send(()).unwrap();
    let (report, transcript) = stage.ended().await;
    assert_eq!((forfeits(&report), choice_of(&report)), (0, &json!("even")));
    assert_eq!(refused(&transcript), ["a second choice"]);
    assert!(stage.log().contains("SECOND_CHOICE") && stage.log().contains("\"WARN\""), "{}", stage.log());
    let late = stage.post(Letter::choice("odd").showing("tok-P02-b")).await.unwrap_err();
    assert_eq!((late.code, late.rpc), (Some(ErrorCode::E010), 4005), "the match is over");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_counts_before_it_is_asked_for() {
    // The opponent joins only after the choice has been posted.
    let (open, opened) = channel::<()>();
    let (invited, mut is_invited) = unbounded_channel();
    let opened = Mutex::new(opened);
    let a = stub(move |question| {
        if question["params"]["message_type"] == "GAME_INVITATION" {
            invited.send(()).unwrap();
            opened.lock().unwrap().recv().unwrap();
        }
        result(question, &answer(&question["params"], "P01"))
    })
    .await;
    let mut stage = Stage::set("tok", None).await;
    stage.start(&a, json!({}), json!({})).await;
    is_invited.recv().await.unwrap();
    for token in [Some("tok-P02-b"), None] {
        let fault = stage.post(Letter { token, ..Letter::choice("odd") }).await.unwrap_err();
        assert_eq!((fault.code, fault.rpc), (Some(ErrorCode::E010), 4005));
    }
    open.send(()).unwrap();
    stage.questions.recv().await.unwrap();
    stage.post(Letter::choice("even").showing("tok-P02-b")).await.unwrap();
    let (report, transcript) = stage.ended().await;
    assert_eq!(choice_of(&report), &json!("even"));
    assert_eq!(refused(&transcript).len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_posted_move_is_read_as_a_move_of_its_game() {
    // P01 takes the first free cell: 1 at once, 2 and 4 when the test lets it.
    let (go, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let a = stub(move |question| {
        if question["params"]["context"]["state"].as_str().is_some_and(|board| board.contains('X')) {
            wait.lock().unwrap().recv().unwrap();
        }
        result(question, &answer(&question["params"], "P01"))
    })
    .await;
    let mut stage = Stage::set("tok", None).await;
    stage.start(&a, json!({}), json!({"game_type": "tic_tac_toe"})).await;
    for (field, text) in [("parity_choice", "3"), ("move", "1")] {
        stage.questions.recv().await.unwrap();
        let error = stage.post(Letter::with(field, text).showing("tok-P02-b")).await.unwrap_err();
        assert_eq!((error.code, error.field.as_deref()), (Some(ErrorCode::E004), Some("move")), "{error:?}");
    }
    for cell in ["3", "5"] {
        stage.questions.recv().await.unwrap();
        stage.post(Letter::with("move", cell).showing("tok-P02-b")).await.unwrap();
        let error = stage.post(Letter::with("move", "9").showing("tok-P02-b")).await.unwrap_err();
        assert!(error.message.contains("nothing of the kind is asked for now"), "not its turn: {error:?}");
        go.send(()).unwrap();
    }
    stage.questions.recv().await.unwrap();
    stage.post(Letter::with("move", "7").showing("tok-P02-b")).await.unwrap();
    let (report, transcript) = stage.ended().await;
    assert_eq!((forfeits(&report), &report["result"]["winner"]), (0, &json!("P02")), "{report}");
    let posted = transcript.iter().filter(|entry| entry["from"] == "P02" && entry["message"].get("move").is_some());
    assert!(posted.clone().count() > 2 && posted.clone().all(|entry| entry["message_type"] == "GAME_MOVE_RESPONSE"));
    assert!(!stage.log().contains("SECOND_CHOICE"), "{}", stage.log());
}
