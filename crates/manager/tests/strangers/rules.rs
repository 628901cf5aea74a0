//! The manager's rules for agents, shown by requests over a real socket.

use std::time::Duration;

use league_core::season::config::LeagueConfig;
use league_manager::{ManagerSettings, RateSettings};
use league_test_agents::player::Plan;
use league_test_agents::player::dialect::Speech;
use league_test_agents::post::Posted;
use league_wire::rate::Rate;
use serde_json::{Value, json};

use crate::hostile::caller::{Caller, admitted, code, must_wait};
use crate::league::League;

/// The league never starts.
async fn open(rules: LeagueConfig) -> (League, Caller) {
    let settings = ManagerSettings {
        registration_window: None,
        referee_check_interval: Duration::from_secs(60),
        ..ManagerSettings::default()
    };
    let league = League::under(rules, 99, 99, settings).await;
    let caller = league.caller();
    (league, caller)
}

fn rules() -> LeagueConfig {
    LeagueConfig::even_odd("league".parse().unwrap())
}

fn endpoint(port: u16) -> String {
    format!("http://127.0.0.1:{port}/mcp")
}

fn result(answer: &Posted) -> Value {
    answer.json()["result"].clone()
}

fn hint(answer: &Posted) -> String {
    answer.json()["error"]["data"]["hint"].as_str().unwrap_or_default().to_owned()
}

fn rejection(answer: &Posted) -> (String, i64, String) {
    let result = result(answer);
    assert_eq!(result["status"], "REJECTED", "{answer:?}");
    let text = |field: &str| result[field].as_str().unwrap_or_default().to_owned();
    (text("reason"), result["reason_code"].as_i64().unwrap(), text("error_code"))
}

#[tokio::test]
async fn a_rejection_begins_with_the_words_of_the_course_and_says_what_to_do() {
    let (_league, caller) = open(LeagueConfig { max_players: 2, max_referees: 1, ..rules() }).await;
    let other =
        json!({"player_meta": {"display_name": "Chess", "game_types": ["chess"], "contact_endpoint": endpoint(9)}});
    let answers = [
        caller.register("player", "Alpha", &endpoint(1), None).await,
        caller.register("referee", "Whistle", &endpoint(2), None).await,
        caller.register("player", "Alpha", &endpoint(3), None).await,
        caller.register("player", "Deaf", "nowhere", None).await,
        caller.call("register_player", "player:Chess", None, other).await,
        caller.register("player", "Beta", &endpoint(4), None).await,
        caller.register("player", "Gamma", &endpoint(5), None).await,
        caller.register("referee", "Second", &endpoint(6), None).await,
    ];
    let rejections = [2, 3, 4, 6, 7].map(|number| rejection(&answers[number]));
    let expected = [
        ("Duplicate name: \"Alpha\" belongs to P01 already; choose another display_name", 2002, "E017"),
        ("Invalid endpoint: ", 2003, "E002"),
        ("Game type not supported: this league plays even_odd; add it to game_types", 2004, "E002"),
        ("League full: it has its 2 players; ask the operator to raise participants.max_players", 2001, "E020"),
        ("League full: it has its 1 referees; ask the operator to raise participants.max_referees", 1001, "E020"),
    ];
    for ((reason, number, code), (begins, expected_number, expected_code)) in rejections.iter().zip(expected) {
        assert!(reason.starts_with(begins), "{reason}");
        assert_eq!((*number, code.as_str()), (expected_number, expected_code), "{reason}");
    }
    caller.call("create_schedule", "operator:x", None, json!({})).await;
    let late = rejection(&caller.register("player", "Late", &endpoint(7), None).await);
    assert!(late.0.starts_with("Registration closed: ") && late.0.contains("ask the operator"), "{}", late.0);
    assert_eq!((late.1, late.2.as_str()), (2005, "E019"));
}

#[tokio::test]
async fn a_name_that_is_no_text_is_refused_and_a_missing_one_is_not() {
    let (_league, caller) = open(rules()).await;
    let register = async |name: Option<Value>, port: u16| {
        let mut meta = json!({"version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": endpoint(port)});
        if let Some(name) = name {
            meta["display_name"] = name;
        }
        caller.call("register_player", "player:x", None, json!({ "player_meta": meta })).await
    };
    for (name, shown) in [
        (json!(5), "is 5"),
        (json!(""), "is empty"),
        (json!("  "), "is empty"),
        (json!(null), "is null"),
        (json!(["a"]), "is not a text"),
        (json!("x".repeat(65)), "is 65 characters long"),
        (json!("a\u{7}"), "is not printable"),
    ] {
        let answer = register(Some(name.clone()), 1).await;
        assert_eq!((&answer.json()["error"]["code"], code(&answer).as_str()), (&json!(-32602), "E002"), "{name}");
        let hint = hint(&answer);
        let whole = format!("player_meta.display_name {shown}; send a text of 1 to 64 printable characters");
        assert_eq!(hint, whole, "{name}");
    }
    let (id, _) = admitted(&register(None, 1).await);
    assert_eq!(id, "P01");
}

#[tokio::test]
async fn a_field_that_is_missing_and_one_that_is_wrong_have_codes_of_their_own() {
    let (_league, caller) = open(rules()).await;
    let (_, player) = admitted(&caller.register("player", "Alpha", &endpoint(1), None).await);
    let (_, referee) = admitted(&caller.register("referee", "Whistle", &endpoint(2), None).await);
    let ask = async |fields: Value| caller.call("league_query", "player:P01", Some(&player), fields).await;
    let status = async |field: &str, value: Value| ask(json!({"query_type": "GET_STATUS", field: value})).await;
    let report =
        async |fields: Value| caller.call("report_match_result", "referee:REF01", Some(&referee), fields).await;
    let cases = [
        (ask(json!({})).await, "E003", 6002, "query_type is missing; send one of "),
        (ask(json!({"query_type": "GET_WEATHER"})).await, "E002", 6002, "query_type is `GET_WEATHER`; send one of "),
        (ask(json!({"query_type": 5})).await, "E002", 6002, "query_type is "),
        (status("timestamp", json!("noon")).await, "E021", -32602, "\"noon\" is not a timestamp"),
        (status("sender", json!(7)).await, "E002", -32602, "sender is \"7\"; send "),
        (status("message_type", json!("GAME_OVER")).await, "E002", -32602, "message_type is "),
        (report(json!({"match_id": "R1M1"})).await, "E003", -32602, "result is missing; send it"),
        (report(json!({"match_id": 5, "result": {}})).await, "E002", -32602, "match_id is integer `5`; send a string"),
        (report(json!({"match_id": "R1M1", "result": {"winner": []}})).await, "E002", -32602, "result.winner is "),
    ];
    for (answer, expected, number, begins) in cases {
        assert_eq!((code(&answer).as_str(), &answer.json()["error"]["code"]), (expected, &json!(number)), "{answer:?}");
        assert!(hint(&answer).starts_with(begins), "{} for {begins}", hint(&answer));
    }
}

#[tokio::test]
async fn a_sender_that_is_another_agent_is_refused_and_an_odd_one_is_noted() {
    let (league, caller) = open(rules()).await;
    let (_, one) = admitted(&caller.register("player", "Alpha", &endpoint(1), None).await);
    admitted(&caller.register("player", "Beta", &endpoint(2), None).await);
    let (_, referee) = admitted(&caller.register("referee", "Whistle", &endpoint(3), None).await);
    admitted(&caller.register("referee", "Second", &endpoint(4), None).await);
    let ask = async |sender: &str, token: &str| {
        caller.call("league_query", sender, Some(token), json!({"query_type": "GET_STATUS"})).await
    };
    for (sender, token) in [
        ("player:P02", &one),
        ("P02", &one),
        ("referee:REF01", &one),
        ("referee:REF02", &referee),
        ("player:P01", &referee),
    ] {
        let answer = ask(sender, token).await;
        assert_eq!((code(&answer).as_str(), &answer.json()["error"]["code"]), ("E012", &json!(6001)), "{sender}");
        assert!(hint(&answer).contains("another agent"), "{}", hint(&answer));
    }
    let assigned = caller.call("get_assigned_matches", "referee:REF02", Some(&referee), json!({})).await;
    assert_eq!(code(&assigned), "E012");
    let quirks = async || {
        let season = league.season().await;
        season.players()[0].quirks.iter().map(|quirk| quirk.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ask("player:P01", &one).await.status, 200);
    assert_eq!(quirks().await, Vec::<String>::new());
    for sender in ["player:P77", "league_manager"] {
        assert!(ask(sender, &one).await.json()["result"].is_object(), "{sender}");
    }
    assert_eq!(quirks().await, ["a sender that is not kind:id"]);
}

#[tokio::test]
async fn before_the_first_round_the_current_round_is_0() {
    let (_league, caller) = open(rules()).await;
    let (_, token) = admitted(&caller.register("player", "Alpha", &endpoint(1), None).await);
    for query in ["GET_STATUS", "GET_STANDINGS", "GET_SCHEDULE"] {
        let answer = caller.call("league_query", "player:P01", Some(&token), json!({"query_type": query})).await;
        assert_eq!(result(&answer)["current_round"], 0, "{query}");
        if query == "GET_STATUS" {
            assert_eq!(result(&answer)["status"]["current_round"], 0, "{answer:?}");
        }
    }
    assert_eq!(result(&caller.call("get_standings", "player:P01", None, json!({})).await)["current_round"], 0);
}

#[tokio::test]
async fn an_agent_that_registers_again_and_again_has_to_wait_and_others_do_not() {
    let rates = RateSettings { registrations_again: Rate::new(1, 5), ..RateSettings::default() };
    let league = League::of(99, 99, ManagerSettings { rates, ..ManagerSettings::default() }).await;
    let caller = league.caller();
    let register = |_| async { caller.register("player", "Often", &endpoint(1), None).await };
    let answers = futures_util::future::join_all((0..200).map(register)).await;
    let waiting = answers.iter().filter(|answer| must_wait(answer)).count();
    let events = answers.iter().filter(|answer| answer.json()["result"]["status"] == "ACCEPTED").count();
    assert_eq!(waiting + events, 200);
    assert!((5..=20).contains(&events), "{events} of 200 were registered");
    // A class behind one address can still register.
    let class = |number: u16| {
        let caller = caller.clone();
        async move { caller.register("player", &format!("Student {number}"), &endpoint(100 + number), None).await }
    };
    let class = futures_util::future::join_all((0..60).map(class)).await;
    assert!(class.iter().all(|answer| answer.json()["result"]["status"] == "ACCEPTED"));
}

#[tokio::test]
async fn a_score_that_contradicts_the_points_is_refused_and_a_second_report_names_the_first() {
    let settings = ManagerSettings { referee_check_interval: Duration::from_secs(60), ..ManagerSettings::default() };
    let league = League::of(2, 1, settings).await;
    let caller = league.caller();
    let players = league.join(&["One", "Two"]).await;
    let referee = Plan::new("Whistle", Speech::Direct).serve().unwrap();
    let (_, token) = admitted(&caller.register("referee", "Whistle", &referee.endpoint(), None).await);
    let report = async |winner: Value, number: u8, score: Value| {
        let details = json!({"drawn_number": number, "choices": {"P01": "even", "P02": "odd"}});
        let fields = json!({"match_id": "R1M1", "result": {"winner": winner, "score": score, "details": details}});
        caller.call("report_match_result", "referee:REF01", Some(&token), fields).await
    };
    let reporting = async {
        assert!(players[0].log().receives("ROUND_ANNOUNCEMENT", 1, Duration::from_secs(10)).await);
        for score in [json!({"P01": 9, "P02": 0}), json!({"P01": 0, "P02": 3}), json!({"P01": 1, "P02": 1})] {
            let refused = report(json!("P01"), 8, score.clone()).await;
            assert_eq!(code(&refused), "E002", "{score}");
            assert!(hint(&refused).ends_with("for this result send 3 for P01 and 0 for P02"), "{}", hint(&refused));
        }
        let counted = report(json!("P01"), 8, json!({"P01": 1, "P02": 0})).await;
        assert_eq!(result(&counted)["status"], "ACCEPTED", "{counted:?}");
        let again = report(json!("P02"), 7, json!({"P01": 0, "P02": 3})).await.json();
        let data = &again["error"]["data"];
        assert_eq!((&again["error"]["code"], &data["match_id"]), (&json!(5003), &json!("R1M1")), "{again}");
        let at = data["previous_report_time"].as_str().unwrap();
        assert!(at.ends_with('Z') && at.starts_with("20"), "{again}");
    };
    let (season, ()) = tokio::join!(league.play(), reporting);
    assert_eq!(season.standings()[0].points, 3, "points are the league's");
    let quirks: Vec<_> = season.referees()[0].quirks.iter().map(|quirk| quirk.to_string()).collect();
    assert!(quirks.iter().any(|quirk| quirk.contains("not the points of this league")), "{quirks:?}");
}

#[tokio::test]
async fn a_schedule_of_named_players_withdraws_the_others_and_tells_them() {
    let (league, caller) = open(rules()).await;
    let players = league.join(&["One", "Two", "Three", "Four", "Five"]).await;
    admitted(&caller.register("referee", "Whistle", &endpoint(1), None).await);
    let schedule = async |fields: Value| caller.call("create_schedule", "operator:x", None, fields).await;
    for (players, expected) in [
        (json!(["P01", "P09"]), "E005"),
        (json!(["P01"]), "E010"),
        (json!(["P01", "P01"]), "E010"),
        (json!([]), "E010"),
    ] {
        assert_eq!(code(&schedule(json!({ "players": players })).await), expected, "{players}");
    }
    assert_eq!(league.season().await.players().len(), 5, "what is refused changes nothing");
    let made = result(&schedule(json!({"players": ["P05", "P01", "P02"]})).await);
    assert_eq!(made["total_matches"], 3, "{made}");
    assert_eq!((made["rounds"].as_array().unwrap().len(), made["matches"].as_array().unwrap().len()), (3, 3));
    for field in ["match_id", "round_id", "player_A_id", "player_B_id", "game_type"] {
        assert!(made["matches"].as_array().unwrap().iter().all(|game| !game[field].is_null()), "{field}: {made}");
    }
    let ids: Vec<_> = league.season().await.players().iter().map(|player| player.id.to_string()).collect();
    assert_eq!(ids, ["P01", "P02", "P05"]);
    // The players know neither LEAGUE_ERROR nor SHUTDOWN_COMMAND and refuse both, but they were notified.
    for out in [2, 3] {
        let notified = async {
            while players[out].log().refused().is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        assert!(tokio::time::timeout(Duration::from_secs(10), notified).await.is_ok(), "player {out}");
    }
    assert!(players[0].log().all().is_empty(), "a player in the schedule gets no notice yet");
    assert_eq!(code(&schedule(json!({"players": ["P01", "P02"]})).await), "E010", "it is made");
}
