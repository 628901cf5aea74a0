//! Asks players what they saw of an attempt, before the manager believes a referee.

use std::time::Duration;

use futures_util::future::join_all;
use league_core::season::evidence::{ReturnCause, Testimonies};
use league_core::season::{Assignment, Season};
use league_protocol::answer::ParsedAnswer;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, MatchId, PlayerId, RefereeId};
use league_protocol::message::evidence::{MatchInquiry, MatchTestimony};
use league_protocol::table::{Call, Method};
use league_wire::exchange::Exchange;
use league_wire::peer_client::{OutgoingCall, Peer};

use crate::manager::Shared;
use crate::notices::{Recipient, envelope};

/// A player that runs answers at once. The referee waits for the answer to its report meanwhile.
const LIMIT: Duration = Duration::from_secs(4);

impl Shared {
    /// Asks all at once. A player that does not answer in time is in the list without an answer.
    pub(crate) async fn ask_players(
        &self,
        match_id: &MatchId,
        attempt: u32,
        players: Vec<PlayerId>,
    ) -> Result<Testimonies, RequestError> {
        if players.is_empty() {
            return Ok(Testimonies::default());
        }
        let reading = self.league_handle.read_uncommitted(move |season| {
            let league = &season.config().league_id;
            let recipient = |id: PlayerId| {
                let found = season.player(&id).and_then(|player| Recipient::player(player, league));
                (id, found)
            };
            players.into_iter().map(recipient).collect::<Vec<_>>()
        });
        let asked = reading.await?.into_iter().map(async |(id, recipient)| {
            let said = match recipient {
                Some(recipient) => self.ask_player(&recipient, match_id, attempt).await,
                None => None,
            };
            (id, said)
        });
        Ok(Testimonies(join_all(asked).await))
    }

    async fn ask_player(&self, player: &Recipient, match_id: &MatchId, attempt: u32) -> Option<MatchTestimony> {
        let conversation = ConversationId::named(format_args!("conv-{match_id}-inquiry"));
        let envelope = envelope(conversation, self.environment.now(), Some(player.pass.clone()));
        let (league_id, match_id) = (Some(self.league.clone()), match_id.clone());
        let call = Call::ConfirmMatch(MatchInquiry { league_id, match_id, attempt });
        let limit = LIMIT.min(self.settings.answer_limit / 3);
        let message = OutgoingCall { envelope: &envelope, call: &call, body: None, limit, notice: false };
        let peer = Peer { endpoint: &player.endpoint, dialect: &player.dialect, proven: true };
        let mut tries = Vec::new();
        let sent = self.broadcaster.client.send(peer, message, &testifies, &mut tries).await;
        self.note_sent(&player.id, &envelope.conversation_id, &tries, sent.understood);
        let last = tries.iter().rfind(|attempt| !attempt.is_probe)?;
        last.result.as_ref().ok().and_then(testimony)
    }

    /// Takes attempts from a referee that does not report them, after their players were asked what they saw.
    pub(crate) async fn interrupt(
        &self,
        assignments: Vec<Assignment>,
        cause: Option<ReturnCause>,
    ) -> Result<(), RequestError> {
        let asking = assignments.into_iter().map(async |assignment| {
            let wanted = assignment.clone();
            let players = self.league_handle.read_uncommitted(move |season| signing_players(season, &wanted)).await?;
            let testimonies = self.ask_players(&assignment.match_id, assignment.attempt, players).await?;
            let decided =
                self.league_handle.command(move |season, now| season.interrupt(&assignment, cause, &testimonies, now));
            decided.await
        });
        join_all(asking).await.into_iter().collect()
    }

    /// Whether a referee that accepted the match has called none of its players, by their own word.
    pub(crate) async fn is_stalled(&self, assignment: &Assignment) -> bool {
        let wanted = assignment.clone();
        let players = self.league_handle.read_uncommitted(move |season| {
            // A player that was started again during the attempt does not remember it.
            let remembers = |id: &PlayerId| season.player(id).is_some_and(|player| player.former_keys.is_empty());
            signing_players(season, &wanted).into_iter().filter(remembers).collect::<Vec<_>>()
        });
        let Ok(players) = players.await else { return false };
        let asked = self.ask_players(&assignment.match_id, assignment.attempt, players).await;
        asked.is_ok_and(|said| said.given().next().is_some() && said.given().all(|said| !said.called))
    }

    /// Raises an alert for each match of this referee in which a player has moved. The caller then releases the matches.
    pub(crate) async fn interrupt_all(&self, referee: &RefereeId) -> Result<(), RequestError> {
        let wanted = referee.clone();
        let held = self.league_handle.read_uncommitted(move |season| {
            let held = season.assignments().into_iter().filter(|held| held.referee == wanted);
            held.filter(|held| !signing_players(season, held).is_empty()).collect::<Vec<_>>()
        });
        self.interrupt(held.await?, None).await
    }
}

/// Runs to its end even if the peer that waits for it hangs up. Otherwise a player that cannot be reached would keep a referee with a
/// short limit from ever reporting the match.
pub(crate) async fn finish<T: Send + 'static>(
    method: Method,
    work: impl Future<Output = Result<T, RequestError>> + Send + 'static,
) -> Result<T, RequestError> {
    let failed = |_| RequestError::new(ErrorCode::E015, method, "the manager could not finish this; send it again");
    tokio::spawn(work).await.map_err(failed)?
}

/// The players of a match that can testify.
pub(crate) fn signing_players(season: &Season, assignment: &Assignment) -> Vec<PlayerId> {
    let Some(players) = season.contestants(&assignment.match_id) else { return Vec::new() };
    let signing = [players.a, players.b].into_iter().filter(|player| player.profile.signs_moves);
    signing.map(|player| player.id.clone()).collect()
}

fn testimony(exchange: &Exchange) -> Option<MatchTestimony> {
    ParsedAnswer::parse(&exchange.body).ok()?.testimony()
}

fn testifies(exchange: &Exchange) -> bool {
    testimony(exchange).is_some() || ParsedAnswer::parse(&exchange.body).is_ok_and(|answer| answer.error().is_some())
}
