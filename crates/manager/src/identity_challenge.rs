//! Asks a registered agent whether it is still there before another registers in its name.

use std::time::Duration;

use league_core::season::agent::{AgentId, AgentProfile, StoredCredential};
use league_core::season::identity::AgentIdentity;
use league_core::season::{Rejection, RejectionReason, Season};
use league_protocol::answer::ParsedAnswer;
use league_protocol::draw::IdentityNonce;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::ConversationId;
use league_protocol::message::identity::{ProveIdentity, ProvedIdentity};
use league_protocol::message::registration::AgentMeta;
use league_protocol::sender::Role;
use league_protocol::table::{Call, Method};
use league_protocol::token::Credential;
use league_wire::endpoint::Endpoint;
use serde::Deserialize;

use crate::manager::Shared;
use crate::notices::envelope;

/// An agent that runs answers at once.
const LIMIT: Duration = Duration::from_secs(2);

#[derive(Deserialize)]
struct Answer {
    result: ProvedIdentity,
}

impl Shared {
    /// Refuses a registration in the name of an agent of ours that runs and holds its token, unless it shows that token.
    pub(crate) async fn challenge(
        &self,
        meta: &AgentMeta,
        role: Role,
        shown: Option<&Credential>,
    ) -> Result<Option<Rejection>, RequestError> {
        let identity = AgentIdentity::of(&AgentProfile::from(meta));
        let known = self.league_handle.read(move |season, _| registered(season, role, &identity)).await?;
        let Some((id, endpoint, grant)) = known else { return Ok(None) };
        if shown.is_some_and(|token| token.opens(&grant.digest)) {
            return Ok(None);
        }
        let Some(endpoint) = endpoint else { return self.challenge_polling(&id).map(|()| None) };
        let nonce = IdentityNonce(self.environment.random());
        let call = Call::ProveIdentity(ProveIdentity { nonce });
        let envelope = envelope(ConversationId::named("conv-identity"), self.environment.now(), None);
        let client = self.broadcaster.client.client();
        let limit = LIMIT.min(self.settings.answer_limit);
        let answered = client.call(&endpoint, &Default::default(), &envelope, &call, limit).await;
        let proved = answered.is_ok_and(|exchange| {
            let is_error = ParsedAnswer::parse(&exchange.body).is_ok_and(|answer| answer.error().is_some());
            let answer = serde_json::from_slice::<Answer>(&exchange.body).ok();
            !is_error && answer.is_some_and(|answer| answer.result.proof == grant.digest.identity_proof(&nonce))
        });
        let method = if role == Role::Referee { Method::RegisterReferee } else { Method::RegisterPlayer };
        let advice =
            format!("{} runs at this contact_endpoint and holds its token; only it can register again", id.as_str());
        Ok(proved.then(|| Rejection::new(RejectionReason::DuplicateName, method, advice)))
    }

    /// A poll shows the token, so a referee that polls needs no question. The poll of a machine that failed stays open for a while, so
    /// the registrant may try again.
    fn challenge_polling(&self, id: &AgentId) -> Result<(), RequestError> {
        let AgentId::Referee(referee) = id else { return Ok(()) };
        let limit = self.silence_limit();
        if !self.polls.is_there(referee, limit) {
            return Ok(());
        }
        let seconds = u32::try_from(limit.as_secs()).unwrap_or(u32::MAX).max(1);
        let message = format!(
            "{referee} has this name, holds its token and asks for matches; choose another --name, or try again in {seconds} s if it was stopped"
        );
        let retry_after = Some(seconds);
        Err(RequestError { retry_after, ..RequestError::new(ErrorCode::E014, Method::RegisterReferee, message) })
    }
}

/// Without an endpoint for a referee that pulls. Foreign agents do not know the question; they declare no batches.
fn registered(
    season: &Season,
    role: Role,
    identity: &AgentIdentity,
) -> Option<(AgentId, Option<Endpoint>, StoredCredential)> {
    let (id, profile, grant) = match role {
        Role::Referee => {
            let known = season.referees().iter().find(|referee| referee.identity == *identity)?;
            (AgentId::Referee(known.id.clone()), &known.profile, &known.grant)
        }
        Role::Player | Role::Manager | Role::Operator => {
            let known = season.players().iter().find(|player| player.identity == *identity)?;
            (AgentId::Player(known.id.clone()), &known.profile, &known.grant)
        }
    };
    if profile.pulls {
        return Some((id, None, grant.clone()));
    }
    let endpoint = profile.endpoint.parse().ok().filter(|_| profile.accepts_batches)?;
    Some((id, Some(endpoint), grant.clone()))
}
