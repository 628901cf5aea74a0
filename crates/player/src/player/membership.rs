//! Registration of a player, and its renewal.

use std::sync::Arc;
use std::time::Duration;

use league_core::season::agent::AgentId;
use league_core::session::PlayerIdentity;
use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, LeagueId, PlayerId};
use league_protocol::message::registration::{AgentMeta, LeagueRegisterRequest};
use league_protocol::quirk::Quirks;
use league_protocol::table::Call;
use league_protocol::token::{Token, TokenDigest};
use league_store::journal::JournalLevel;
use league_store::views::keys::KeysFile;
use league_wire::registration::{self, Admitted, RegistrationRetry, Rejected};
use league_wire::token_recheck;
use smol_str::SmolStr;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::Shared;

/// The longest pause between two tries to reach the manager.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How long the answer to a round announcement waits for the registration.
pub(super) const ROUND_WAIT: Duration = Duration::from_secs(1);

/// How long the answer to a referee waits for the registration: without its token the player cannot sign, and an answer without a
/// signature does not count. Less than the usual limit of an invitation.
pub(super) const MATCH_WAIT: Duration = Duration::from_secs(4);

/// How many earlier tokens a player accepts in passes of referees.
const MAX_FORMER_TOKENS: usize = 8;

impl Shared {
    pub(super) async fn register(&self) -> Result<PlayerId, Rejected> {
        let settings = &self.settings;
        self.session().registering();
        let max_pause = LONGEST_PAUSE.max(settings.pause);
        // A player that was registered waits for its manager without limit.
        let max_tries = settings.give_up_after.filter(|_| self.session().identity().is_none());
        let (answer_limit, pause) = (settings.answer_limit, settings.pause);
        let retry = RegistrationRetry { answer_limit, pause, max_pause, max_tries };
        let admitted = registration::register(&self.peer_client, &settings.manager, retry, &self.retry_now, || {
            self.registration()
        })
        .await;
        let Admitted { player_id, league_id, token, passes, .. } =
            admitted.inspect_err(|_| self.session().rejected())?;
        let player_id = player_id.or_else(|| settings.requested_id.clone()).unwrap_or_else(|| PlayerId::numbered(1));
        let mut former = self.keep_key(&player_id, league_id.as_ref(), token.as_ref()).await;
        if let Some(before) = self.session().identity().filter(|before| before.league_id == league_id) {
            former.extend(before.token.as_ref().map(Token::digest).into_iter().chain(before.former.iter().cloned()));
            former.truncate(MAX_FORMER_TOKENS);
        }
        self.session().registered(PlayerIdentity { player_id: player_id.clone(), league_id, token, passes, former });
        self.practise_as(player_id.clone());
        self.admitted.send_replace(true);
        if let (Some(journal_writer), Some(home)) = (&settings.journal_writer, &settings.home) {
            let path = home.agent_journal(&AgentId::Player(player_id.clone()));
            self.journal.get_or_init(|| journal_writer.journal(path));
        }
        self.note(JournalLevel::Info, "REGISTERED", || format!("registered with {}", settings.manager));
        Ok(player_id)
    }

    /// Stores the digest of the new token and returns those of earlier tokens. A match that began before a restart is finished
    /// with its old passes.
    async fn keep_key(&self, player: &PlayerId, league: Option<&LeagueId>, token: Option<&Token>) -> Vec<TokenDigest> {
        let (Some(home), Some(league), Some(token)) = (&self.settings.home, league, token) else { return Vec::new() };
        let (home, player, league, digest) = (home.clone(), player.clone(), league.clone(), token.digest());
        let now = self.environment.now();
        let keep = move || {
            let former = KeysFile::former(&home, &player, &league);
            if let Err(error) = KeysFile::of(player, league, digest, &former, now).write(&home) {
                tracing::warn!(%error, "the key cannot be kept; a match may be lost when this player is killed in it");
            }
            former
        };
        // A simulation has no threads for files.
        match &self.settings.histories {
            Some(_) => spawn_blocking(keep).await.unwrap_or_default(),
            None => keep(),
        }
    }

    /// Waits for the registration. A player that hears of a round before its registration was answered is
    /// already registered; for example, the manager restarted before it could answer. So the player retries at once, and the
    /// round waits for it.
    pub(super) async fn await_registration(&self, limit: Duration) {
        if *self.admitted.borrow() {
            return;
        }
        self.retry_now.notify_one();
        let mut admitted = self.admitted.subscribe();
        // A player without a league continues in the practice session.
        drop(timeout(limit, admitted.wait_for(|admitted| *admitted)).await);
    }

    /// A peer showed a wrong pass: registers again if the token is no longer valid. Runs in its own task, because the peer cannot
    /// wait for it.
    pub(super) async fn recheck_token(self: &Arc<Self>) {
        let shared = Arc::clone(self);
        drop(tokio::spawn(async move { shared.token_recheck.run_if_due(shared.check_token()).await }).await);
    }

    /// Returns false if the manager did not say whether the token is valid.
    async fn check_token(&self) -> bool {
        let token = self.session().identity().and_then(|identity| identity.token.clone());
        let Some(token) = token else { return true };
        let envelope = Envelope { auth_token: Some(token.into()), ..self.envelope(None, None) };
        let settings = &self.settings;
        let counts = token_recheck::accepts_token(
            self.peer_client.client(),
            &settings.manager,
            &envelope,
            settings.answer_limit,
        )
        .await;
        if counts == Some(false)
            && let Err(rejected) = self.register().await
        {
            tracing::warn!(%rejected, "the token no longer counts, and there is no other");
        }
        counts.is_some()
    }

    fn registration(&self) -> (Envelope, Call) {
        let settings = &self.settings;
        let request = LeagueRegisterRequest {
            player_meta: AgentMeta {
                display_name: settings.name.clone(),
                version: SmolStr::new_static(env!("CARGO_PKG_VERSION")),
                protocol_version: Some(SmolStr::new_static("2.1.0")),
                game_types: self.strategy_runner.games().to_vec(),
                contact_endpoint: settings.contact.to_string(),
                max_concurrent_matches: None,
                pass_scheme: None,
                accepts_batches: true,
                signs_moves: true,
                pulls: false,
            },
            player_id: settings.requested_id.clone(),
            join_key: settings.join_key.clone(),
            quirks: Quirks::default(),
        };
        let conversation = ConversationId::named(format_args!("conv-player-{}-reg", settings.name));
        // The manager knows a returning player by its token.
        let token = self.session().identity().and_then(|identity| identity.token.clone());
        let envelope = self.envelope(Some(conversation), None);
        (Envelope { auth_token: token.map(Into::into), ..envelope }, Call::RegisterPlayer(request))
    }
}
