//! `league withdraw` and `league reopen`: too many players, late players, and players that are gone.

use serde_json::{Value, json};

use crate::support::{Process, Venue, assert_contains, assert_played, http, league, wait_for_all};

const TOKEN: [&str; 2] = ["--token", "chalk-on-the-blackboard"];
const SERVER_TOKEN: [&str; 2] = ["--operator-token", "chalk-on-the-blackboard"];

fn operate(venue: &Venue, command: &[&str]) -> Value {
    league(&[command, &["--manager", &venue.address, "--json"], &TOKEN].concat()).success().json()
}

fn expect_refusal(venue: &Venue, command: &[&str], token: &[&str], parts: &[&str]) {
    league(&[command, &["--manager", &venue.address], token].concat()).fails_with(parts);
}

/// A stepped league whose first match waits. Also returns the referee's endpoint.
fn stepped(players: &[&str], more: &[&str]) -> (Venue, Process, [Vec<Process>; 2], String) {
    let venue = Venue::new();
    let manager = venue.manager_with(players.len(), 1, &[&["--stepped", "--json"], &SERVER_TOKEN[..], more].concat());
    let mut referee = venue.agent(&[&["referee", "--referee-id", "REF01"], &SERVER_TOKEN[..]].concat());
    referee.wait_for_line("is ready");
    let players = players.iter().map(|id| venue.player(id, "random")).collect();
    let endpoint = venue.home.referee_endpoint();
    http::until_match(&endpoint, "R1M1", "waiting_for", "collect_choices");
    (venue, manager, [vec![referee], players], endpoint)
}

#[test]
fn a_player_withdrawn_before_the_start_exits_and_the_league_waits_for_another() {
    let venue = Venue::new();
    let manager = venue.manager_with(3, 1, &[&["--exit-when-done", "--json"], &SERVER_TOKEN[..]].concat());
    let (mut first, mut second) = (venue.player("P01", "random"), venue.player("P02", "random"));
    first.wait_for_line("P01 plays");
    second.wait_for_line("P02 plays");
    for token in [&[][..], &["--token", "cheese"]] {
        expect_refusal(&venue, &["withdraw", "P02"], token, &["--token or LEAGUE_OPERATOR_TOKEN"]);
        expect_refusal(&venue, &["reopen"], token, &["token"]);
    }
    let exit = league(&[&["withdraw", "player p02", "--manager", &venue.address], &TOKEN[..]].concat()).success();
    assert_contains(&exit.stderr, &["Player P02 (P02) is withdrawn."]);
    assert_contains(&exit.stdout, &["Players"]);
    second.wait().success();
    assert_eq!(operate(&venue, &["withdraw", "P02"])["players"], 1, "it is out already");
    expect_refusal(&venue, &["withdraw", "P09"], &TOKEN, &["P09 is not registered"]);
    let registered = "Bob is not registered; the players are P01 (Player P01)";
    expect_refusal(&venue, &["withdraw", "Bob"], &TOKEN, &[registered]);
    let _others = [venue.referee("REF01"), venue.player("P02", "markov"), venue.player("P03", "random")];
    manager.wait().success();
    venue.home.verify(3);
    assert_eq!(venue.home.row("P02")["played"], 2);
}

#[test]
fn a_player_is_withdrawn_during_a_league_and_the_others_play_on() {
    let (venue, mut manager, [_referee, players], endpoint) = stepped(&["P01", "P02", "P03"], &[]);
    let state = http::call(&endpoint, "get_match_state", &json!({"match_id": "R1M1"}));
    let withdrawn = state["result"]["player_A_id"].as_str().unwrap();
    operate(&venue, &["withdraw", withdrawn]);
    operate(&venue, &["withdraw", withdrawn]);
    // A match that its referee already has is played to its end, and counts.
    http::lead_as(&endpoint, "R1M1", Some(TOKEN[1]));
    let rounds = venue.home.list("schedule");
    let games = rounds.iter().skip(1).map(|round| &round["matches"][0]);
    let mut without = games.filter(|game| game["player_A_id"] != withdrawn && game["player_B_id"] != withdrawn);
    http::lead_as(&endpoint, without.next().unwrap()["match_id"].as_str().unwrap(), Some(TOKEN[1]));
    manager.wait_for_end_of_league();
    wait_for_all(players);
    venue.home.verify(3);
    let row = venue.home.row(withdrawn);
    assert_eq!((&row["played"], &row["withdrawn"]), (&json!(2), &json!(true)), "{row}");
    assert_contains(&venue.home.league(&["standings"]).success().stdout, &["(withdrawn)"]);
    // A match without play has its result in the log like all others, and the log verifies.
    manager.kill_and_restart();
    manager.wait_for_end_of_league();
    expect_refusal(&venue, &["withdraw", "P01"], &TOKEN, &["the league is over"]);
    expect_refusal(&venue, &["reopen"], &TOKEN, &["the league is over"]);
}

#[test]
fn registration_is_reopened_for_one_more_player() {
    let (venue, manager, _agents, endpoint) = stepped(&["P01", "P02"], &["--exit-when-done"]);
    expect_refusal(&venue, &["reopen"], &TOKEN, &["stop it first"]);
    operate(&venue, &["stop"]);
    // A repetition is harmless, and the two registered players are not taken for the missing ones.
    for _ in 0..2 {
        assert_eq!(operate(&venue, &["reopen"])["state"], "WAITING_FOR_REGISTRATIONS");
    }
    let mut third = venue.player("P03", "random");
    third.wait_for_line("P03 plays");
    assert_eq!(operate(&venue, &["start"])["total_matches"], 3);
    // The referee keeps the abandoned match until it is ordered to play the one of this schedule.
    http::until_match(&endpoint, "R1M1", "attempt", 2);
    for match_id in ["R1M1", "R2M1", "R3M1"] {
        http::lead_as(&endpoint, match_id, Some(TOKEN[1]));
    }
    manager.wait().success();
    venue.home.verify(3);
    assert_played(&venue.home.json("standings"), 2);
}
