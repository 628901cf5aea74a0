//! The files that a manager writes during a league, and its console output.

use std::fs;
use std::path::Path;

use league_test_agents::http_server::HttpReply;
use serde_json::{Value, json};

use crate::support::home::LEAGUE;
use crate::support::{LIMIT, Venue, assert_contains, http, league, poll, read_json, stand_in};

/// No signal tells when the manager has written a file.
fn wait_for_file(path: &Path, fits: impl Fn(&Value) -> bool) -> Value {
    let read = || fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    poll(&path.display().to_string(), || read().filter(&fits))
}

#[test]
#[cfg_attr(windows, ignore = "ends processes by a signal")]
fn the_files_follow_each_registration_the_schedule_and_each_result() {
    let venue = Venue::new();
    let register = venue.home.join("config/agents/agents_config.json");
    let by_hand = json!({"player_id": "P01", "display_name": "Agent Alpha", "active": true, "seat": "window"});
    venue.home.write("config/agents/agents_config.json", &json!({"remark": "room 7", "players": [by_hand]}));
    let rules = json!({"display_name": "Autumn Cup", "participants": {"max_referees": 1}});
    venue.home.write(&format!("config/leagues/{LEAGUE}.json"), &rules);
    let mut manager = venue.manager_with(4, 1, &["--stepped", "--json"]);
    let address = manager.address();
    assert_contains(&http::page(&address.replace("/mcp", "/"), None).1, &["<h1>Autumn Cup "]);
    let mut referee = venue.referee("REF01");
    referee.wait_for_line("is ready");
    let _players = ["P01", "P02", "P03"].map(|id| venue.player(id, "random"));
    let known = wait_for_file(&register, |file| file["players"].as_array().is_some_and(|players| players.len() == 3));
    assert_eq!((&known["remark"], &known["players"][0]["seat"]), (&json!("room 7"), &json!("window")), "{known}");
    assert_eq!(known["players"][0]["display_name"], "Agent Alpha", "what was written by hand stays");
    let entry = &known["referees"][0];
    assert_eq!((&entry["referee_id"], &entry["active"]), (&json!("REF01"), &json!(true)), "{known}");
    assert!(entry["endpoint"].as_str().unwrap().starts_with("http://") && entry["game_types"][0] == "even_odd");
    let endpoint = entry["endpoint"].as_str().unwrap();
    assert_eq!(known["league_manager"]["endpoint"], address.as_str());
    assert!(!known.to_string().contains("tok-"), "{known}");
    assert_contains(&venue.referee("REF02").wait().stderr, &["League full", "participants.max_referees"]);

    let tables = venue.home.join(&format!("data/leagues/{LEAGUE}"));
    assert!(!tables.join("rounds.json").exists());
    let _fourth = venue.player("P04", "random");
    let rounds = wait_for_file(&tables.join("rounds.json"), |file| file["total_rounds"] == 3);
    assert_eq!(rounds["rounds"][0]["matches"].as_array().unwrap().len(), 2, "{rounds}");
    http::lead(endpoint, "R1M1");
    let standings = wait_for_file(&tables.join("standings.json"), |file| file["version"] == 1);
    assert_eq!(standings["rounds_completed"], 0, "its round goes on: {standings}");
    let played = standings["standings"].as_array().unwrap().iter().filter(|row| row["played"] == 1).count();
    assert_eq!(played, 2, "{standings}");
    wait_for_file(&tables.join("rounds.json"), |file| file["rounds"][0]["matches"][0]["status"] == "COMPLETED");
    // A manager that is told to exit writes the last events, too.
    http::lead(endpoint, "R1M2");
    http::until(&address, "get_standings", &json!({}), |answer| {
        answer["result"]["standings"].as_array().unwrap().iter().all(|row| row["played"] == 1)
    });
    manager.signal("TERM");
    manager.wait().success();
    let last = read_json(&tables.join("standings.json"));
    assert_eq!((&last["version"], &last["rounds_completed"]), (&json!(2), &json!(1)), "{last}");
    assert_contains(&venue.home.league(&["status"]).success().stdout, &[&format!("Autumn Cup ({LEAGUE})")]);
}

#[test]
fn a_restarted_manager_sends_the_standings_again() {
    let venue = Venue::patient();
    let mut manager = venue.manager_with(4, 1, &["--json"]);
    manager.address();
    let _referee = venue.referee("REF01");
    let _players = ["P01", "P02", "P03"].map(|id| venue.player(id, "random"));
    // It declines the first match, and never joins the second one.
    let silent = stand_in(&venue.address, "P04", |request| {
        let first = request["params"]["round_id"] == 1;
        HttpReply::result(request, &if first { json!({"accept": false}) } else { json!({"status": "RECEIVED"}) })
    });
    assert_eq!(silent.wait_for("update_standings", 1, LIMIT)[0]["params"]["round_id"], 1);
    silent.wait_for("handle_game_invitation", 2, LIMIT);
    manager.kill_and_restart();
    let again = &silent.wait_for("update_standings", 2, LIMIT)[1]["params"];
    assert_eq!((&again["round_id"], again["standings"].as_array().unwrap().len()), (&json!(1), 4), "{again}");
    assert_eq!(silent.wait_for("notify_round", 3, LIMIT)[2]["params"]["round_id"], 2);
}

#[test]
fn a_manager_prints_registrations_missing_players_and_results() {
    let venue = Venue::new();
    let listed = json!({"players": [{"player_id": "P01"}, {"player_id": "P03", "display_name": "Late"}]});
    venue.home.write("config/agents/agents_config.json", &listed);
    let mut manager = venue.manager_with(3, 1, &["--exit-when-done"]);
    let address = manager.address();
    let _referee = venue.referee("REF01");
    manager.wait_for_line("REF01 is here: Referee REF01 at http://");
    let _first = venue.player("P01", "always_even");
    assert_contains(&manager.wait_for_line("P01 is here:"), &["(1 of 3 players)"]);
    let _second = venue.player("P02", "always_odd");
    manager.wait_for_line("P02 is here:");
    league(&["start", "--manager", &address]).success();
    let closed = manager.wait_for_line("Registration is closed");
    let missing = "2 of 3 expected players and 1 referee are here. 1 player missing";
    assert_contains(&closed, &[missing, "not here: P03 (Late)"]);
    manager.wait_for_line("Round 1 of 1 begins.");
    assert_contains(&manager.wait_for_line("R1M1: "), &["beats", " against ", "number"]);
    manager.wait().success();
}
