use super::games::Heap;
use super::*;
use crate::game_match::ending::ForfeitReason;
use crate::rules::outcome::Outcome;

use CallFailure::{TimedOut, Unreadable};
use Side::{A, B};

#[test]
fn a_posted_join_is_taken_while_the_call_is_open() {
    let mut test_match = TestMatch::started(Heap::of(3));
    test_match.plays([(posted_join(A), &[])]);
    test_match.ignores([
        joined(A, 1),
        declined(A, 1),
        failed(A, 1, TimedOut),
        failed(A, 1, Unreadable),
        posted_decline(A),
        posted_join(A),
    ]);
    test_match.plays([(posted_join(B), &["ask A #3 try 1 in 30s"])]);
    test_match.ignores([failed(B, 2, TimedOut), posted_decline(B)]);
}

#[test]
fn a_posted_join_ends_a_pause() {
    let mut test_match = TestMatch::started(Heap::of(3));
    test_match.feed(joined(B, 2));
    test_match.feed(failed(A, 1, TimedOut));
    test_match.plays([(posted_join(A), &["ask A #4 try 1 in 30s"])]);
    test_match.ignores([pause_over(A, 3), joined(A, 1), joined(A, 3)]);
}

#[test]
fn a_posted_decline_counts_like_any_other() {
    for in_pause in [false, true] {
        let mut test_match = TestMatch::started(EvenOdd::default());
        if in_pause {
            test_match.feed(failed(A, 1, TimedOut));
        }
        test_match.plays([(posted_decline(A), &[])]);
        test_match.ignores([joined(A, 1), pause_over(A, 3), posted_join(A)]);
        test_match.feed(joined(B, 2));
        let ending = test_match.machine.ending().unwrap();
        assert_eq!((ending.outcome, ending.faults.a), (Outcome::Forfeit(A), Some(ForfeitReason::Declined)));
    }
}

#[test]
fn the_nonce_of_the_join_that_was_taken_enters_the_draw() {
    let mut test_match = TestMatch::started(EvenOdd::default());
    test_match.feed(posted_join(A));
    test_match.feed(Input::Joined {
        side: A,
        call: Some(CallNumber(1)),
        nonce: "other".parse().unwrap(),
        signature: None,
    });
    test_match.feed(joined(B, 2));
    test_match.feed(moved(A, 3, "even"));
    test_match.feed(moved(B, 4, "even"));
    let drawn = test_match.machine.ending().unwrap().sealed.clone().unwrap();
    assert_eq!(drawn.nonces, Pair::from_fn(nonce));
}

#[test]
fn a_posted_move_is_taken_while_the_call_is_open() {
    let mut test_match = TestMatch::joined(EvenOdd::default());
    test_match.plays([(posted_move(A, "even"), &[])]);
    test_match.ignores([moved(A, 3, "odd"), failed(A, 3, TimedOut), posted_move(A, "odd"), posted_move(A, "junk")]);
    test_match.plays([(moved(B, 4, "odd"), &["report"])]);
    assert_eq!(test_match.machine.ending().unwrap().moves.a.as_deref(), Some("even"));
}

#[test]
fn a_posted_move_ends_a_pause() {
    let mut test_match = TestMatch::joined(Heap::of(3));
    test_match.plays([
        (failed(A, 3, TimedOut), &["error A move: timed out, 1/3, pause 2s", "pause A #4 2s"]),
        (posted_move(A, "1"), &["ask B #5 try 1 in 30s"]),
    ]);
    test_match.ignores([pause_over(A, 4), moved(A, 3, "1"), posted_move(A, "1")]);
}

#[test]
fn a_posted_move_after_the_next_try_began_is_taken_too() {
    let mut test_match = TestMatch::joined(Heap::of(3));
    test_match.feed(failed(A, 3, TimedOut));
    test_match.feed(pause_over(A, 4));
    test_match.plays([(posted_move(A, "1"), &["ask B #6 try 1 in 30s"])]);
    test_match.ignores([moved(A, 5, "2"), failed(A, 5, TimedOut)]);
}

#[test]
fn a_posted_illegal_move_counts_like_the_answer_to_the_open_call() {
    let mut test_match = TestMatch::joined(Heap::of(3));
    test_match
        .plays([(posted_move(A, "x"), &["error A move: illegal \"x\", 1/3, pause 0ns", "ask A #4 try 2 in 30s"])]);
    test_match.ignores([moved(A, 3, "x"), failed(A, 3, TimedOut)]);
    test_match.plays([
        (posted_move(A, "x"), &["error A move: illegal \"x\", 2/3, pause 0ns", "ask A #5 try 3 in 30s"]),
        (posted_move(A, "x"), &["report"]),
    ]);
    assert_eq!(test_match.machine.ending().unwrap().faults.a, Some(ForfeitReason::IllegalMoves));
}

#[test]
fn a_posted_illegal_move_in_a_pause_brings_the_next_try_at_once_and_costs_none() {
    let mut test_match = TestMatch::joined(Heap::of(3));
    test_match.plays([
        (failed(A, 3, TimedOut), &["error A move: timed out, 1/3, pause 2s", "pause A #4 2s"]),
        (posted_move(A, "x"), &["error A move: illegal \"x\", 1/3, pause 0ns", "ask A #5 try 2 in 30s"]),
    ]);
    test_match.ignores([pause_over(A, 4)]);
    test_match.plays([(moved(A, 5, "1"), &["ask B #6 try 1 in 30s"])]);
}

#[test]
fn posted_moves_of_a_side_that_owes_none_are_ignored() {
    let mut test_match = TestMatch::joined(Heap::of(3));
    test_match.ignores([posted_move(B, "1"), posted_move(B, "x"), posted_move(B, "")]);
    test_match.feed(moved(A, 3, "1"));
    test_match.ignores([posted_move(A, "1"), posted_move(A, "x")]);
    test_match.feed(moved(B, 4, "2"));
    test_match.ignores([posted_move(A, "1"), posted_move(B, "1")]);
}

#[test]
fn the_first_move_of_a_side_counts() {
    let mut test_match = TestMatch::joined(EvenOdd::default());
    test_match.plays([(moved(A, 3, "even"), &[])]);
    test_match.ignores([moved(A, 3, "odd"), posted_move(A, "odd"), moved(A, 3, "even")]);
    test_match.feed(moved(B, 4, "odd"));
    test_match.ignores([moved(B, 4, "even"), posted_move(B, "even")]);
    let moves = test_match.machine.ending().unwrap().moves.clone();
    assert_eq!((moves.a.as_deref(), moves.b.as_deref()), (Some("even"), Some("odd")));
}
