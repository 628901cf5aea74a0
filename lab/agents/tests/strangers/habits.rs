//! Each habit shows when it should, and not otherwise.

use std::time::Duration;

use league_test_agents::frame::Frame;
use league_test_agents::player::dialect::{PlayerDialect, Speech};
use league_test_agents::player::{Plan, Player};
use league_test_agents::post::post;
use serde_json::{Value, json};

use crate::support::{all, ask, message, say};

fn with(habit: PlayerDialect) -> Player {
    Plan::new("Ada", Speech::Direct).dialect(habit).serve().unwrap()
}

/// A message with a field changed.
fn changed(kind: &str, field: &str, value: Value) -> Value {
    let mut message = message(kind);
    message[field] = value;
    message
}

#[tokio::test]
async fn players_that_are_particular_refuse_what_they_do_not_like_and_take_the_rest() {
    let cases = [
        (PlayerDialect::WholeSeconds, "timestamp", json!("2026-03-04T09:00:00.123Z")),
        (PlayerDialect::WantsToken, "auth_token", json!("")),
        (PlayerDialect::ReadsNested, "game_invitation", json!({})),
        (PlayerDialect::WantsGameId, "game_id", Value::Null),
        (PlayerDialect::WantsColon, "sender", json!("league_manager")),
    ];
    for (habit, field, value) in cases {
        let player = with(habit.clone());
        let refused = say(&player, changed("GAME_INVITATION", field, value)).await;
        assert!(refused["error"].is_object(), "{habit:?}: {refused}");
        assert_eq!(say(&player, message("GAME_INVITATION")).await["result"]["accept"], true, "{habit:?}");
        assert_eq!(player.log().refused().len(), 1);
    }
}

#[tokio::test]
async fn players_look_at_the_wrapping_too() {
    let mut request = Frame::Direct.request("GAME_OVER", &all(), 7, &message("GAME_OVER"));
    request["meta"] = json!({});
    let strict = with(PlayerDialect::NoExtraKeys);
    assert!(post(&strict.endpoint(), &[], &request).await.unwrap().json()["error"].is_object());
    request["id"] = json!("seven");
    let counting = with(PlayerDialect::IntegerIds);
    assert!(post(&counting.endpoint(), &[], &request).await.unwrap().json()["error"].is_object());
}

#[tokio::test]
async fn one_insists_on_the_end_before_the_next_invitation() {
    let player = with(PlayerDialect::WantsTheEnd);
    let next = || changed("GAME_INVITATION", "match_id", json!("R2M1"));
    say(&player, message("GAME_INVITATION")).await;
    assert!(say(&player, next()).await["error"].is_object());
    say(&player, message("GAME_OVER")).await;
    assert_eq!(say(&player, next()).await["result"]["accept"], true);
}

#[tokio::test]
async fn rate_limits_are_said() {
    for habit in [PlayerDialect::RateLimit(Duration::from_secs(60)), PlayerDialect::BusyAtFirst] {
        let player = with(habit);
        let answers = [say(&player, message("GAME_OVER")).await, say(&player, message("GAME_OVER")).await];
        let limited: Vec<bool> = answers.iter().map(|answer| answer["error"].is_object()).collect();
        assert!(limited == [false, true] || limited == [true, false]);
        assert!(format!("{answers:?}").to_lowercase().contains("rate limit"));
    }
}

#[tokio::test]
async fn answers_are_dressed_as_each_player_does_it() {
    let choose = async |habit: PlayerDialect| ask(&with(habit), Frame::Direct, "CHOOSE_PARITY_CALL").await;
    assert_eq!(choose(PlayerDialect::PlaceholderToken).await.json()["result"]["auth_token"], "token-placeholder");
    assert_eq!(choose(PlayerDialect::EchoesToken).await.json()["result"]["auth_token"], "pass");
    assert_eq!(choose(PlayerDialect::NoEnvelope).await.json()["result"]["sender"], Value::Null);
    assert!(
        choose(PlayerDialect::OffsetTime).await.json()["result"]["timestamp"].as_str().unwrap().ends_with("+00:00")
    );
    assert_eq!(choose(PlayerDialect::AnswersInParams).await.json()["params"]["parity_choice"], "even");
    assert_eq!(choose(PlayerDialect::AnswersBare).await.json()["parity_choice"], "even");
    assert_eq!(choose(PlayerDialect::ParityChoiceForm).await.json()["result"]["choice"], "EVEN");
    assert!(choose(PlayerDialect::NullError).await.text.contains("\"error\":null"));
    assert_eq!(choose(PlayerDialect::KeepsId("P07")).await.json()["result"]["player_id"], "P07");
    let odd = choose(PlayerDialect::Status400).await;
    assert_eq!((odd.status, &odd.json()["result"]["parity_choice"]), (400, &json!("even")));
    assert_eq!(choose(PlayerDialect::ClosesConnections).await.header("connection"), Some("close"));
    let odd = choose(PlayerDialect::ChoiceUnder("MOVE")).await.json();
    assert_eq!((&odd["result"]["message_type"], &odd["result"]["choice"]), (&json!("MOVE"), &json!("even")));
    assert_eq!(odd["result"]["parity_choice"], Value::Null);
    assert_eq!(choose(PlayerDialect::NoToken).await.json()["result"]["auth_token"], Value::Null);
    assert_eq!(choose(PlayerDialect::AnswersGameId).await.json()["result"]["game_id"], "R1M1");
    assert_eq!(choose(PlayerDialect::AnswersType).await.json()["result"]["type"], "CHOOSE_PARITY_RESPONSE");
    assert_eq!(choose(PlayerDialect::AnswersInData).await.json()["result"]["data"]["parity_choice"], "even");
    assert_eq!(choose(PlayerDialect::PlainSender).await.json()["result"]["player_id"], Value::Null);
    let brief = ask(&with(PlayerDialect::JoinsBriefly("accepted")), Frame::Direct, "GAME_INVITATION").await.json();
    assert_eq!(brief["result"], json!({"accepted": true}));
    let ok = ask(&with(PlayerDialect::OkToNotices), Frame::Direct, "GAME_OVER").await;
    assert_eq!(ok.json()["result"], json!({"status": "ok"}));
}

#[tokio::test]
async fn a_poster_acknowledges_and_posts_its_answer_to_the_referee() {
    for (habit, word) in [(PlayerDialect::PostsAfterwards, "RECEIVED"), (PlayerDialect::PostsBefore, "ok")] {
        // Anything that listens may be the referee; a player keeps a diary of it.
        let referee = Plan::new("Referee", Speech::Direct).serve().unwrap();
        let player = with(habit);
        let matches = json!([{"match_id": "R1M1", "referee_endpoint": referee.endpoint()}]);
        say(&player, changed("ROUND_ANNOUNCEMENT", "matches", matches)).await;
        assert_eq!(say(&player, message("CHOOSE_PARITY_CALL")).await["result"], json!({ "status": word }));
        let arrives = async {
            while referee.log().all().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), arrives).await.unwrap();
        let posted = &referee.log().all()[0].body;
        assert_eq!(
            (&posted["method"], &posted["params"]["parity_choice"]),
            (&json!("choose_parity_response"), &json!("even"))
        );
    }
}

#[tokio::test]
async fn some_end_with_the_league() {
    let polite = with(PlayerDialect::LeavesAtTheEnd);
    assert!(say(&polite, message("LEAGUE_COMPLETED")).await["result"].is_object());
    assert!(polite.left(Duration::from_secs(10)).await);
    let rude = with(PlayerDialect::HangsUpAtTheEnd);
    let request = Frame::Direct.request("LEAGUE_COMPLETED", &all(), 7, &message("LEAGUE_COMPLETED"));
    assert!(post(&rude.endpoint(), &[], &request).await.is_err());
    assert!(rude.left(Duration::from_secs(10)).await);
}

#[tokio::test]
async fn one_is_registered_before_it_listens() {
    let player = with(PlayerDialect::ListensLater(Duration::from_millis(50)));
    let request = Frame::Direct.request("GAME_OVER", &all(), 7, &message("GAME_OVER"));
    assert!(post(&player.endpoint(), &[], &request).await.is_err());
    let listens = async { while post(&player.endpoint(), &[], &request).await.is_err() {} };
    tokio::time::timeout(Duration::from_secs(10), listens).await.unwrap();
}

#[tokio::test]
async fn endpoints_are_written_as_each_player_does_it() {
    let plain = with(PlayerDialect::NoPath);
    assert!(!plain.endpoint().ends_with("/mcp"));
    assert_eq!(ask(&plain, Frame::Direct, "GAME_OVER").await.status, 200);
    let base = with(PlayerDialect::LeavesPathOut);
    assert_eq!(ask(&base, Frame::Direct, "GAME_OVER").await.status, 404);
    let request = Frame::Direct.request("GAME_OVER", &all(), 7, &message("GAME_OVER"));
    assert_eq!(post(&format!("{}/mcp", base.endpoint()), &[], &request).await.unwrap().status, 200);
    let local = with(PlayerDialect::Localhost);
    assert!(local.endpoint().starts_with("http://localhost:"));
    assert_eq!(ask(&local, Frame::Direct, "GAME_OVER").await.status, 200);
}

#[tokio::test]
async fn one_method_takes_every_message() {
    let player = Plan::new("Ada", Speech::OneMethod).serve().unwrap();
    assert_eq!(ask(&player, Frame::Direct, "GAME_OVER").await.json()["error"]["code"], -32601);
    let names = all().renamed("CHOOSE_PARITY_CALL", "handle_message");
    let request = Frame::Direct.request("CHOOSE_PARITY_CALL", &names, 7, &message("CHOOSE_PARITY_CALL"));
    assert_eq!(post(&player.endpoint(), &[], &request).await.unwrap().json()["result"]["parity_choice"], "even");
}

#[tokio::test]
async fn every_kind_of_the_crowd_has_a_name_of_its_own() {
    let kinds = league_test_agents::player_kinds::kinds();
    let names: std::collections::BTreeSet<&str> = kinds.iter().map(|kind| kind.plan.name()).collect();
    assert_eq!(names.len(), kinds.len());
    assert!(kinds.len() >= 18);
}
