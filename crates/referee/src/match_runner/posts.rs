//! Decides about answers that players post.

use league_core::game_match::effect::AskKind;
use league_core::game_match::refusal::PostRefusal;
use league_core::rules::game::Game;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::GameType;
use league_protocol::problem::Problem;

use super::MatchRunner;
use crate::answer_waiter::PostedAnswers;
use crate::held_answers::HoldOutcome;
use crate::posted_answer::{Answer, PostedAnswer, PosterProof, move_field};

/// The transcript lists at most this many refused posts of a side.
const MAX_REFUSED: usize = 16;

impl MatchRunner {
    pub(super) fn take_posted(&mut self, posted: PostedAnswer) -> Result<(), RequestError> {
        let PostedAnswer { side, method, standing, ref answer, .. } = posted;
        let ask = answer.ask();
        if !self.match_machine.owes(side, ask) {
            return self.not_owed(posted);
        }
        let illegal = match answer {
            Answer::Moved(text) => self.match_machine.game().check(side, text).err(),
            Answer::Joined(_) | Answer::Declined => None,
        };
        let illegal = illegal.map(|illegal| RequestError::new(ErrorCode::E004, method, illegal.to_string()));
        let illegal = illegal.map(|fault| fault.about(move_field(&self.order)));
        match standing {
            PosterProof::Proven => {
                let known = &mut self.known[side];
                known.shows_token = true;
                known.quirks = known.quirks.and(posted.quirks);
                if let Answer::Moved(text) = &posted.answer
                    && self.order.game_type == GameType::even_odd()
                {
                    self.problems[side] = Problem::of_choice(text);
                }
                let (input, said) = posted.split(None);
                self.posted[side].push(said);
                self.tell(input);
                if let Some((call, open)) = &self.open[side]
                    && !self.match_machine.is_open(side, *call)
                {
                    open.set();
                }
            }
            PosterProof::Doubtful { token, is_near } => {
                let call = self.match_machine.open_call(side, ask);
                let open = self.open[side].clone().filter(|(open, _)| Some(*open) == call);
                let Some((_, open)) = open else { return self.not_owed(posted) };
                let refusal = match (self.order.strict || self.known[side].shows_token, is_near) {
                    (true, _) => Some(token),
                    (false, false) => Some(PostRefusal::OtherAddress),
                    (false, true) => None,
                };
                if let Some(refusal) = refusal {
                    open.held().refuse(refusal);
                    return self.refuse(posted, &refusal.to_string(), refusal.code(), refusal.advice());
                }
                self.hold(posted, &open)?;
            }
        }
        illegal.map_or(Ok(()), Err)
    }

    fn hold(&mut self, posted: PostedAnswer, open: &PostedAnswers) -> Result<(), RequestError> {
        let echoes = posted.conversation.as_ref() == Some(&self.match_messages().conversation(posted.side));
        let again = posted.clone();
        match open.hold(posted, echoes) {
            HoldOutcome::First => Ok(()),
            HoldOutcome::Repeated => self.refuse(again, "the same was posted before", ErrorCode::E010, "send it once"),
            HoldOutcome::Contradicted => {
                let match_id = &self.order.match_id;
                let player = &self.order.players[again.side].player_id;
                tracing::warn!(%match_id, %player, "two different answers were posted without a right token");
                let text = format!("{match_id}: two different answers were posted in the name of {player}");
                self.shared.alert("CONTRADICTING_POSTS", text);
                let advice = "send one answer, with the auth_token of your registration";
                self.refuse(again, "another posted answer differs", ErrorCode::E010, advice)
            }
        }
    }

    /// Refuses an answer that the referee does not wait for. A second move for one turn gets a warning; a second join is
    /// harmless.
    fn not_owed(&mut self, posted: PostedAnswer) -> Result<(), RequestError> {
        let (side, match_machine) = (posted.side, &self.match_machine);
        // Between two tries a side owes its move and has no open call.
        let has_made_its_move = match_machine.has_moved(side) && !match_machine.owes(side, AskKind::Move);
        match posted.answer {
            Answer::Joined(_) if match_machine.has_joined(side) => Ok(()),
            Answer::Moved(_) if has_made_its_move => self.refuse_second_move(posted),
            Answer::Joined(_) | Answer::Declined | Answer::Moved(_) => {
                let advice = "answer when you are called, and within the limit";
                self.refuse(posted, "nothing of the kind is asked for now", ErrorCode::E010, advice)
            }
        }
    }

    /// The side has moved and is not called again yet, so it has made the move of its turn.
    fn refuse_second_move(&mut self, posted: PostedAnswer) -> Result<(), RequestError> {
        let (match_id, player) = (&self.order.match_id, &self.order.players[posted.side].player_id);
        let (event, what, advice) = if self.order.game_type == GameType::even_odd() {
            ("SECOND_CHOICE", "a second choice", "the first choice counts; send one in each match")
        } else {
            ("SECOND_MOVE", "a second move", "the first move of a turn counts; send one for each call")
        };
        tracing::warn!(%match_id, %player, "{what} was posted; the first one counts");
        self.shared.alert(event, format!("{match_id}: {player} posted {what}; the first counts"));
        self.refuse(posted, what, ErrorCode::E010, advice)
    }

    /// Records the refusal, up to a limit.
    fn refuse(&mut self, posted: PostedAnswer, why: &str, code: ErrorCode, advice: &str) -> Result<(), RequestError> {
        let (side, method) = (posted.side, posted.method);
        let match_id = &self.order.match_id;
        let fault =
            RequestError::new(code, method, format!("this answer does not count in {match_id}: {why}; {advice}"));
        self.refused[side] += 1;
        if self.refused[side] <= MAX_REFUSED {
            self.posted[side].push(posted.said.refused(why));
        }
        Err(fault)
    }
}
