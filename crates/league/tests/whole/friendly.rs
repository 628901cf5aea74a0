//! `start_match` by the operator at a registered referee: a friendly match is played and shown, and never counts.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Process, Venue, http};

fn endpoints(venue: &Venue, ids: [&str; 3]) -> [String; 3] {
    let agents = venue.home.tells("agents");
    ids.map(|id| {
        let known = agents.as_array().unwrap().iter().find(|agent| agent["id"] == id);
        known.and_then(|agent| agent["endpoint"].as_str()).unwrap_or_else(|| panic!("no {id} in {agents}")).to_owned()
    })
}

/// An order as in S1: ids and endpoints.
fn order([_, one, other]: &[String; 3], token: Option<&str>) -> Value {
    let mut order = json!({"match_id": "R1M1", "player_A_id": "P01", "player_B_id": "P02",
        "player_A_endpoint": one, "player_B_endpoint": other});
    if let Some(token) = token {
        order["auth_token"] = json!(token);
    }
    order
}

fn finished(referee: &str) -> Value {
    let of = json!({"match_id": "R1M1"});
    http::until(referee, "get_match_state", &of, |state| state["result"]["state"] == "FINISHED");
    http::call(referee, "get_match_state", &of)["result"].clone()
}

fn registered(venue: &Venue, referee: &mut Process) -> [Process; 2] {
    referee.says("is ready");
    ["P01", "P02"].map(|id| {
        let mut player = venue.player(id, "random");
        player.says("plays");
        player
    })
}

#[test]
fn a_friendly_match_is_played_and_shown_and_never_counts() {
    let venue = Venue::new();
    let manager = venue.manager(3, 1);
    let mut referee = venue.referee("REF01");
    let players = registered(&venue, &mut referee);
    let at = endpoints(&venue, ["REF01", "P01", "P02"]);
    let started = http::call(&at[0], "start_match", &order(&at, None));
    assert_eq!(started["result"]["status"], "ACCEPTED", "{started}");
    let state = finished(&at[0]);
    let choices = state["game_result"]["choices"].as_object().unwrap();
    assert!(choices.values().all(|choice| choice == "even" || choice == "odd"), "{state}");
    let file = Path::new(venue.home.path()).join("data/matches/friendly/R1M1.json");
    let end = Instant::now() + Duration::from_secs(30);
    while !file.exists() {
        assert!(Instant::now() < end, "{} is not written", file.display());
        std::thread::sleep(Duration::from_millis(20));
    }
    // The league is unchanged: it has no result, and R1M1 is still to be played.
    let third = venue.player("P03", "random");
    manager.ended().well();
    players.into_iter().chain([third]).for_each(|player| drop(player.ended().well()));
    venue.home.verify(3);
    let rows = venue.home.tells("standings");
    assert!(rows.as_array().unwrap().iter().all(|row| row["played"] == 2), "{rows}");
}

#[test]
fn where_the_operator_has_a_token_it_is_needed_for_a_friendly_match() {
    let venue = Venue::new();
    let _manager = venue.manager(3, 1);
    let mut referee =
        venue.agent(&["referee", "--referee-id", "REF01"], &["--operator-token", "the-operators-own-word"]);
    let _players = registered(&venue, &mut referee);
    let at = endpoints(&venue, ["REF01", "P01", "P02"]);
    let start = |token| http::call(&at[0], "start_match", &order(&at, token));
    assert_eq!(start(None)["error"]["data"]["error_code"], "E011");
    assert_eq!(start(Some("a-wrong-word"))["error"]["data"]["error_code"], "E012");
    let started = start(Some("the-operators-own-word"));
    assert_eq!(started["result"]["status"], "ACCEPTED", "{started}");
    assert_eq!(finished(&at[0])["state"], "FINISHED");
}
