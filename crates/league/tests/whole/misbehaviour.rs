//! Players that misbehave: what they lose, and that no other agent is affected.

use std::time::Duration;

use league_test_agents::http_server::{HttpReply, HttpServer, Then};
use serde_json::{Value, json};

use crate::support::{Venue, stand_in};

/// P01 plays well; P02 plays `strategy`.
fn against(strategy: &str) -> Venue {
    let venue = Venue::new();
    let manager = venue.manager(2, 1);
    let _agents = [venue.referee("REF01"), venue.player("P01", "random"), venue.player("P02", strategy)];
    manager.wait().success();
    venue.home.verify(1);
    venue
}

/// P01 plays well; P02 answers invitations like this, and may stop then.
fn against_stand_in(accept: bool, then: Then) -> (Venue, HttpServer) {
    let venue = Venue::new();
    let mut manager = venue.manager(2, 1);
    let stand_in = stand_in(&manager.address(), "P02", move |request| {
        let answer = json!({"message_type": "GAME_JOIN_ACK", "player_id": "P02", "accept": accept});
        HttpReply::result(request, &answer).then(then)
    });
    let _agents = [venue.referee("REF01"), venue.player("P01", "random")];
    manager.wait().success();
    if matches!(then, Then::KeepOpen) {
        // The referee tells the players after it has reported the match.
        stand_in.wait_for("notify_match_result", 1, Duration::from_secs(10));
    }
    venue.home.verify(1);
    (venue, stand_in)
}

/// Expects that P02 has lost technically. Returns the file of the match.
fn expect_technical_loss(venue: &Venue) -> Value {
    let [good, bad] = ["P01", "P02"].map(|player| venue.home.row(player));
    assert_eq!((&good["points"], &bad["points"]), (&3.into(), &0.into()));
    assert_eq!((&good["wins"], &bad["losses"]), (&1.into(), &1.into()));
    let file = venue.home.match_file("R1M1");
    let result = &file["result"];
    assert_eq!((&result["winner"], &result["details"]["status"]), (&json!("P01"), &json!("TECHNICAL_LOSS")), "{file}");
    assert_eq!(result["details"]["drawn_number"], Value::Null);
    file
}

/// The messages of this type to P02.
fn sent(file: &Value, message_type: &str) -> Vec<Value> {
    let fits =
        |entry: &&Value| entry["direction"] == "sent" && entry["to"] == "P02" && entry["message_type"] == message_type;
    file["transcript"].as_array().unwrap().iter().filter(fits).cloned().collect()
}

#[test]
fn a_player_that_declines_loses_technically_at_once() {
    let (venue, stand_in) = against_stand_in(false, Then::KeepOpen);
    let file = expect_technical_loss(&venue);
    // A refusal is no error: the referee asks once, and sends the result.
    let count = |message_type| sent(&file, message_type).len();
    assert_eq!((count("GAME_INVITATION"), count("GAME_ERROR"), count("CHOOSE_PARITY_CALL")), (1, 0, 0), "{file}");
    let over = &stand_in.calls("notify_match_result")[0]["params"];
    assert_eq!((&over["points_earned"], &over["game_result"]["winner_player_id"]), (&0.into(), &"P01".into()));
}

#[test]
fn a_player_that_joins_and_stops_is_asked_as_often_as_any_other() {
    let (venue, stand_in) = against_stand_in(true, Then::Stop);
    assert_eq!(stand_in.requests().last().unwrap().json()["method"], "handle_game_invitation");
    let file = expect_technical_loss(&venue);
    let count = |message_type| sent(&file, message_type).len();
    assert_eq!((count("GAME_INVITATION"), count("CHOOSE_PARITY_CALL"), count("GAME_OVER")), (1, 3, 0), "{file}");
    let errors = sent(&file, "GAME_ERROR");
    let errors: Vec<_> = errors.iter().map(|entry| &entry["message"]["params"]).collect();
    assert!(errors.iter().all(|error| error["error_code"] == "E009" && error["max_retries"] == 3), "{errors:?}");
    let tries: Vec<_> = errors.iter().map(|error| &error["retry_count"]).collect();
    assert_eq!(tries, [1, 2], "before each new attempt, and not after the last");
}

#[test]
fn a_player_that_is_silent_or_wrong_or_crashes_loses_technically() {
    for (strategy, error) in [("timeout", "E001"), ("invalid", "E004"), ("crash", "E009")] {
        let file = expect_technical_loss(&against(strategy));
        assert!(file["transcript"].to_string().contains(error), "{strategy}: {file}");
    }
}

#[test]
fn a_slow_player_plays_like_any_other() {
    let file = against("slow").home.match_file("R1M1");
    assert!(file["result"]["details"]["drawn_number"].is_number(), "{file}");
    assert!(!file["transcript"].to_string().contains("GAME_ERROR"), "{file}");
}

/// Starts a league in which these players register and are killed.
fn league_with_dead(players: usize, dead: &[&str]) -> Venue {
    let venue = Venue::new();
    let manager = venue.manager(players, 1);
    for id in dead {
        let mut player = venue.player(id, "random");
        player.wait_for_line(&format!("{id} plays"));
        player.kill();
    }
    let living = ["P01", "P02", "P03"].into_iter().take(players).filter(|id| !dead.contains(id));
    let _players: Vec<_> = living.map(|id| venue.player(id, "random")).collect();
    let _referee = venue.referee("REF01");
    manager.wait().success();
    venue.home.verify(players * (players - 1) / 2);
    venue
}

#[test]
fn a_dead_player_loses_technically_and_the_others_play_on() {
    let venue = league_with_dead(3, &["P02"]);
    let row = venue.home.row("P02");
    assert_eq!((&row["losses"], &row["points"]), (&2.into(), &0.into()), "{row}");
    for living in ["P01", "P03"] {
        assert!(venue.home.row(living)["points"].as_u64().unwrap() >= 3);
    }
}

#[test]
fn two_dead_players_draw_with_a_point_each() {
    let venue = league_with_dead(2, &["P01", "P02"]);
    assert_eq!(["P01", "P02"].map(|player| venue.home.row(player)["points"].clone()), [1, 1]);
    assert_eq!(venue.home.match_file("R1M1")["result"]["winner"], Value::Null);
}
