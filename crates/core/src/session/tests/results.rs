use super::*;
use crate::session::PlayedMatch;

fn remembered(over: &GameOver) -> Option<PlayedMatch> {
    let mut session = session();
    session.plays(&over.match_id);
    session.is_sent(over);
    assert_eq!(session.state(), SessionState::MatchComplete);
    session.history().matches().first().cloned()
}

fn whole(status: ResultStatus, winner: Option<&PlayerId>) -> GameOver {
    ended(&first_of(1), status, winner)
}

#[test]
fn the_winner_decides_and_then_the_status() {
    use ResultStatus::{Draw, TechnicalLoss, Win};
    let cases = [
        (Win, Some(me()), OwnResult::Win, 3),
        (Win, Some(opponent()), OwnResult::Loss, 0),
        (Draw, None, OwnResult::Draw, 1),
        (TechnicalLoss, Some(me()), OwnResult::Win, 3),
        (TechnicalLoss, Some(opponent()), OwnResult::TechnicalLoss, 0),
        // Both forfeited, in a league that gives no points for it.
        (TechnicalLoss, None, OwnResult::TechnicalLoss, 0),
        (Draw, Some(me()), OwnResult::Win, 3),
        (Draw, Some(opponent()), OwnResult::Loss, 0),
    ];
    for (status, winner, expected, points) in cases {
        let told = format!("{status:?}, {winner:?}");
        let played = remembered(&whole(status, winner.as_ref())).unwrap();
        assert_eq!((played.result, played.points), (expected, points), "{told}");
        assert_eq!((played.my_choice, played.opponent_choice), (word("even"), word("odd")));
    }
}

#[test]
fn the_whole_result_counts_more_than_a_flat_word() {
    let over = GameOver { result: Some(OwnResult::Win), ..whole(ResultStatus::Win, Some(&opponent())) };
    assert_eq!(remembered(&over).unwrap().result, OwnResult::Loss);
    let nameless = GameOver { result: Some(OwnResult::Win), ..whole(ResultStatus::Win, None) };
    assert_eq!(remembered(&nameless).unwrap().result, OwnResult::Win);
}

#[test]
fn an_unknown_status_falls_back_to_the_winner_and_the_flat_field() {
    let over = |json: &str| remembered(&serde_json::from_str(json).unwrap()).map(|played| played.result);
    let with = |winner: &str, flat: &str| {
        let result = format!(r#"{{"status": "COMPLETED", "winner_player_id": {winner}}}"#);
        over(&format!(r#"{{"match_id": "R1M1", "game_result": {result}, "result": {flat}}}"#))
    };
    assert_eq!(with("\"P01\"", "null"), Some(OwnResult::Win));
    assert_eq!(with("\"P02\"", "null"), Some(OwnResult::Loss));
    assert_eq!(with("null", "\"draw\""), Some(OwnResult::Draw));
    assert_eq!(with("\"DRAW\"", "\"Draw\""), Some(OwnResult::Draw));
    assert_eq!(with("null", "null"), None);
}

#[test]
fn flat_fields_alone_are_enough() {
    let flat = |result| GameOver {
        result: Some(result),
        drawn_number: Some(8),
        your_choice: word("even"),
        opponent_choice: word("odd"),
        points_earned: Some(5),
        ..blank(&first_of(1))
    };
    for own in [OwnResult::Win, OwnResult::Loss, OwnResult::Draw, OwnResult::TechnicalLoss] {
        let played = remembered(&flat(own)).unwrap();
        assert_eq!((played.result, played.points, played.drawn_number), (own, 5, Some(8)));
        assert_eq!((played.my_choice, played.opponent_choice), (word("even"), word("odd")));
        assert_eq!((played.opponent_id, played.round_id), (Some(opponent()), Some(RoundId(1))));
    }
}

#[test]
fn results_of_foreign_referees_are_read() {
    let course = r#"{"match_id":"R1M1","game_type":"even_odd","game_result":{"status":"WIN","winner_player_id":"P02",
        "drawn_number":7,"number_parity":"odd","choices":{"P01":"even","P02":"odd"},"reason":"Number 7 is odd."}}"#;
    let played = remembered(&serde_json::from_str(course).unwrap()).unwrap();
    assert_eq!((played.result, played.drawn_number), (OwnResult::Loss, Some(7)));
    let flat = r#"{"match_id":"R1M1","result":"WIN","drawn_number":4,"points_earned":3}"#;
    let played = remembered(&serde_json::from_str(flat).unwrap()).unwrap();
    assert_eq!((played.result, played.drawn_number, played.points), (OwnResult::Win, Some(4), 3));
    assert_eq!(played.my_choice, word("even"), "what it chose itself, the player knows");
    let forfeit = r#"{"match_id":"R1M1","game_result":{"status":"TECHNICAL_LOSS","winner_player_id":"P02",
        "drawn_number":null,"number_parity":null,"choices":{"P01":null,"P02":"odd"},"reason":"P01 was silent."}}"#;
    let played = remembered(&serde_json::from_str(forfeit).unwrap()).unwrap();
    assert_eq!((played.result, played.my_choice), (OwnResult::TechnicalLoss, None), "its choice was not received");
}

#[test]
fn a_result_that_does_not_say_who_won_is_acknowledged_and_not_counted() {
    assert_eq!(remembered(&blank(&first_of(1))), None);
    assert_eq!(remembered(&whole(ResultStatus::Win, None)), None);
}

#[test]
fn an_uninvited_player_learns_its_opponent_from_the_choices() {
    let mut session = session();
    session.is_sent(&whole(ResultStatus::Win, Some(&opponent())));
    assert_eq!(session.history().matches()[0].opponent_id, Some(opponent()));
}
