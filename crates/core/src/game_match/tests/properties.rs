//! Every match ends once, within bounds, and fairly for sides that answer, whatever the inputs and their order.
//!
//! The test answers every call once, in random order, mixed with unsolicited inputs. Without an open call, the match must be done
//! or wait for a step. The number of calls is bounded: per question at most `tries` calls with a pause between each two, and one
//! call per side for the end.

use std::collections::HashMap;

use proptest::prelude::*;

use super::games::Heap;
use super::*;
use crate::game_match::ending::Ending;
use crate::game_match::step::StepCommand;

/// The most moves of a [`Heap`], since each takes one or two.
const HEAP: u8 = 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Join,
    Move,
    Pause,
    Over,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    kind: Kind,
    side: Side,
    call: CallNumber,
}

/// Random numbers from a script, so that failures shrink; zeros when it is used up.
struct Dice(std::vec::IntoIter<u32>);

impl Dice {
    fn roll(&mut self, faces: u32) -> u32 {
        self.0.next().unwrap_or(0) % faces
    }

    fn side(&mut self) -> Side {
        Side::BOTH[self.roll(2) as usize]
    }
}

struct World {
    match_machine: MatchMachine,
    legal: &'static str,
    moves: u32,
    honest: Pair<bool>,
    dice: Dice,
    open: Vec<Open>,
    issued: u32,
    reports: u32,
    delivery: Option<ReportDelivery>,
    told: u32,
    tries: HashMap<(Side, AskKind), u8>,
    asked: u32,
    ending: Option<Ending>,
}

impl World {
    fn bound(&self) -> u32 {
        let tries = self.match_machine.terms().tries;
        let longest = u32::from(tries.a.max(tries.b).max(1));
        (2 + self.moves) * (2 * longest - 1) + 2
    }

    fn feed(&mut self, input: Input) {
        let mut effects = Vec::new();
        self.match_machine.handle(input, &mut effects);
        self.observe(&effects);
    }

    fn step(&mut self, step: StepCommand) -> bool {
        let awaited = self.match_machine.awaited_step();
        let before = format!("{:?}", self.match_machine);
        let mut effects = Vec::new();
        match self.match_machine.step(step, &mut effects) {
            Ok(()) => assert!(awaited == Some(step) || format!("{:?}", self.match_machine) == before),
            Err(refused) => {
                assert_eq!((refused.step, refused.awaited), (step, awaited));
                assert_eq!((format!("{:?}", self.match_machine), effects.len()), (before, 0));
            }
        }
        self.observe(&effects);
        awaited == Some(step)
    }

    fn observe(&mut self, effects: &[Effect]) {
        for effect in effects {
            match *effect {
                Effect::Invite { side, call, try_number, .. } => self.asks(side, AskKind::Join, call, try_number),
                Effect::AskMove { side, call, try_number, .. } => self.asks(side, AskKind::Move, call, try_number),
                Effect::SendError { side, ask, tries_made, tries_allowed, .. } => {
                    assert_eq!(tries_made, self.tries[&(side, ask)]);
                    assert!(tries_made < tries_allowed);
                }
                Effect::Pause { side, call, .. } => self.opens(Kind::Pause, side, call),
                Effect::SendGameOver { side, call, .. } => {
                    assert!(matches!(self.delivery, Some(ReportDelivery::Accepted | ReportDelivery::Undelivered)));
                    self.told += 1;
                    self.opens(Kind::Over, side, call);
                }
                Effect::Report => self.reports += 1,
            }
        }
        assert!(self.issued <= self.bound(), "{} calls, bound {}", self.issued, self.bound());
        assert!(self.reports <= 1);
        match &self.ending {
            Some(ending) => assert_eq!(self.match_machine.ending(), Some(ending)),
            None => self.ending = self.match_machine.ending().cloned(),
        }
    }

    fn asks(&mut self, side: Side, ask: AskKind, call: CallNumber, try_number: u8) {
        let before = self.tries.insert((side, ask), try_number);
        assert!(try_number <= self.match_machine.terms().tries[side].max(1));
        if try_number == 1 {
            self.asked += 1;
            assert!(ask == AskKind::Move || before.is_none(), "invited anew");
            assert!(self.asked <= 2 + self.moves);
        } else {
            assert_eq!(before, Some(try_number - 1));
        }
        let kind = match ask {
            AskKind::Join => Kind::Join,
            AskKind::Move => Kind::Move,
        };
        self.opens(kind, side, call);
    }

    fn opens(&mut self, kind: Kind, side: Side, call: CallNumber) {
        self.issued += 1;
        assert_eq!(call, CallNumber(self.issued), "numbers are given in order");
        self.open.push(Open { kind, side, call });
    }

    fn answer(&mut self) {
        let at = self.dice.roll(self.open.len() as u32) as usize;
        let Open { kind, side, call } = self.open.swap_remove(at);
        match kind {
            Kind::Pause => self.feed(Input::PauseOver { side, call }),
            Kind::Over => self.feed(Input::GameOverSent { side, call }),
            Kind::Join | Kind::Move => self.answer_ask(kind, side, call),
        }
    }

    fn answer_ask(&mut self, kind: Kind, side: Side, call: CallNumber) {
        let posts = self.dice.roll(4) == 3;
        let named = if posts { None } else { Some(call) };
        let kinds = if self.honest[side] { 1 } else { 5 };
        let fault = |fault| Input::Failed { side, call, fault };
        let answer = match (self.dice.roll(kinds), kind) {
            (0, Kind::Join) => Input::Joined { side, call: named, nonce: nonce(side), signature: None },
            (0, _) => Input::Moved { side, call: named, text: self.legal.into(), signature: None },
            (1, Kind::Join) => Input::Declined { side, call: named },
            (1, _) => Input::Moved { side, call: named, text: "junk".into(), signature: None },
            (2, _) => fault(CallFailure::TimedOut),
            (3, _) => fault(CallFailure::Unreachable),
            (_, _) => fault(CallFailure::Unreadable),
        };
        self.feed(answer);
        if posts {
            self.feed(fault(CallFailure::TimedOut));
        }
    }

    /// An unsolicited input of any kind, for any side, with any number or none.
    fn intrude(&mut self) {
        let side = self.dice.side();
        let number = CallNumber(self.dice.roll(self.issued + 2));
        let call = if self.dice.roll(4) == 3 { None } else { Some(number) };
        let (input, kinds): (_, &[Kind]) = match self.dice.roll(10) {
            0 => (Input::Start, &[]),
            1 => (Input::Joined { side, call, nonce: nonce(side), signature: None }, &[Kind::Join]),
            2 => (Input::Declined { side, call }, &[Kind::Join]),
            3 => (Input::Moved { side, call, text: self.legal.into(), signature: None }, &[Kind::Move]),
            4 => (Input::Moved { side, call, text: "junk".into(), signature: None }, &[Kind::Move]),
            5 => (Input::Failed { side, call: number, fault: CallFailure::Unreachable }, &[Kind::Join, Kind::Move]),
            6 => (Input::PauseOver { side, call: number }, &[Kind::Pause]),
            7 => (Input::GameOverSent { side, call: number }, &[Kind::Over]),
            8 if self.reports == 0 || self.delivery.is_some() => (ACCEPTED, &[]),
            _ => {
                let step = StepCommand::ALL[self.dice.roll(3) as usize];
                self.step(step);
                return;
            }
        };
        // A correct answer does not count as unsolicited. An honest player posts no refusals and no junk.
        let true_answer = |open: &Open| open.side == side && open.call == number && kinds.contains(&open.kind);
        let refuses = matches!(&input, Input::Declined { .. })
            || matches!(&input, Input::Moved { text, .. } if text != self.legal);
        let slander = self.honest[side] && call.is_none() && refuses;
        if slander || self.open.iter().any(true_answer) {
            return;
        }
        let posted = call.is_none() && matches!(kinds, [Kind::Join] | [Kind::Move]);
        let before = format!("{:?}", self.match_machine);
        self.feed(input);
        assert!(posted || format!("{:?}", self.match_machine) == before, "changed by an unsolicited input");
    }

    fn run(&mut self) {
        self.feed(Input::Start);
        let mut rounds = 0;
        while !self.match_machine.is_done() {
            // Each round answers a call, takes one of three steps or confirms the report.
            rounds += 1;
            assert!(rounds <= self.bound() + 4, "{rounds} rounds");
            for _ in 0..self.dice.roll(4) {
                self.intrude();
            }
            if !self.open.is_empty() {
                self.answer();
            } else if let Some(step) = self.match_machine.awaited_step() {
                assert!(self.step(step));
            } else {
                assert_eq!((self.reports, self.delivery), (1, None), "nothing is open, so the report is");
                let deliveries = [ReportDelivery::Accepted, ReportDelivery::Undelivered, ReportDelivery::Refused];
                let delivery = deliveries[self.dice.roll(3) as usize];
                self.delivery = Some(delivery);
                self.feed(Input::Reported(delivery));
                assert_eq!(self.match_machine.is_done(), delivery == ReportDelivery::Refused);
            }
        }
        let done = format!("{:?}", self.match_machine);
        for _ in 0..20 {
            self.intrude();
        }
        assert_eq!(format!("{:?}", self.match_machine), done);
    }
}

prop_compose! {
    fn worlds()(
        turns in any::<bool>(),
        stepped in any::<bool>(),
        honest in any::<(bool, bool)>(),
        tries in (0..5_u8, 0..5_u8),
        script in prop::collection::vec(any::<u32>(), 0..400),
    ) -> World {
        let terms = MatchTerms {
            tries: Pair::new(tries.0, tries.1),
            mode: if stepped { DriveMode::Stepped } else { DriveMode::Flowing },
            ..terms()
        };
        let (game, legal, moves): (Box<dyn Game>, _, _) = if turns {
            (Box::new(Heap::of(HEAP)), "1", u32::from(HEAP))
        } else {
            (Box::new(EvenOdd::default()), "even", 2)
        };
        World {
            match_machine: MatchMachine::new(terms, game),
            legal,
            moves,
            honest: Pair::new(honest.0, honest.1),
            dice: Dice(script.into_iter()),
            open: Vec::new(),
            issued: 0,
            reports: 0,
            delivery: None,
            told: 0,
            tries: HashMap::new(),
            asked: 0,
            ending: None,
        }
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}, honest {:?}, dice {:?}", self.match_machine, self.honest, self.dice.0.as_slice())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_match_ends_once_within_bounds_and_fairly(mut world in worlds()) {
        world.run();
        prop_assert_eq!(world.reports, 1);
        prop_assert_eq!(world.told, if world.delivery == Some(ReportDelivery::Refused) { 0 } else { 2 });
        let ending = world.ending.unwrap();
        for side in Side::BOTH {
            prop_assert_eq!(ending.faults[side].is_some(), ending.outcome.forfeited(side));
            prop_assert!(!(world.honest[side] && ending.faults[side].is_some()), "an honest side was faulted");
        }
        let forfeited = Side::BOTH.iter().any(|side| ending.outcome.forfeited(*side));
        let has_draw = world.legal == "even";
        prop_assert_eq!(ending.drawn.is_some(), has_draw && !forfeited);
    }
}
