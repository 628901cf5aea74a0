//! Registration: the referee's identity in its league, and when it registers again.

use std::sync::{Arc, PoisonError};

use league_core::season::agent::AgentId;
use league_protocol::dialect::PeerDialect;
use league_protocol::draw::DrawCommitment;
use league_protocol::envelope::Envelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, LeagueId, RefereeId};
use league_protocol::message::registration::{AgentMeta, PASS_SCHEME, RefereeRegisterRequest, RegistrationStatus};
use league_protocol::message::step::RegisteredToLeague;
use league_protocol::quirk::Quirks;
use league_protocol::table::{Call, Method};
use league_protocol::token::Token;
use league_store::journal::JournalLevel;
use league_wire::endpoint::Endpoint;
use league_wire::registration::{self, Admitted, RegistrationRetry, Rejected};
use league_wire::token_recheck;
use smol_str::SmolStr;
use tokio::time::timeout;

use crate::referee::Shared;
use crate::settings::RefereeSettings;

#[derive(Clone, Debug)]
pub(crate) struct RefereeIdentity {
    pub(crate) id: RefereeId,
    pub(crate) league: Option<LeagueId>,
    pub(crate) token: Option<Token>,
    pub(crate) passes: bool,
    /// Operator calls in this league need the operator's token.
    pub(crate) operator_needs_token: bool,
    /// The manager that registered the referee and receives its reports.
    pub(crate) manager: Endpoint,
    pub(crate) dialect: PeerDialect,
    /// Whether the manager has answered in this dialect.
    pub(crate) proven: bool,
}

impl Shared {
    pub(crate) fn identity(&self) -> Option<RefereeIdentity> {
        self.identity.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn manager_understands(&self, manager: &Endpoint, dialect: PeerDialect) {
        match &mut *self.identity.write().unwrap_or_else(PoisonError::into_inner) {
            Some(identity) if identity.manager == *manager => {
                identity.dialect = dialect;
                identity.proven = true;
            }
            Some(_) | None => {}
        }
    }

    /// The identity for a match that was ordered under `before`: the referee reports to the manager that ordered the
    /// match. If it has registered there again, it shows the newer token.
    pub(crate) fn identity_since(&self, before: &RefereeIdentity) -> RefereeIdentity {
        self.identity().filter(|now| now.manager == before.manager).unwrap_or_else(|| before.clone())
    }

    pub(crate) async fn register(self: &Arc<Self>, manager: &Endpoint) -> Result<RefereeId, Rejected> {
        let settings = &self.settings;
        let retry = RegistrationRetry {
            answer_limit: settings.answer_limit,
            pause: settings.pause,
            max_pause: RefereeSettings::MAX_PAUSE.max(settings.pause),
            // A registered referee waits for its manager without a limit.
            max_tries: settings.give_up_after.filter(|_| self.identity().is_none()),
        };
        // One deposit for all tries, because the manager may take a request whose answer is lost.
        let draw_commitments = self.draw_secrets.begin(settings.capacity, &self.environment);
        let request = || self.registration(manager, draw_commitments.clone());
        let admitted = registration::register(&self.peer_client, manager, retry, &self.retry_now, request).await?;
        let Admitted { referee_id, league_id, token, passes, operator_needs_token, dialect, proven, .. } = admitted;
        let id = referee_id.or_else(|| settings.requested_id.clone()).unwrap_or_else(|| RefereeId::numbered(1));
        let manager_is = manager.clone();
        let identity = RefereeIdentity {
            id: id.clone(),
            league: league_id,
            token,
            passes,
            operator_needs_token,
            manager: manager_is,
            dialect,
            proven,
        };
        self.begin_anew();
        self.draw_secrets.registered();
        *self.identity.write().unwrap_or_else(PoisonError::into_inner) = Some(identity);
        if let Some((transcript_writer, home)) = &settings.journal {
            let path = home.agent_journal(&AgentId::Referee(id.clone()));
            self.journal.get_or_init(|| transcript_writer.journal(path));
        }
        self.note(JournalLevel::Info, "REGISTERED", || format!("registered with {manager}"));
        Ok(id)
    }

    /// Called when the manager does not know the referee, or a caller is not the manager. Registers again if the token
    /// is no longer valid, in its own task, because the caller may not wait.
    pub(crate) async fn recheck_token(self: &Arc<Self>) {
        let shared = Arc::clone(self);
        drop(tokio::spawn(async move { shared.token_recheck.run_if_due(shared.check_token()).await }).await);
    }

    /// Called when the manager orders a match with a commitment that this referee does not know. Registers again, in its
    /// own task, because the manager needs commitments that the referee knows.
    pub(crate) fn renew_commitments(self: &Arc<Self>) {
        // Registering again costs the referee its running matches, so only a manager that proved itself can cause it.
        let Some(identity) = self.identity().filter(|identity| identity.passes) else { return };
        if !self.draw_secrets.is_settled() {
            return;
        }
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            let renewal = async {
                if let Err(rejected) = shared.register(&identity.manager).await {
                    tracing::warn!(%rejected, "the manager takes no new commitments");
                }
                true
            };
            shared.token_recheck.run_if_due(renewal).await;
        });
    }

    /// False if the manager could not answer.
    async fn check_token(self: &Arc<Self>) -> bool {
        let Some(RefereeIdentity { token: Some(token), manager, .. }) = self.identity() else { return true };
        let envelope = self.envelope(None, Some(token.into()));
        let counts =
            token_recheck::accepts_token(self.peer_client.client(), &manager, &envelope, self.settings.answer_limit)
                .await;
        if counts == Some(false)
            && let Err(rejected) = self.register(&manager).await
        {
            tracing::warn!(%rejected, "the token no longer counts, and there is no other");
        }
        counts.is_some()
    }

    fn registration(&self, manager: &Endpoint, draw_commitments: Vec<DrawCommitment>) -> (Envelope, Call) {
        let settings = &self.settings;
        let request = RefereeRegisterRequest {
            referee_meta: AgentMeta {
                display_name: settings.name.clone(),
                version: SmolStr::new_static(env!("CARGO_PKG_VERSION")),
                protocol_version: None,
                game_types: settings.games.clone(),
                contact_endpoint: if settings.pulls { String::new() } else { settings.contact.to_string() },
                max_concurrent_matches: Some(settings.capacity),
                pass_scheme: Some(SmolStr::new_static(PASS_SCHEME)),
                accepts_batches: true,
                signs_moves: false,
                pulls: settings.pulls,
            },
            referee_id: settings.requested_id.clone(),
            // The key belongs to the manager that was named at the start.
            join_key: settings.join_key.clone().filter(|_| *manager == settings.manager),
            draw_commitments,
            quirks: Quirks::default(),
        };
        let conversation = ConversationId::named(format_args!("conv-ref-{}-reg", settings.name));
        // Its own manager knows a returning referee by its token.
        let token = self.identity().filter(|identity| identity.manager == *manager).and_then(|identity| identity.token);
        (self.envelope(Some(conversation), token.map(Into::into)), Call::RegisterReferee(request))
    }

    /// Registers with the manager of the request, or else with its own. From then on that manager receives its reports.
    pub(crate) async fn register_at(self: &Arc<Self>, at: Option<&str>) -> Result<RegisteredToLeague, RequestError> {
        let manager = match at {
            None => self.settings.manager.clone(),
            Some(text) => text.parse().map_err(|error| {
                let message =
                    format!("manager_endpoint is not a URL: {error}; send one like http://localhost:8000/mcp");
                RequestError::new(ErrorCode::E002, Method::RegisterToLeague, message).about("manager_endpoint")
            })?,
        };
        // The caller waits as long as this referee waits for its manager; the rest is for the way of the answer.
        let limit = self.settings.answer_limit.mul_f32(0.8);
        let registered = timeout(limit, self.register(&manager)).await.map_err(|_| {
            let message =
                format!("no manager has answered at {manager} within {limit:?}; start it there, then call this again");
            RequestError::new(ErrorCode::E009, Method::RegisterToLeague, message).about("manager_endpoint")
        })?;
        Ok(match registered {
            Ok(id) => RegisteredToLeague {
                status: RegistrationStatus::Accepted,
                referee_id: Some(id),
                league_id: self.identity().and_then(|identity| identity.league),
                reason: None,
            },
            Err(rejected) => RegisteredToLeague {
                status: RegistrationStatus::Rejected,
                referee_id: None,
                league_id: None,
                reason: Some(rejected.reason().to_owned()),
            },
        })
    }
}
