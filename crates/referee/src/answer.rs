//! What a player's answer means to the bout.

use std::time::Duration;

use league_core::bout::effect::Ask;
use league_core::bout::input::{CallFault, CallNo, Input};
use league_protocol::answer::{JoinAnswer, Layers, MoveAnswer, token_quirk};
use league_protocol::id::GameType;
use league_protocol::message::start_match::StartMatch;
use league_protocol::problem::{Problem, Question};
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::side::Side;
use league_protocol::token::Credential;
use league_wire::endpoint::Endpoint;
use league_wire::exchange::{CallError, Exchange, Failure};
use league_wire::speaker::Try;
use smol_str::SmolStr;

/// An answer, understood or not.
pub(crate) enum Understood {
    /// The bout is told this.
    Said {
        input: Input,
        quirks: Quirks,
        /// Whether it shows the player's token or pass.
        shows_token: bool,
    },
    /// Only that the call was heard: the answer may still be posted within the limit.
    Heard,
    /// It says nothing that was asked for.
    Unclear,
}

/// The question that was asked.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) side: Side,
    pub(crate) call: CallNo,
    pub(crate) ask: Ask,
    pub(crate) order: &'a StartMatch,
}

impl Asked<'_> {
    /// What a call without an answer means.
    pub(crate) fn failed(self, error: &CallError) -> Input {
        let fault = match error.kind {
            Failure::TimedOut => CallFault::TimedOut,
            Failure::TooLong => CallFault::Unreadable,
            Failure::NotListening
            | Failure::Unreachable(_)
            | Failure::HungUp(_)
            | Failure::Refused
            | Failure::Unwritable(_) => CallFault::Unreachable,
        };
        Input::Failed { side: self.side, call: self.call, fault }
    }

    /// What was wrong with the answer that the bout is told of as `input`; nothing when nothing was, or the bout itself knows best.
    pub(crate) fn problem(self, input: &Input, endpoint: &Endpoint, tries: &[Try], limit: Duration) -> Option<Problem> {
        match input {
            Input::Failed { fault: CallFault::Refused(_) | CallFault::Irregular(_), .. } => None,
            Input::Failed { .. } => self.problem_of(endpoint, tries, limit),
            Input::Moved { text, .. } if self.order.game_type == GameType::even_odd() => {
                // A legal choice may have been posted, whatever was answered to the call.
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
            | Input::Told { .. }
            | Input::Reported => None,
        }
    }

    /// What was wrong with the tries at this question; nothing when one was answered.
    fn problem_of(self, endpoint: &Endpoint, tries: &[Try], limit: Duration) -> Option<Problem> {
        let question = match self.ask {
            Ask::Join => Question::Join,
            Ask::Move if self.order.game_type == GameType::even_odd() => Question::Choice,
            Ask::Move => Question::Move,
        };
        let asked: Vec<&Try> = tries.iter().filter(|one| !one.is_probe).collect();
        let wrong = |one: &&Try| match &one.came {
            Ok(exchange) => {
                Problem::of_answer(question, &self.order.match_id, exchange.status.as_u16(), &exchange.body)
            }
            Err(error) => error.problem(endpoint).map(|problem| {
                // The time that was left is not the limit: earlier tries at the same question had used some of it.
                if matches!(problem, Problem::Silent { .. }) { Problem::silent(limit) } else { problem }
            }),
        };
        let problems: Option<Vec<Problem>> = asked.iter().map(wrong).collect();
        // A try that was answered ends the question, whatever came before it.
        Problem::most_specific(problems?)
    }

    /// What an answer means. A strict league takes none that is odd.
    pub(crate) fn understand(self, exchange: &Exchange) -> Understood {
        match self.read(exchange) {
            Understood::Said { quirks, shows_token, .. } if self.order.strict && !quirks.is_empty() => {
                let fault = quirks.iter().next().map_or(CallFault::Unreadable, CallFault::Irregular);
                let input = Input::Failed { side: self.side, call: self.call, fault };
                Understood::Said { input, quirks, shows_token }
            }
            read @ (Understood::Said { .. } | Understood::Heard | Understood::Unclear) => read,
        }
    }

    fn read(self, exchange: &Exchange) -> Understood {
        let Ok(layers) = Layers::parse(&exchange.body) else { return Understood::Unclear };
        let (side, call, match_id) = (self.side, Some(self.call), &self.order.match_id);
        // Whoever refuses by its status has not merely acknowledged.
        let nothing = if exchange.status.is_success() { Understood::Heard } else { Understood::Unclear };
        let (input, mut quirks, token) = match self.ask {
            Ask::Join => {
                let reading = layers.join(match_id);
                let input = match reading.said {
                    JoinAnswer::Joined { nonce } => Input::Joined { side, call, nonce },
                    JoinAnswer::Declined => Input::Declined { side, call },
                    JoinAnswer::Error(_) => return Understood::Unclear,
                    JoinAnswer::Nothing => return nothing,
                };
                (input, reading.quirks, reading.token)
            }
            Ask::Move => {
                let parity = self.order.game_type == GameType::even_odd();
                let reading = if parity { layers.parity(match_id) } else { layers.game_move(match_id) };
                let text = match reading.said {
                    MoveAnswer::Move(text) => text,
                    // The game refuses it, and says what a move would have been.
                    MoveAnswer::Invalid(text) => SmolStr::new(text),
                    MoveAnswer::Error(_) => return Understood::Unclear,
                    MoveAnswer::Nothing => return nothing,
                };
                (Input::Moved { side, call, text }, reading.quirks, reading.token)
            }
        };
        let odd_token = self.token_quirk(token.as_ref());
        let shows_token = odd_token == Some(None);
        quirks.extend(odd_token.flatten());
        if layers.names_other_than(&self.order.players[side].player_id) {
            quirks.note(Quirk::OwnId);
        }
        Understood::Said { input, quirks, shows_token }
    }

    /// What is odd about the token, where the manager told what it should be.
    fn token_quirk(self, token: Option<&Credential>) -> Option<Option<Quirk>> {
        let expected = self.order.players[self.side].player_pass.as_ref()?;
        Some(token_quirk(token, expected, self.order.league_id.as_ref()?, &self.order.match_id))
    }
}
