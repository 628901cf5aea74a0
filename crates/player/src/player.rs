mod console;
mod evidence;
mod joining;
mod log;
mod membership;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use league_core::session::{ChosenMove, GameOverOutcome, History, MoveRequest, PlayerIdentity, PlayerSession};
use league_protocol::envelope::{Envelope, ReceivedEnvelope};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, LeagueId, MatchId, PlayerId};
use league_protocol::message::choice::PostedChoice;
use league_protocol::message::identity::{ProveIdentity, ProvedIdentity};
use league_protocol::message::start_match::{CHECK_LEAGUE, FRIENDLY};
use league_protocol::sender::{Role, Sender};
use league_protocol::table::{LimitKind, Method, PlayerCall};
use league_protocol::time::Timestamp;
use league_protocol::token::Credential;
use league_store::home::Home;
use league_store::journal::{Journal, JournalLevel, JournalWriter};
use league_store::views::histories::{HistoryWriter, write_history};
use league_store::views::history::HistoryFile;
use league_wire::agent::{Agent, CallAnswer, Health, IncomingCall};
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use league_wire::peer_client::PeerClient;
use league_wire::refusal_log::{RefusalLog, RefusedRequest};
use league_wire::registration::Rejected;
use league_wire::token_recheck::TokenRecheck;
use smol_str::SmolStr;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::chance::Chance;
use crate::memory::Memory;
use crate::strategy_runner::{StrategyOutcome, StrategyRunner};
use console::PlayerConsole;
use evidence::EvidenceTasks;
use membership::{MATCH_WAIT, ROUND_WAIT};

#[derive(Clone, Debug)]
pub struct PlayerSettings {
    pub name: SmolStr,
    pub requested_id: Option<PlayerId>,
    pub manager: Endpoint,
    pub contact: Endpoint,
    pub join_key: Option<Credential>,
    pub home: Option<Home>,
    /// Without it the player writes the history synchronously, as simulations need.
    pub histories: Option<HistoryWriter>,
    /// Whether the player starts with the history in `home`.
    pub loads_history: bool,
    pub journal_writer: Option<JournalWriter>,
    pub chance: Chance,
    /// The time limit for the manager's answer.
    pub answer_limit: Duration,
    /// The first pause when the manager cannot be reached; it doubles.
    pub pause: Duration,
    /// How often the player tries to reach the manager; `None` for no limit.
    pub give_up_after: Option<NonZeroU32>,
}

impl PlayerSettings {
    /// A player without a home or a log.
    pub fn new(name: impl Into<SmolStr>, manager: Endpoint, contact: Endpoint) -> Self {
        Self {
            name: name.into(),
            requested_id: None,
            manager,
            contact,
            join_key: None,
            home: None,
            histories: None,
            loads_history: false,
            journal_writer: None,
            chance: Chance::System,
            answer_limit: Duration::from_secs(10),
            pause: Duration::from_millis(50),
            give_up_after: None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Player {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: PlayerSettings,
    strategy_runner: StrategyRunner,
    session: Mutex<PlayerSession>,
    /// For matches before the registration and for friendly matches. Nothing in it counts.
    practice_session: Mutex<PlayerSession>,
    peer_client: PeerClient,
    environment: Environment,
    /// Set once the player has an id.
    journal: OnceLock<Journal>,
    choices: Mutex<log::OpenChoices>,
    refusals: RefusalLog,
    unwritten: AtomicBool,
    /// The league is over, or the manager told the player to leave.
    leave: Notify,
    token_recheck: TokenRecheck,
    nonce_key: [u8; 32],
    evidence: EvidenceTasks,
    /// A peer called the player before its registration was answered.
    retry_now: Notify,
    admitted: watch::Sender<bool>,
    console: PlayerConsole,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PlayPurpose {
    League,
    Friendly,
}

impl PlayPurpose {
    /// A call about a friendly match says so in `league_id` and must come from this machine.
    fn of(call: &PlayerCall, peer: SocketAddr) -> Self {
        let is_named = league_of(call).is_some_and(|league| league.as_str() == FRIENDLY);
        if is_named && peer.ip().to_canonical().is_loopback() { Self::Friendly } else { Self::League }
    }

    /// The match whose pass the answer shows. A friendly match shows none: its id may equal that of a match that counts.
    fn asked<'a>(
        self,
        head: &'a ReceivedEnvelope,
        match_id: &'a MatchId,
    ) -> Option<(&'a ReceivedEnvelope, &'a MatchId)> {
        (self == Self::League).then_some((head, match_id))
    }
}

impl Player {
    /// Loads the history of the id that the player asks for.
    pub fn new(
        settings: PlayerSettings,
        strategy_runner: StrategyRunner,
        client: Client,
        environment: Environment,
    ) -> Self {
        let known = settings.home.as_ref().zip(settings.requested_id.as_ref()).filter(|_| settings.loads_history);
        let history = known.map(|(home, player)| remembered(home, player)).unwrap_or_default();
        let session = Mutex::new(PlayerSession::new(settings.name.clone(), history));
        let practice_session = Mutex::new(practice_session(&settings));
        let shared = Shared {
            settings,
            strategy_runner,
            session,
            practice_session,
            peer_client: PeerClient::new(client),
            nonce_key: environment.random(),
            evidence: EvidenceTasks::default(),
            environment,
            journal: OnceLock::new(),
            choices: Mutex::default(),
            refusals: RefusalLog::default(),
            unwritten: AtomicBool::new(false),
            leave: Notify::new(),
            token_recheck: TokenRecheck::default(),
            retry_now: Notify::new(),
            admitted: watch::Sender::new(false),
            console: PlayerConsole::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Retries while the manager cannot be reached.
    pub async fn register(&self) -> Result<PlayerId, Rejected> {
        self.shared.register().await
    }

    pub fn on_news(&self, say: impl Fn(&str) + Send + Sync + 'static) {
        self.shared.console.listen(say);
    }

    /// Waits for the end of the league, and until the manager has what speaks against a referee.
    pub async fn until_done(&self) {
        self.shared.leave.notified().await;
        self.shared.evidence.finish().await;
    }
}

/// The league that a referee names in a call about a match.
fn league_of(call: &PlayerCall) -> Option<&LeagueId> {
    if let PlayerCall::GameInvitation(invitation) = call {
        invitation.league_id.as_ref()
    } else if let PlayerCall::ChooseParity(question) = call {
        question.league_id.as_ref()
    } else if let PlayerCall::MakeMove(question) = call {
        question.league_id.as_ref()
    } else if let PlayerCall::NotifyMatchResult(over) = call {
        over.league_id.as_ref()
    } else if let PlayerCall::NotifyGameError(error) = call {
        error.league_id.as_ref()
    } else {
        None
    }
}

/// A session without a league accepts every peer.
fn practice_session(settings: &PlayerSettings) -> PlayerSession {
    let player_id = settings.requested_id.clone().unwrap_or_else(|| PlayerId::numbered(0));
    let mut session = PlayerSession::new(settings.name.clone(), History::default());
    session.registered(PlayerIdentity { player_id, league_id: None, token: None, former: Vec::new(), passes: false });
    session
}

/// Empty without a file. A damaged file is logged and ignored.
fn remembered(home: &Home, player: &PlayerId) -> History {
    let path = home.history(player);
    let read = std::fs::read(&path).map_err(|error| (error.kind() == std::io::ErrorKind::NotFound, error.to_string()));
    let parsed = read
        .and_then(|bytes| serde_json::from_slice::<HistoryFile>(&bytes).map_err(|error| (false, error.to_string())));
    match parsed {
        Ok(file) => file.matches,
        Err((true, _)) => History::default(),
        Err((false, trouble)) => {
            tracing::warn!(path = %path.display(), trouble, "the history cannot be read; a new one is begun");
            History::default()
        }
    }
}

impl Shared {
    fn session(&self) -> MutexGuard<'_, PlayerSession> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of the league, or the practice session for friendly matches and before the registration.
    fn session_for(&self, purpose: PlayPurpose) -> MutexGuard<'_, PlayerSession> {
        if purpose == PlayPurpose::League {
            let session = self.session();
            if session.identity().is_some() {
                return session;
            }
        }
        self.practice_session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn practise_as(&self, player_id: PlayerId) {
        let nowhere = PlayerIdentity { player_id, league_id: None, token: None, former: Vec::new(), passes: false };
        self.practice_session.lock().unwrap_or_else(PoisonError::into_inner).registered(nowhere);
    }

    /// Does nothing before the registration.
    fn leave(&self) {
        if self.session().identity().is_some() {
            self.leave.notify_one();
        }
    }

    /// An answer to a referee carries the pass of its match, never the token.
    fn envelope(&self, conversation: Option<ConversationId>, asked: Option<(&ReceivedEnvelope, &MatchId)>) -> Envelope {
        let session = self.session();
        let identity = session.identity();
        // Before the registration the player uses the id that it was started with.
        let sender = match identity.map(|identity| &identity.player_id).or(self.settings.requested_id.as_ref()) {
            Some(id) => Sender::player(id),
            None => Sender::unregistered(Role::Player, &self.settings.name),
        };
        let pass = identity.zip(asked).and_then(|(identity, (head, match_id))| identity.answering_pass(head, match_id));
        Envelope {
            sender,
            timestamp: self.environment.now(),
            conversation_id: conversation.unwrap_or_else(|| ConversationId::named("conv-player")),
            auth_token: pass.map(Into::into),
        }
    }

    async fn make_move(
        &self,
        head: &ReceivedEnvelope,
        request: MoveRequest,
        purpose: PlayPurpose,
        envelope: Envelope,
    ) -> Result<CallAnswer, RequestError> {
        let (began, method, match_id) = (Instant::now(), request.method, request.match_id.clone());
        if !self.strategy_runner.games().contains(&request.game) {
            return Err(RequestError::new(ErrorCode::E010, method, self.other_game(&request.game).to_string()));
        }
        let (request, memory, continues) = {
            let mut session = self.session_for(purpose);
            let continues = session.continues_invitation(head, &match_id);
            let request = session.move_requested(head, request)?;
            (request, Memory::of(&session, self.settings.chance.clone()), continues)
        };
        if !continues {
            self.note_other_conversation(head, method, &match_id);
        }
        let memory = memory.ok_or_else(|| {
            RequestError::new(ErrorCode::E005, method, "this player is not registered in any league yet")
        })?;
        let player_id = Some(memory.player.clone());
        let (asked, left) = (request.asked(), self.left(&request));
        let mut why = self.rationale(&request, &memory);
        let played = match self.strategy_runner.think(request, memory, left).await {
            StrategyOutcome::Chosen(played) => played,
            StrategyOutcome::Advised { played, asked } => {
                self.note_model(&match_id, &played, &asked, None);
                played
            }
            StrategyOutcome::Fallback { played, because, asked } => {
                let played = played.ok_or_else(|| {
                    let message = format!("the strategy failed, and context.legal_moves is missing: {because}");
                    RequestError::new(ErrorCode::E010, method, message)
                })?;
                tracing::warn!(%match_id, %because, "the strategy failed; the player moves {played} at random");
                if let Some(asked) = asked {
                    self.note_model(&match_id, &played, &asked, Some(&because));
                }
                self.note_message(JournalLevel::Warn, "STRATEGY_FAILED", (head, method), || {
                    format!("{match_id}: the strategy failed, so the player moves at random: {because}")
                });
                why = format!("at random, because the strategy failed: {because}");
                played
            }
        };
        let ChosenMove { played, signature } = self.session_for(purpose).move_chosen(head, &asked, played)?;
        self.keep_choice((head, method), &match_id, &played, &why, began.elapsed());
        // CHOOSE_PARITY_RESPONSE carries the move in its own two fields.
        let parity_choice = (method == Method::ChooseParity).then(|| played.clone());
        let (choice, played) = (parity_choice.clone(), parity_choice.is_none().then_some(played));
        CallAnswer::new(envelope, &PostedChoice { match_id, player_id, parity_choice, choice, played, signature })
    }

    /// The time to the deadline; the default limit without a deadline, or if the clocks disagree.
    fn left(&self, request: &MoveRequest) -> Duration {
        let usual = LimitKind::Move.default_span();
        let now: Timestamp = self.environment.now();
        let left = request.deadline.map_or(usual, |deadline| deadline.since(now));
        if left.is_zero() { usual } else { left.min(usual) }
    }

    /// The history is written within a second, together with later changes.
    fn remember(self: &Arc<Self>) {
        if self.settings.home.is_none() || self.unwritten.swap(true, Ordering::AcqRel) {
            return;
        }
        match &self.settings.histories {
            Some(writer) => writer.changed(Arc::clone(self) as _),
            None => drop(write_history(self.as_ref())),
        }
    }

    fn league(&self) -> Option<LeagueId> {
        self.session().identity().and_then(|identity| identity.league_id.clone())
    }
}

impl Agent for Player {
    type Call = PlayerCall;

    fn role(&self) -> Role {
        Role::Player
    }

    fn envelope(&self, echo: Option<ConversationId>) -> Envelope {
        self.shared.envelope(echo, None)
    }

    async fn call(&self, incoming: IncomingCall<PlayerCall>) -> Result<CallAnswer, RequestError> {
        if matches!(incoming.call, PlayerCall::NotifyRound(_)) {
            self.shared.await_registration(ROUND_WAIT).await;
        } else if league_of(&incoming.call).is_some_and(|league| ![FRIENDLY, CHECK_LEAGUE].contains(&league.as_str())) {
            self.shared.await_registration(MATCH_WAIT).await;
        }
        // The session checks the passes, because it knows the manager's pass and which referees show none.
        let answer = self.answer(incoming).await;
        self.shared.send_evidence();
        if answer.as_ref().is_err_and(|fault| fault.code == Some(ErrorCode::E012)) {
            self.shared.recheck_token().await;
        }
        answer
    }

    fn refused(&self, refusal: &RefusedRequest<'_>) {
        self.shared.note_refusal(refusal);
    }

    fn health(&self) -> Health {
        let session = self.shared.session();
        let id = session.identity().map(|identity| identity.player_id.to_string());
        let state = session.state().as_str().to_owned();
        drop(session);
        let league_id = self.shared.league().map(|league| league.to_string());
        Health { status: "ok", role: Role::Player, id, league_id, state }
    }
}

impl Player {
    async fn answer(&self, incoming: IncomingCall<PlayerCall>) -> Result<CallAnswer, RequestError> {
        let IncomingCall { call, method, head, peer, .. } = incoming;
        let (shared, purpose) = (&self.shared, PlayPurpose::of(&call, peer));
        let echo = head.conversation_id.as_good().cloned();
        let plain = |shared: &Shared| shared.envelope(echo.clone(), None);
        match call {
            PlayerCall::GameInvitation(invitation) => {
                let joined = shared.join(&head, &invitation, purpose)?;
                shared.note_invitation(&head, &invitation, &joined);
                let asked = purpose.asked(&head, &invitation.match_id);
                CallAnswer::new(shared.envelope(echo, asked), &joined)
            }
            PlayerCall::ChooseParity(call) => {
                let envelope = shared.envelope(echo, purpose.asked(&head, &call.match_id));
                shared.make_move(&head, call.into(), purpose, envelope).await
            }
            PlayerCall::MakeMove(call) => {
                let envelope = shared.envelope(echo, purpose.asked(&head, &call.match_id));
                shared.make_move(&head, call.into(), purpose, envelope).await
            }
            PlayerCall::NotifyMatchResult(over) => {
                let GameOverOutcome { acknowledgement, repeated } =
                    shared.session_for(purpose).match_over(&head, &over)?;
                shared.console.over(&over, repeated);
                if purpose == PlayPurpose::League {
                    shared.note_over(&head, &over, repeated);
                    if !repeated {
                        shared.remember();
                    }
                }
                CallAnswer::new(plain(shared), &acknowledgement)
            }
            PlayerCall::NotifyGameError(error) => {
                let acknowledgement = shared.session_for(purpose).game_error(&head, error.match_id.as_ref())?;
                if let Some(match_id) = error.match_id.as_ref().filter(|_| error.error_code.as_deref() == Some("E001"))
                {
                    shared.session_for(purpose).answer_was_late(&head, match_id);
                }
                shared.console.error(&error);
                tracing::info!(code = ?error.error_code, hint = ?error.hint, "the referee complains");
                shared.note_game_error(&head, &error);
                CallAnswer::new(plain(shared), &acknowledgement)
            }
            PlayerCall::NotifyRound(round) => {
                let acknowledgement = shared.session_for(PlayPurpose::League).round_announced(&head, &round)?;
                shared.note_round(&head, &round);
                CallAnswer::new(plain(shared), &acknowledgement)
            }
            PlayerCall::UpdateStandings(update) => {
                let acknowledgement = shared.session_for(PlayPurpose::League).standings_updated(&head, &update)?;
                shared.note_standings(&head, &update);
                CallAnswer::new(plain(shared), &acknowledgement)
            }
            PlayerCall::NotifyRoundCompleted(round) => {
                let acknowledgement = shared.session_for(PlayPurpose::League).round_completed(&head, &round)?;
                shared.note_message(JournalLevel::Debug, "ROUND_COMPLETED", (&head, method), || {
                    format!("round {} is over", round.round_id)
                });
                CallAnswer::new(plain(shared), &acknowledgement)
            }
            PlayerCall::NotifyLeagueCompleted(end) => {
                let acknowledgement = shared.session_for(PlayPurpose::League).league_completed(&head, &end)?;
                let me = shared.session().identity().map(|identity| identity.player_id.clone());
                shared.console.completed(me.as_ref(), &shared.settings.name, &end);
                shared.note_end(&head, &end);
                shared.leave();
                CallAnswer::new(plain(shared), &acknowledgement)
            }
            PlayerCall::Shutdown(_) => {
                let acknowledgement = shared.session().shut_down(&head)?;
                shared.note_message(JournalLevel::Info, "SHUTDOWN", (&head, method), || {
                    String::from("the manager told this player to leave")
                });
                shared.leave();
                CallAnswer::new(plain(shared), &acknowledgement)
            }
            PlayerCall::NotifyLeagueError(error) => {
                let acknowledgement = shared.session_for(PlayPurpose::League).league_error(&head)?;
                let words = error.for_people();
                tracing::warn!("the manager says: {words}");
                shared.note_message(JournalLevel::Warn, "LEAGUE_ERROR", (&head, method), || {
                    format!("the manager says: {words}")
                });
                CallAnswer::new(plain(shared), &acknowledgement)
            }
            PlayerCall::GetPlayerState(_) => {
                let strategy = SmolStr::new_static(shared.strategy_runner.name());
                let state = shared.session().player_state(Some(strategy));
                CallAnswer::new(plain(shared), &state)
            }
            PlayerCall::ProveIdentity(ProveIdentity { nonce }) => {
                let token = shared.session().identity().and_then(|identity| identity.token.clone());
                let token = token.ok_or_else(|| {
                    RequestError::new(ErrorCode::E005, method, "this player is not registered in any league yet")
                })?;
                CallAnswer::new(plain(shared), &ProvedIdentity { proof: token.digest().identity_proof(&nonce) })
            }
            PlayerCall::ConfirmMatch(inquiry) => {
                let testimony = shared.session().testify(&head, &inquiry)?;
                CallAnswer::new(plain(shared), &testimony)
            }
            PlayerCall::Ping(nothing) => CallAnswer::new(plain(shared), &nothing),
        }
    }
}
