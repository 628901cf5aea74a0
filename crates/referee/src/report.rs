//! Telling the manager how a match ended, until it knows.

use league_protocol::answer::{Heard, Layers};
use league_protocol::id::ConversationId;
use league_protocol::message::report::MatchResultReport;
use league_protocol::speech::Form;
use league_protocol::table::Call;
use tokio::time::sleep;

use crate::referee::Shared;
use crate::settings::Settings;

/// Delivers a report. A manager that is away comes back and asks for nothing: the referee goes on telling it. One that refuses
/// has its reasons, and the result is nobody's any more.
pub(crate) async fn deliver(shared: &Shared, report: MatchResultReport) {
    let match_id = report.match_id.clone();
    let conversation = ConversationId::named(format_args!("conv-{}-report", match_id.as_str().to_ascii_lowercase()));
    let call = Call::ReportMatchResult(report);
    let mut pause = shared.settings.pause;
    loop {
        let token = shared.identity().and_then(|identity| identity.token).map(Into::into);
        let envelope = shared.envelope(Some(conversation.clone()), token);
        let settings = &shared.settings;
        let came = shared.client.call(&settings.manager, Form::default(), &envelope, &call, settings.patience).await;
        let trouble = match &came {
            Ok(exchange) => match Layers::parse(&exchange.body).map(|layers| layers.heard()) {
                Ok(Heard::Yes) => return,
                Ok(Heard::Error(error)) if error.code.as_deref() == Some("E015") || error.is_rate_limit() => {
                    error.words
                }
                Ok(Heard::Error(error)) => {
                    tracing::warn!(%match_id, code = ?error.code, words = error.words, "the report is not wanted");
                    return;
                }
                Err(unreadable) => unreadable.to_string(),
            },
            Err(error) => error.to_string(),
        };
        tracing::info!(%match_id, trouble, "not reported yet; trying again");
        sleep(pause).await;
        pause = (pause * 2).min(Settings::MAX_PAUSE.max(shared.settings.pause));
    }
}
