use league_protocol::draw::{DrawSeal, DrawSecret};
use league_protocol::id::GameType;
use league_protocol::message::report::MatchResultReport;
use league_protocol::side::Side;
use serde_json::{Value, json};

use super::*;

/// P01 on side A against P02 on side B, in R1M1.
fn league() -> League {
    let league = League::running(4, &[2]);
    let ids = league.season.contestants(&m("R1M1")).unwrap().map(|player| player.id.clone());
    assert_eq!(ids, Pair::new(p(1), p(2)));
    league
}

fn read(result: &Value) -> Result<MatchRecord, String> {
    let report = json!({ "league_id": "league_2025_even_odd", "round_id": 1, "match_id": "R1M1", "result": result });
    let report: MatchResultReport = serde_json::from_value(report).unwrap();
    league().season.read_report(&report).map_err(|fault| blame(&fault))
}

#[test]
fn the_example_of_the_course_is_understood() {
    let record = read(&json!({
        "winner": "P01", "score": { "P01": 3, "P02": 0 },
        "details": { "drawn_number": 8, "choices": { "P01": "even", "P02": "odd" } },
    }));
    let moves = Pair::new(Some("even".into()), Some("odd".into()));
    assert_eq!(
        record,
        Ok(MatchRecord {
            outcome: Outcome::Win(Side::A),
            moves,
            games: std::num::NonZeroU32::MIN,
            course: Vec::new(),
            drawn: Some(8),
            score: None,
            proof: None
        })
    );
}

#[test]
fn choices_are_read_by_player_in_any_order() {
    let choices = json!({ "P02": "odd", "P01": null });
    let record = read(&json!({ "winner": "P02", "details": { "choices": choices } })).unwrap();
    assert_eq!(record.moves, Pair::new(None, Some("odd".into())));
}

#[test]
fn the_outcome_is_read_from_winner_status_technical_losses_and_score() {
    let (technical, win_a) = ("TECHNICAL_LOSS", Outcome::Win(Side::A));
    let (lost_a, lost_b) = (Outcome::Forfeit(Side::A), Outcome::Forfeit(Side::B));
    let cases = [
        (json!({}), Outcome::Draw),
        (json!({ "winner": "", "score": { "P01": 1, "P02": 1 } }), Outcome::Draw),
        (json!({ "winner": "DRAW" }), Outcome::Draw),
        (json!({ "winner": "draw" }), Outcome::Draw),
        (json!({ "winner": "none" }), Outcome::Draw),
        (json!({ "winner": null, "details": { "status": "DRAW" } }), Outcome::Draw),
        (json!({ "winner": null, "score": { "P01": 0, "P02": 0 } }), Outcome::Draw),
        (json!({ "winner": null, "score": { "P01": 1, "P02": 1 } }), Outcome::Draw),
        // The points of the course and a plain one for the winner are accepted.
        (json!({ "winner": "P01", "score": { "P01": 1, "P02": 0 } }), win_a),
        (json!({ "winner": "P01", "score": { "P02": 0, "P01": 3 } }), win_a),
        (json!({ "winner": "P01", "score": { "P01": 3 } }), win_a),
        (json!({ "winner": "P01", "score": { "P02": 0 } }), win_a),
        (json!({ "winner": "P01", "score": {} }), win_a),
        (json!({ "winner": "P02", "details": { "status": technical } }), lost_a),
        (json!({ "winner": "P01", "details": { "status": technical } }), lost_b),
        (json!({ "winner": "P01", "details": { "technical_losses": ["P02"] } }), lost_b),
        (json!({ "winner": "P01", "details": { "technical_losses": ["P02", "P02"] } }), lost_b),
        (json!({ "winner": "P02", "details": { "status": technical, "technical_losses": ["P01"] } }), lost_a),
        (json!({ "winner": "P02", "details": { "status": "WIN", "technical_losses": ["P01"] } }), lost_a),
        (json!({ "details": { "technical_losses": ["P01", "P02"] } }), Outcome::DoubleForfeit),
        (json!({ "details": { "technical_losses": ["P02", "P01"], "status": "DRAW" } }), Outcome::DoubleForfeit),
        (json!({ "details": { "technical_losses": ["P02", "P01"], "status": technical } }), Outcome::DoubleForfeit),
        (json!({ "details": { "status": technical } }), Outcome::DoubleForfeit),
    ];
    for (result, expected) in cases {
        assert_eq!(read(&result).map(|record| record.outcome), Ok(expected), "{result}");
    }
}

#[test]
fn a_report_that_contradicts_itself_the_points_or_the_pairing_is_refused() {
    let secret = DrawSecret([3; 32]);
    let draw = json!({ "commitment": secret.commitment(), "secret": secret, "attempt": 1, "nonces": { "P03": "x" } });
    let cases = [
        (json!({ "winner": "P01", "details": { "technical_losses": ["P01"] } }), "result"),
        (json!({ "winner": "P01", "details": { "technical_losses": ["P01", "P02"] } }), "result"),
        (json!({ "winner": null, "details": { "technical_losses": ["P02"] } }), "result"),
        (json!({ "winner": "P01", "details": { "status": "DRAW" } }), "result"),
        (json!({ "winner": "P01", "details": { "status": "DRAW", "technical_losses": ["P02"] } }), "result"),
        (json!({ "winner": null, "details": { "status": "WIN" } }), "result"),
        (json!({ "details": { "drawn_number": 8, "number_parity": "odd" } }), "result.details.number_parity"),
        // These scores follow no rule of points.
        (json!({ "winner": null, "score": { "P01": 3, "P02": 0 } }), "result.score"),
        (json!({ "winner": null, "score": { "P01": 3, "P02": 3 } }), "result.score"),
        (json!({ "score": { "P01": 0, "P02": 3 } }), "result.score"),
        (json!({ "winner": "P01", "score": { "P01": 0, "P02": 3 } }), "result.score"),
        (json!({ "winner": "P01", "score": { "P01": 9, "P02": 0 } }), "result.score"),
        (json!({ "winner": "P01", "score": { "P01": 3, "P02": 1 } }), "result.score"),
        (json!({ "winner": "P01", "score": { "P01": 0, "P02": 0 } }), "result.score"),
        (json!({ "winner": "P01", "score": { "P02": 3 } }), "result.score"),
        // These players do not play in the match.
        (json!({ "winner": "P03" }), "result.winner"),
        (json!({ "winner": "P99" }), "result.winner"),
        (json!({ "winner": "P01", "score": { "P01": 3, "P03": 0 } }), "result.score"),
        (json!({ "details": { "choices": { "P01": "even", "P03": "odd" } } }), "result.details.choices"),
        (json!({ "winner": "P01", "details": { "technical_losses": ["P04"] } }), "result.details.technical_losses"),
        (json!({ "details": { "drawn_number": 5, "draw": draw } }), "result.details.draw.nonces"),
    ];
    for (result, field) in cases {
        assert_eq!(read(&result), Err(format!("E002 -32602 {field}")), "{result}");
    }
    let report = json!({ "match_id": "R1M1", "result": { "winner": "P01", "score": { "P01": 9, "P02": 0 } } });
    let message = league().season.read_report(&serde_json::from_value(report).unwrap()).unwrap_err().message;
    assert_eq!(message, "result.score gives P01 9 and P02 0; for this result send 3 for P01 and 0 for P02");
}

#[test]
fn the_proof_is_read_by_sides() {
    let secret = DrawSecret([3; 32]);
    let draw = json!({
        "commitment": secret.commitment(), "secret": secret, "attempt": 1, "nonces": { "P02": "salt" },
        "seal": DrawSeal([5; 32]), "seeded": true,
    });
    let proof = read(&json!({ "details": { "drawn_number": 5, "draw": draw } })).unwrap().proof.unwrap();
    assert_eq!((proof.secret, proof.commitment, proof.seeded), (secret, secret.commitment(), true));
    assert_eq!(proof.seal, Some(DrawSeal([5; 32])));
    assert_eq!(proof.nonces, Pair::new("".parse().unwrap(), "salt".parse().unwrap()));
}

#[test]
fn a_report_is_for_this_league_and_one_of_its_matches() {
    let cases = [
        ("league_2025_even_odd", "R9M1", "E007 5002 match_id"),
        ("league_2025_even_odd", "final", "E007 5002 match_id"),
        ("elsewhere", "R1M1", "E008 8 league_id"),
    ];
    for (league_id, match_id, expected) in cases {
        let report = json!({ "league_id": league_id, "match_id": match_id, "result": { "winner": "P01" } });
        let report: MatchResultReport = serde_json::from_value(report).unwrap();
        assert_eq!(blame(&league().season.read_report(&report).unwrap_err()), expected);
    }
    let silent = json!({ "match_id": "R1M1", "result": { "winner": "P01" } });
    let report: MatchResultReport = serde_json::from_value(silent).unwrap();
    assert!(league().season.read_report(&report).is_ok());
    assert!(League::open().season.read_report(&report).is_err());
}

fn reported(result: &Value) -> Result<MatchRecord, String> {
    let game: GameType = "tic_tac_toe".parse().unwrap();
    let mut league = League::with(LeagueConfig { game_type: game.clone(), ..config() });
    for number in 1..=2 {
        let mut request = player(number);
        request.player_meta.game_types = vec![game.clone()];
        league.admit(&request);
    }
    let mut request = referee(1, 1);
    request.referee_meta.game_types = vec![game];
    league.admit_referee(&request);
    league.start();
    let assignment = league.assign().remove(0);
    let report = json!({ "round_id": 1, "match_id": "R1M1", "result": result });
    let report: MatchResultReport = serde_json::from_value(report).unwrap();
    let record = league.season.read_report(&report).map_err(|fault| blame(&fault))?;
    league.report(&assignment, record.clone()).map(|_| record).map_err(|fault| blame(&fault))
}

fn moves(cells: &str) -> Value {
    cells
        .chars()
        .zip(["P01", "P02"].into_iter().cycle())
        .map(|(cell, player)| json!({ "player_id": player, "move": cell.to_string() }))
        .collect()
}

#[test]
fn a_report_with_the_moves_of_a_board_game_is_replayed() {
    let win = |winner: &str, cells: &str| reported(&json!({ "winner": winner, "details": { "moves": moves(cells) } }));
    let record = win("P01", "14253").unwrap();
    assert_eq!((record.outcome, record.moves), (Outcome::Win(Side::A), Pair::new(Some("3".into()), Some("5".into()))));
    for (winner, cells, lie) in [
        ("P02", "14253", "the other player has won"),
        ("DRAW", "14253", "a player has won"),
        ("P01", "1425", "the game is not over"),
        ("P01", "142533", "the game was over before"),
        ("P01", "1124253", "a cell was taken twice"),
        ("P01", "14x53", "a move is none"),
    ] {
        assert!(win(winner, cells).is_err(), "{lie}");
    }
    let forfeit = |cells: &str| {
        reported(&json!({ "winner": "P01", "details": { "technical_losses": ["P02"], "moves": moves(cells) } }))
    };
    assert!(forfeit("142").is_ok() && forfeit("11").is_err() && forfeit("14253").is_err());
    assert!(reported(&json!({ "winner": "P01" })).is_ok(), "a referee of other make lists no moves");
    let stranger = json!({ "winner": "P01", "details": { "moves": [{ "player_id": "P09", "move": "1" }] } });
    assert!(reported(&stranger).unwrap_err().contains("result.details.moves"));
}
