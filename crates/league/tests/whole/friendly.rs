//! `start_match` by the operator at a registered referee: a friendly match is played and shown, and never counts.

use serde_json::{Value, json};

use crate::support::{Process, Venue, assert_played, http, wait_for_all};

/// Waits for two registered players, then returns the referee's endpoint and an order as in S1: ids and endpoints.
fn register(venue: &Venue, referee: &mut Process) -> ([Process; 2], String, Value) {
    referee.wait_for_line("is ready");
    let mut players = ["P01", "P02"].map(|id| venue.player(id, "random"));
    players.iter_mut().for_each(|player| drop(player.wait_for_line("plays")));
    let agents = venue.home.list("agents");
    let endpoint = |id: &str| agents.iter().find(|agent| agent["id"] == id).unwrap()["endpoint"].clone();
    let order = json!({
        "match_id": "R1M1", "player_A_id": "P01", "player_B_id": "P02",
        "player_A_endpoint": endpoint("P01"), "player_B_endpoint": endpoint("P02"),
    });
    (players, venue.home.referee_endpoint(), order)
}

#[test]
fn a_friendly_match_is_played_and_shown_and_never_counts() {
    let venue = Venue::new();
    let manager = venue.manager(3, 1);
    let mut referee = venue.referee("REF01");
    let (players, endpoint, order) = register(&venue, &mut referee);
    let answer = http::call(&endpoint, "start_match", &order);
    assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
    let state = http::until_match(&endpoint, "R1M1", "state", "FINISHED");
    let choices = state["game_result"]["choices"].as_object().unwrap();
    assert!(choices.values().all(|choice| choice == "even" || choice == "odd"), "{state}");
    // The league is unchanged: it has no result, and R1M1 is still to be played.
    let third = venue.player("P03", "random");
    manager.wait().success();
    // The referee has written all its files when it exits.
    wait_for_all(players.into_iter().chain([third, referee]));
    assert!(venue.home.join("data/matches/friendly/R1M1.json").exists());
    venue.home.verify(3);
    assert_played(&venue.home.json("standings"), 2);
}

#[test]
fn a_friendly_match_needs_the_operator_token_if_there_is_one() {
    let venue = Venue::new();
    let _manager = venue.manager(3, 1);
    let mut referee = venue.agent(&["referee", "--referee-id", "REF01", "--operator-token", "the-operators-own-word"]);
    let (_players, endpoint, mut order) = register(&venue, &mut referee);
    let mut start = |token: Option<&str>| {
        order["auth_token"] = token.into();
        http::call(&endpoint, "start_match", &order)
    };
    assert_eq!(start(None)["error"]["data"]["error_code"], "E011");
    assert_eq!(start(Some("a-wrong-word"))["error"]["data"]["error_code"], "E012");
    let answer = start(Some("the-operators-own-word"));
    assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
    http::until_match(&endpoint, "R1M1", "state", "FINISHED");
}
