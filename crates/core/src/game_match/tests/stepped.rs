use super::games::Heap;
use super::*;
use crate::game_match::phase::MatchPhase;
use crate::game_match::step::{StepCommand, StepRefused};
use crate::rules::outcome::Outcome;

use CallFailure::Unreadable;
use Side::{A, B};
use StepCommand::{CollectChoices, DrawNumber, Finalize};

impl TestMatch {
    fn stepped(game: impl Game + 'static) -> Self {
        Self::started_on(stepped_terms(), game)
    }

    fn step(&mut self, step: StepCommand) -> Result<Vec<String>, StepRefused> {
        let mut effects = Vec::new();
        self.machine.step(step, &mut effects)?;
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
            let before = format!("{:?}", self.machine);
            assert_eq!(self.step(step), Err(StepRefused { step, phase, awaited }));
            assert_eq!(format!("{:?}", self.machine), before);
        }
    }
}

#[test]
fn each_phase_waits_for_its_step() {
    let mut test_match = TestMatch::on(stepped_terms(), EvenOdd::default());
    test_match.refuses(StepCommand::ALL, MatchPhase::WaitingForPlayers, None);
    test_match.plays([(Input::Start, &["invite A #1 try 1 in 5s", "invite B #2 try 1 in 5s"])]);
    test_match.refuses(StepCommand::ALL, MatchPhase::WaitingForPlayers, None);
    test_match.plays([(joined(A, 1), &[]), (joined(B, 2), &[])]);

    test_match.refuses([DrawNumber, Finalize], MatchPhase::CollectingChoices, Some(CollectChoices));
    test_match.ignores([posted_move(A, "even"), moved(A, 3, "even")]);
    assert_eq!(test_match.step(CollectChoices).unwrap(), ["ask A #3 try 1 in 30s", "ask B #4 try 1 in 30s"]);
    test_match.refuses(StepCommand::ALL, MatchPhase::CollectingChoices, None);
    test_match.plays([
        (moved(A, 3, "?"), &["error A move: illegal \"?\", 1/3, pause 0ns", "ask A #5 try 2 in 30s"]),
        (moved(B, 4, "even"), &[]),
        (moved(A, 5, "even"), &[]),
    ]);

    test_match.refuses([CollectChoices, Finalize], MatchPhase::DrawingNumber, Some(DrawNumber));
    assert_eq!(test_match.machine.ending(), None);
    assert_eq!(test_match.step(DrawNumber).unwrap(), [""; 0]);
    let ending = test_match.machine.ending().cloned().unwrap();
    assert_eq!(ending.outcome, Outcome::Draw);

    test_match.refuses([CollectChoices, DrawNumber], MatchPhase::Finished, Some(Finalize));
    assert_eq!(test_match.step(Finalize).unwrap(), ["report"]);
    test_match.refuses(StepCommand::ALL, MatchPhase::Finished, None);
    test_match.plays([(ACCEPTED, &["over A #6 in 6s", "over B #7 in 6s"])]);
    test_match.refuses(StepCommand::ALL, MatchPhase::Finished, None);
    test_match.plays([(over_sent(A, 6), &[]), (over_sent(B, 7), &[])]);
    test_match.refuses(StepCommand::ALL, MatchPhase::Finished, None);
    assert_eq!(test_match.machine.ending(), Some(&ending));
}

#[test]
fn the_turns_of_a_game_are_collected_in_one_step() {
    let mut test_match = TestMatch::stepped(Heap::of(3));
    test_match.both_join();
    assert_eq!(test_match.step(CollectChoices).unwrap(), ["ask A #3 try 1 in 30s"]);
    test_match.plays([(moved(A, 3, "1"), &["ask B #4 try 1 in 30s"]), (moved(B, 4, "2"), &[])]);
    test_match.refuses([CollectChoices], MatchPhase::Finished, Some(Finalize));
}

#[test]
fn a_game_without_a_draw_takes_that_step_as_done() {
    for with_draw_step in [false, true] {
        let mut test_match = TestMatch::stepped(Heap::of(1));
        test_match.both_join();
        test_match.step(CollectChoices).unwrap();
        test_match.refuses([DrawNumber], MatchPhase::CollectingChoices, None);
        test_match.plays([(moved(A, 3, "1"), &[])]);
        if with_draw_step {
            assert_eq!(test_match.step(DrawNumber).unwrap(), [""; 0]);
        }
        assert_eq!(test_match.step(Finalize).unwrap(), ["report"]);
        test_match.refuses([DrawNumber], MatchPhase::Finished, None);
        assert_eq!(test_match.machine.ending().unwrap().outcome, Outcome::Win(A));
    }
}

#[test]
fn after_a_forfeit_only_the_end_is_to_be_told() {
    let mut test_match = TestMatch::stepped(EvenOdd::default());
    test_match.plays([(declined(A, 1), &[]), (joined(B, 2), &[])]);
    test_match.refuses([CollectChoices, DrawNumber], MatchPhase::Finished, Some(Finalize));
    assert_eq!(test_match.step(Finalize).unwrap(), ["report"]);

    let mut test_match = TestMatch::joined_on(MatchTerms { tries: Pair::new(1, 1), ..stepped_terms() }, Heap::of(3));
    test_match.step(CollectChoices).unwrap();
    test_match.plays([(failed(A, 3, Unreadable), &[])]);
    test_match.refuses([CollectChoices, DrawNumber], MatchPhase::Finished, Some(Finalize));
    test_match.ignores([posted_move(A, "1"), posted_move(B, "1"), over_sent(A, 0)]);
}

#[test]
fn a_refusal_says_what_to_do_instead() {
    let mut test_match = TestMatch::stepped(EvenOdd::default());
    assert_eq!(
        test_match.step(Finalize).unwrap_err().to_string(),
        "finalize_match is out of order: the match is in WAITING_FOR_PLAYERS and waits for no step"
    );
    test_match.both_join();
    assert_eq!(
        test_match.step(DrawNumber).unwrap_err().to_string(),
        "draw_number is out of order: the match is in COLLECTING_CHOICES and waits for collect_choices"
    );
}
