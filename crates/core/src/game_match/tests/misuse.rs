//! Inputs at the wrong time, and games that break the `Game` contract.

use super::games::{Guess, Heap, Race, Stuck};
use super::*;
use crate::game_match::step::StepCommand;
use crate::rules::game::{GameStage, GameVerdict};
use crate::rules::outcome::Outcome;

use CallFailure::TimedOut;
use Side::{A, B};

/// One input of each kind, for both sides, without a call and for every number up to `calls`.
fn everything(calls: u32) -> Vec<Input> {
    let mut inputs = vec![Input::Reported];
    for side in Side::BOTH {
        inputs.extend([posted_join(side), posted_decline(side), posted_move(side, "low"), posted_move(side, "1")]);
        for call in 0..=calls {
            inputs.extend([joined(side, call), declined(side, call), moved(side, call, "low"), moved(side, call, "?")]);
            inputs.extend([failed(side, call, TimedOut), pause_over(side, call), told(side, call)]);
        }
    }
    inputs
}

#[test]
fn nothing_counts_before_the_start() {
    let mut course = Course::new(Guess::default());
    course.ignores(everything(3));
}

#[test]
fn the_start_counts_once() {
    let mut course = Course::new(Guess::default());
    assert_eq!(course.feed(Input::Start).len(), 2);
    course.ignores([Input::Start]);
    course.feed(joined(A, 1));
    course.ignores([Input::Start]);
    course.feed(joined(B, 2));
    course.ignores([Input::Start]);
}

#[test]
fn answers_of_another_phase_or_another_side_are_ignored() {
    let mut course = Course::new(Guess::default());
    course.feed(Input::Start);
    course.ignores([moved(A, 1, "low"), posted_move(A, "low"), moved(A, 1, "?"), posted_move(A, "?")]);
    course.ignores([joined(A, 2), joined(B, 1), failed(B, 1, TimedOut)]);
    course.ignores([pause_over(A, 1), told(A, 1), Input::Reported]);
    course.feed(joined(A, 1));
    course.feed(joined(B, 2));
    course.ignores([joined(A, 3), declined(A, 3), posted_decline(A), posted_join(B)]);
    course.ignores([moved(A, 4, "low"), told(A, 3), pause_over(A, 3), Input::Reported]);
}

#[test]
fn after_the_end_only_the_telling_and_the_report_count() {
    let mut course = Course::joined(Guess::default());
    course.feed(moved(A, 3, "low"));
    course.feed(moved(B, 4, "low"));
    let unexpected = |input: &Input| ![told(A, 5), told(B, 6)].contains(input);
    course.ignores(everything(8).into_iter().filter(unexpected));
    course.plays([(told(A, 5), &[])]);
    course.ignores([told(A, 5), failed(B, 6, TimedOut), Input::Reported]);
    course.plays([(told(B, 6), &["report"])]);
    course.ignores([told(A, 5), told(B, 6), Input::Start]);
    course.plays([(Input::Reported, &[])]);
    course.ignores(everything(8));
    course.ignores([Input::Start]);
    assert!(course.match_machine.is_done());
}

#[test]
fn a_game_that_goes_nowhere_ends_without_a_winner() {
    for stage in [GameStage::Draw, GameStage::Moves(Pair::new(false, false))] {
        let mut course = Course::joined(Stuck(stage));
        assert_eq!(course.match_machine.ending().unwrap().outcome, Outcome::Draw, "{stage:?}");
        course.plays([(told(A, 3), &[]), (told(B, 4), &["report"])]);
    }
}

#[test]
fn a_game_that_is_over_at_its_start_asks_no_player() {
    let course = Course::joined(Stuck(GameStage::Over(GameVerdict::Win(B))));
    assert_eq!(course.match_machine.ending().unwrap().outcome, Outcome::Win(B));
}

#[test]
fn a_side_whose_move_is_no_longer_wanted_owes_none() {
    // With two moves in all, the first move takes the turn from the opponent.
    let mut course = Course::joined(Race::of(2));
    course.plays([(moved(B, 4, "!"), &["ask B #5 try 1 in 30s"])]);
    course.ignores([moved(A, 3, "!"), failed(A, 3, TimedOut), posted_move(A, "!")]);
    course.plays([(moved(B, 5, "!"), &["over A #6 in 6s", "over B #7 in 6s"])]);
    assert_eq!(course.match_machine.ending().unwrap().outcome, Outcome::Win(B));

    // With one move in all, the first move ends the game. The match adds nothing while it waits for the step.
    let mut course = Course::on(stepped_terms(), Race::of(1));
    course.feed(Input::Start);
    course.feed(joined(A, 1));
    course.feed(joined(B, 2));
    course.match_machine.step(StepCommand::CollectChoices, &mut Vec::new()).unwrap();
    course.plays([(moved(B, 4, "!"), &[])]);
    course.ignores([moved(A, 3, "!"), failed(A, 3, TimedOut), posted_move(A, "!")]);
    assert_eq!(course.match_machine.awaited_step(), Some(StepCommand::Finalize));
    assert_eq!(course.match_machine.ending().unwrap().outcome, Outcome::Win(B));
}

#[test]
fn a_bout_shows_no_secret() {
    let course = Course::joined(Heap::of(3));
    assert!(!format!("{:?}", course.match_machine).contains("7, 7, 7"));
}
