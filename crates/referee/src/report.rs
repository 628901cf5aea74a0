//! Reports a match to the manager.

use std::sync::Arc;
use std::time::Duration;

use league_protocol::answer::{ParsedAnswer, ReplyKind};
use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, MatchId};
use league_protocol::message::report::MatchResultReport;
use league_protocol::sender::Sender;
use league_protocol::table::Call;
use league_store::journal::JournalLevel;
use league_wire::exchange::Exchange;
use league_wire::peer_client::{OutgoingCall, Peer, is_acknowledged};
use tokio::time::sleep;

use crate::referee::Shared;
use crate::registration::RefereeIdentity;
use crate::settings::RefereeSettings;
use crate::transcript::OwedTranscript;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReportAnswer {
    Accepted,
    /// The refusal is final.
    Refused,
}

/// A report on its way to the manager that `appointed` the referee for this match, even if the referee has registered
/// elsewhere since.
pub(crate) struct PendingReport {
    shared: Arc<Shared>,
    appointed: RefereeIdentity,
    match_id: MatchId,
    conversation: ConversationId,
    call: Call,
    /// How many commitments it deposits.
    deposited: usize,
    transcript: Option<OwedTranscript>,
    pause: Duration,
}

impl PendingReport {
    /// The transcript goes before the report.
    pub(crate) fn new(
        shared: Arc<Shared>,
        appointed: RefereeIdentity,
        report: MatchResultReport,
        transcript: Option<OwedTranscript>,
    ) -> Self {
        let (match_id, deposited, pause) =
            (report.match_id.clone(), report.draw_commitments.len(), shared.settings.pause);
        let conversation =
            ConversationId::named(format_args!("conv-{}-report", match_id.as_str().to_ascii_lowercase()));
        let call = Call::ReportMatchResult(report);
        Self { shared, appointed, match_id, conversation, call, deposited, transcript, pause }
    }

    /// `None` if the manager could not be reached in `tries` tries.
    pub(crate) async fn first_tries(&mut self, tries: u8) -> Option<ReportAnswer> {
        for number in 1..=tries.max(1) {
            if number > 1 {
                self.wait().await;
            }
            if let Some(answer) = self.send().await {
                return Some(answer);
            }
        }
        None
    }

    /// Repeats the report until the manager answers.
    pub(crate) async fn further_tries(mut self) -> ReportAnswer {
        loop {
            self.wait().await;
            if let Some(answer) = self.send().await {
                return answer;
            }
        }
    }

    async fn wait(&mut self) {
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(RefereeSettings::MAX_PAUSE.max(self.shared.settings.pause));
    }

    async fn send(&mut self) -> Option<ReportAnswer> {
        match self.exchange().await {
            Ok(answer) => {
                if answer == ReportAnswer::Refused {
                    self.shared.draw_secrets.not_deposited(self.deposited);
                }
                Some(answer)
            }
            Err(problem) => {
                let match_id = &self.match_id;
                tracing::info!(%match_id, trouble = problem, "not reported yet; trying again");
                self.shared.note(JournalLevel::Warn, "REPORT_RETRIED", || {
                    format!("{match_id}: not reported yet, and tried again: {problem}")
                });
                None
            }
        }
    }

    /// Sends the transcript and the report once. An error says why it may succeed later.
    async fn exchange(&self) -> Result<ReportAnswer, String> {
        let Self { shared, match_id, .. } = self;
        if let Some(owed) = &self.transcript {
            shared.send_transcript(&self.appointed, owed).await?;
        }
        let RefereeIdentity { id, token, manager, dialect, proven, passes, .. } =
            shared.identity_since(&self.appointed);
        let sender = Sender::referee(&id);
        let envelope = Envelope { sender, ..shared.envelope(Some(self.conversation.clone()), token.map(Into::into)) };
        let limit = shared.settings.answer_limit;
        let message = OutgoingCall { envelope: &envelope, call: &self.call, body: None, limit, notice: false };
        let peer = Peer { endpoint: &manager, dialect: &dialect, proven };
        let mut tries = Vec::new();
        // A manager of another implementation may expect reports in another frame than registrations.
        let sent = if passes {
            shared.peer_client.send(peer, message, &understood, &mut tries).await
        } else {
            shared.peer_client.search(peer, message, &understood, &mut tries).await
        };
        shared.note_tries(match_id, ("the manager", None), &tries, sent.understood);
        if let Some(learned) = sent.learned {
            shared.manager_understands(&manager, learned);
        }
        let exchange = match tries.iter().rfind(|attempt| !attempt.is_probe).map(|last| &last.result) {
            Some(Ok(exchange)) => exchange,
            Some(Err(error)) => return Err(error.to_string()),
            None => return Err(String::from("there was no time")),
        };
        match ParsedAnswer::parse(&exchange.body).map(|layers| layers.reply_kind()) {
            // Some managers acknowledge with an empty body.
            Ok(ReplyKind::NoError) | Err(_) if exchange.status.is_success() => {
                shared.take_from_report(&exchange.body);
                Ok(ReportAnswer::Accepted)
            }
            Ok(ReplyKind::NoError) | Err(_) if exchange.status.is_client_error() => {
                tracing::warn!(%match_id, status = %exchange.status, "the manager takes no report in any form");
                Ok(ReportAnswer::Refused)
            }
            Ok(ReplyKind::NoError) | Err(_) => Err(format!("the manager answers with status {}", exchange.status)),
            Ok(ReplyKind::Error(error)) if error.code.as_deref() == Some("E015") || error.is_rate_limit() => {
                Err(error.words)
            }
            Ok(ReplyKind::Error(error)) => {
                tracing::warn!(%match_id, code = ?error.code, words = error.words, "the report is not wanted");
                shared.note(JournalLevel::Error, "REPORT_REFUSED", || {
                    format!("{match_id}: the manager refuses the report, and it is given up: {}", error.words)
                });
                if error.code.as_deref() == Some("E012") {
                    shared.recheck_token().await;
                }
                Ok(ReportAnswer::Refused)
            }
        }
    }
}

/// True also for a refusal.
pub(crate) fn understood(exchange: &Exchange) -> bool {
    let error = ParsedAnswer::parse(&exchange.body).ok().and_then(|layers| layers.error());
    error.is_some_and(|error| error.code.is_some()) || is_acknowledged(exchange)
}
