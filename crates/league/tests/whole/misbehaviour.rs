//! Players that misbehave: what they lose, and that no other agent is affected.

use serde_json::{Value, json};

use crate::support::{Reaction, StandIn, Venue};

/// P01 plays well; P02 plays `strategy`.
fn against(strategy: &str) -> Venue {
    let venue = Venue::new();
    let manager = venue.manager(2, 1);
    let _agents = [venue.referee("REF01"), venue.player("P01", "random"), venue.player("P02", strategy)];
    manager.ended().well();
    venue.home.verify(1);
    venue
}

fn outcome(venue: &Venue) -> (Value, Value, Value) {
    let points = |player| venue.home.row(player)["points"].clone();
    (points("P01"), points("P02"), venue.home.match_file("R1M1"))
}

fn said(file: &Value) -> String {
    file["transcript"].to_string()
}

fn sent(file: &Value, message_type: &str) -> Vec<Value> {
    let transcript = file["transcript"].as_array().unwrap();
    let meant =
        |said: &&Value| said["direction"] == "sent" && said["to"] == "P02" && said["message_type"] == message_type;
    transcript.iter().filter(meant).cloned().collect()
}

/// P01 plays well; P02 reacts to invitations with `react`. Also returns the calls to P02.
fn against_stand_in(react: impl FnMut() -> Reaction + Send + 'static) -> (Venue, Vec<(String, Value)>) {
    let venue = Venue::new();
    let mut manager = venue.manager(2, 1);
    let address = manager.address();
    let stand_in = StandIn::invited(&address, "P02", react);
    let _agents = [venue.referee("REF01"), venue.player("P01", "random")];
    manager.ended().well();
    venue.home.verify(1);
    (venue, stand_in.told())
}

#[test]
fn a_player_that_declines_loses_technically_at_once() {
    let (venue, told) = against_stand_in(|| {
        Reaction::Says(json!({"message_type": "GAME_JOIN_ACK", "player_id": "P02", "accept": false}))
    });
    let (good, bad, file) = outcome(&venue);
    assert_eq!((good, bad), (3.into(), 0.into()));
    let (good, bad) = (venue.home.row("P01"), venue.home.row("P02"));
    assert_eq!((&good["wins"], &bad["losses"]), (&1.into(), &1.into()));
    assert_eq!(file["result"]["details"]["status"], "TECHNICAL_LOSS", "{file}");
    assert_eq!((&file["result"]["winner"], &file["result"]["details"]["drawn_number"]), (&"P01".into(), &Value::Null));
    // A refusal is no error: the referee asks once, and sends the result.
    let count = |message_type| sent(&file, message_type).len();
    assert_eq!((count("GAME_INVITATION"), count("GAME_ERROR"), count("CHOOSE_PARITY_CALL")), (1, 0, 0), "{file}");
    let over = told.iter().find(|(method, _)| method == "notify_match_result").unwrap();
    assert_eq!((&over.1["points_earned"], &over.1["game_result"]["winner_player_id"]), (&0.into(), &"P01".into()));
}

#[test]
fn a_player_that_joins_and_dies_is_asked_as_often_as_any_other() {
    let (venue, told) = against_stand_in(|| {
        Reaction::SaysAndDies(json!({"message_type": "GAME_JOIN_ACK", "player_id": "P02", "accept": true}))
    });
    assert_eq!(told.last().unwrap().0, "handle_game_invitation");
    let (good, bad, file) = outcome(&venue);
    assert_eq!((good, bad), (3.into(), 0.into()));
    assert_eq!(file["result"]["details"]["status"], "TECHNICAL_LOSS", "{file}");
    assert_eq!((&file["result"]["winner"], &file["result"]["details"]["drawn_number"]), (&"P01".into(), &Value::Null));
    let count = |message_type| sent(&file, message_type).len();
    assert_eq!((count("GAME_INVITATION"), count("CHOOSE_PARITY_CALL"), count("GAME_OVER")), (1, 3, 1), "{file}");
    let errors = sent(&file, "GAME_ERROR");
    let errors: Vec<_> = errors.iter().map(|said| &said["message"]["params"]).collect();
    assert!(errors.iter().all(|error| error["error_code"] == "E009" && error["max_retries"] == 3), "{errors:?}");
    let tries: Vec<_> = errors.iter().map(|error| &error["retry_count"]).collect();
    assert_eq!(tries, [1, 2], "before each new attempt, and not after the last");
}

#[test]
fn a_player_that_never_answers_loses_technically() {
    let venue = against("timeout");
    let (good, bad, file) = outcome(&venue);
    assert_eq!((good, bad), (3.into(), 0.into()));
    assert_eq!(file["result"]["details"]["status"], "TECHNICAL_LOSS", "{file}");
    assert_eq!(file["result"]["winner"], "P01");
    assert!(said(&file).contains("E001"), "{file}");
}

#[test]
fn a_player_that_chooses_what_there_is_not_loses_technically() {
    let venue = against("invalid");
    let (good, bad, file) = outcome(&venue);
    assert_eq!((good, bad), (3.into(), 0.into()));
    assert_eq!(file["result"]["details"]["status"], "TECHNICAL_LOSS", "{file}");
    assert!(said(&file).contains("E004"), "{file}");
}

#[test]
fn a_player_that_falls_over_loses_technically() {
    let venue = against("crash");
    let (good, bad, file) = outcome(&venue);
    assert_eq!((good, bad), (3.into(), 0.into()));
    assert_eq!(file["result"]["details"]["status"], "TECHNICAL_LOSS", "{file}");
    assert!(said(&file).contains("E009"), "{file}");
}

#[test]
fn a_player_that_takes_its_time_plays_like_any_other() {
    let venue = against("slow");
    let (_, _, file) = outcome(&venue);
    assert!(file["result"]["details"]["drawn_number"].is_number(), "{file}");
    assert!(!said(&file).contains("GAME_ERROR"), "{file}");
}

#[test]
fn a_player_that_died_loses_technically_and_the_others_play_on() {
    let venue = Venue::new();
    let manager = venue.manager(3, 1);
    let mut dead = venue.player("P02", "random");
    dead.says("P02 plays");
    dead.kill();
    let _agents = [venue.player("P01", "random"), venue.player("P03", "random"), venue.referee("REF01")];
    manager.ended().well();
    venue.home.verify(3);
    let row = venue.home.row("P02");
    assert_eq!((&row["losses"], &row["points"]), (&2.into(), &0.into()), "{row}");
    for living in ["P01", "P03"] {
        assert!(venue.home.row(living)["points"].as_u64().unwrap() >= 3);
    }
}

#[test]
fn two_players_that_died_draw_with_a_point_each() {
    let venue = Venue::new();
    let manager = venue.manager(2, 1);
    for id in ["P01", "P02"] {
        let mut dead = venue.player(id, "random");
        dead.says(&format!("{id} plays"));
        dead.kill();
    }
    let _referee = venue.referee("REF01");
    manager.ended().well();
    venue.home.verify(1);
    let (one, other, file) = outcome(&venue);
    assert_eq!((one, other), (1.into(), 1.into()), "{file}");
    assert_eq!(file["result"]["winner"], Value::Null);
}
