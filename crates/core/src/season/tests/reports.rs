//! Results count once, only from the referee that holds the match, and only if they are consistent.

use league_protocol::draw::{DrawNonce, DrawSeal, DrawSecret};
use league_protocol::side::Side;

use super::*;
use crate::record::RevealedDraw;
use crate::rules::draw::Draw;

const WIN: Outcome = Outcome::Win(Side::A);

fn played(a: &str, b: &str, number: u8, outcome: Outcome) -> MatchRecord {
    let moves = Pair::new(Some(a.into()), Some(b.into()));
    MatchRecord {
        outcome,
        moves,
        games: std::num::NonZeroU32::MIN,
        course: Vec::new(),
        drawn: Some(number),
        score: None,
        proof: None,
    }
}

fn proved(match_id: &str, attempt: u32) -> MatchRecord {
    let (secret, nonces) = (DrawSecret([3; 32]), Pair::new("salt".parse().unwrap(), DrawNonce::default()));
    let draw = Draw { secret, match_id: m(match_id), attempt, nonces: nonces.clone(), seeded: false };
    let number = draw.number().get();
    let outcome = Outcome::Win(if number.is_multiple_of(2) { Side::A } else { Side::B });
    let proof =
        RevealedDraw { commitment: secret.commitment(), secret, nonces, seal: Some(draw.seal()), seeded: false };
    MatchRecord { proof: Some(Box::new(proof)), ..played("even", "odd", number, outcome) }
}

#[track_caller]
fn refused(league: &League, referee: u32, match_id: &str, attempt: Option<u32>, record: &MatchRecord) -> String {
    let before = league.season.clone();
    let fault = league.season.report(&r(referee), &m(match_id), attempt, record.clone(), now()).unwrap_err();
    assert_eq!(league.season, before);
    blame(&fault)
}

#[test]
fn the_first_report_counts_and_the_same_again_is_acknowledged_without_counting() {
    let mut league = League::running(4, &[2]);
    let assigned = league.assign();
    assert_eq!(league.report(&assigned[0], ended(WIN)), Ok(ReportOutcome::Now));
    let (table, events) = (league.table(), league.log.len());
    for _ in 0..3 {
        assert_eq!(league.report(&assigned[0], ended(WIN)), Ok(ReportOutcome::Before));
    }
    assert_eq!((league.table(), league.log.len()), (table, events));
    assert_eq!(league.season.outcome(&m("R1M1")), Some(WIN));
    assert_eq!(league.season.outcome(&m("R1M2")), None);
}

#[test]
fn a_report_is_known_again_after_a_restart_and_after_the_end() {
    let mut league = League::running(2, &[1]);
    let assigned = league.assign();
    league.report(&assigned[0], proved("R1M1", 1)).unwrap();
    league.season = league.replayed();
    assert_eq!(league.report(&assigned[0], proved("R1M1", 1)), Ok(ReportOutcome::Before));
    league.admit_referee(&referee(1, 1));
    assert_eq!(league.report(&assigned[0], proved("R1M1", 1)), Ok(ReportOutcome::Before));
}

#[test]
fn a_different_report_of_the_same_match_changes_nothing() {
    let mut league = League::running(4, &[2]);
    let assigned = league.assign();
    league.report(&assigned[0], proved("R1M1", 1)).unwrap();
    let mut number = proved("R1M1", 1);
    number.drawn = number.drawn.map(|number| 11 - number);
    let mut seeded = proved("R1M1", 1);
    seeded.proof.as_mut().unwrap().seeded = true;
    for other in [ended(WIN), ended(Outcome::Draw), ended(Outcome::DoubleForfeit), number, seeded] {
        assert_eq!(refused(&league, 1, "R1M1", Some(1), &other), "E010 5003 -");
    }
}

#[test]
fn only_the_referee_that_holds_a_match_can_report_it() {
    let mut league = League::running(4, &[1, 1]);
    league.assign();
    for attempt in [None, Some(1)] {
        assert_eq!(refused(&league, 2, "R1M1", attempt, &ended(WIN)), "E007 5002 match_id");
        assert_eq!(refused(&league, 9, "R1M1", attempt, &ended(WIN)), "E013 13 -");
    }
    league.report(&Assignment { match_id: m("R1M1"), attempt: 1, referee: r(1) }, ended(WIN)).unwrap();
    assert_eq!(refused(&league, 2, "R1M1", Some(1), &ended(WIN)), "E007 5002 match_id");
}

#[test]
fn a_report_of_a_lost_referee_is_refused() {
    let mut league = League::running(4, &[1, 1]);
    let assigned = league.assign();
    league.lose(1);
    assert_eq!(refused(&league, 1, "R1M1", Some(1), &ended(WIN)), "E007 5002 match_id");
    league.report(&assigned[1], ended(WIN)).unwrap();
    league.assign();
    assert_eq!(refused(&league, 1, "R1M1", Some(1), &ended(WIN)), "E007 5002 match_id");
    assert_eq!(refused(&league, 1, "R1M1", Some(2), &ended(WIN)), "E007 5002 match_id");
    assert_eq!(refused(&league, 2, "R1M1", Some(1), &ended(WIN)), "E007 5002 attempt");
    league.report(&Assignment { match_id: m("R1M1"), attempt: 2, referee: r(2) }, ended(Outcome::Draw)).unwrap();
    assert_eq!(refused(&league, 1, "R1M1", Some(1), &ended(Outcome::Draw)), "E007 5002 match_id");
}

#[test]
fn a_referee_that_does_not_know_of_attempts_reports_the_current_one() {
    let mut league = League::running(2, &[1]);
    let assigned = league.assign();
    league.give_back(&assigned[0]);
    league.assign();
    assert_eq!(refused(&league, 1, "R1M1", Some(1), &ended(WIN)), "E007 5002 attempt");
    let ruling = league.season.report(&r(1), &m("R1M1"), None, ended(WIN), now()).unwrap();
    assert_eq!(league.enact(ruling), ReportOutcome::Now);
    let ruling = league.season.report(&r(1), &m("R1M1"), None, ended(WIN), now()).unwrap();
    assert_eq!(ruling.reply, ReportOutcome::Before);
}

#[test]
fn a_match_that_does_not_exist_or_has_no_referee_cannot_be_reported() {
    let mut league = League::running(4, &[2]);
    league.assign();
    for match_id in ["R2M1", "R1M3", "R1M99", "R9M1", "R4294967295M1", "final", "r1m1"] {
        assert_eq!(refused(&league, 1, match_id, None, &ended(WIN)), "E007 5002 match_id", "{match_id}");
    }
    let unassigned = League::running(4, &[1]);
    assert_eq!(refused(&unassigned, 1, "R1M1", None, &ended(WIN)), "E007 5002 match_id");
    assert_eq!(refused(&League::open(), 1, "R1M1", None, &ended(WIN)), "E013 13 -");
}

#[test]
fn the_result_must_follow_from_the_bets_and_the_number() {
    let mut league = League::running(2, &[1]);
    let assigned = league.assign();
    let wrong = [
        played("even", "odd", 8, Outcome::Win(Side::B)),
        played("even", "odd", 8, Outcome::Draw),
        played("even", "even", 8, WIN),
        played("odd", "odd", 8, Outcome::Win(Side::B)),
        played("even", "odd", 0, WIN),
        played("even", "odd", 11, Outcome::Win(Side::B)),
        played("EVEN", "odd", 8, WIN),
        played("rock", "odd", 8, WIN),
        MatchRecord { moves: Pair::new(Some("even".into()), None), ..played("even", "odd", 8, WIN) },
        MatchRecord { outcome: Outcome::DoubleForfeit, ..played("even", "odd", 0, WIN) },
    ];
    for record in wrong {
        assert_eq!(refused(&league, 1, "R1M1", Some(1), &record), "E002 -32602 result.details", "{record:?}");
    }
    assert_eq!(league.report(&assigned[0], played("even", "odd", 8, WIN)), Ok(ReportOutcome::Now));
}

#[test]
fn a_consistent_result_is_counted() {
    let right = [
        played("even", "odd", 8, WIN),
        played("even", "odd", 7, Outcome::Win(Side::B)),
        played("odd", "odd", 7, Outcome::Draw),
        played("odd", "odd", 8, Outcome::Draw),
        // Reports with fewer fields allow fewer checks.
        MatchRecord { moves: Pair::new(None, None), ..played("", "", 8, WIN) },
        MatchRecord { drawn: None, ..played("even", "odd", 8, WIN) },
        // A referee may draw although one side forfeits.
        MatchRecord { moves: Pair::new(Some("even".into()), None), ..played("", "", 7, Outcome::Forfeit(Side::B)) },
        ended(Outcome::Forfeit(Side::A)),
        ended(Outcome::DoubleForfeit),
        proved("R1M1", 1),
    ];
    for record in right {
        let mut league = League::running(2, &[1]);
        let assigned = league.assign();
        assert_eq!(league.report(&assigned[0], record.clone()), Ok(ReportOutcome::Now), "{record:?}");
        assert_eq!(league.season.outcome(&m("R1M1")), Some(record.outcome));
        assert_eq!(league.replayed(), league.season);
    }
}

#[test]
fn a_proof_must_prove_this_number_of_this_match_on_this_attempt() {
    let mut league = League::running(2, &[1]);
    league.assign();
    let with = |change: fn(&mut MatchRecord)| {
        let mut record = proved("R1M1", 1);
        change(&mut record);
        record
    };
    let wrong = [
        with(|record| record.proof.as_mut().unwrap().secret = DrawSecret([4; 32])),
        with(|record| record.proof.as_mut().unwrap().commitment = DrawSecret([4; 32]).commitment()),
        with(|record| record.drawn = record.drawn.map(|number| 11 - number)),
        with(|record| record.drawn = None),
        with(|record| record.drawn = Some(200)),
        with(|record| record.proof.as_mut().unwrap().nonces.a = "pepper".parse().unwrap()),
        with(|record| record.proof.as_mut().unwrap().nonces.b = "pepper".parse().unwrap()),
        with(|record| record.proof.as_mut().unwrap().seal = Some(DrawSeal([4; 32]))),
        proved("R1M1", 2),
        proved("R1M2", 1),
    ];
    for record in wrong {
        assert_eq!(refused(&league, 1, "R1M1", Some(1), &record), "E002 -32602 result.details", "{record:?}");
    }
}

#[test]
fn a_proof_without_a_seal_proves_by_its_number_alone() {
    let mut unsealed = proved("R1M1", 1);
    unsealed.proof.as_mut().unwrap().seal = None;
    let mut league = League::running(2, &[1]);
    let assigned = league.assign();
    let mut renumbered = unsealed.clone();
    renumbered.drawn = renumbered.drawn.map(|number| 11 - number);
    assert_eq!(refused(&league, 1, "R1M1", Some(1), &renumbered), "E002 -32602 result.details");
    assert_eq!(league.report(&assigned[0], unsealed), Ok(ReportOutcome::Now));
}

#[test]
fn the_last_result_of_a_round_ends_it_and_the_last_of_all_ends_the_league() {
    let mut league = League::running(3, &[1]);
    for round in 1..=3 {
        let assigned = league.assign();
        let before = league.log.len();
        league.report(&assigned[0], ended(WIN)).unwrap();
        let expected = if round == 3 { 3 } else { 2 };
        assert_eq!(league.log.len() - before, expected);
        if round < 3 {
            league.start_round();
        }
    }
}
