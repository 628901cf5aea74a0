//! The report comes before GAME_OVER, and its delivery decides what the players hear.

use super::games::Heap;
use super::*;
use crate::game_match::phase::MatchPhase;

use Side::{A, B};

const OVER: &[&str] = &["over A #4 in 6s", "over B #5 in 6s"];

fn ended() -> TestMatch {
    let mut test_match = TestMatch::joined(Heap::of(1));
    test_match.plays([(moved(A, 3, "1"), &["report"])]);
    test_match
}

#[test]
fn the_players_hear_the_result_after_the_manager_took_the_report() {
    let mut test_match = ended();
    assert_eq!(test_match.machine.phase(), MatchPhase::Finished);
    test_match.ignores([over_sent(A, 4), over_sent(B, 5), moved(A, 3, "1"), posted_move(B, "1")]);
    test_match.plays([(ACCEPTED, OVER)]);
    assert!(!test_match.machine.is_provisional());
    test_match.ignores([ACCEPTED, REFUSED, UNDELIVERED]);
    test_match.plays([(over_sent(A, 4), &[]), (over_sent(B, 5), &[])]);
    assert!(test_match.machine.is_done());
}

#[test]
fn the_players_hear_a_provisional_result_while_the_manager_cannot_be_reached() {
    let mut test_match = ended();
    test_match.plays([(UNDELIVERED, OVER)]);
    assert!(test_match.machine.is_provisional());
    test_match.ignores([ACCEPTED, REFUSED]);
    test_match.plays([(over_sent(A, 4), &[]), (over_sent(B, 5), &[])]);
    assert!(test_match.machine.is_done());
}

#[test]
fn the_players_hear_nothing_of_a_result_that_the_manager_refuses() {
    let mut test_match = ended();
    test_match.plays([(REFUSED, &[])]);
    assert!(test_match.machine.is_done());
    test_match.ignores([ACCEPTED, UNDELIVERED, over_sent(A, 4)]);
}
