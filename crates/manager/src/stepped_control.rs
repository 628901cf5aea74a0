//! Leading a stepped match by hand, through its referee.

use league_core::season::Season;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, MatchId};
use league_protocol::message::step::{MatchState, MatchStep};
use league_protocol::table::Call;
use league_wire::endpoint::Endpoint;
use serde::Deserialize;

use crate::manager::{Manager, Shared};
use crate::match_dispatch::listener;
use crate::notices::envelope;

/// What a referee answers, as far as it matters here.
#[derive(Deserialize)]
struct Answer {
    result: Option<MatchState>,
    error: Option<StepError>,
}

#[derive(Deserialize)]
struct StepError {
    message: String,
}

impl Manager {
    /// Asks the referee of a match about it, or has it go on: with `get_match_state`, `collect_choices`, `draw_number` or
    /// `finalize_match`.
    pub async fn lead(&self, match_id: MatchId, call: fn(MatchStep) -> Call) -> Result<MatchState, RequestError> {
        self.shared.ask_referee(call(MatchStep { match_id: match_id.clone() }), match_id).await
    }
}

impl Shared {
    async fn ask_referee(&self, call: Call, match_id: MatchId) -> Result<MatchState, RequestError> {
        let method = call.method();
        let wanted = match_id.clone();
        let holder = move |season: &Season| {
            let held = season.assignments().into_iter().find(|held| held.match_id == wanted)?;
            listener(season, &held.referee)
        };
        let unheard =
            |why: String| RequestError::new(ErrorCode::E009, method, format!("the referee of {match_id} {why}"));
        let referee = self.desk.read(move |season, _| holder(season)).await?;
        let referee = referee.ok_or_else(|| {
            RequestError::new(ErrorCode::E010, method, format!("{match_id} is in no referee's hands now"))
                .about("match_id")
        })?;
        let endpoint: Endpoint = referee.endpoint.parse().map_err(|_| unheard(String::from("has no address")))?;
        let conversation = ConversationId::named(format_args!("conv-{match_id}-lead"));
        let envelope = envelope(conversation, self.world.now(), Some(referee.pass));
        let came = self
            .herald
            .speaker
            .client()
            .call(&endpoint, &referee.manner, &envelope, &call, self.settings.patience)
            .await;
        let exchange = came.map_err(|error| unheard(format!("did not answer: {error}")))?;
        let answer: Result<Answer, _> = serde_json::from_slice(&exchange.body);
        match answer {
            Ok(Answer { result: Some(state), .. }) => Ok(state),
            Ok(Answer { error: Some(error), .. }) => Err(RequestError::new(ErrorCode::E010, method, error.message)),
            Ok(Answer { result: None, error: None }) | Err(_) => Err(unheard(String::from("said something else"))),
        }
    }
}
