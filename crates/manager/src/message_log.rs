//! The league's log of messages: calls, answers and refusals. [`event_lines`](crate::event_lines) adds the events.

use std::sync::atomic::{AtomicU32, Ordering};

use league_core::season::agent::AgentId;
use league_protocol::id::ConversationId;
use league_protocol::message::registration::{RegisterResponse, RegistrationStatus};
use league_protocol::sender::Sender;
use league_protocol::table::{ManagerCall, Method};
use league_store::journal::{JournalEntry, JournalLevel};
use league_wire::agent::{CallAnswer, IncomingCall};
use league_wire::peer_client::SendAttempt;
use league_wire::refusal_log::RefusedRequest;

use crate::manager::Shared;
use crate::notices::Announcement;

#[derive(Debug, Default)]
pub(crate) struct Answers {
    yes: AtomicU32,
    no: AtomicU32,
}

impl Answers {
    pub(crate) fn count(&self, answered: bool) {
        let counter = if answered { &self.yes } else { &self.no };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

pub(crate) struct Request {
    method: Method,
    from: String,
    name: Option<String>,
    conversation: Option<ConversationId>,
}

impl Shared {
    pub(crate) fn log(&self, level: JournalLevel, event: &str, message: impl FnOnce() -> String) {
        if self.logs(level) {
            self.write_line(self.entry(level, event, message()));
        }
    }

    fn logs(&self, level: JournalLevel) -> bool {
        self.settings.journal.as_ref().is_some_and(|journal| journal.writes(level))
    }

    fn entry(&self, level: JournalLevel, event: &str, message: String) -> JournalEntry {
        JournalEntry::new(self.environment.now(), level, "league_manager", event, message)
    }

    fn write_line(&self, entry: JournalEntry) {
        if let Some(journal) = &self.settings.journal {
            journal.write(entry);
        }
    }

    pub(crate) fn note_sent(
        &self,
        who: &AgentId,
        conversation: &ConversationId,
        tries: &[SendAttempt],
        understood: bool,
    ) {
        let last = tries.iter().rposition(|one| !one.is_probe);
        for (place, one) in tries.iter().enumerate().filter(|(_, one)| !one.is_probe) {
            let failed = one.result.is_err() || (Some(place) == last && !understood);
            let (level, event) =
                if failed { (JournalLevel::Warn, "MESSAGE_FAILED") } else { (JournalLevel::Debug, "MESSAGE_SENT") };
            if self.logs(level) {
                let (Ok(told) | Err(told)) = one.outcome();
                let entry = self.entry(level, event, format!("{} to {}: {told}", one.name, who.as_str()));
                self.write_line(entry.in_conversation(Some(conversation)).about(one.name));
            }
        }
    }

    pub(crate) fn note_told(&self, announcement: &Announcement) {
        let Announcement { notice, answers, .. } = announcement;
        let (yes, no) = (answers.yes.load(Ordering::Relaxed), answers.no.load(Ordering::Relaxed));
        if yes + no == 0 {
            return;
        }
        let row = notice.call.method().row();
        let what = row.message.unwrap_or(row.name);
        let (level, event) =
            if yes == 0 && no > 1 { (JournalLevel::Error, "NOBODY_REACHABLE") } else { (JournalLevel::Info, what) };
        if self.logs(level) {
            let message = format!("{what}: told {} agents, {yes} acknowledged it, {no} did not", yes + no);
            self.write_line(self.entry(level, event, message).in_conversation(Some(&notice.conversation)).about(what));
        }
    }

    pub(crate) fn request(&self, incoming: &IncomingCall<ManagerCall>) -> Option<Request> {
        let name = if let ManagerCall::RegisterPlayer(request) = &incoming.call {
            Some(request.player_meta.display_name.to_string())
        } else if let ManagerCall::RegisterReferee(request) = &incoming.call {
            Some(request.referee_meta.display_name.to_string())
        } else {
            None
        };
        // Registrations and reports may cause a warning; other requests are logged at DEBUG.
        if name.is_none() && incoming.method != Method::ReportMatchResult && !self.logs(JournalLevel::Debug) {
            return None;
        }
        let sender = incoming.head.sender.as_good().map_or("an unnamed sender", Sender::as_str);
        Some(Request {
            method: incoming.method,
            from: format!("{sender} at {}", incoming.peer.ip()),
            name,
            conversation: incoming.head.conversation_id.as_good().cloned(),
        })
    }

    /// A rejection is an answer, and so is the acknowledgement of a repeated report.
    pub(crate) fn note_answered(&self, request: &Request, answer: &CallAnswer) {
        let Request { method, from, name, conversation } = request;
        let what = method.row().message.unwrap_or(method.row().name);
        let (level, event, message) = match (name, method) {
            (Some(name), _) => {
                let response = serde_json::from_str::<RegisterResponse>(answer.body.get()).ok();
                match response.filter(|response| response.status == RegistrationStatus::Rejected) {
                    Some(response) => {
                        let reason = response.reason.unwrap_or_default();
                        (
                            JournalLevel::Warn,
                            "REGISTRATION_REJECTED",
                            format!("{what} of {name:?} from {from} is rejected: {reason}"),
                        )
                    }
                    None => {
                        (JournalLevel::Debug, "MESSAGE_RECEIVED", format!("{what} of {name:?} from {from}: accepted"))
                    }
                }
            }
            (None, Method::ReportMatchResult) if answer.body.get().contains("\"duplicate\":true") => (
                JournalLevel::Warn,
                "REPORT_REPEATED",
                format!("{what} from {from}: this result was known, and counts once"),
            ),
            (None, _) => (JournalLevel::Debug, "MESSAGE_RECEIVED", format!("{what} from {from}: answered")),
        };
        if self.logs(level) {
            self.write_line(self.entry(level, event, message).in_conversation(conversation.as_ref()).about(what));
        }
    }

    pub(crate) fn note_refusal(&self, refusal: &RefusedRequest<'_>) {
        if !self.logs(JournalLevel::Warn) {
            return;
        }
        let Some(line) = self.refusals.line(refusal) else { return };
        let level = if refusal.is_internal() { JournalLevel::Error } else { JournalLevel::Warn };
        let entry = self.entry(level, "REQUEST_REFUSED", line);
        self.write_line(entry.in_conversation(refusal.head.conversation_id.as_good()).about(refusal.message_name()));
    }
}
