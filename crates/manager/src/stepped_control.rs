//! Steps a match by hand, through its referee.

use league_core::season::{CommandOutcome, Season};
use league_protocol::answer::ParsedAnswer;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, MatchId};
use league_protocol::message::step::{MatchState, MatchStep};
use league_protocol::table::Call;
use serde::Deserialize;
use smol_str::format_smolstr;

use crate::manager::Manager;
use crate::match_dispatch::referee_of;

#[derive(Deserialize)]
struct Answer {
    result: MatchState,
}

impl Manager {
    /// Steps a match for the operator.
    pub async fn step(&self, match_id: MatchId, call: fn(MatchStep) -> Call) -> Result<(), RequestError> {
        let name = call(MatchStep { match_id: match_id.clone() }).method().row().name;
        self.lead(match_id.clone(), call).await?;
        let nothing = |_: &Season, _| Ok(CommandOutcome { events: Vec::new(), reply: () });
        self.act(format_smolstr!("{name} {match_id}"), nothing).await
    }

    /// `call` is `get_match_state`, `collect_choices`, `draw_number` or `finalize_match`.
    pub async fn lead(&self, match_id: MatchId, call: fn(MatchStep) -> Call) -> Result<MatchState, RequestError> {
        let call = call(MatchStep { match_id: match_id.clone() });
        let (shared, method, wanted) = (&self.shared, call.method(), match_id.clone());
        let referee = shared.league_handle.read(move |season, _| {
            let held = season.assignments().into_iter().find(|held| held.match_id == wanted)?;
            referee_of(season, &held.referee)
        });
        let referee = referee.await?.ok_or_else(|| {
            let message = format!("{match_id} is in no referee's hands now");
            RequestError::new(ErrorCode::E010, method, message).about("match_id")
        })?;
        let unheard =
            |why: String| RequestError::new(ErrorCode::E009, method, format!("the referee of {match_id} {why}"));
        let conversation = ConversationId::named(format_args!("conv-{match_id}-lead"));
        let came = shared.call_referee(&referee, conversation, &call, shared.settings.answer_limit).await;
        let exchange = came.map_err(|error| unheard(format!("did not answer: {error}")))?;
        if let Some(error) = ParsedAnswer::parse(&exchange.body).ok().and_then(|answer| answer.error()) {
            return Err(RequestError::new(ErrorCode::E010, method, error.words));
        }
        let answer = serde_json::from_slice::<Answer>(&exchange.body);
        answer.map(|answer| answer.result).map_err(|_| unheard(String::from("said something else")))
    }
}
