//! The contents of the logs, and the memory of a player after a kill.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use league_test_agents::http_server::{HttpReply, HttpServer};
use serde_json::{Value, json};

use crate::support::{
    LIMIT, Process, TestHome, Venue, assert_contains, http, poll, ports, read_json, read_json_lines, register_player,
    wait_for_all,
};

const LEAGUE_LOG: &str = "logs/league/league_2025_even_odd/league.log.jsonl";

/// Registers every agent as P01 without passes, so that the test itself can call the player.
fn stub_manager() -> HttpServer {
    let result = json!({
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_RESPONSE", "status": "ACCEPTED",
        "player_id": "P01", "league_id": "stub_league",
    });
    HttpServer::stub(move |request| HttpReply::result(&request.json(), &result)).unwrap()
}

/// A player whose manager and referee is the test.
struct PlayerUnderTest {
    home: TestHome,
    manager: HttpServer,
    player: Process,
    endpoint: String,
}

impl PlayerUnderTest {
    fn new() -> Self {
        let (home, manager, port) = (TestHome::new(), stub_manager(), ports::free());
        let player = ["player", "--player-id", "P01", "--strategy", "frequency"];
        let place = ["--port", &port.to_string(), "--manager", &manager.endpoint()];
        let mut player = home.start(&[&player[..], &place].concat());
        player.wait_for_line("P01 plays frequency");
        Self { home, manager, player, endpoint: ports::endpoint(port) }
    }

    fn send(&self, method: &str, kind: &str, conversation: &str, body: &Value) -> Value {
        let mut params = json!({
            "protocol": "league.v2", "message_type": kind, "sender": "referee:REF01", "timestamp": "2025-01-15T10:30:00Z",
            "conversation_id": conversation, "league_id": "stub_league",
        });
        params.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        http::call(&self.endpoint, method, &params)
    }

    fn invite(&self, match_id: &str) {
        let body = json!({
            "round_id": 1, "match_id": match_id, "game_type": "even_odd", "role_in_match": "PLAYER_A", "opponent_id": "P02",
        });
        let answer = self.send("handle_game_invitation", "GAME_INVITATION", "conv-one", &body);
        assert_eq!(answer["result"]["accept"], true, "{answer}");
    }

    fn call(&self, match_id: &str, conversation: &str) {
        let body = json!({
            "match_id": match_id, "player_id": "P01", "game_type": "even_odd",
            "context": {"opponent_id": "P02", "round_id": 1, "your_standings": {"wins": 0, "losses": 0, "draws": 0}},
        });
        let answer = self.send("choose_parity", "CHOOSE_PARITY_CALL", conversation, &body);
        assert!(answer["result"]["parity_choice"].is_string(), "{answer}");
    }

    fn over(&self, match_id: &str) {
        let result = json!({
            "status": "WIN", "winner_player_id": "P01", "drawn_number": 8, "number_parity": "even",
            "choices": {"P01": "even", "P02": "odd"}, "reason": "8 is even",
        });
        let body = json!({"match_id": match_id, "game_type": "even_odd", "game_result": result});
        let answer = self.send("notify_match_result", "GAME_OVER", "conv-one", &body);
        assert!(answer["error"].is_null(), "{answer}");
    }

    fn state(&self) -> Value {
        http::call(&self.endpoint, "get_player_state", &json!({}))["result"].clone()
    }

    fn log(&self) -> Log {
        Log::of(&self.home, "logs/agents/P01.log.jsonl")
    }
}

/// Reads the log again until it has the expected line.
struct Log {
    path: std::path::PathBuf,
}

impl Log {
    fn of(home: &TestHome, below: &str) -> Self {
        Self { path: home.join(below) }
    }

    fn lines(&self) -> Vec<Value> {
        read_json_lines(&self.path)
    }

    fn has(&self, level: &str, event: &str, parts: &[&str]) -> Value {
        let fits = |line: &Value| {
            let message = line["message"].as_str().unwrap();
            line["event_type"] == event && line["level"] == level && parts.iter().all(|part| message.contains(part))
        };
        // An agent writes its log in the background, without a signal.
        poll(&format!("{level} {event} {parts:?} in {}", self.path.display()), || self.lines().into_iter().find(fits))
    }

    fn count(&self, event: &str) -> usize {
        self.lines().iter().filter(|line| line["event_type"] == event).count()
    }
}

#[test]
fn a_player_that_is_killed_a_second_after_game_over_remembers_the_match() {
    let mut test = PlayerUnderTest::new();
    for number in 1..=3 {
        let match_id = format!("R{number}M1");
        test.invite(&match_id);
        test.call(&match_id, "conv-one");
        test.over(&match_id);
    }
    sleep(Duration::from_secs(1));
    test.player.kill_and_restart();
    let history = read_json(&test.home.join("data/players/P01/history.json"));
    assert_eq!(history["stats"]["total_matches"], 3, "{history}");
    assert_eq!(history["matches"][2]["match_id"], "R3M1");
    test.player.wait_for_line("P01 plays frequency");
    let state = test.state();
    assert_eq!((&state["matches_played"], &state["record"]["wins"]), (&json!(3), &json!(3)), "{state}");
}

#[test]
fn a_players_log_has_every_message_and_answer() {
    let mut test = PlayerUnderTest::new();
    let log = test.log();
    log.has("INFO", "REGISTERED", &[&test.manager.endpoint()]);
    assert_eq!(test.state()["lifecycle"], "REGISTERED");
    let announced = json!({
        "round_id": 1, "matches": [{"match_id": "R1M1", "game_type": "even_odd", "player_A_id": "P01", "player_B_id": "P02"}],
    });
    test.send("notify_round", "ROUND_ANNOUNCEMENT", "conv-round", &announced);
    log.has("DEBUG", "ROUND_ANNOUNCED", &["round 1", "R1M1", "P02"]);
    test.invite("R1M1");
    let invited = log.has("DEBUG", "INVITED", &["R1M1", "referee:REF01", "P02", "joined"]);
    assert_eq!(
        (&invited["conversation_id"], &invited["message_type"]),
        (&json!("conv-one"), &json!("GAME_INVITATION"))
    );
    let state = test.state();
    assert_eq!((&state["lifecycle"], &state["state"]), (&json!("ACTIVE"), &json!("WAITING_FOR_CHOICE_REQUEST")));

    // The player answers a call in another conversation, and logs a warning.
    test.call("R1M1", "conv-two");
    log.has("WARN", "CONVERSATION_CHANGED", &["R1M1", "referee:REF01"]);
    // The choice stays out of the file until the match is over.
    assert_eq!(log.count("CHOICE"), 0);
    let error = json!({
        "match_id": "R1M1", "error_code": "E001", "hint": "no answer in time", "retry_count": 1, "max_retries": 3,
    });
    test.send("notify_game_error", "GAME_ERROR", "conv-one", &error);
    log.has("WARN", "GAME_ERROR", &["R1M1", "E001", "no answer in time", "try 1 of 3"]);
    test.over("R1M1");
    test.over("R1M1");
    log.has("DEBUG", "RESULT_REPEATED", &["R1M1"]);
    assert_eq!(log.count("GAME_OVER"), 1, "a repeated result is one line");
    log.has("DEBUG", "CHOICE", &["R1M1: chose ", "by frequency against P02"]);
    let over = log.has("INFO", "GAME_OVER", &["R1M1: win, 3 points", "8 is even"]);
    assert_eq!((&over["agent_id"], &over["component"]), (&json!("P01"), &json!("P01")));

    let row = json!({
        "rank": 1, "player_id": "P01", "display_name": "x", "played": 1, "wins": 1, "draws": 0, "losses": 0, "points": 3,
    });
    test.send("update_standings", "LEAGUE_STANDINGS_UPDATE", "conv-round", &json!({"round_id": 1, "standings": [row]}));
    log.has("DEBUG", "STANDINGS", &["rank 1 with 3 points after round 1"]);
    test.send("notify_round_completed", "ROUND_COMPLETED", "conv-round", &json!({"round_id": 1, "matches_played": 1}));
    log.has("DEBUG", "ROUND_COMPLETED", &["round 1"]);

    // The player answers malformed messages with an error and logs them; the logged text is bounded.
    let answer = test.send("choose_parity", "CHOOSE_PARITY_CALL", "conv-one", &json!({"player_id": "P01"}));
    assert!(answer["error"].is_object(), "{answer}");
    log.has("WARN", "REQUEST_REFUSED", &["CHOOSE_PARITY_CALL", "referee:REF01", "127.0.0.1", "match_id"]);
    let long = "\u{1b}x".repeat(2_000);
    test.send("handle_game_invitation", "GAME_INVITATION", "conv-one", &json!({"match_id": long}));
    log.has("WARN", "REQUEST_REFUSED", &["GAME_INVITATION"]);
    let unknown = http::call(&test.endpoint, "no_such_method", &json!({}));
    assert!(unknown["error"].is_object(), "{unknown}");
    log.has("WARN", "REQUEST_REFUSED", &["-32601"]);
    let text = fs::read_to_string(&log.path).unwrap();
    assert!(text.lines().all(|line| line.len() < 4096) && !text.contains('\u{1b}'));

    // An error notice of the manager appears on the console.
    let error = json!({"error_code": "E005", "hint": "the operator has withdrawn P01 from stub_league"});
    test.send("notify_league_error", "LEAGUE_ERROR", "conv-out", &error);
    let line = test.player.wait_for_line("the operator has withdrawn P01");
    assert_contains(&line, &["the manager says: the operator has withdrawn P01 from stub_league (E005)"]);
    assert!(!line.contains("Some("), "{line}");
    log.has("WARN", "LEAGUE_ERROR", &["withdrawn"]);
    test.send("notify_league_completed", "LEAGUE_COMPLETED", "conv-end", &json!({}));
    test.player.wait().success();
    log.has("INFO", "LEAGUE_COMPLETED", &[]);
}

#[test]
fn the_logs_of_a_league_name_silent_agents_and_refused_requests() {
    let venue = Venue::new();
    let mut manager = venue.manager(3, 1);
    manager.wait_for_line("the manager is at");
    // No program listens at the registered endpoint.
    register_player(&venue.address, "P03", &ports::free_endpoint());
    let agents = [venue.referee("REF01"), venue.player("P01", "random"), venue.player("P02", "timeout")];
    let query = json!({
        "protocol": "league.v2", "message_type": "LEAGUE_QUERY", "sender": "player:P01", "timestamp": "2025-01-15T10:30:00Z",
        "conversation_id": "conv-query", "query_type": "GET_STANDINGS", "auth_token": "tok-P01-wrong",
    });
    let refused = http::call(&venue.address, "league_query", &query);
    assert_eq!(refused["error"]["data"]["error_code"], "E012", "{refused}");
    http::call(&venue.address, "get_standings", &json!({}));
    let log = Log::of(&venue.home, LEAGUE_LOG);
    log.has("WARN", "REQUEST_REFUSED", &["LEAGUE_QUERY", "player:P01", "E012"]);
    log.has("DEBUG", "MESSAGE_RECEIVED", &["get_standings", "127.0.0.1"]);
    manager.wait().success();
    wait_for_all(agents);

    // S0 2.2.5 and 2.3: announcements, acknowledgements, unreachable players, standings.
    log.has("DEBUG", "MESSAGE_SENT", &["ROUND_ANNOUNCEMENT to P01: answered in"]);
    log.has("WARN", "MESSAGE_FAILED", &["ROUND_ANNOUNCEMENT to P03: not reachable"]);
    log.has("INFO", "AGENT_NOT_LISTENING", &["P03"]);
    log.has("INFO", "ROUND_ANNOUNCEMENT", &["told 3 agents, 2 acknowledged it, 1 did not"]);
    log.has("INFO", "LEAGUE_STANDINGS_UPDATE", &["acknowledged"]);
    log.has("DEBUG", "MESSAGE_SENT", &["START_MATCH to REF01: answered in"]);
    log.has("DEBUG", "MESSAGE_RECEIVED", &["MATCH_RESULT_REPORT from referee:REF01"]);
    log.has("INFO", "ROUND_COMPLETED", &["acknowledged"]);
    log.has("INFO", "LEAGUE_COMPLETED", &[]);

    // S0 3.3: every match from its start to its report, in the referee's log.
    let referee = Log::of(&venue.home, "logs/agents/REF01.log.jsonl");
    referee.has("INFO", "MATCH_STARTED", &["against"]);
    referee.has("DEBUG", "MESSAGE_SENT", &["GAME_INVITATION to P01, try 1: answered in"]);
    referee.has("WARN", "MESSAGE_FAILED", &["GAME_INVITATION to P03, try 3: not reachable"]);
    referee.has("DEBUG", "PLAYER_JOINED", &["P02 joined"]);
    referee.has("WARN", "MESSAGE_FAILED", &["CHOOSE_PARITY_CALL to P02, try 1: no whole answer within 1s"]);
    referee.has("WARN", "GAME_ERROR", &["P02", "no answer in time", "try 2 of 3"]);
    referee.has("DEBUG", "CHOICE_RECEIVED", &["P01 has chosen"]);
    let over = referee.has("INFO", "MATCH_OVER", &["R", "attempt 1"]);
    assert!(over["data"]["choices"].is_object(), "{over}");
    referee.has("DEBUG", "MESSAGE_SENT", &["MATCH_RESULT_REPORT to the manager: answered in"]);
    referee.has("DEBUG", "MESSAGE_SENT", &["GAME_OVER to P01: answered in"]);
    Log::of(&venue.home, "logs/agents/P02.log.jsonl").has("WARN", "GAME_ERROR", &["E001", "try 1 of 3"]);
    // A choice is not logged before its match is decided.
    for line in referee.lines().iter().filter(|line| line["event_type"] == "CHOICE_RECEIVED") {
        let message = line["message"].as_str().unwrap();
        assert!(!message.contains("even") && !message.contains("odd"), "{message}");
    }
}

#[test]
fn a_variable_sets_the_level_of_the_log_files() {
    for (level, has_messages) in [("", false), ("debug", true), ("warn", false), ("loud", false)] {
        let home = TestHome::new();
        let run = ["run", "--players", "3", "--port", "0", "--home", home.path()];
        let exit = Process::start_in(home.path(), &[("LEAGUE_LOG_FILES", level)], &run).wait();
        if level == "loud" {
            exit.fails_with(&["debug, info or warn"]);
            continue;
        }
        exit.success();
        let log = Log::of(&home, LEAGUE_LOG);
        assert_eq!(log.count("MESSAGE_SENT") > 0, has_messages, "{level}");
        assert_eq!(log.count("ROUND_ANNOUNCEMENT") > 0, level != "warn", "{level}");
    }
}

#[test]
fn an_agent_gives_up_after_the_given_number_of_tries() {
    let (home, nowhere) = (TestHome::new(), ports::free_endpoint());
    for role in ["player", "referee"] {
        home.league(&[role, "--port", "0", "--give-up-after", "2", "--manager", &nowhere])
            .fails_with(&["after 2 tries", &nowhere]);
    }
}

#[test]
fn an_agent_without_a_name_gets_a_readable_one() {
    let (home, manager) = (TestHome::new(), stub_manager());
    let port = ports::free().to_string();
    let mut player = home.start(&["player", "--port", &port, "--manager", &manager.endpoint()]);
    player.wait_for_line("P01 plays");
    let request = &manager.wait_for("register_player", 1, LIMIT)[0]["params"];
    let name = request["player_meta"]["display_name"].as_str().unwrap().to_owned();
    let words: Vec<&str> = name.split(' ').collect();
    assert!(words.len() == 3 && words[..2].iter().all(|word| word.chars().all(char::is_alphabetic)), "{name}");
    assert_eq!(words[2], port);
    player.kill_and_restart();
    let again = &manager.wait_for("register_player", 2, LIMIT)[1]["params"];
    assert_eq!(again["player_meta"]["display_name"], name.as_str());
}
