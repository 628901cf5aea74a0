//! Reports a match to the manager.

use std::sync::Arc;

use league_protocol::answer::{ParsedAnswer, ReplyKind};
use league_protocol::envelope::Envelope;
use league_protocol::id::ConversationId;
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

/// Repeats the report while the manager is unreachable; a refusal is final. The report goes to the manager that
/// `appointed` the referee for this match, even if the referee has registered elsewhere since. Returns whether the
/// manager accepted it.
pub(crate) async fn deliver(shared: &Arc<Shared>, appointed: &RefereeIdentity, report: MatchResultReport) -> bool {
    let match_id = report.match_id.clone();
    let conversation = ConversationId::named(format_args!("conv-{}-report", match_id.as_str().to_ascii_lowercase()));
    let call = Call::ReportMatchResult(report);
    let mut pause = shared.settings.pause;
    loop {
        let RefereeIdentity { id, token, manager, dialect, proven, passes, .. } = shared.identity_since(appointed);
        let sender = Sender::referee(&id);
        let envelope = Envelope { sender, ..shared.envelope(Some(conversation.clone()), token.map(Into::into)) };
        let settings = &shared.settings;
        let message =
            OutgoingCall { envelope: &envelope, call: &call, body: None, limit: settings.answer_limit, notice: false };
        let peer = Peer { endpoint: &manager, dialect: &dialect, proven };
        let mut tries = Vec::new();
        // A manager of another implementation may expect reports in another frame than registrations.
        let sent = if passes {
            shared.peer_client.send(peer, message, &understood, &mut tries).await
        } else {
            shared.peer_client.search(peer, message, &understood, &mut tries).await
        };
        shared.note_tries(&match_id, ("the manager", None), &tries, sent.understood);
        if let Some(learned) = sent.learned {
            shared.manager_understands(&manager, learned);
        }
        let problem = match tries.iter().rfind(|attempt| !attempt.is_probe).map(|last| &last.result) {
            Some(Ok(exchange)) => match ParsedAnswer::parse(&exchange.body).map(|layers| layers.reply_kind()) {
                // Some managers acknowledge with an empty body.
                Ok(ReplyKind::NoError) | Err(_) if exchange.status.is_success() => return true,
                Ok(ReplyKind::NoError) | Err(_) if exchange.status.is_client_error() => {
                    tracing::warn!(%match_id, status = %exchange.status, "the manager takes no report in any form");
                    return false;
                }
                Ok(ReplyKind::NoError) | Err(_) => format!("the manager answers with status {}", exchange.status),
                Ok(ReplyKind::Error(error)) if error.code.as_deref() == Some("E015") || error.is_rate_limit() => {
                    error.words
                }
                Ok(ReplyKind::Error(error)) => {
                    tracing::warn!(%match_id, code = ?error.code, words = error.words, "the report is not wanted");
                    shared.note(JournalLevel::Error, "REPORT_REFUSED", || {
                        format!("{match_id}: the manager refuses the report, and it is given up: {}", error.words)
                    });
                    if error.code.as_deref() == Some("E012") {
                        shared.recheck_token().await;
                    }
                    return false;
                }
            },
            Some(Err(error)) => error.to_string(),
            None => String::from("there was no time"),
        };
        tracing::info!(%match_id, trouble = problem, "not reported yet; trying again");
        shared.note(JournalLevel::Warn, "REPORT_RETRIED", || {
            format!("{match_id}: not reported yet, and tried again: {problem}")
        });
        sleep(pause).await;
        pause = (pause * 2).min(RefereeSettings::MAX_PAUSE.max(shared.settings.pause));
    }
}

/// True also for a refusal.
pub(crate) fn understood(exchange: &Exchange) -> bool {
    let error = ParsedAnswer::parse(&exchange.body).ok().and_then(|layers| layers.error());
    error.is_some_and(|error| error.code.is_some()) || is_acknowledged(exchange)
}
