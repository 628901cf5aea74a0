//! The contents of the logs, and the memory of a player after a kill.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use league_test_agents::http_server::{HttpReply, HttpServer};
use serde_json::{Value, json};

use crate::support::{Process, TestHome, Venue, http, league, ports};

const LIMIT: Duration = Duration::from_secs(60);

/// Registers every agent as P01 without passes, so that the test itself can call the player.
fn stub_manager() -> HttpServer {
    let result = json!({
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_RESPONSE", "status": "ACCEPTED",
        "player_id": "P01", "league_id": "stub_league",
    });
    HttpServer::stub(move |request| HttpReply::result(&request.json(), &result)).unwrap()
}

struct Stage {
    home: TestHome,
    manager: HttpServer,
    player: Process,
    endpoint: String,
}

impl Stage {
    fn new() -> Self {
        let (home, manager, port) = (TestHome::new(), stub_manager(), ports::free().to_string());
        let endpoint = format!("http://127.0.0.1:{port}/mcp");
        let place = ["--port", &port, "--manager", &manager.endpoint(), "--home", home.path()];
        let mut player =
            Process::start(&[&["player", "--player-id", "P01", "--strategy", "frequency"][..], &place].concat());
        player.says("P01 plays frequency");
        Self { home, manager, player, endpoint }
    }

    fn say(&self, method: &str, kind: &str, conversation: &str, body: &Value) -> Value {
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
        let answer = self.say("handle_game_invitation", "GAME_INVITATION", "conv-one", &body);
        assert_eq!(answer["result"]["accept"], true, "{answer}");
    }

    fn call(&self, match_id: &str, conversation: &str) {
        let body = json!({
            "match_id": match_id, "player_id": "P01", "game_type": "even_odd",
            "context": {"opponent_id": "P02", "round_id": 1, "your_standings": {"wins": 0, "losses": 0, "draws": 0}},
        });
        let answer = self.say("choose_parity", "CHOOSE_PARITY_CALL", conversation, &body);
        assert!(answer["result"]["parity_choice"].is_string(), "{answer}");
    }

    fn over(&self, match_id: &str) {
        let result = json!({
            "status": "WIN", "winner_player_id": "P01", "drawn_number": 8, "number_parity": "even",
            "choices": {"P01": "even", "P02": "odd"}, "reason": "8 is even",
        });
        let body = json!({"match_id": match_id, "game_type": "even_odd", "game_result": result});
        let answer = self.say("notify_match_result", "GAME_OVER", "conv-one", &body);
        assert!(answer["error"].is_null(), "{answer}");
    }

    fn state(&self) -> Value {
        http::call(&self.endpoint, "get_player_state", &json!({}))["result"].clone()
    }

    fn log(&self) -> Log {
        Log::of(&self.home.join("logs/agents/P01.log.jsonl"))
    }
}

/// Reads the log again until it has the expected line.
struct Log {
    path: std::path::PathBuf,
}

impl Log {
    fn of(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        // The last line may be incomplete.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn has(&self, level: &str, event: &str, parts: &[&str]) -> Value {
        let until = Instant::now() + LIMIT;
        let fits = |line: &&Value| {
            let message = line["message"].as_str().unwrap();
            line["event_type"] == event && line["level"] == level && parts.iter().all(|part| message.contains(part))
        };
        loop {
            let lines = self.lines();
            if let Some(line) = lines.iter().find(fits) {
                return line.clone();
            }
            assert!(Instant::now() < until, "no {level} {event} {parts:?} in {lines:#?}");
            // An agent writes its log in the background, without a signal.
            sleep(Duration::from_millis(20));
        }
    }

    fn count(&self, event: &str) -> usize {
        self.lines().iter().filter(|line| line["event_type"] == event).count()
    }
}

#[test]
fn a_player_that_is_killed_a_second_after_game_over_remembers_the_match() {
    let mut stage = Stage::new();
    for number in 1..=3 {
        let match_id = format!("R{number}M1");
        stage.invite(&match_id);
        stage.call(&match_id, "conv-one");
        stage.over(&match_id);
    }
    sleep(Duration::from_secs(1));
    stage.player.kill_and_restart();
    let text = fs::read(stage.home.join("data/players/P01/history.json")).unwrap();
    let history: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(history["stats"]["total_matches"], 3, "{history}");
    assert_eq!(history["matches"][2]["match_id"], "R3M1");
    stage.player.says("P01 plays frequency");
    let state = stage.state();
    assert_eq!((&state["matches_played"], &state["record"]["wins"]), (&json!(3), &json!(3)), "{state}");
}

#[test]
fn a_players_log_tells_everything_that_it_was_told_and_answered() {
    let mut stage = Stage::new();
    let log = stage.log();
    log.has("INFO", "REGISTERED", &[&stage.manager.endpoint()]);
    assert_eq!(stage.state()["lifecycle"], "REGISTERED");
    let announced = json!({
        "round_id": 1, "matches": [{"match_id": "R1M1", "game_type": "even_odd", "player_A_id": "P01", "player_B_id": "P02"}],
    });
    stage.say("notify_round", "ROUND_ANNOUNCEMENT", "conv-round", &announced);
    log.has("DEBUG", "ROUND_ANNOUNCED", &["round 1", "R1M1", "P02"]);
    stage.invite("R1M1");
    let invited = log.has("DEBUG", "INVITED", &["R1M1", "referee:REF01", "P02", "joined"]);
    assert_eq!(
        (&invited["conversation_id"], &invited["message_type"]),
        (&json!("conv-one"), &json!("GAME_INVITATION"))
    );
    let state = stage.state();
    assert_eq!((&state["lifecycle"], &state["state"]), (&json!("ACTIVE"), &json!("WAITING_FOR_CHOICE_REQUEST")));

    // The player answers a call in another conversation, and logs a warning.
    stage.call("R1M1", "conv-two");
    log.has("WARN", "CONVERSATION_CHANGED", &["R1M1", "referee:REF01"]);
    // The choice stays out of the file until the match is over.
    assert_eq!(log.count("CHOICE"), 0);
    let error = json!({
        "match_id": "R1M1", "error_code": "E001", "hint": "no answer in time", "retry_count": 1, "max_retries": 3,
    });
    stage.say("notify_game_error", "GAME_ERROR", "conv-one", &error);
    log.has("WARN", "GAME_ERROR", &["R1M1", "E001", "no answer in time", "try 1 of 3"]);
    stage.over("R1M1");
    stage.over("R1M1");
    log.has("DEBUG", "RESULT_REPEATED", &["R1M1"]);
    assert_eq!(log.count("GAME_OVER"), 1, "a repeated result is one line");
    log.has("DEBUG", "CHOICE", &["R1M1: chose ", "by frequency against P02"]);
    let over = log.has("INFO", "GAME_OVER", &["R1M1: win, 3 points", "8 is even"]);
    assert_eq!((&over["agent_id"], &over["component"]), (&json!("P01"), &json!("P01")));

    let row = json!({
        "rank": 1, "player_id": "P01", "display_name": "x", "played": 1, "wins": 1, "draws": 0, "losses": 0, "points": 3,
    });
    stage.say("update_standings", "LEAGUE_STANDINGS_UPDATE", "conv-round", &json!({"round_id": 1, "standings": [row]}));
    log.has("DEBUG", "STANDINGS", &["rank 1 with 3 points after round 1"]);
    stage.say("notify_round_completed", "ROUND_COMPLETED", "conv-round", &json!({"round_id": 1, "matches_played": 1}));
    log.has("DEBUG", "ROUND_COMPLETED", &["round 1"]);

    // The player answers malformed messages with an error and logs them; the logged text is bounded.
    let answer = stage.say("choose_parity", "CHOOSE_PARITY_CALL", "conv-one", &json!({"player_id": "P01"}));
    assert!(answer["error"].is_object(), "{answer}");
    log.has("WARN", "REQUEST_REFUSED", &["CHOOSE_PARITY_CALL", "referee:REF01", "127.0.0.1", "match_id"]);
    let long = "\u{1b}x".repeat(2_000);
    stage.say("handle_game_invitation", "GAME_INVITATION", "conv-one", &json!({"match_id": long}));
    log.has("WARN", "REQUEST_REFUSED", &["GAME_INVITATION"]);
    let unknown = http::call(&stage.endpoint, "no_such_method", &json!({}));
    assert!(unknown["error"].is_object(), "{unknown}");
    log.has("WARN", "REQUEST_REFUSED", &["-32601"]);
    let text = fs::read_to_string(&log.path).unwrap();
    assert!(text.lines().all(|line| line.len() < 4096) && !text.contains('\u{1b}'));

    // An error notice of the manager appears on the console.
    let complaint = json!({"error_code": "E005", "hint": "the operator has withdrawn P01 from stub_league"});
    stage.say("notify_league_error", "LEAGUE_ERROR", "conv-out", &complaint);
    let said = stage.player.says("the operator has withdrawn P01");
    assert!(said.contains("the manager says: the operator has withdrawn P01 from stub_league (E005)"), "{said}");
    assert!(!said.contains("Some("), "{said}");
    log.has("WARN", "LEAGUE_ERROR", &["withdrawn"]);
    stage.say("notify_league_completed", "LEAGUE_COMPLETED", "conv-end", &json!({}));
    stage.player.ended().well();
    log.has("INFO", "LEAGUE_COMPLETED", &[]);
}

#[test]
fn the_logs_of_a_league_tell_who_did_not_answer_and_what_was_refused() {
    let venue = Venue::new();
    let mut manager = venue.manager(3, 1);
    manager.says("the manager is at");
    // No program listens at the registered endpoint.
    let nowhere = format!("http://127.0.0.1:{}/mcp", ports::free());
    let meta = |name: &str| json!({"display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": nowhere});
    let dead = http::call(&venue.address, "register_player", &json!({"player_id": "P03", "player_meta": meta("Dead")}));
    assert_eq!(dead["result"]["status"], "ACCEPTED", "{dead}");
    let agents = [venue.referee("REF01"), venue.player("P01", "random"), venue.player("P02", "timeout")];
    let query = json!({
        "protocol": "league.v2", "message_type": "LEAGUE_QUERY", "sender": "player:P01", "timestamp": "2025-01-15T10:30:00Z",
        "conversation_id": "conv-query", "query_type": "GET_STANDINGS", "auth_token": "tok-P01-wrong",
    });
    let refused = http::call(&venue.address, "league_query", &query);
    assert_eq!(refused["error"]["data"]["error_code"], "E012", "{refused}");
    http::call(&venue.address, "get_standings", &json!({}));
    let log = Log::of(&venue.home.join("logs/league/league_2025_even_odd/league.log.jsonl"));
    log.has("WARN", "REQUEST_REFUSED", &["LEAGUE_QUERY", "player:P01", "E012"]);
    log.has("DEBUG", "MESSAGE_RECEIVED", &["get_standings", "127.0.0.1"]);
    manager.ended().well();
    for agent in agents {
        agent.ended().well();
    }

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
    let referee = Log::of(&venue.home.join("logs/agents/REF01.log.jsonl"));
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
    Log::of(&venue.home.join("logs/agents/P02.log.jsonl")).has("WARN", "GAME_ERROR", &["E001", "try 1 of 3"]);
    let answers =
        referee.lines().iter().filter(|line| line["message"].as_str().unwrap().contains("has chosen")).count();
    assert!(
        answers > 0
            && !referee.lines().iter().any(|line| {
                let message = line["message"].as_str().unwrap();
                line["event_type"] == "CHOICE_RECEIVED" && (message.contains("even") || message.contains("odd"))
            }),
        "a choice is not told before its match is decided"
    );
}

#[test]
fn league_run_keeps_messages_out_of_its_logs_unless_it_is_told_to() {
    for (asked, messages) in [("", false), ("debug", true), ("warn", false)] {
        let home = TestHome::new();
        let run = ["run", "--players", "3", "--port", "0", "--home", home.path()];
        Process::start_in(home.path(), &[("LEAGUE_LOG_FILES", asked)], &run).ended().well();
        let log = Log::of(&home.join("logs/league/league_2025_even_odd/league.log.jsonl"));
        assert_eq!(log.count("MESSAGE_SENT") > 0, messages, "{asked}");
        assert_eq!(log.count("ROUND_ANNOUNCEMENT") > 0, asked != "warn", "{asked}");
    }
    let home = TestHome::new();
    let run = ["run", "--players", "3", "--port", "0", "--home", home.path()];
    let talk = Process::start_in(home.path(), &[("LEAGUE_LOG_FILES", "loud")], &run).ended().badly();
    assert!(talk.contains("debug, info or warn"), "{talk}");
}

#[test]
fn an_agent_gives_up_after_as_many_tries_as_it_is_told() {
    let home = TestHome::new();
    let nowhere = format!("http://127.0.0.1:{}/mcp", ports::free());
    for who in ["player", "referee"] {
        let talk =
            league(&[who, "--port", "0", "--give-up-after", "2", "--manager", &nowhere, "--home", home.path()]).badly();
        assert!(talk.contains("after 2 tries") && talk.contains(&nowhere), "{talk}");
    }
}

#[test]
fn an_agent_without_a_name_gets_one_that_people_can_read() {
    let (home, manager) = (TestHome::new(), stub_manager());
    let port = ports::free().to_string();
    let place = ["player", "--port", &port, "--manager", &manager.endpoint(), "--home", home.path()];
    let mut player = Process::start(&place);
    player.says("P01 plays");
    let request = &manager.wait_for("register_player", 1, LIMIT)[0]["params"];
    let name = request["player_meta"]["display_name"].as_str().unwrap().to_owned();
    let words: Vec<&str> = name.split(' ').collect();
    assert!(words.len() == 3 && words[..2].iter().all(|word| word.chars().all(char::is_alphabetic)), "{name}");
    assert_eq!(words[2], port);
    player.kill_and_restart();
    let again = &manager.wait_for("register_player", 2, LIMIT)[1]["params"];
    assert_eq!(again["player_meta"]["display_name"], name.as_str());
}
