use super::games::{Guess, Heap};
use super::*;
use crate::game_match::phase::MatchPhase;
use crate::game_match::step::{StepCommand, StepRefused};
use crate::rules::outcome::Outcome;

use CallFailure::Unreadable;
use Side::{A, B};
use StepCommand::{CollectChoices, DrawNumber, Finalize};

impl Course {
    fn stepped(game: impl Game + 'static) -> Self {
        let mut course = Self::on(stepped_terms(), game);
        course.feed(Input::Start);
        course
    }

    fn step(&mut self, step: StepCommand) -> Result<Vec<String>, StepRefused> {
        let mut effects = Vec::new();
        self.match_machine.step(step, &mut effects)?;
        Ok(effects.iter().map(line).collect())
    }

    #[track_caller]
    fn refuses(
        &mut self,
        steps: impl IntoIterator<Item = StepCommand>,
        phase: MatchPhase,
        awaited: Option<StepCommand>,
    ) {
        for step in steps {
            let before = format!("{:?}", self.match_machine);
            assert_eq!(self.step(step), Err(StepRefused { step, phase, awaited }));
            assert_eq!(format!("{:?}", self.match_machine), before);
        }
    }
}

#[test]
fn each_phase_waits_for_its_step() {
    let mut course = Course::on(stepped_terms(), Guess::default());
    course.refuses(StepCommand::ALL, MatchPhase::WaitingForPlayers, None);
    course.plays([(Input::Start, &["invite A #1 try 1 in 5s", "invite B #2 try 1 in 5s"])]);
    course.refuses(StepCommand::ALL, MatchPhase::WaitingForPlayers, None);
    course.plays([(joined(A, 1), &[]), (joined(B, 2), &[])]);

    course.refuses([DrawNumber, Finalize], MatchPhase::CollectingChoices, Some(CollectChoices));
    course.ignores([posted_move(A, "low"), moved(A, 3, "low")]);
    assert_eq!(course.step(CollectChoices).unwrap(), ["ask A #3 try 1 in 30s", "ask B #4 try 1 in 30s"]);
    course.refuses(StepCommand::ALL, MatchPhase::CollectingChoices, None);
    course.plays([
        (moved(A, 3, "?"), &["error A move: illegal \"?\", 1/3, pause 0ns", "ask A #5 try 2 in 30s"]),
        (moved(B, 4, "low"), &[]),
        (moved(A, 5, "low"), &[]),
    ]);

    course.refuses([CollectChoices, Finalize], MatchPhase::DrawingNumber, Some(DrawNumber));
    assert_eq!(course.match_machine.ending(), None);
    assert_eq!(course.step(DrawNumber).unwrap(), [""; 0]);
    let ending = course.match_machine.ending().cloned().unwrap();
    assert_eq!(ending.outcome, Outcome::Draw);

    course.refuses([CollectChoices, DrawNumber], MatchPhase::Finished, Some(Finalize));
    assert_eq!(course.step(Finalize).unwrap(), ["over A #6 in 6s", "over B #7 in 6s"]);
    course.refuses(StepCommand::ALL, MatchPhase::Finished, None);
    course.plays([(told(A, 6), &[]), (told(B, 7), &["report"]), (Input::Reported, &[])]);
    course.refuses(StepCommand::ALL, MatchPhase::Finished, None);
    assert_eq!(course.match_machine.ending(), Some(&ending));
}

#[test]
fn the_turns_of_a_game_are_collected_in_one_step() {
    let mut course = Course::stepped(Heap::of(3));
    course.feed(joined(A, 1));
    course.feed(joined(B, 2));
    assert_eq!(course.step(CollectChoices).unwrap(), ["ask A #3 try 1 in 30s"]);
    course.plays([(moved(A, 3, "1"), &["ask B #4 try 1 in 30s"]), (moved(B, 4, "2"), &[])]);
    course.refuses([CollectChoices], MatchPhase::Finished, Some(Finalize));
}

#[test]
fn a_game_without_a_draw_takes_that_step_as_done() {
    for with_draw_step in [false, true] {
        let mut course = Course::stepped(Heap::of(1));
        course.feed(joined(A, 1));
        course.feed(joined(B, 2));
        course.step(CollectChoices).unwrap();
        course.refuses([DrawNumber], MatchPhase::CollectingChoices, None);
        course.plays([(moved(A, 3, "1"), &[])]);
        if with_draw_step {
            assert_eq!(course.step(DrawNumber).unwrap(), [""; 0]);
        }
        assert_eq!(course.step(Finalize).unwrap(), ["over A #4 in 6s", "over B #5 in 6s"]);
        course.refuses([DrawNumber], MatchPhase::Finished, None);
        assert_eq!(course.match_machine.ending().unwrap().outcome, Outcome::Win(A));
    }
}

#[test]
fn after_a_forfeit_only_the_end_is_to_be_told() {
    let mut course = Course::stepped(Guess::default());
    course.plays([(declined(A, 1), &[]), (joined(B, 2), &[])]);
    course.refuses([CollectChoices, DrawNumber], MatchPhase::Finished, Some(Finalize));
    assert_eq!(course.step(Finalize).unwrap(), ["over A #3 in 6s", "over B #4 in 6s"]);

    let mut course = Course::on(MatchTerms { tries: Pair::new(1, 1), ..stepped_terms() }, Heap::of(3));
    course.feed(Input::Start);
    course.feed(joined(A, 1));
    course.feed(joined(B, 2));
    course.step(CollectChoices).unwrap();
    course.plays([(failed(A, 3, Unreadable), &[])]);
    course.refuses([CollectChoices, DrawNumber], MatchPhase::Finished, Some(Finalize));
    course.ignores([posted_move(A, "1"), posted_move(B, "1"), told(A, 0)]);
}

#[test]
fn a_flowing_match_takes_no_steps() {
    let mut course = Course::new(Guess::default());
    course.refuses(StepCommand::ALL, MatchPhase::WaitingForPlayers, None);
    course.feed(Input::Start);
    course.feed(joined(A, 1));
    course.feed(joined(B, 2));
    course.refuses(StepCommand::ALL, MatchPhase::CollectingChoices, None);
}

#[test]
fn a_refusal_says_what_to_do_instead() {
    let mut course = Course::stepped(Guess::default());
    assert_eq!(
        course.step(Finalize).unwrap_err().to_string(),
        "finalize_match is out of order: the match is in WAITING_FOR_PLAYERS and waits for no step"
    );
    course.feed(joined(A, 1));
    course.feed(joined(B, 2));
    assert_eq!(
        course.step(DrawNumber).unwrap_err().to_string(),
        "draw_number is out of order: the match is in COLLECTING_CHOICES and waits for collect_choices"
    );
}
