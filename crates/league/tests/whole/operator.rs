//! `league withdraw` and `league reopen`: too many players, late players, and players that are gone.

use serde_json::{Value, json};

use crate::support::{Process, Venue, http, league};

const TOKEN: [&str; 2] = ["--token", "chalk-on-the-blackboard"];

fn told(venue: &Venue, command: &[&str]) -> Value {
    league(&[command, &["--manager", &venue.address, "--json"], &TOKEN].concat()).well().json()
}

fn refused(venue: &Venue, command: &[&str], token: &[&str]) -> String {
    league(&[command, &["--manager", &venue.address], token].concat()).badly()
}

fn lead(endpoint: &str, game: &str) {
    for step in ["collect_choices", "draw_number", "finalize_match"] {
        let asked = json!({"match_id": game});
        http::until(endpoint, "get_match_state", &asked, |state| state["result"]["waiting_for"] == step);
        http::call(endpoint, step, &asked);
    }
}

#[test]
fn who_is_withdrawn_before_the_start_goes_home_and_the_league_waits_for_another() {
    let venue = Venue::new();
    let manager =
        venue.manager_with(3, 1, &["--exit-when-done", "--json", "--operator-token", "chalk-on-the-blackboard"]);
    let (mut first, mut second) = (venue.player("P01", "random"), venue.player("P02", "random"));
    first.says("P01 plays");
    second.says("P02 plays");
    for token in [&[][..], &["--token", "cheese"]] {
        let told = refused(&venue, &["withdraw", "P02"], token);
        assert!(told.contains("--token or LEAGUE_OPERATOR_TOKEN"), "{told}");
        assert!(refused(&venue, &["reopen"], token).contains("token"));
    }
    let withdrawn = league(&[&["withdraw", "player p02", "--manager", &venue.address], &TOKEN[..]].concat()).well();
    assert!(withdrawn.talk.contains("Player P02 (P02) is withdrawn."), "{}", withdrawn.talk);
    assert!(withdrawn.out.contains("Players"), "{}", withdrawn.out);
    second.ended().well();
    assert_eq!(told(&venue, &["withdraw", "P02"])["players"], 1, "it is out already");
    assert!(refused(&venue, &["withdraw", "P09"], &TOKEN).contains("P09 is not registered"));
    let told = refused(&venue, &["withdraw", "Bob"], &TOKEN);
    assert!(told.contains("Bob is not registered; the players are P01 (Player P01)"), "{told}");
    let _others = [venue.referee("REF01"), venue.player("P02", "markov"), venue.player("P03", "random")];
    manager.ended().well();
    venue.home.verify(3);
    assert_eq!(venue.home.row("P02")["played"], 2);
}

#[test]
fn a_player_is_withdrawn_during_a_league_and_the_others_play_on() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(3, 1, &["--stepped", "--json", "--operator-token", "chalk-on-the-blackboard"]);
    let mut referee = venue.referee("REF01");
    referee.says("is ready");
    let players: [Process; 3] = ["P01", "P02", "P03"].map(|id| venue.player(id, "random"));
    let agents = venue.home.tells("agents");
    let endpoint = agents[0]["endpoint"].as_str().unwrap().to_owned();
    let first = json!({"match_id": "R1M1"});
    http::until(&endpoint, "get_match_state", &first, |state| state["result"]["waiting_for"] == "collect_choices");
    let state = http::call(&endpoint, "get_match_state", &first);
    let out = state["result"]["player_A_id"].as_str().unwrap().to_owned();
    told(&venue, &["withdraw", &out]);
    told(&venue, &["withdraw", &out]);
    // A match that its referee already has is played to its end, and counts.
    lead(&endpoint, "R1M1");
    let rounds = venue.home.tells("schedule");
    let games = rounds.as_array().unwrap().iter().skip(1).map(|round| &round["matches"][0]);
    let mut without = games.filter(|game| game["player_A_id"] != out.as_str() && game["player_B_id"] != out.as_str());
    lead(&endpoint, without.next().unwrap()["match_id"].as_str().unwrap());
    manager.says("The league is over. Serving until Ctrl-C.");
    for player in players {
        player.ended().well();
    }
    venue.home.verify(3);
    let row = venue.home.row(&out);
    assert_eq!((&row["played"], &row["withdrawn"]), (&json!(2), &json!(true)), "{row}");
    assert!(league(&["standings", "--home", venue.home.path()]).well().out.contains("(withdrawn)"));
    // A match without play has its result in the log like all others, and the log verifies.
    manager.kill_and_restart();
    manager.says("The league is over. Serving until Ctrl-C.");
    assert!(refused(&venue, &["withdraw", "P01"], &TOKEN).contains("the league is over"));
    assert!(refused(&venue, &["reopen"], &TOKEN).contains("the league is over"));
}

#[test]
fn registration_is_opened_again_for_one_more() {
    let venue = Venue::new();
    let stepped = ["--stepped", "--exit-when-done", "--json", "--operator-token", "chalk-on-the-blackboard"];
    let manager = venue.manager_with(2, 1, &stepped);
    let mut referee = venue.referee("REF01");
    referee.says("is ready");
    let _players = ["P01", "P02"].map(|id| venue.player(id, "random"));
    let endpoint = venue.home.tells("agents")[0]["endpoint"].as_str().unwrap().to_owned();
    let first = json!({"match_id": "R1M1"});
    http::until(&endpoint, "get_match_state", &first, |state| state["result"]["waiting_for"] == "collect_choices");
    assert!(refused(&venue, &["reopen"], &TOKEN).contains("stop it first"));
    told(&venue, &["stop"]);
    assert_eq!(told(&venue, &["reopen"])["state"], "WAITING_FOR_REGISTRATIONS");
    // A repetition is harmless, and the two registered players are not taken for the missing ones.
    assert_eq!(told(&venue, &["reopen"])["state"], "WAITING_FOR_REGISTRATIONS");
    let mut third = venue.player("P03", "random");
    third.says("P03 plays");
    assert_eq!(told(&venue, &["start"])["total_matches"], 3);
    // The referee keeps the abandoned match until it is ordered to play the one of this schedule.
    http::until(&endpoint, "get_match_state", &first, |state| state["result"]["attempt"] == 2);
    for game in ["R1M1", "R2M1", "R3M1"] {
        lead(&endpoint, game);
    }
    manager.ended().well();
    venue.home.verify(3);
    assert!(venue.home.tells("standings").as_array().unwrap().iter().all(|row| row["played"] == 2));
}
