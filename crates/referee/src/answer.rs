//! Turns a player's answer into input for the match machine.

use std::time::Duration;

use league_core::game_match::effect::AskKind;
use league_core::game_match::input::{CallFailure, CallNumber, Input};
use league_protocol::answer::{JoinAnswer, MoveAnswer, ParsedAnswer, token_quirk};
use league_protocol::id::GameType;
use league_protocol::message::start_match::StartMatch;
use league_protocol::problem::{Problem, QuestionKind};
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::side::Side;
use league_protocol::token::Credential;
use league_wire::endpoint::Endpoint;
use league_wire::exchange::{CallError, Exchange, Failure};
use league_wire::peer_client::SendAttempt;
use smol_str::SmolStr;

pub(crate) enum AnswerReading {
    Said {
        input: Input,
        quirks: Quirks,
        shows_token: bool,
    },
    /// A bare acknowledgement: the player may still post its answer within the limit.
    Heard,
    Unclear,
}

#[derive(Clone, Copy)]
pub(crate) struct AskedQuestion<'a> {
    pub(crate) side: Side,
    pub(crate) call: CallNumber,
    pub(crate) ask: AskKind,
    pub(crate) order: &'a StartMatch,
}

impl AskedQuestion<'_> {
    /// Even/Odd has its own call and answer; all other games share one.
    fn kind(self) -> QuestionKind {
        match self.ask {
            AskKind::Join => QuestionKind::Join,
            AskKind::Move if self.order.game_type == GameType::even_odd() => QuestionKind::Choice,
            AskKind::Move => QuestionKind::Move,
        }
    }

    pub(crate) fn failed(self, error: &CallError) -> Input {
        let fault = match error.kind {
            Failure::TimedOut => CallFailure::TimedOut,
            Failure::TooLong => CallFailure::Unreadable,
            Failure::NotListening
            | Failure::Unreachable(_)
            | Failure::HungUp(_)
            | Failure::Refused
            | Failure::Unwritable(_) => CallFailure::Unreachable,
        };
        Input::Failed { side: self.side, call: self.call, fault }
    }

    /// The problem of the answer behind `input`; `None` if there is none or the match machine describes it better.
    pub(crate) fn problem(
        self,
        input: &Input,
        endpoint: &Endpoint,
        tries: &[SendAttempt],
        limit: Duration,
    ) -> Option<Problem> {
        match input {
            Input::Failed { fault: CallFailure::Refused(_) | CallFailure::Irregular(_), .. } => None,
            Input::Failed { .. } => self.problem_of(endpoint, tries, limit),
            Input::Moved { text, .. } if self.kind() == QuestionKind::Choice => {
                // The player may have posted a legal choice, whatever it answered to the call.
                let wrong = Problem::of_choice(text)?;
                let answered = self.problem_of(endpoint, tries, limit);
                let is_posted = |problem: &Problem| matches!(problem, Problem::OnlyAcknowledged { .. });
                answered.filter(|problem| !is_posted(problem)).or(Some(wrong))
            }
            Input::Start
            | Input::Joined { .. }
            | Input::Declined { .. }
            | Input::Moved { .. }
            | Input::PauseOver { .. }
            | Input::GameOverSent { .. }
            | Input::Reported(_) => None,
        }
    }

    /// `None` if the player answered one of the tries.
    fn problem_of(self, endpoint: &Endpoint, tries: &[SendAttempt], limit: Duration) -> Option<Problem> {
        let asked: Vec<&SendAttempt> = tries.iter().filter(|attempt| !attempt.is_probe).collect();
        let wrong = |attempt: &&SendAttempt| match &attempt.result {
            Ok(exchange) => {
                Problem::of_answer(self.kind(), &self.order.match_id, exchange.status.as_u16(), &exchange.body)
            }
            Err(error) => error.problem(endpoint).map(|problem| {
                // The last try had only the rest of the limit; the message states the whole limit.
                if matches!(problem, Problem::Silent { .. }) { Problem::silent(limit) } else { problem }
            }),
        };
        let problems: Option<Vec<Problem>> = asked.iter().map(wrong).collect();
        // An answered try ends the question, whatever came before it.
        Problem::most_specific(problems?)
    }

    /// In a strict league an answer with a quirk does not count.
    pub(crate) fn understand(self, exchange: &Exchange) -> AnswerReading {
        match self.read(exchange) {
            AnswerReading::Said { quirks, shows_token, .. } if self.order.strict && !quirks.is_empty() => {
                let fault = quirks.iter().next().map_or(CallFailure::Unreadable, CallFailure::Irregular);
                let input = Input::Failed { side: self.side, call: self.call, fault };
                AnswerReading::Said { input, quirks, shows_token }
            }
            read @ (AnswerReading::Said { .. } | AnswerReading::Heard | AnswerReading::Unclear) => read,
        }
    }

    fn read(self, exchange: &Exchange) -> AnswerReading {
        let Ok(layers) = ParsedAnswer::parse(&exchange.body) else { return AnswerReading::Unclear };
        let (side, call, match_id) = (self.side, Some(self.call), &self.order.match_id);
        // A player that refuses by its status has not merely acknowledged.
        let nothing = if exchange.status.is_success() { AnswerReading::Heard } else { AnswerReading::Unclear };
        let (input, mut quirks, token) = match self.kind() {
            QuestionKind::Join => {
                let reading = layers.join(match_id);
                let signature = reading.signature;
                let input = match reading.answer {
                    JoinAnswer::Joined { nonce } => Input::Joined { side, call, nonce, signature },
                    JoinAnswer::Declined => Input::Declined { side, call },
                    JoinAnswer::Error(_) => return AnswerReading::Unclear,
                    JoinAnswer::Nothing => return nothing,
                };
                (input, reading.quirks, reading.token)
            }
            kind @ (QuestionKind::Choice | QuestionKind::Move) => {
                let is_choice = kind == QuestionKind::Choice;
                let reading = if is_choice { layers.parity(match_id) } else { layers.game_move(match_id) };
                let signature = reading.signature;
                let text = match reading.answer {
                    MoveAnswer::Move(text) => text,
                    // The game rejects it and describes a legal move.
                    MoveAnswer::Invalid(text) => SmolStr::new(text),
                    MoveAnswer::Error(_) => return AnswerReading::Unclear,
                    MoveAnswer::Nothing => return nothing,
                };
                (Input::Moved { side, call, text, signature }, reading.quirks, reading.token)
            }
        };
        let odd_token = self.token_quirk(token.as_ref());
        let shows_token = odd_token == Some(None);
        quirks.extend(odd_token.flatten());
        if layers.names_other_than(&self.order.players[side].player_id) {
            quirks.note(Quirk::OwnId);
        }
        AnswerReading::Said { input, quirks, shows_token }
    }

    /// The quirk of the token; `None` if the manager did not tell the referee which token is right.
    fn token_quirk(self, token: Option<&Credential>) -> Option<Option<Quirk>> {
        let expected = self.order.players[self.side].player_pass.as_ref()?;
        Some(token_quirk(token, expected, self.order.league_id.as_ref()?, &self.order.match_id))
    }
}
