//! Inputs at the wrong time, and games that break the `Game` contract.

use super::games::{Heap, Scripted, race};
use super::*;
use crate::game_match::step::StepCommand;
use crate::rules::game::{GameStage, GameVerdict};
use crate::rules::outcome::Outcome;

use CallFailure::TimedOut;
use Side::{A, B};

/// One input of each kind, for both sides, without a call and for every number up to `calls`.
fn everything(calls: u32) -> Vec<Input> {
    let mut inputs = vec![ACCEPTED, UNDELIVERED, REFUSED];
    for side in Side::BOTH {
        inputs.extend([posted_join(side), posted_decline(side), posted_move(side, "even"), posted_move(side, "1")]);
        for call in 0..=calls {
            inputs.extend([
                joined(side, call),
                declined(side, call),
                moved(side, call, "even"),
                moved(side, call, "?"),
            ]);
            inputs.extend([failed(side, call, TimedOut), pause_over(side, call), over_sent(side, call)]);
        }
    }
    inputs
}

#[test]
fn nothing_counts_before_the_start() {
    let mut test_match = TestMatch::new(EvenOdd::default());
    test_match.ignores(everything(3));
}

#[test]
fn answers_of_another_phase_or_another_side_are_ignored() {
    let mut test_match = TestMatch::started(EvenOdd::default());
    test_match.ignores([moved(A, 1, "even"), posted_move(A, "even"), moved(A, 1, "?"), posted_move(A, "?")]);
    test_match.ignores([joined(A, 2), joined(B, 1), failed(B, 1, TimedOut)]);
    test_match.ignores([pause_over(A, 1), over_sent(A, 1), ACCEPTED, REFUSED]);
    test_match.both_join();
    test_match.ignores([joined(A, 3), declined(A, 3), posted_decline(A), posted_join(B)]);
    test_match.ignores([moved(A, 4, "even"), over_sent(A, 3), pause_over(A, 3), ACCEPTED]);
}

#[test]
fn after_the_end_only_the_telling_and_the_report_count() {
    let mut test_match = TestMatch::joined(EvenOdd::default());
    test_match.feed(moved(A, 3, "even"));
    test_match.feed(moved(B, 4, "even"));
    test_match.ignores(everything(8).into_iter().filter(|input| !matches!(input, Input::Reported(_))));
    test_match.plays([(ACCEPTED, &["over A #5 in 6s", "over B #6 in 6s"])]);
    let unexpected = |input: &Input| ![over_sent(A, 5), over_sent(B, 6)].contains(input);
    test_match.ignores(everything(8).into_iter().filter(unexpected));
    test_match.plays([(over_sent(A, 5), &[])]);
    test_match.ignores([over_sent(A, 5), failed(B, 6, TimedOut), Input::Start]);
    test_match.plays([(over_sent(B, 6), &[])]);
    test_match.ignores(everything(8));
    test_match.ignores([Input::Start]);
    assert!(test_match.machine.is_done());
}

#[test]
fn a_game_that_waits_for_nothing_or_is_over_at_once_asks_no_player() {
    type StageAfter = fn(&[Side]) -> GameStage;
    let stages: [(StageAfter, Outcome); 3] = [
        (|_| GameStage::Draw, Outcome::Draw),
        (|_| GameStage::Moves(Pair::new(false, false)), Outcome::Draw),
        (|_| GameStage::Over(GameVerdict::Win(B)), Outcome::Win(B)),
    ];
    for (stage, outcome) in stages {
        let mut test_match = TestMatch::joined(Scripted::new(stage));
        assert_eq!(test_match.machine.ending().unwrap().outcome, outcome);
        test_match.plays([(ACCEPTED, &["over A #3 in 6s", "over B #4 in 6s"])]);
    }
}

#[test]
fn a_side_whose_move_is_no_longer_wanted_owes_none() {
    // With two moves in all, the first move takes the turn from the opponent.
    let mut test_match = TestMatch::joined(Scripted::new(|movers| race(2, movers)));
    test_match.plays([(moved(B, 4, "!"), &["ask B #5 try 1 in 30s"])]);
    test_match.ignores([moved(A, 3, "!"), failed(A, 3, TimedOut), posted_move(A, "!")]);
    test_match.plays([(moved(B, 5, "!"), &["report"])]);
    assert_eq!(test_match.machine.ending().unwrap().outcome, Outcome::Win(B));

    // With one move in all, the first move ends the game. The match adds nothing while it waits for the step.
    let mut test_match = TestMatch::joined_on(stepped_terms(), Scripted::new(|movers| race(1, movers)));
    test_match.machine.step(StepCommand::CollectChoices, &mut Vec::new()).unwrap();
    test_match.plays([(moved(B, 4, "!"), &[])]);
    test_match.ignores([moved(A, 3, "!"), failed(A, 3, TimedOut), posted_move(A, "!")]);
    assert_eq!(test_match.machine.awaited_step(), Some(StepCommand::Finalize));
    assert_eq!(test_match.machine.ending().unwrap().outcome, Outcome::Win(B));
}

#[test]
fn a_match_shows_no_secret() {
    let test_match = TestMatch::joined(Heap::of(3));
    assert!(!format!("{:?}", test_match.machine).contains("7, 7, 7"));
}

#[test]
fn moves_are_public_in_turns_and_secret_when_both_move_at_once() {
    let mut in_turns = TestMatch::joined(Heap::of(4));
    in_turns.plays([(moved(A, 3, "2"), &["ask B #4 try 1 in 30s"])]);
    assert_eq!(in_turns.machine.public_moves(), [(A, "2".into())]);
    let mut at_once = TestMatch::joined(EvenOdd::default());
    at_once.plays([(moved(B, 4, "odd"), &[])]);
    assert!(at_once.machine.has_moved(B) && at_once.machine.public_moves().is_empty());
}
