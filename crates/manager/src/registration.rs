//! Registers agents, and tells returning agents what they missed.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use league_core::season::agent::{AgentId, AgentProfile};
use league_core::season::identity::AgentIdentity;
use league_core::season::{Admission, CommandOutcome, LeaguePhase, Registered, Rejection, RejectionReason, Season};
use league_protocol::dialect::PeerDialect;
use league_protocol::error::RequestError;
use league_protocol::message::registration::{AgentMeta, PASS_SCHEME, RegisterResponse, RegistrationStatus};
use league_protocol::message::start_match::MatchMode;
use league_protocol::quirk::Quirks;
use league_protocol::sender::Role;
use league_protocol::table::Method;
use league_protocol::time::Timestamp;
use league_protocol::token::Credential;
use league_wire::endpoint::Endpoint;
use smol_str::SmolStr;
use tokio::time::sleep;

use crate::endpoint_policy::EndpointPolicy;
use crate::manager::Shared;
use crate::notices::{self, Announcement, Recipient};
use crate::settings::ManagerSettings;

/// The pauses before an agent that registered again is told what it missed. The notice shows a pass of the new token, so
/// the agent must first read its answer; a slow agent is told again.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(2)];

impl Shared {
    fn endpoint_policy(&self) -> EndpointPolicy<'_> {
        let ManagerSettings { here, own_addresses, allowed_hosts, .. } = &self.settings;
        EndpointPolicy { here: *here, own_addresses: *own_addresses, allowed: allowed_hosts }
    }

    /// A referee that pulls is never called, so its endpoint only says where it called from.
    pub(crate) fn check_pulling(&self, meta: &mut AgentMeta, peer: SocketAddr) -> Option<Rejection> {
        if !meta.pulls {
            return None;
        }
        if self.settings.mode == MatchMode::Stepped {
            let advice = "this league is stepped by its operator, and a referee that pulls cannot be called; start it without --pull";
            return Some(Rejection::new(RejectionReason::Endpoint, Method::RegisterReferee, advice));
        }
        let caller = peer.ip().to_canonical();
        meta.contact_endpoint = match caller.is_loopback() {
            true => AgentProfile::pull_endpoint("localhost"),
            false => AgentProfile::pull_endpoint(caller),
        };
        None
    }

    /// Leaves a text that is no URL to the season, which explains the error.
    pub(crate) fn check_endpoint(&self, meta: &AgentMeta, role: Role, peer: SocketAddr) -> Option<Rejection> {
        let endpoint = meta.contact_endpoint.trim().parse::<Endpoint>().ok()?;
        let policy = self.endpoint_policy();
        let method = if role == Role::Referee { Method::RegisterReferee } else { Method::RegisterPlayer };
        if let Err(reason) = policy.check(&endpoint, peer, role) {
            return Some(Rejection::new(RejectionReason::Endpoint, method, reason));
        }
        if policy.is_out_of_reach(&endpoint) {
            tracing::warn!(
                "a {role} registers {endpoint}, which agents on other machines cannot reach; start it with --host 0.0.0.0"
            );
        }
        None
    }

    /// A referee that registers again loses its matches. Their players are asked first, because it may do so to lose a result.
    pub(crate) async fn interrupt_returning(&self, meta: &AgentMeta) -> Result<(), RequestError> {
        let identity = AgentIdentity::of(&AgentProfile::from(meta));
        let known = self.league_handle.read_uncommitted(move |season| {
            let known = season.referees().iter().find(|referee| referee.identity == identity);
            known.map(|referee| referee.id.clone())
        });
        match known.await? {
            Some(referee) => self.interrupt_all(&referee).await,
            None => Ok(()),
        }
    }

    /// Checks new players only: a registered player was checked before, and answers only its own league.
    pub(crate) async fn inspect(&self, meta: &AgentMeta) -> Result<Option<Rejection>, RequestError> {
        let Some(inspector) = &self.settings.inspector else { return Ok(None) };
        let Ok(endpoint) = meta.contact_endpoint.trim().parse::<Endpoint>() else { return Ok(None) };
        let identity = AgentIdentity::of(&AgentProfile::from(meta));
        let is_new = self.league_handle.read(move |season, _| {
            season.takes_players() && !season.players().iter().any(|player| player.identity == identity)
        });
        if !is_new.await? {
            return Ok(None);
        }
        let unfit = |reason| Rejection::new(RejectionReason::Endpoint, Method::RegisterPlayer, reason);
        Ok(inspector.inspect(endpoint).await.err().map(unfit))
    }

    /// Registers an agent, unless another one listens at the same place under another address of this machine.
    pub(crate) async fn register(
        self: &Arc<Self>,
        (meta, role): (&AgentMeta, Role),
        (dialect, quirks): (PeerDialect, Quirks),
        decide: impl FnOnce(&Season, &[u8; 32], Timestamp) -> Result<CommandOutcome<Registered>, RequestError>
        + Send
        + 'static,
    ) -> Result<(RegisterResponse, Option<Credential>), RequestError> {
        let random = self.environment.random();
        let endpoint = meta.contact_endpoint.trim().parse::<Endpoint>().ok();
        let aliases = endpoint.map(|endpoint| self.endpoint_policy().aliases(&endpoint)).unwrap_or_default();
        let identity = AgentIdentity::of(&AgentProfile::from(meta));
        let shared = Arc::clone(self);
        let registered = self.league_handle.command(move |season, now| {
            if let Some(id) = listens_there(season, role, &identity, &aliases) {
                let method = if role == Role::Referee { Method::RegisterReferee } else { Method::RegisterPlayer };
                let advice =
                    format!("{id} already listens there, by another address of this machine; listen on another port");
                let reply = Registered::Rejected(Rejection::new(RejectionReason::Endpoint, method, advice));
                return Ok(CommandOutcome { events: Vec::new(), reply });
            }
            let outcome = decide(season, &random, now)?;
            // Before the season changes, because it may get a match at once.
            if let Registered::Admitted(Admission { id: AgentId::Referee(referee), .. }) = &outcome.reply {
                shared.polls.registered(referee);
            }
            Ok(season.note_dialect(outcome, dialect, quirks, now))
        });
        let admission = match registered.await? {
            Registered::Rejected(rejection) => return Ok((self.rejected(rejection), None)),
            Registered::Admitted(admission) => admission,
        };
        self.tell_late_joiner(&admission.id);
        let (player_id, referee_id) = match admission.id {
            AgentId::Player(id) => (Some(id), None),
            AgentId::Referee(id) => (None, Some(id)),
        };
        let answer = RegisterResponse {
            player_id,
            referee_id,
            pass_scheme: Some(SmolStr::new_static(PASS_SCHEME)),
            operator_needs_token: self.settings.operator.is_some(),
            warnings: quirks.iter().map(|quirk| format!("{}: {}", quirk.what(), quirk.advice())).collect(),
            ..self.response(RegistrationStatus::Accepted)
        };
        Ok((answer, Some(admission.token.into())))
    }

    pub(crate) fn rejected(&self, rejection: Rejection) -> RegisterResponse {
        let Rejection { reason, code, error } = rejection;
        RegisterResponse {
            reason: Some(reason),
            reason_code: Some(code),
            error_code: Some(SmolStr::new_static(error.as_str())),
            ..self.response(RegistrationStatus::Rejected)
        }
    }

    fn response(&self, status: RegistrationStatus) -> RegisterResponse {
        RegisterResponse {
            status,
            player_id: None,
            referee_id: None,
            league_id: Some(self.league.clone()),
            reason: None,
            reason_code: None,
            error_code: None,
            pass_scheme: None,
            operator_needs_token: false,
            warnings: Vec::new(),
        }
    }

    fn tell_late_joiner(self: &Arc<Self>, id: &AgentId) {
        let (shared, id) = (Arc::clone(self), id.clone());
        tokio::spawn(async move {
            for pause in PAUSES {
                let agent = id.clone();
                let due = shared.league_handle.read(move |season, _| missed_by(season, &agent)).await;
                let Ok(Some((recipient, announcement))) = due else { return };
                sleep(pause).await;
                shared.tell(vec![recipient], vec![announcement]).await;
            }
        });
    }
}

/// The agent of this role that listens at one of the `aliases` of the registered address.
fn listens_there(season: &Season, role: Role, identity: &AgentIdentity, aliases: &[SmolStr]) -> Option<String> {
    let other = |known: &AgentIdentity| known.address != identity.address && aliases.contains(&known.address);
    match role {
        Role::Referee => {
            season.referees().iter().find(|referee| other(&referee.identity)).map(|referee| referee.id.to_string())
        }
        Role::Player | Role::Manager | Role::Operator => {
            season.players().iter().find(|player| other(&player.identity)).map(|player| player.id.to_string())
        }
    }
}

/// Without this notice the agent would wait forever: for the end of the league, or for passes that the referees of this
/// round do not show.
fn missed_by(season: &Season, id: &AgentId) -> Option<(Recipient, Announcement)> {
    let is_player = matches!(id, AgentId::Player(_));
    let missed = match (season.phase(), season.current_round()) {
        (LeaguePhase::LeagueCompleted, _) => notices::league_over(season),
        (LeaguePhase::RunningLeague, Some(round)) if is_player && !season.referees_show_passes() => {
            notices::announcement(season, round, false)
        }
        (LeaguePhase::WaitingForRegistrations | LeaguePhase::CreatingSchedule | LeaguePhase::RunningLeague, _) => {
            return None;
        }
    };
    let recipients = if is_player { Recipient::players(season) } else { Recipient::referees(season) };
    Some((recipients.into_iter().find(|recipient| recipient.id == *id)?, missed))
}
