//! The files that a manager writes during a league, and its console output.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::home::LEAGUE;
use crate::support::{Reaction, StandIn, Venue, http, league};

fn until(path: &Path, is_there: impl Fn(&Value) -> bool) -> Value {
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        let read = fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match read.filter(&is_there) {
            Some(value) => return value,
            None => assert!(Instant::now() < limit, "{} does not come", path.display()),
        }
        sleep(Duration::from_millis(20));
    }
}

fn write(path: &Path, contents: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, contents.to_string()).unwrap();
}

fn lead(endpoint: &str, game: &str) {
    for step in ["collect_choices", "draw_number", "finalize_match"] {
        let asked = json!({"match_id": game});
        http::until(endpoint, "get_match_state", &asked, |state| state["result"]["waiting_for"] == step);
        http::call(endpoint, step, &asked);
    }
}

#[test]
#[cfg_attr(windows, ignore = "ends processes by a signal")]
fn the_files_follow_each_registration_the_schedule_and_each_result() {
    let venue = Venue::new();
    let register = venue.home.join("config/agents/agents_config.json");
    let by_hand = json!({"player_id": "P01", "display_name": "Agent Alpha", "active": true, "seat": "window"});
    write(&register, &json!({"remark": "room 7", "players": [by_hand]}));
    write(
        &venue.home.join(&format!("config/leagues/{LEAGUE}.json")),
        &json!({"display_name": "Autumn Cup", "participants": {"max_referees": 1}}),
    );
    let mut manager = venue.manager_with(4, 1, &["--stepped", "--json"]);
    let address = manager.address();
    assert!(http::page(&address.replace("/mcp", "/"), None).1.contains("<h1>Autumn Cup "));
    let mut referee = venue.referee("REF01");
    referee.says("is ready");
    let players = ["P01", "P02", "P03"].map(|id| venue.player(id, "random"));
    let known = until(&register, |file| file["players"].as_array().is_some_and(|players| players.len() == 3));
    assert_eq!((&known["remark"], &known["players"][0]["seat"]), (&json!("room 7"), &json!("window")), "{known}");
    assert_eq!(known["players"][0]["display_name"], "Agent Alpha", "what was written by hand stays");
    let entry = &known["referees"][0];
    assert_eq!((&entry["referee_id"], &entry["active"]), (&json!("REF01"), &json!(true)), "{known}");
    assert!(entry["endpoint"].as_str().unwrap().starts_with("http://") && entry["game_types"][0] == "even_odd");
    let endpoint = entry["endpoint"].as_str().unwrap().to_owned();
    assert_eq!(known["league_manager"]["endpoint"], address.as_str());
    assert!(!known.to_string().contains("tok-"), "{known}");
    let extra = venue.agent(&["referee", "--referee-id", "REF02"], &[]).ended();
    assert!(extra.talk.contains("League full") && extra.talk.contains("participants.max_referees"), "{}", extra.talk);

    let tables = venue.home.join(&format!("data/leagues/{LEAGUE}"));
    assert!(!tables.join("rounds.json").exists());
    let _fourth = venue.player("P04", "random");
    let rounds = until(&tables.join("rounds.json"), |file| file["total_rounds"] == 3);
    assert_eq!(rounds["rounds"][0]["matches"].as_array().unwrap().len(), 2, "{rounds}");
    lead(&endpoint, "R1M1");
    let standings = until(&tables.join("standings.json"), |file| file["version"] == 1);
    assert_eq!(standings["rounds_completed"], 0, "its round goes on: {standings}");
    let played = standings["standings"].as_array().unwrap().iter().filter(|row| row["played"] == 1).count();
    assert_eq!(played, 2, "{standings}");
    until(&tables.join("rounds.json"), |file| file["rounds"][0]["matches"][0]["status"] == "COMPLETED");
    // A manager that is told to exit writes the last events, too.
    lead(&endpoint, "R1M2");
    http::until(&address, "get_standings", &json!({}), |answer| {
        answer["result"]["standings"].as_array().unwrap().iter().all(|row| row["played"] == 1)
    });
    manager.terminate();
    manager.ended().well();
    let last: Value = serde_json::from_slice(&fs::read(tables.join("standings.json")).unwrap()).unwrap();
    assert_eq!((&last["version"], &last["rounds_completed"]), (&json!(2), &json!(1)), "{last}");
    assert!(league(&["status", "--home", venue.home.path()]).well().out.contains(&format!("Autumn Cup ({LEAGUE})")));
    drop(players);
}

#[test]
fn after_a_restart_players_hear_the_standings_again() {
    let venue = Venue::patient();
    let mut manager = venue.manager_with(4, 1, &["--json"]);
    manager.address();
    let _referee = venue.referee("REF01");
    let _players = ["P01", "P02", "P03"].map(|id| venue.player(id, "random"));
    let mut invitations = 0;
    let silent = StandIn::invited(&venue.address, "P04", move || {
        invitations += 1;
        Reaction::Says(if invitations == 1 { json!({"accept": false}) } else { json!({"status": "RECEIVED"}) })
    });
    let told = silent.hears("update_standings");
    assert_eq!(told["round_id"], 1, "{told}");
    silent.hears("handle_game_invitation");
    manager.kill_and_restart();
    let again = silent.hears("update_standings");
    assert_eq!(again["round_id"], 1, "{again}");
    assert_eq!(again["standings"].as_array().unwrap().len(), 4, "{again}");
    assert_eq!(silent.hears("notify_round")["round_id"], 2);
}

#[test]
fn the_console_of_a_manager_says_who_came_who_is_missing_and_how_matches_ended() {
    let venue = Venue::new();
    write(
        &venue.home.join("config/agents/agents_config.json"),
        &json!({"players": [{"player_id": "P01"}, {"player_id": "P03", "display_name": "Late"}]}),
    );
    let mut manager = venue.manager_with(3, 1, &["--exit-when-done"]);
    let address = manager.address();
    let _referee = venue.referee("REF01");
    manager.says("REF01 is here: Referee REF01 at http://");
    let _first = venue.player("P01", "always_even");
    assert!(manager.says("P01 is here:").contains("(1 of 3 players)"));
    let _second = venue.player("P02", "always_odd");
    manager.says("P02 is here:");
    league(&["start", "--manager", &address]).well();
    let closed = manager.says("Registration is closed");
    assert!(closed.contains("2 of 3 expected players and 1 referee are here. 1 player missing"), "{closed}");
    assert!(closed.contains("not here: P03 (Late)"), "{closed}");
    manager.says("Round 1 of 1 begins.");
    let result = manager.says("R1M1: ");
    assert!(result.contains("beats") && result.contains(" against ") && result.contains("number"), "{result}");
    manager.ended().well();
}
