//! The report comes before GAME_OVER, capacity ends with it, and the manager hears when the players know the result.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};

use league_protocol::draw::DrawSecret;
use league_protocol::message::start_match::StartMatchAnswer;
use league_protocol::token::Credential;
use league_wire::agent::CallAnswer;
use tokio::time::{sleep, timeout};

use super::*;

const LIMIT: Duration = Duration::from_secs(10);
const TOKEN: &str = "tok-REF01-AAAA";

/// A manager of ours that answers a call of `method` with the result of `answer`, and every other call as expected.
pub(crate) async fn our_manager(
    method: &'static str,
    answer: impl Fn(&Value) -> Value + Send + Sync + 'static,
) -> HttpServer {
    stub(move |request| match request["method"].as_str().unwrap() {
        called if called == method => answer(request),
        "register_referee" => result(
            request,
            &json!({"status": "ACCEPTED", "referee_id": "REF01", "league_id": "league", "auth_token": TOKEN,
                "pass_scheme": "hmac-sha256"}),
        ),
        _ => result(request, &json!({"status": "ACCEPTED"})),
    })
    .await
}

/// Orders a match as the manager does, with its pass.
pub(crate) async fn ordered(referee: &Referee, order: StartMatch) -> StartMatchAnswer {
    let mut incoming = incoming(Call::StartMatch(order));
    let pass = Credential::new(TOKEN).digest().manager_pass(&"league".parse().unwrap());
    incoming.head.auth_token = Some(Credential::from(pass));
    let answer: CallAnswer = referee.call(incoming).await.unwrap();
    serde_json::from_str(answer.body.get()).unwrap()
}

pub(crate) async fn our_referee(manager: &HttpServer, capacity: u32) -> Referee {
    let settings = RefereeSettings { capacity, ..settings(manager) };
    let referee = Referee::new(settings, Client::default(), None, Environment::real());
    referee.register().await.unwrap();
    referee
}

pub(crate) async fn until(what: &str, done: impl Fn() -> bool) {
    let waiting = async {
        while !done() {
            sleep(Duration::from_millis(2)).await;
        }
    };
    assert!(timeout(LIMIT, waiting).await.is_ok(), "waited for {what} in vain");
}

fn game(match_id: &str, [a, b]: [&HttpServer; 2], extra: Value) -> StartMatch {
    let mut own = json!({"league_id": "league", "round_id": 1, "match_id": match_id});
    let Value::Object(extra) = extra else { unreachable!("fields of an order") };
    own.as_object_mut().unwrap().extend(extra);
    order([&a.endpoint(), &b.endpoint()], &own)
}

/// Blocks the answer of a stub. Other tasks of the runtime go on.
fn wait_for(signalled: &Mutex<Receiver<()>>) {
    tokio::task::block_in_place(|| signalled.lock().unwrap().recv_timeout(LIMIT).unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_players_hear_the_result_after_the_manager_has_answered_the_report() {
    let (let_answer, signalled) = channel::<()>();
    let signalled = Mutex::new(signalled);
    let manager = our_manager("report_match_result", move |request| {
        wait_for(&signalled);
        result(request, &json!({"status": "ACCEPTED"}))
    })
    .await;
    let (a, b) = (canonical("P01").await, canonical("P02").await);
    let referee = our_referee(&manager, 8).await;
    ordered(&referee, game("R1M1", [&a, &b], json!({}))).await;
    until("a report", || !manager.calls("report_match_result").is_empty()).await;
    let post = json!({"match_id": "R1M1", "player_id": "P01", "parity_choice": "odd"});
    let late = referee.call(incoming(Call::PostChoice(serde_json::from_value(post).unwrap()))).await.unwrap_err();
    assert_eq!((late.rpc, late.message.contains("R1M1 is over")), (4005, true), "{late:?}");
    sleep(Duration::from_millis(100)).await;
    assert!([&a, &b].iter().all(|player| player.calls("notify_match_result").is_empty()));
    let_answer.send(()).unwrap();
    until("the end", || referee.running() == 0).await;
    for player in [&a, &b] {
        let over = &player.calls("notify_match_result")[0]["params"];
        assert_eq!((&over["draw"]["attempt"], over.get("provisional")), (&json!(1), None), "{over}");
    }
    until("a confirmation", || !manager.calls("confirm_game_over").is_empty()).await;
    let confirmed = &manager.calls("confirm_game_over")[0]["params"];
    assert_eq!((&confirmed["match_ids"], &confirmed["auth_token"]), (&json!(["R1M1"]), &json!(TOKEN)));
}

#[tokio::test]
async fn the_players_hear_nothing_of_a_result_that_our_manager_refuses() {
    let refusing = |request: &Value| {
        let data = json!({"message_type": "LEAGUE_ERROR", "error_code": "E010", "error_description": "superseded"});
        json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": 5003, "message": "superseded", "data": data}})
    };
    let manager = our_manager("report_match_result", refusing).await;
    let (a, b) = (canonical("P01").await, canonical("P02").await);
    let referee = our_referee(&manager, 8).await;
    ordered(&referee, game("R1M1", [&a, &b], json!({}))).await;
    until("the end", || referee.running() == 0).await;
    sleep(Duration::from_millis(50)).await;
    assert_eq!(manager.calls("report_match_result").len(), 1);
    assert!([&a, &b].iter().all(|player| player.calls("notify_match_result").is_empty()));
    assert!(manager.calls("confirm_game_over").is_empty());

    // A manager of another implementation may refuse the form of the report, and does not play the match again.
    let other = stub(move |request| match request["method"].as_str().unwrap() {
        "register_referee" => result(request, &json!({"status": "ACCEPTED", "referee_id": "REF01"})),
        _ => refusing(request),
    })
    .await;
    let referee = our_referee(&other, 8).await;
    referee.call(incoming(Call::StartMatch(game("R1M1", [&a, &b], json!({}))))).await.unwrap();
    until("the end", || referee.running() == 0).await;
    assert!([&a, &b].iter().all(|player| player.calls("notify_match_result").len() == 1));
    assert!(other.calls("confirm_game_over").is_empty());
}

#[tokio::test]
async fn the_players_hear_a_provisional_result_after_three_failed_reports_and_the_report_still_arrives() {
    let is_up = Arc::new(AtomicBool::new(false));
    let up = Arc::clone(&is_up);
    let manager = our_manager("report_match_result", move |request| {
        if up.load(Ordering::Acquire) {
            return result(request, &json!({"status": "ACCEPTED"}));
        }
        let data = json!({"message_type": "LEAGUE_ERROR", "error_code": "E015", "error_description": "disk"});
        json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32603, "message": "disk", "data": data}})
    })
    .await;
    let (a, b) = (canonical("P01").await, canonical("P02").await);
    let referee = our_referee(&manager, 8).await;
    ordered(&referee, game("R1M1", [&a, &b], json!({}))).await;
    until("GAME_OVER", || [&a, &b].iter().all(|player| player.calls("notify_match_result").len() == 1)).await;
    let tries = manager.calls("report_match_result").len();
    assert!((3..=4).contains(&tries), "{tries}");
    for player in [&a, &b] {
        assert_eq!(player.calls("notify_match_result")[0]["params"]["provisional"], true);
    }
    assert_eq!(referee.running(), 1, "a referee that shuts down waits for its report");
    is_up.store(true, Ordering::Release);
    until("the end", || referee.running() == 0).await;
    until("a confirmation", || !manager.calls("confirm_game_over").is_empty()).await;
    assert!(manager.calls("report_match_result").len() > tries);
    assert!([&a, &b].iter().all(|player| player.calls("notify_match_result").len() == 1), "the players hear it once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reported_match_needs_no_capacity_while_its_players_are_told() {
    let (let_answer, signalled) = channel::<()>();
    let signalled = Mutex::new(signalled);
    let slow = stub(move |request| {
        let waits = request["method"] == "choose_parity" || request["method"] == "notify_match_result";
        if waits && request["params"]["match_id"] == "R1M1" {
            wait_for(&signalled);
        }
        result(request, &answer(&request["params"], "P01"))
    })
    .await;
    let (manager, b) = (our_manager("-", |_| Value::Null).await, canonical("P02").await);
    let referee = our_referee(&manager, 1).await;
    assert_eq!(ordered(&referee, game("R1M1", [&slow, &b], json!({}))).await.status, "ACCEPTED");
    let busy = ordered(&referee, game("R1M2", [&slow, &b], json!({}))).await;
    assert_eq!((busy.status.as_str(), busy.reason.as_deref()), ("REFUSED", Some("busy")));
    let_answer.send(()).unwrap();
    until("a report", || !manager.calls("report_match_result").is_empty()).await;
    let next = ordered(&referee, game("R1M2", [&canonical("P01").await, &b], json!({}))).await;
    assert_eq!((next.status.as_str(), referee.running()), ("ACCEPTED", 2), "{next:?}");
    until("the next match", || referee.running() == 1).await;
    let waiting = referee.wind_up(Duration::from_millis(50)).await;
    assert_eq!(waiting, 1, "a referee that shuts down waits for GAME_OVER");
    let_answer.send(()).unwrap();
    assert_eq!(referee.wind_up(LIMIT).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn matches_that_end_during_a_confirmation_are_confirmed_together() {
    let (let_answer, signalled) = channel::<()>();
    let signalled = Mutex::new(signalled);
    let manager = our_manager("confirm_game_over", move |request| {
        wait_for(&signalled);
        // A manager that does not know the call does no harm.
        error(request, -32601, "Method not found")
    })
    .await;
    let (a, b) = (canonical("P01").await, canonical("P02").await);
    let referee = our_referee(&manager, 8).await;
    for number in 1..=5 {
        ordered(&referee, game(&format!("R1M{number}"), [&a, &b], json!({}))).await;
        if number == 1 {
            until("the first confirmation", || manager.calls("confirm_game_over").len() == 1).await;
        }
    }
    until("the end", || referee.running() == 0).await;
    // The referee may try other names of the call.
    (0..40).for_each(|_| let_answer.send(()).unwrap());
    let named = |call: &Value| call["params"]["match_ids"].as_array().unwrap().len();
    until("a second confirmation", || manager.calls("confirm_game_over").iter().any(|call| named(call) == 4)).await;
    assert_eq!(named(&manager.calls("confirm_game_over")[0]), 1);
}

#[tokio::test]
async fn a_referee_deposits_commitments_uses_each_once_and_replaces_the_used_ones() {
    let manager = our_manager("-", |_| Value::Null).await;
    let (a, b) = (canonical("P01").await, canonical("P02").await);
    let referee = our_referee(&manager, 3).await;
    let deposited = manager.calls("register_referee")[0]["params"]["draw_commitments"].clone();
    assert_eq!(deposited.as_array().unwrap().len(), 6);
    let bound = json!({"draw_commitment": deposited[4], "manager_nonce": "of the manager"});
    assert_eq!(ordered(&referee, game("R1M1", [&a, &b], bound.clone())).await.status, "ACCEPTED");
    until("the end", || referee.running() == 0).await;
    assert_eq!(a.calls("handle_game_invitation")[0]["params"]["draw_commitment"], deposited[4]);
    let report = &manager.calls("report_match_result")[0]["params"];
    let proof = &report["result"]["details"]["draw"];
    assert_eq!(proof["commitment"], deposited[4]);
    assert_eq!(proof["nonces"], json!({"P01": "of the manager", "P02": "of the manager"}));
    let secret: DrawSecret = proof["secret"].as_str().unwrap().parse().unwrap();
    assert_eq!(json!(secret.commitment()), deposited[4]);
    let added = report["draw_commitments"].as_array().unwrap();
    assert!(added.len() == 1 && !deposited.as_array().unwrap().contains(&added[0]), "{added:?}");

    // The second use of a commitment is refused, and a referee that just registered does not register again.
    let again = ordered(&referee, game("R1M2", [&a, &b], bound)).await;
    assert_eq!((again.status.as_str(), again.reason.as_deref()), ("REFUSED", Some("unknown commitment")));
    let next = json!({"draw_commitment": added[0]});
    assert_eq!(ordered(&referee, game("R1M2", [&a, &b], next)).await.status, "ACCEPTED");
    until("the end", || referee.running() == 0).await;
    assert_eq!(manager.calls("register_referee").len(), 1);
}

#[tokio::test]
async fn an_unknown_commitment_is_refused_and_the_manager_gets_others() {
    let manager = our_manager("-", |_| Value::Null).await;
    let (a, b) = (canonical("P01").await, canonical("P02").await);
    let referee = our_referee(&manager, 8).await;
    sleep(Duration::from_millis(1100)).await;
    let unknown = || game("R1M1", [&a, &b], json!({"draw_commitment": "ab".repeat(32)}));
    for _ in 0..3 {
        let refused = ordered(&referee, unknown()).await;
        assert_eq!((refused.status.as_str(), refused.reason.as_deref()), ("REFUSED", Some("unknown commitment")));
    }
    until("a second registration", || manager.calls("register_referee").len() == 2).await;
    sleep(Duration::from_millis(50)).await;
    let registrations = manager.calls("register_referee");
    assert_eq!(registrations.len(), 2, "once for all three");
    let [first, second] = [0, 1].map(|number| registrations[number]["params"]["draw_commitments"].clone());
    assert!(second.as_array().unwrap().iter().all(|commitment| !first.as_array().unwrap().contains(commitment)));
    assert_eq!((referee.running(), a.calls("handle_game_invitation").len()), (0, 0));
    let known = game("R1M1", [&a, &b], json!({"attempt": 2, "draw_commitment": second[0]}));
    assert_eq!(ordered(&referee, known).await.status, "ACCEPTED");
    until("the end", || referee.running() == 0).await;
}

#[tokio::test]
async fn a_friendly_match_reveals_no_deposited_secret() {
    let manager = our_manager("-", |_| Value::Null).await;
    let (a, b) = (canonical("P01").await, canonical("P02").await);
    let referee = our_referee(&manager, 8).await;
    let deposited = manager.calls("register_referee")[0]["params"]["draw_commitments"][0].clone();
    let friendly = game("R1M1", [&a, &b], json!({"draw_commitment": deposited}));
    referee.call(incoming(Call::StartMatch(friendly))).await.unwrap();
    until("the end", || referee.running() == 0).await;
    let over = &a.calls("notify_match_result")[0]["params"];
    assert!(over["draw"]["commitment"].is_string() && over["draw"]["commitment"] != deposited, "{over}");
    assert!(manager.calls("report_match_result").is_empty() && manager.calls("confirm_game_over").is_empty());
}

#[tokio::test]
async fn in_a_league_with_a_seed_every_attempt_has_the_same_number() {
    let manager = our_manager("-", |_| Value::Null).await;
    let (a, b) = (canonical("P01").await, canonical("P02").await);
    let referee = our_referee(&manager, 8).await;
    for attempt in 1..=2 {
        let seeded = json!({"attempt": attempt, "draw_secret": "07".repeat(32)});
        ordered(&referee, game("R1M1", [&a, &b], seeded)).await;
        until("the end", || referee.running() == 0).await;
    }
    let proofs = manager.calls("report_match_result");
    let [first, second] = [0, 1].map(|number| &proofs[number]["params"]["result"]["details"]["draw"]);
    assert_eq!((&first["attempt"], &second["attempt"]), (&json!(1), &json!(2)));
    assert_eq!((&first["seal"], &first["seeded"]), (&second["seal"], &json!(true)));
}

#[tokio::test]
async fn the_next_report_tells_how_a_player_wants_game_over() {
    let a = stub(|request| match request["method"].as_str().unwrap() {
        "notify_match_result" => error(request, -32601, "Method not found: notify_match_result"),
        _ => result(request, &answer(&request["params"], "P01")),
    })
    .await;
    let (manager, b) = (our_manager("-", |_| Value::Null).await, canonical("P02").await);
    let referee = our_referee(&manager, 8).await;
    for match_id in ["R1M1", "R2M1"] {
        ordered(&referee, game(match_id, [&a, &b], json!({}))).await;
        until("the end", || referee.running() == 0).await;
    }
    assert_eq!(a.calls("notify_match_result").len(), 1, "the second match uses the name that the first one found");
    let reports = manager.calls("report_match_result");
    assert_eq!(reports[0]["params"].get("learned"), None, "GAME_OVER came after this report");
    let learned = &reports[1]["params"]["learned"]["P01"]["manner"]["methods"]["notify_match_result"]["name"];
    assert!(learned.is_string(), "{}", reports[1]["params"]);
}
