use super::games::{Guess, Heap};
use super::*;
use crate::game_match::ending::ForfeitReason;
use crate::rules::outcome::Outcome;

use CallFailure::{TimedOut, Unreadable};
use Side::{A, B};

#[test]
fn a_posted_join_is_taken_while_the_call_is_open() {
    let mut course = Course::new(Heap::of(3));
    course.feed(Input::Start);
    course.plays([(posted_join(A), &[])]);
    course.ignores([
        joined(A, 1),
        declined(A, 1),
        failed(A, 1, TimedOut),
        failed(A, 1, Unreadable),
        posted_decline(A),
        posted_join(A),
    ]);
    course.plays([(posted_join(B), &["ask A #3 try 1 in 30s"])]);
    course.ignores([failed(B, 2, TimedOut), posted_decline(B)]);
}

#[test]
fn a_posted_join_ends_a_pause() {
    let mut course = Course::new(Heap::of(3));
    course.feed(Input::Start);
    course.feed(joined(B, 2));
    course.feed(failed(A, 1, TimedOut));
    course.plays([(posted_join(A), &["ask A #4 try 1 in 30s"])]);
    course.ignores([pause_over(A, 3), joined(A, 1), joined(A, 3)]);
}

#[test]
fn a_posted_decline_counts_like_any_other() {
    for in_pause in [false, true] {
        let mut course = Course::new(Guess::default());
        course.feed(Input::Start);
        if in_pause {
            course.feed(failed(A, 1, TimedOut));
        }
        course.plays([(posted_decline(A), &[])]);
        course.ignores([joined(A, 1), pause_over(A, 3), posted_join(A)]);
        course.feed(joined(B, 2));
        let ending = course.match_machine.ending().unwrap();
        assert_eq!((ending.outcome, ending.faults.a), (Outcome::Forfeit(A), Some(ForfeitReason::Declined)));
    }
}

#[test]
fn the_nonce_of_the_join_that_was_taken_enters_the_draw() {
    let mut course = Course::new(Guess::default());
    course.feed(Input::Start);
    course.feed(posted_join(A));
    course.feed(Input::Joined { side: A, call: Some(CallNumber(1)), nonce: "other".parse().unwrap() });
    course.feed(joined(B, 2));
    course.feed(moved(A, 3, "low"));
    course.feed(moved(B, 4, "low"));
    let drawn = course.match_machine.ending().unwrap().drawn.clone().unwrap();
    assert_eq!(drawn.nonces, Pair::from_fn(nonce));
}

#[test]
fn a_posted_move_is_taken_while_the_call_is_open() {
    let mut course = Course::joined(Guess::default());
    course.plays([(posted_move(A, "low"), &[])]);
    course.ignores([moved(A, 3, "high"), failed(A, 3, TimedOut), posted_move(A, "high"), posted_move(A, "junk")]);
    course.plays([(moved(B, 4, "high"), &["over A #5 in 6s", "over B #6 in 6s"])]);
    assert_eq!(course.match_machine.ending().unwrap().moves.a.as_deref(), Some("low"));
}

#[test]
fn a_posted_move_ends_a_pause() {
    let mut course = Course::joined(Heap::of(3));
    course.plays([
        (failed(A, 3, TimedOut), &["error A move: timed out, 1/3, pause 2s", "pause A #4 2s"]),
        (posted_move(A, "1"), &["ask B #5 try 1 in 30s"]),
    ]);
    course.ignores([pause_over(A, 4), moved(A, 3, "1"), posted_move(A, "1")]);
}

#[test]
fn a_posted_move_after_the_next_try_began_is_taken_too() {
    let mut course = Course::joined(Heap::of(3));
    course.feed(failed(A, 3, TimedOut));
    course.feed(pause_over(A, 4));
    course.plays([(posted_move(A, "1"), &["ask B #6 try 1 in 30s"])]);
    course.ignores([moved(A, 5, "2"), failed(A, 5, TimedOut)]);
}

#[test]
fn a_posted_illegal_move_counts_like_the_answer_to_the_open_call() {
    let mut course = Course::joined(Heap::of(3));
    course.plays([(posted_move(A, "x"), &["error A move: illegal \"x\", 1/3, pause 0ns", "ask A #4 try 2 in 30s"])]);
    course.ignores([moved(A, 3, "x"), failed(A, 3, TimedOut)]);
    course.plays([
        (posted_move(A, "x"), &["error A move: illegal \"x\", 2/3, pause 0ns", "ask A #5 try 3 in 30s"]),
        (posted_move(A, "x"), &["over A #6 in 6s", "over B #7 in 6s"]),
    ]);
    assert_eq!(course.match_machine.ending().unwrap().faults.a, Some(ForfeitReason::IllegalMoves));
}

#[test]
fn a_posted_illegal_move_in_a_pause_brings_the_next_try_at_once_and_costs_none() {
    let mut course = Course::joined(Heap::of(3));
    course.plays([
        (failed(A, 3, TimedOut), &["error A move: timed out, 1/3, pause 2s", "pause A #4 2s"]),
        (posted_move(A, "x"), &["error A move: illegal \"x\", 1/3, pause 0ns", "ask A #5 try 2 in 30s"]),
    ]);
    course.ignores([pause_over(A, 4)]);
    course.plays([(moved(A, 5, "1"), &["ask B #6 try 1 in 30s"])]);
}

#[test]
fn posted_moves_of_a_side_that_owes_none_are_ignored() {
    let mut course = Course::joined(Heap::of(3));
    course.ignores([posted_move(B, "1"), posted_move(B, "x"), posted_move(B, "")]);
    course.feed(moved(A, 3, "1"));
    course.ignores([posted_move(A, "1"), posted_move(A, "x")]);
    course.feed(moved(B, 4, "2"));
    course.ignores([posted_move(A, "1"), posted_move(B, "1")]);
}

#[test]
fn answers_to_an_earlier_call_are_late() {
    let mut course = Course::new(Guess::default());
    course.feed(Input::Start);
    course.feed(failed(A, 1, TimedOut));
    course.ignores([joined(A, 1), declined(A, 1), failed(A, 1, TimedOut), pause_over(A, 1), pause_over(A, 4)]);
    course.feed(pause_over(A, 3));
    course.ignores([joined(A, 1), joined(A, 3), pause_over(A, 3), declined(A, 1), failed(A, 3, TimedOut)]);
    course.plays([(joined(A, 4), &[]), (joined(B, 2), &["ask A #5 try 1 in 30s", "ask B #6 try 1 in 30s"])]);
    course.feed(failed(B, 6, TimedOut));
    course.ignores([moved(B, 6, "low"), moved(B, 7, "low"), failed(B, 7, TimedOut), moved(B, 5, "low")]);
    course.plays([(pause_over(B, 7), &["ask B #8 try 2 in 30s"])]);
}

#[test]
fn the_move_that_came_first_stands() {
    let mut course = Course::joined(Guess::default());
    course.plays([(moved(A, 3, "low"), &[])]);
    course.ignores([moved(A, 3, "high"), posted_move(A, "high"), moved(A, 3, "low")]);
    course.feed(moved(B, 4, "high"));
    course.ignores([moved(B, 4, "low"), posted_move(B, "low")]);
    let moves = course.match_machine.ending().unwrap().moves.clone();
    assert_eq!((moves.a.as_deref(), moves.b.as_deref()), (Some("low"), Some("high")));
}
