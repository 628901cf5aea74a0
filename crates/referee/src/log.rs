//! The referee's log: every match from its order to its report, with every call.
//!
//! A choice, legal or not, is logged only when the match is decided. Players on the same machine may be able to read
//! the file, and must not learn the opponent's choice before they choose.

use league_core::game_match::effect::AttemptError;
use league_core::game_match::input::Input;
use league_protocol::id::MatchId;
use league_protocol::message::start_match::StartMatch;
use league_protocol::side::Side;
use league_store::journal::{JournalEntry, JournalLevel};
use league_wire::peer_client::SendAttempt;
use league_wire::refusal_log::RefusedRequest;

use crate::referee::Shared;

impl Shared {
    pub(crate) fn note(&self, level: JournalLevel, event: &str, message: impl FnOnce() -> String) {
        if self.logs(level) {
            self.write(self.entry(level, event, message()));
        }
    }

    pub(crate) fn alert(&self, event: &str, message: String) {
        self.note(JournalLevel::Warn, event, || message);
    }

    pub(crate) fn logs(&self, level: JournalLevel) -> bool {
        self.journal.get().is_some_and(|journal| journal.writes(level))
    }

    pub(crate) fn entry(&self, level: JournalLevel, event: &str, message: String) -> JournalEntry {
        let id = self.identity().map(|identity| identity.id);
        JournalEntry::new(self.environment.now(), level, id.as_ref().map_or("", |id| id.as_str()), event, message)
    }

    pub(crate) fn write(&self, entry: JournalEntry) {
        if let Some(journal) = self.journal.get() {
            journal.write(entry);
        }
    }

    /// `number` counts the calls to `peer` about this match; `understood` is about the last request.
    pub(crate) fn note_tries(
        &self,
        match_id: &MatchId,
        (peer, number): (&str, Option<u8>),
        tries: &[SendAttempt],
        understood: bool,
    ) {
        let last = tries.iter().rposition(|attempt| !attempt.is_probe);
        for (place, attempt) in tries.iter().enumerate().filter(|(_, attempt)| !attempt.is_probe) {
            let failed = attempt.result.is_err() || (Some(place) == last && !understood);
            let (level, event) =
                if failed { (JournalLevel::Warn, "MESSAGE_FAILED") } else { (JournalLevel::Debug, "MESSAGE_SENT") };
            if self.logs(level) {
                let number = number.map_or_else(String::new, |number| format!(", try {number}"));
                let (Ok(outcome) | Err(outcome)) = attempt.outcome();
                let message = format!("{match_id}: {} to {peer}{number}: {outcome}", attempt.name);
                self.write(self.entry(level, event, message).about(attempt.name));
            }
        }
    }

    /// Leaves out the choice.
    pub(crate) fn note_answer(&self, order: &StartMatch, input: &Input) {
        let match_id = &order.match_id;
        let (level, event, side, what) = match input {
            Input::Joined { side, .. } => (JournalLevel::Debug, "PLAYER_JOINED", side, "joined"),
            Input::Declined { side, .. } => (JournalLevel::Warn, "PLAYER_DECLINED", side, "declined the invitation"),
            Input::Moved { side, .. } => (JournalLevel::Debug, "CHOICE_RECEIVED", side, "has chosen"),
            Input::Start
            | Input::Failed { .. }
            | Input::PauseOver { .. }
            | Input::GameOverSent { .. }
            | Input::Reported(_) => {
                return;
            }
        };
        self.note(level, event, || format!("{match_id}: {} {what}", order.players[*side].player_id));
    }

    pub(crate) fn note_attempt_error(
        &self,
        order: &StartMatch,
        side: Side,
        attempt_error: &AttemptError,
        (made, allowed): (u8, u8),
    ) {
        self.note(JournalLevel::Warn, "GAME_ERROR", || {
            let (match_id, player) = (&order.match_id, &order.players[side].player_id);
            let what = match attempt_error {
                // The text would reveal the choice.
                AttemptError::Illegal(_) => String::from("its choice is not a legal one"),
                AttemptError::TimedOut
                | AttemptError::Unreachable
                | AttemptError::Unreadable
                | AttemptError::Refused(_)
                | AttemptError::Irregular(_) => attempt_error.to_string(),
            };
            format!("{match_id}: {player}: {what}; try {made} of {allowed} was lost, it is asked again")
        });
    }

    pub(crate) fn note_refusal(&self, refusal: &RefusedRequest<'_>) {
        if !self.logs(JournalLevel::Warn) {
            return;
        }
        let Some(line) = self.refusals.line(refusal) else { return };
        let level = if refusal.is_internal() { JournalLevel::Error } else { JournalLevel::Warn };
        let entry = self.entry(level, "REQUEST_REFUSED", line);
        self.write(entry.in_conversation(refusal.head.conversation_id.as_good()).about(refusal.message_name()));
    }
}
