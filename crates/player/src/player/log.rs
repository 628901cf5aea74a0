//! The player's log: messages, answers with their reasons, and errors.
//!
//! A choice is logged when its match is over: other players on this machine may read the file before they choose.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use league_core::session::{History, MoveRequest};
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::id::{MatchId, PlayerId};
use league_protocol::message::game_error::GameError;
use league_protocol::message::game_over::GameOver;
use league_protocol::message::invitation::{GameInvitation, GameJoinAck};
use league_protocol::message::round::{LeagueCompleted, RoundAnnouncement};
use league_protocol::message::standings::StandingsUpdate;
use league_protocol::sender::Sender;
use league_protocol::table::Method;
use league_store::journal::{JournalEntry, JournalLevel};
use league_store::views::histories::HistorySource;
use league_store::views::history::HistoryFile;
use league_wire::refusal_log::RefusedRequest;

use super::Shared;

use crate::memory::Memory;
use crate::strategy_runner::{ModelCall, StrategyError};

/// The most log entries that wait for the end of their match.
const MAX_OPEN: usize = 32;

pub(super) type OpenChoices = VecDeque<(MatchId, JournalEntry)>;

impl Shared {
    pub(super) fn note(&self, level: JournalLevel, event: &str, message: impl FnOnce() -> String) {
        if self.logs(level) {
            self.write(self.entry(level, event, message()));
        }
    }

    pub(super) fn note_message(
        &self,
        level: JournalLevel,
        event: &str,
        (head, method): (&ReceivedEnvelope, Method),
        message: impl FnOnce() -> String,
    ) {
        if self.logs(level) {
            self.write(about(self.entry(level, event, message()), head, Some(method)));
        }
    }

    fn logs(&self, level: JournalLevel) -> bool {
        self.journal.get().is_some_and(|journal| journal.writes(level))
    }

    fn entry(&self, level: JournalLevel, event: &str, message: String) -> JournalEntry {
        let session = self.session();
        let who = session.identity().map_or("", |identity| identity.player_id.as_str());
        JournalEntry::new(self.environment.now(), level, who, event, message)
    }

    fn write(&self, entry: JournalEntry) {
        if let Some(journal) = self.journal.get() {
            journal.write(entry);
        }
    }

    pub(super) fn note_round(&self, head: &ReceivedEnvelope, round: &RoundAnnouncement) {
        self.note_message(JournalLevel::Debug, "ROUND_ANNOUNCED", (head, Method::NotifyRound), || {
            let own = self.session().identity().map(|identity| identity.player_id.clone());
            let plays = |player: &PlayerId| Some(player) == own.as_ref();
            let mine = round.matches.iter().find(|one| plays(&one.player_a_id) || plays(&one.player_b_id));
            match mine {
                Some(one) => format!(
                    "round {}: {} plays {} in {}",
                    round.round_id, one.player_a_id, one.player_b_id, one.match_id
                ),
                None => format!("round {}: no match of this player", round.round_id),
            }
        });
    }

    pub(super) fn note_invitation(&self, head: &ReceivedEnvelope, invitation: &GameInvitation, answer: &GameJoinAck) {
        let declined = answer.accept == Some(false);
        let level = if declined { JournalLevel::Warn } else { JournalLevel::Debug };
        self.note_message(level, "INVITED", (head, Method::GameInvitation), || {
            let opponent = invitation.opponent_id.as_ref().map_or("an opponent without a name", PlayerId::as_str);
            let answered = match answer.reason.as_deref().filter(|_| declined) {
                Some(reason) => format!("declined: {reason}"),
                None => String::from("joined"),
            };
            format!("{}: invited by {} to play {opponent}; {answered}", invitation.match_id, sender(head))
        });
    }

    /// The player answers anyway.
    pub(super) fn note_other_conversation(&self, head: &ReceivedEnvelope, method: Method, match_id: &MatchId) {
        self.note_message(JournalLevel::Warn, "CONVERSATION_CHANGED", (head, method), || {
            format!(
                "{match_id}: the call of {} has another conversation_id than the invitation; a referee keeps one for each match \
                 and player",
                sender(head)
            )
        });
    }

    /// Held back until the match is over.
    pub(super) fn keep_choice(
        &self,
        (head, method): (&ReceivedEnvelope, Method),
        match_id: &MatchId,
        played: &str,
        why: &str,
        took: Duration,
    ) {
        if !self.logs(JournalLevel::Debug) {
            return;
        }
        let message = format!("{match_id}: chose {played} {why}, in {} ms", took.as_millis());
        self.keep(match_id, about(self.entry(JournalLevel::Debug, "CHOICE", message), head, Some(method)));
    }

    pub(super) fn note_model(
        &self,
        match_id: &MatchId,
        played: &str,
        asked: &ModelCall,
        failed: Option<&StrategyError>,
    ) {
        let (level, event, message) = match failed {
            None => (JournalLevel::Info, "MODEL_ANSWERED", format!("{} says {played} in {match_id}", asked.model)),
            Some(why) => (
                JournalLevel::Warn,
                "MODEL_FAILED",
                format!("{}: {why}; {played} is played at random in {match_id}", asked.model),
            ),
        };
        if !self.logs(level) {
            return;
        }
        let data = serde_json::json!({
            "match_id": match_id, "model": asked.model, "choice": played, "fallback": failed.is_some(),
            "latency_ms": u64::try_from(asked.latency.as_millis()).unwrap_or(u64::MAX),
            "prompt_tokens": asked.usage.prompt_tokens, "answer_tokens": asked.usage.answer_tokens,
        });
        self.keep(match_id, self.entry(level, event, message).with(&data));
    }

    fn keep(&self, match_id: &MatchId, entry: JournalEntry) {
        let mut open = self.choices.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() == MAX_OPEN {
            open.pop_front();
        }
        open.push_back((match_id.clone(), entry));
    }

    pub(super) fn rationale(&self, request: &MoveRequest, memory: &Memory) -> String {
        if !self.logs(JournalLevel::Debug) {
            return String::new();
        }
        let name = self.strategy_runner.name();
        match &request.opponent {
            _ if request.answered.is_some() => format!("by {name}, as before"),
            Some(opponent) => {
                format!("by {name} against {opponent}, met {} times before", memory.history.against(opponent).count())
            }
            None => format!("by {name} against an unknown opponent"),
        }
    }

    pub(super) fn note_over(&self, head: &ReceivedEnvelope, over: &GameOver, repeated: bool) {
        let mut open = self.choices.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(place) = open.iter().position(|(match_id, _)| *match_id == over.match_id) {
            open.remove(place).into_iter().for_each(|(_, entry)| self.write(entry));
        }
        drop(open);
        if repeated {
            self.note_message(JournalLevel::Debug, "RESULT_REPEATED", (head, Method::NotifyMatchResult), || {
                format!("{}: its result was known already", over.match_id)
            });
            return;
        }
        self.note_message(JournalLevel::Info, "GAME_OVER", (head, Method::NotifyMatchResult), || {
            let session = self.session();
            let played = session.history().matches().iter().rev().find(|played| played.match_id == over.match_id);
            let Some(played) = played else { return format!("{}: over, without a result", over.match_id) };
            let reason = over.game_result.as_ref().map(|result| format!(": {}", result.reason)).unwrap_or_default();
            let result = format!("{:?}", played.result).to_lowercase();
            let note =
                if over.provisional { " (provisional: the manager does not answer the referee yet)" } else { "" };
            format!("{}: {result}, {} points{reason}{note}", over.match_id, played.points)
        });
    }

    pub(super) fn note_game_error(&self, head: &ReceivedEnvelope, error: &GameError) {
        self.note_message(JournalLevel::Warn, "GAME_ERROR", (head, Method::NotifyGameError), || {
            let code = error.error_code.as_deref().unwrap_or("an error without a code");
            let what = error.hint.as_ref().or(error.error_description.as_ref()).map_or("", |text| text.as_str());
            let match_id = error.match_id.as_ref().map_or("no match", MatchId::as_str);
            let tries = error.retry_count.zip(error.max_retries);
            let tries = tries.map_or_else(String::new, |(made, all)| format!(" (try {made} of {all})"));
            format!("{match_id}: the referee says {code}: {what}{tries}")
        });
    }

    pub(super) fn note_standings(&self, head: &ReceivedEnvelope, update: &StandingsUpdate) {
        self.note_message(JournalLevel::Debug, "STANDINGS", (head, Method::UpdateStandings), || {
            let own = self.session().identity().map(|identity| identity.player_id.clone());
            let row = update.standings.iter().find(|row| Some(&row.player_id) == own.as_ref());
            let after = update.round_id.map_or_else(String::new, |round| format!(" after round {round}"));
            match row {
                Some(row) => format!("rank {} with {} points{after}", row.rank, row.points),
                None => format!("standings{after}, without this player"),
            }
        });
    }

    pub(super) fn note_end(&self, head: &ReceivedEnvelope, end: &LeagueCompleted) {
        self.note_message(JournalLevel::Info, "LEAGUE_COMPLETED", (head, Method::NotifyLeagueCompleted), || {
            let own = self.session().identity().map(|identity| identity.player_id.clone());
            let row = end.final_standings.iter().find(|row| Some(&row.player_id) == own.as_ref());
            match row {
                Some(row) => format!("the league is over: rank {} with {} points", row.rank, row.points),
                None => String::from("the league is over"),
            }
        });
    }

    pub(super) fn note_refusal(&self, refusal: &RefusedRequest<'_>) {
        if !self.logs(JournalLevel::Warn) {
            return;
        }
        let Some(line) = self.refusals.line(refusal) else { return };
        let level = if refusal.is_internal() { JournalLevel::Error } else { JournalLevel::Warn };
        self.write(about(self.entry(level, "REQUEST_REFUSED", line), refusal.head, refusal.method));
    }
}

impl HistorySource for Shared {
    fn history(&self) -> Option<(PathBuf, HistoryFile)> {
        self.unwritten.store(false, Ordering::Release);
        let home = self.settings.home.as_ref()?;
        let (player, history) = {
            let session = self.session();
            (session.identity()?.player_id.clone(), History::clone(session.history()))
        };
        Some((home.history(&player), HistoryFile::of(player, history, self.environment.now())))
    }

    fn history_not_written(&self, error: &io::Error) {
        tracing::warn!(%error, "the history cannot be written");
        self.note(JournalLevel::Error, "HISTORY_NOT_WRITTEN", || format!("the history cannot be written: {error}"));
    }
}

fn about(entry: JournalEntry, head: &ReceivedEnvelope, method: Option<Method>) -> JournalEntry {
    let entry = entry.in_conversation(head.conversation_id.as_good());
    match method {
        Some(method) => entry.about(method.row().message.unwrap_or(method.row().name)),
        None => entry,
    }
}

fn sender(head: &ReceivedEnvelope) -> &str {
    head.sender.as_good().map_or("an unnamed sender", Sender::as_str)
}
