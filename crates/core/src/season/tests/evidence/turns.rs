//! Keys that are replaced, and games of several turns.

use super::*;

#[test]
fn a_match_with_turns_waits_for_the_operator_although_the_report_omits_its_moves() {
    let mut league = SigningLeague::new("tic_tac_toe", 2, 2);
    let held = league.league.assign().remove(0);
    let signed = Pair::from_fn(|side| league.join(&held, side, &DrawNonce::default()));
    let report = league.report_of(&held, &MatchRecord::unplayed(Outcome::Win(Side::A)), signed);
    let outcome = league.judge(&held, &report, &Testimonies::default());
    assert_eq!(outcome, ReportOutcome::Contested(AlertKind::BadSignature));
    assert_eq!(league.alerts(), ["R1M1 REF01 P01 BadSignature waits"]);
}

#[test]
fn each_move_of_a_game_with_turns_is_signed_with_the_board_that_the_player_saw() {
    let course = [(Side::A, "1"), (Side::B, "4"), (Side::A, "2"), (Side::B, "5"), (Side::A, "3")];
    let views = [".........", "X........", "X..O.....", "XX.O.....", "XX.OO...."];
    let mut league = SigningLeague::new("tic_tac_toe", 2, 2);
    let held = league.league.assign().remove(0);
    let nonce = DrawNonce::default();
    let report = |league: &SigningLeague, held: &Assignment, views: [&str; 5]| {
        let course: Vec<(Side, SmolStr)> = course.iter().map(|(side, text)| (*side, (*text).into())).collect();
        let record = MatchRecord {
            moves: Pair::new(Some("3".into()), Some("5".into())),
            course: course.clone(),
            ..MatchRecord::unplayed(Outcome::Win(Side::A))
        };
        let signed = |side: Side| {
            let own = course.iter().zip(views).filter(|((mover, _), _)| *mover == side);
            let moves = (1..).zip(own).map(|(turn, ((_, text), view))| {
                let text: &SmolStr = text;
                Some(league.sign_move(held, side, turn, view, text))
            });
            PlayerSignatures { moves: moves.collect(), ..league.join(held, side, &nonce) }
        };
        league.report_of(held, &record, Pair::from_fn(signed))
    };
    let mut shown = views;
    shown[3] = "X..O....X";
    let lie = report(&league, &held, shown);
    let outcome = league.judge(&held, &lie, &Testimonies::default());
    assert_eq!(outcome, ReportOutcome::Contested(AlertKind::BadSignature));
    assert_eq!(league.alerts(), ["R1M1 REF01 P02 BadSignature waits"], "the players have seen moves");
    league.league.run(|season| season.resolve(&m("R1M1"), DisputeDecision::Uphold, now()));
    let again = league.league.assign().remove(0);
    assert_eq!(again.referee, r(2));
    let honest = report(&league, &again, views);
    assert_eq!(league.judge(&again, &honest, &Testimonies::default()), ReportOutcome::Now);
    assert!(matches!(league.league.log.last().map(|event| &event.fact), Some(Fact::LeagueCompleted)));
}

#[test]
fn a_key_that_was_replaced_during_the_attempt_still_signs_it() {
    let mut league = SigningLeague::new("even_odd", 2, 1);
    let held = league.league.assign().remove(0);
    let (_, report) = league.honest(&held);
    let mut request = player(1);
    request.player_meta.signs_moves = true;
    league.league.admit(&request);
    assert_eq!(league.judge(&held, &report, &Testimonies::default()), ReportOutcome::Now);
}
