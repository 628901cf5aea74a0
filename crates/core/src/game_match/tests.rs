//! Helpers that drive a match with scripted inputs and show its effects as short lines.

mod answers;
mod courses;
mod games;
mod misuse;
mod properties;
mod reports;
mod signed;
mod stepped;

use std::num::NonZeroU32;
use std::time::Duration;

use league_protocol::draw::{DrawNonce, DrawSecret};
use league_protocol::message::start_match::Backoff;
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::MatchMachine;
use super::effect::{AskKind, AttemptError, Effect};
use super::input::{CallFailure, CallNumber, Input, ReportDelivery};
use super::terms::{AnswerLimits, DriveMode, MatchTerms};
use crate::rules::even_odd::EvenOdd;
use crate::rules::game::Game;

/// Three tries each, five seconds to join, thirty to move, pauses from two seconds on.
fn terms() -> MatchTerms {
    MatchTerms {
        match_id: "R1M1".parse().unwrap(),
        attempt: 1,
        secret: DrawSecret([7; 32]),
        seeded: false,
        manager_nonce: DrawNonce::default(),
        games: NonZeroU32::MIN,
        salt: [9; 32],
        tries: Pair::new(3, 3),
        limits: AnswerLimits {
            to_join: Duration::from_secs(5),
            to_move: Duration::from_secs(30),
            to_acknowledge: Duration::from_secs(6),
        },
        base_delay: Duration::from_secs(2),
        backoff: Backoff::Exponential,
        mode: DriveMode::Flowing,
    }
}

const ACCEPTED: Input = Input::Reported(ReportDelivery::Accepted);
const UNDELIVERED: Input = Input::Reported(ReportDelivery::Undelivered);
const REFUSED: Input = Input::Reported(ReportDelivery::Refused);

fn stepped_terms() -> MatchTerms {
    MatchTerms { mode: DriveMode::Stepped, ..terms() }
}

struct TestMatch {
    machine: MatchMachine,
}

impl TestMatch {
    fn new(game: impl Game + 'static) -> Self {
        Self::on(terms(), game)
    }

    fn on(terms: MatchTerms, game: impl Game + 'static) -> Self {
        Self { machine: MatchMachine::new(terms, Box::new(game)) }
    }

    /// Both sides have joined. Calls 1 and 2 are over; call 3 is open, and call 4 if both sides move.
    fn joined(game: impl Game + 'static) -> Self {
        Self::joined_on(terms(), game)
    }

    fn joined_on(terms: MatchTerms, game: impl Game + 'static) -> Self {
        let mut test_match = Self::started_on(terms, game);
        test_match.both_join();
        test_match
    }

    fn started(game: impl Game + 'static) -> Self {
        Self::started_on(terms(), game)
    }

    fn started_on(terms: MatchTerms, game: impl Game + 'static) -> Self {
        let mut test_match = Self::on(terms, game);
        test_match.feed(Input::Start);
        test_match
    }

    fn both_join(&mut self) {
        self.feed(joined(Side::A, 1));
        self.feed(joined(Side::B, 2));
    }

    fn feed(&mut self, input: Input) -> Vec<String> {
        let mut effects = Vec::new();
        self.machine.handle(input, &mut effects);
        effects.iter().map(line).collect()
    }

    #[track_caller]
    fn plays<const N: usize>(&mut self, script: [(Input, &[&str]); N]) {
        for (at, (input, expected)) in script.into_iter().enumerate() {
            let shown = format!("{input:?}");
            assert_eq!(self.feed(input), expected, "at {at}, {shown}");
        }
    }

    #[track_caller]
    fn ignores(&mut self, inputs: impl IntoIterator<Item = Input>) {
        for input in inputs {
            let before = format!("{:?}", self.machine);
            let shown = format!("{input:?}");
            assert_eq!(self.feed(input), [""; 0], "{shown}");
            assert_eq!(format!("{:?}", self.machine), before, "{shown}");
        }
    }
}

fn line(effect: &Effect) -> String {
    let at = |side: &Side, call: &CallNumber| format!("{side:?} #{}", call.0);
    match effect {
        Effect::Invite { side, call, try_number, limit } => {
            format!("invite {} try {try_number} in {limit:?}", at(side, call))
        }
        Effect::AskMove { side, call, try_number, limit } => {
            format!("ask {} try {try_number} in {limit:?}", at(side, call))
        }
        Effect::SendError { side, ask, attempt_error, tries_made, tries_allowed, pause } => {
            let ask = match ask {
                AskKind::Join => "join",
                AskKind::Move => "move",
            };
            let attempt_error = match attempt_error {
                AttemptError::TimedOut => "timed out".to_owned(),
                AttemptError::Unreachable => "unreachable".to_owned(),
                AttemptError::Unreadable => "unreadable".to_owned(),
                AttemptError::Refused(refusal) => format!("refused {refusal:?}"),
                AttemptError::Irregular(quirk) => format!("irregular {quirk:?}"),
                AttemptError::Illegal(illegal) => format!("illegal {:?}", illegal.found),
            };
            format!("error {side:?} {ask}: {attempt_error}, {tries_made}/{tries_allowed}, pause {pause:?}")
        }
        Effect::Pause { side, call, span } => format!("pause {} {span:?}", at(side, call)),
        Effect::SendGameOver { side, call, limit } => format!("over {} in {limit:?}", at(side, call)),
        Effect::Report => "report".to_owned(),
    }
}

fn nonce(side: Side) -> DrawNonce {
    match side {
        Side::A => "salt".parse().unwrap(),
        Side::B => DrawNonce::default(),
    }
}

fn joined(side: Side, call: u32) -> Input {
    Input::Joined { side, call: Some(CallNumber(call)), nonce: nonce(side), signature: None }
}

fn posted_join(side: Side) -> Input {
    Input::Joined { side, call: None, nonce: nonce(side), signature: None }
}

fn declined(side: Side, call: u32) -> Input {
    Input::Declined { side, call: Some(CallNumber(call)) }
}

fn posted_decline(side: Side) -> Input {
    Input::Declined { side, call: None }
}

fn moved(side: Side, call: u32, text: &str) -> Input {
    Input::Moved { side, call: Some(CallNumber(call)), text: SmolStr::new(text), signature: None }
}

fn posted_move(side: Side, text: &str) -> Input {
    Input::Moved { side, call: None, text: SmolStr::new(text), signature: None }
}

fn failed(side: Side, call: u32, fault: CallFailure) -> Input {
    Input::Failed { side, call: CallNumber(call), fault }
}

fn pause_over(side: Side, call: u32) -> Input {
    Input::PauseOver { side, call: CallNumber(call) }
}

fn over_sent(side: Side, call: u32) -> Input {
    Input::GameOverSent { side, call: CallNumber(call) }
}
