//! The referee as a server: accepts matches, forwards posted answers, answers the operator.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use league_core::game_match::MatchMachine;
use league_core::game_match::messages;
use league_core::game_match::step::StepCommand;
use league_core::rules::registry::new_game;
use league_core::rules::series::most_games;
use league_protocol::draw::DrawSecret;
use league_protocol::envelope::{Envelope, ReceivedEnvelope};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, GameType, MatchId, RefereeId, RoundId};
use league_protocol::message::acknowledgement::Acknowledgement;
use league_protocol::message::game_over::{GameResult, ResultStatus};
use league_protocol::message::identity::{ProveIdentity, ProvedIdentity};
use league_protocol::message::round::RoundAnnouncement;
use league_protocol::message::start_match::{StartMatch, StartMatchAnswer};
use league_protocol::message::step::{MatchState, MatchStep};
use league_protocol::sender::{Role, Sender};
use league_protocol::side::{Pair, Side};
use league_protocol::table::{Access, Method, RefereeCall};
use league_protocol::token::Credential;
use league_store::journal::{Journal, JournalLevel};
use league_store::views::writer::ViewWriter;
use league_wire::agent::{Agent, CallAnswer, Health, IncomingCall};
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use league_wire::failed_secrets::FailedSecrets;
use league_wire::peer_client::PeerClient;
use league_wire::refusal_log::{RefusalLog, RefusedRequest};
use league_wire::registration::Rejected;
use league_wire::token_recheck::TokenRecheck;
use league_wire::trace;
use smol_str::SmolStr;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::timeout;
use tracing::Instrument;

use crate::announced_matches::Announcements;
use crate::confirmations::Confirmations;
use crate::draw_secrets::DrawSecrets;
use crate::late_lessons::LateLessons;
use crate::match_runner::{self, MatchInput};
use crate::matches::{Finished, Matches, REMEMBERED, Running};
use crate::orders::MatchPurpose;
use crate::posted_answer::PostedEnvelope;
use crate::pulling::PulledMatches;
use crate::registration::RefereeIdentity;
use crate::settings::RefereeSettings;
use crate::transcript::LastMark;

/// How many technical losses the closing line explains.
const MAX_NAMED_LOSSES: usize = 5;
/// How many posts may wait for one match.
const POSTS: usize = 16;

#[derive(Clone, Debug)]
pub struct Referee {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) settings: RefereeSettings,
    pub(crate) environment: Environment,
    pub(crate) peer_client: PeerClient,
    /// Set once the referee has an id.
    pub(crate) journal: OnceLock<Journal>,
    pub(crate) views: Option<ViewWriter>,
    pub(crate) identity: RwLock<Option<RefereeIdentity>>,
    matches: Mutex<Matches>,
    /// Notified when the league is over or the manager releases the referee.
    leave: Notify,
    pub(crate) token_recheck: TokenRecheck,
    /// Notified when the manager calls before the referee knows that it is registered.
    pub(crate) retry_now: Notify,
    pub(crate) over: watch::Sender<u64>,
    pub(crate) strikes: FailedSecrets,
    pub(crate) announcements: Announcements,
    pub(crate) last_mark: LastMark,
    pub(crate) draw_secrets: DrawSecrets,
    pub(crate) confirmations: Confirmations,
    pub(crate) late_lessons: LateLessons,
    pub(crate) refusals: RefusalLog,
    pub(crate) pulled: PulledMatches,
}

impl Referee {
    pub fn new(settings: RefereeSettings, client: Client, views: Option<ViewWriter>, environment: Environment) -> Self {
        let shared = Shared {
            settings,
            environment,
            peer_client: PeerClient::new(client),
            journal: OnceLock::new(),
            views,
            identity: RwLock::default(),
            matches: Mutex::default(),
            leave: Notify::new(),
            token_recheck: TokenRecheck::default(),
            retry_now: Notify::new(),
            over: watch::Sender::new(0),
            strikes: FailedSecrets::default(),
            announcements: Announcements::default(),
            last_mark: LastMark::default(),
            draw_secrets: DrawSecrets::default(),
            confirmations: Confirmations::default(),
            late_lessons: LateLessons::default(),
            refusals: RefusalLog::default(),
            pulled: PulledMatches::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Keeps trying while the manager is unreachable.
    pub async fn register(&self) -> Result<RefereeId, Rejected> {
        self.shared.register(&self.shared.settings.manager).await
    }

    /// Returns when the league is over or the manager releases the referee. A referee that pulls takes its matches meanwhile.
    pub async fn until_done(&self) {
        if self.shared.settings.pulls {
            self.shared.pull().await;
        } else {
            self.shared.leave.notified().await;
        }
    }

    pub fn closing(&self) -> String {
        let matches = self.shared.matches();
        let id = self.shared.identity().map_or_else(|| self.shared.settings.name.to_string(), |me| me.id.to_string());
        let reasons: Vec<String> =
            matches.forfeited.iter().map(|(match_id, reason)| format!("{match_id}: {reason}")).collect();
        let forfeits = match matches.forfeits {
            0 => String::from("no technical loss."),
            1 => format!("1 technical loss. {}", reasons.join(" ")),
            more => format!("{more} technical losses. {}", reasons.join(" ")),
        };
        format!("{id} refereed {} matches; {forfeits}", matches.refereed)
    }

    pub fn running(&self) -> usize {
        self.shared.matches().running.len()
    }

    /// Refuses new matches and waits for the running ones, at most `patience`. A referee that pulls gives matches back instead:
    /// at once those in which no player has moved, at the end the others. Returns how many are not played to their end.
    pub async fn wind_up(&self, patience: Duration) -> usize {
        self.shared.matches().closing = true;
        let mut left = if self.shared.settings.pulls { self.shared.give_back_unmoved().await } else { 0 };
        let mut over = self.shared.over.subscribe();
        // The manager assigns the rest again once it notices that this referee is gone.
        drop(timeout(patience, over.wait_for(|_| self.running() == 0)).await);
        left += self.running();
        if self.shared.settings.pulls {
            self.shared.leave_manager().await;
        }
        left
    }
}

impl Shared {
    pub(crate) fn begin_anew(&self) {
        let mut matches = self.matches();
        matches.registrations += 1;
        matches.ordered = false;
    }

    pub(crate) fn is_ordered(&self) -> bool {
        self.matches().ordered
    }

    pub(crate) fn remember_rounds(&self, round: &RoundAnnouncement) {
        let mut matches = self.matches();
        for announced in &round.matches {
            if matches.rounds.len() == REMEMBERED {
                matches.rounds.pop_front();
            }
            matches.rounds.push_back((announced.match_id.clone(), announced.round_id.unwrap_or(round.round_id)));
        }
    }

    pub(crate) fn rounds(&self) -> VecDeque<(MatchId, RoundId)> {
        self.matches().rounds.clone()
    }

    pub(crate) fn matches(&self) -> MutexGuard<'_, Matches> {
        self.matches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn envelope(&self, conversation: Option<ConversationId>, token: Option<Credential>) -> Envelope {
        // Before it is registered, the referee uses the id that it was started with.
        let sender = match self.identity().map(|identity| identity.id).or_else(|| self.settings.requested_id.clone()) {
            Some(id) => Sender::referee(&id),
            None => Sender::unregistered(Role::Referee, &self.settings.name),
        };
        Envelope {
            sender,
            timestamp: self.environment.now(),
            conversation_id: conversation.unwrap_or_else(|| ConversationId::named("conv-referee")),
            auth_token: token,
        }
    }

    /// Checks the pass only if the manager showed passes at registration.
    pub(crate) fn check_manager(&self, head: &ReceivedEnvelope, method: Method) -> Result<(), RequestError> {
        let identity = self.identity();
        let promised = identity.as_ref().filter(|identity| identity.passes);
        let Some((token, league)) = promised.and_then(|me| me.token.as_ref().zip(me.league.as_ref())) else {
            return Ok(());
        };
        if head.token(method)?.is(&token.digest().manager_pass(league)) {
            return Ok(());
        }
        let message = "the auth_token is not the manager's pass for this referee";
        Err(RequestError::new(ErrorCode::E012, method, message).about("auth_token"))
    }

    pub(crate) fn start(
        self: &Arc<Self>,
        order: StartMatch,
        purpose: MatchPurpose,
    ) -> Result<StartMatchAnswer, RequestError> {
        const METHOD: Method = Method::StartMatch;
        let identity = self.identity().ok_or_else(|| {
            RequestError::new(ErrorCode::E010, METHOD, "this referee is not registered in any league yet")
        })?;
        let order = self.completed(&identity, order, purpose);
        let answer = |status: &'static str, reason: Option<&'static str>| StartMatchAnswer {
            status: SmolStr::new_static(status),
            match_id: order.match_id.clone(),
            attempt: Some(order.attempt),
            reason: reason.map(SmolStr::new_static),
        };
        let refused = |reason: &'static str| answer("REFUSED", Some(reason));
        let accepted = answer("ACCEPTED", None);
        let Some(game) = new_game(&order.game_type) else { return Ok(refused("unknown game")) };
        if order.games_per_match > most_games(&order.game_type).get() {
            return Ok(refused("more games per match than a report can hold"));
        }
        let endpoint = |side: Side| {
            order.players[side].endpoint.parse::<Endpoint>().map_err(|error| {
                let player = &order.players[side].player_id;
                let message =
                    format!("the endpoint of {player} is not a URL: {error}; send one like http://localhost:8101/mcp");
                RequestError::new(ErrorCode::E002, METHOD, message)
            })
        };
        let endpoints = Pair::new(endpoint(Side::A)?, endpoint(Side::B)?);
        let mut matches = self.matches();
        match matches.running.get(&order.match_id) {
            Some(running) if purpose == MatchPurpose::Friendly && running.purpose == MatchPurpose::League => {
                return Ok(refused("a match of the league has this id"));
            }
            // A friendly match never blocks one that counts.
            Some(running) if running.purpose != purpose => {}
            Some(running) if running.attempt == order.attempt => return Ok(accepted),
            Some(running) if running.attempt > order.attempt => return Ok(refused("a later attempt is running")),
            Some(_) | None => {}
        }
        // After a restart the manager may order a match that was already reported to it. A second game would be a
        // different match under the same id.
        if purpose == MatchPurpose::League && matches.has_played(&order.match_id, order.attempt) {
            return Ok(accepted);
        }
        let refusal = match () {
            () if matches.closing => Some("closing"),
            () if matches.is_full(self.settings.capacity) => Some("busy"),
            () => None,
        };
        if let Some(reason) = refusal {
            // The manager has used the commitment up, so the next report brings another.
            let _unused = order.draw_commitment.and_then(|commitment| self.draw_secrets.take(&commitment));
            return Ok(refused(reason));
        }
        let Some(secret) = self.secret(&order, purpose) else {
            drop(matches);
            self.renew_commitments();
            return Ok(refused("unknown commitment"));
        };
        let match_machine = MatchMachine::new(messages::terms(&order, secret, self.environment.random()), game);
        let (posts, inbox) = mpsc::channel(POSTS);
        let order = Arc::new(order);
        let registration = matches.registrations;
        let running = Running { attempt: order.attempt, purpose, order: Arc::clone(&order), posts, is_decided: false };
        matches.running.insert(order.match_id.clone(), running);
        drop(matches);
        self.note(JournalLevel::Info, "MATCH_STARTED", || {
            let [a, b] = Side::BOTH.map(|side| &order.players[side].player_id);
            format!("{} (attempt {}): {a} against {b}", order.match_id, order.attempt)
        });
        let shared = Arc::clone(self);
        let played = trace::match_span(&order.match_id, order.attempt);
        let playing = async move {
            let state =
                match_runner::run(&shared, (identity, purpose), Arc::clone(&order), endpoints, match_machine, inbox)
                    .await;
            match state {
                Some(state) => shared.finished(&order, Finished { registration, purpose, state }),
                None => shared.abandoned(&order, purpose),
            }
        };
        tokio::spawn(playing.instrument(played));
        Ok(accepted)
    }

    /// `None` if this referee does not know the commitment of the order.
    fn secret(&self, order: &StartMatch, purpose: MatchPurpose) -> Option<DrawSecret> {
        match (order.draw_commitment, purpose) {
            (Some(commitment), MatchPurpose::League) if order.draw_secret.is_none() => {
                self.draw_secrets.take(&commitment)
            }
            // A friendly match must not reveal a secret that a match of the league is bound to.
            (Some(_) | None, MatchPurpose::League | MatchPurpose::Friendly) => {
                Some(DrawSecret(self.environment.random()))
            }
        }
    }

    /// The match no longer needs capacity and takes no posts.
    pub(crate) fn decided(&self, order: &StartMatch, purpose: MatchPurpose) {
        if let Some(running) = self.matches().running.get_mut(&order.match_id)
            && running.is(order, purpose)
        {
            running.is_decided = true;
        }
        self.over.send_modify(|over| *over += 1);
    }

    /// The referee has given the match back.
    fn abandoned(&self, order: &StartMatch, purpose: MatchPurpose) {
        self.note(JournalLevel::Info, "MATCH_GIVEN_BACK", || {
            format!("{} (attempt {}): given back to the manager", order.match_id, order.attempt)
        });
        let mut matches = self.matches();
        if matches.running.get(&order.match_id).is_some_and(|running| running.is(order, purpose)) {
            matches.running.remove(&order.match_id);
        }
        drop(matches);
        self.over.send_modify(|over| *over += 1);
    }

    fn finished(&self, order: &StartMatch, finished: Finished) {
        let reason = finished.state.game_result.as_ref().map_or("no result", |result| result.reason.as_str());
        if self.logs(JournalLevel::Info) {
            let message = format!("{} (attempt {}): {reason}", order.match_id, order.attempt);
            let entry = self.entry(JournalLevel::Info, "MATCH_OVER", message);
            self.write(match &finished.state.game_result {
                Some(result) => entry.with(result),
                None => entry,
            });
        }
        let result = finished.state.game_result.as_ref();
        let no_number = |result: &GameResult| order.game_type == GameType::even_odd() && result.drawn_number.is_none();
        let lost = result.filter(|result| result.status == Some(ResultStatus::TechnicalLoss) || no_number(result));
        let lost = lost.map(|result| result.reason.clone());
        let mut matches = self.matches();
        matches.refereed += 1;
        if let Some(reason) = lost {
            matches.forfeits += 1;
            if matches.forfeited.len() < MAX_NAMED_LOSSES {
                matches.forfeited.push((order.match_id.clone(), reason));
            }
        }
        if matches.running.get(&order.match_id).is_some_and(|running| running.is(order, finished.purpose)) {
            matches.running.remove(&order.match_id);
        }
        if matches.finished.len() == REMEMBERED {
            matches.finished.pop_front();
        }
        matches.finished.push_back(finished);
        drop(matches);
        self.over.send_modify(|over| *over += 1);
    }

    /// For players: a decided match takes no posts.
    pub(crate) fn posts(
        &self,
        match_id: &MatchId,
        method: Method,
    ) -> Result<(mpsc::Sender<MatchInput>, Arc<StartMatch>), RequestError> {
        let is_decided = self.matches().running.get(match_id).is_some_and(|running| running.is_decided);
        if is_decided {
            return Err(RequestError::new(ErrorCode::E010, method, format!("{match_id} is over")));
        }
        self.inbox(match_id, method)
    }

    fn inbox(
        &self,
        match_id: &MatchId,
        method: Method,
    ) -> Result<(mpsc::Sender<MatchInput>, Arc<StartMatch>), RequestError> {
        let matches = self.matches();
        let running = matches.running.get(match_id).ok_or_else(|| match matches.remembered(match_id) {
            Some(_) => RequestError::new(ErrorCode::E010, method, format!("{match_id} is over")),
            None => {
                RequestError::new(ErrorCode::E007, method, format!("{match_id} is not running here")).about("match_id")
            }
        })?;
        Ok((running.posts.clone(), Arc::clone(&running.order)))
    }

    async fn step(
        &self,
        MatchStep { match_id }: &MatchStep,
        step: StepCommand,
        envelope: Envelope,
        method: Method,
    ) -> Result<CallAnswer, RequestError> {
        let (posts, _) = self.inbox(match_id, method)?;
        let (reply, taken) = oneshot::channel();
        let over = || RequestError::new(ErrorCode::E010, method, format!("{match_id} is over"));
        posts.send(MatchInput::Step(step, reply)).await.map_err(|_| over())?;
        let taken = taken.await.map_err(|_| over())?;
        let state = taken.map_err(|refused| RequestError::new(ErrorCode::E010, method, refused.to_string()))?;
        CallAnswer::new(envelope, &state)
    }

    async fn state_of(&self, match_id: &MatchId) -> Result<MatchState, RequestError> {
        const METHOD: Method = Method::GetMatchState;
        let remembered = self.matches().remembered(match_id).map(|finished| finished.state.clone());
        let posts = match (self.inbox(match_id, METHOD), remembered) {
            (Ok((posts, _)), _) => posts,
            (Err(_), Some(state)) => return Ok(state),
            (Err(fault), None) => return Err(fault),
        };
        let (reply, state) = oneshot::channel();
        let over = || RequestError::new(ErrorCode::E010, METHOD, format!("{match_id} has just ended; ask again"));
        posts.send(MatchInput::Look(reply)).await.map_err(|_| over())?;
        state.await.map_err(|_| over())
    }

    fn acknowledge(&self) -> Acknowledgement {
        self.identity().map(|identity| Acknowledgement::of_referee(identity.id)).unwrap_or_default()
    }
}

impl Agent for Referee {
    type Call = RefereeCall;

    fn role(&self) -> Role {
        Role::Referee
    }

    fn envelope(&self, echo: Option<ConversationId>) -> Envelope {
        self.shared.envelope(echo, None)
    }

    async fn authorize(&self, access: Access, incoming: &IncomingCall<RefereeCall>) -> Result<(), RequestError> {
        let IncomingCall { method, head, peer, .. } = incoming;
        let from = method.row().from;
        // A player may use the calls that are open to any agent.
        let from_manager = from.contains(&Role::Manager) && !from.contains(&Role::Player);
        if from_manager && self.shared.identity().is_none() {
            // The manager has registered this referee, and its answer was lost.
            self.shared.retry_now.notify_one();
        }
        let checked = match access {
            Access::Open => Ok(()),
            // The operator may also start a match.
            Access::Pass if *method == Method::StartMatch => self.shared.purpose(head, *peer).map(|_| ()),
            Access::Pass => self.shared.check_manager(head, *method),
            Access::Operator => self.shared.check_operator(head, *peer, *method),
            Access::Token | Access::JoinKey => {
                Err(RequestError::new(ErrorCode::E012, *method, "a referee gives no tokens"))
            }
        };
        if from_manager && checked.as_ref().is_err_and(|fault| fault.code == Some(ErrorCode::E012)) {
            self.shared.recheck_token().await;
        }
        checked
    }

    async fn call(&self, incoming: IncomingCall<RefereeCall>) -> Result<CallAnswer, RequestError> {
        let IncomingCall { call, method, head, quirks, peer, .. } = incoming;
        let shared = &self.shared;
        let envelope = shared.envelope(head.conversation_id.as_good().cloned(), None);
        match call {
            RefereeCall::StartMatch(order) => {
                let purpose = shared.purpose(&head, peer)?;
                if purpose == MatchPurpose::League {
                    shared.matches().ordered = true;
                }
                CallAnswer::new(envelope, &shared.start(order, purpose)?)
            }
            RefereeCall::CollectChoices(of) => shared.step(&of, StepCommand::CollectChoices, envelope, method).await,
            RefereeCall::DrawNumber(of) => shared.step(&of, StepCommand::DrawNumber, envelope, method).await,
            RefereeCall::FinalizeMatch(of) => shared.step(&of, StepCommand::Finalize, envelope, method).await,
            RefereeCall::GetMatchState(of) => CallAnswer::new(envelope, &shared.state_of(&of.match_id).await?),
            RefereeCall::RegisterToLeague(at) => {
                CallAnswer::new(envelope, &shared.register_at(at.manager_endpoint.as_deref()).await?)
            }
            RefereeCall::PostJoin(join) => {
                let posted = PostedEnvelope::new(&head, quirks, peer, &join);
                CallAnswer::new(envelope, &shared.post_join(posted, &join).await?)
            }
            RefereeCall::PostChoice(choice) => {
                let posted = PostedEnvelope::new(&head, quirks, peer, &choice);
                CallAnswer::new(envelope, &shared.post_choice(posted, &choice).await?)
            }
            RefereeCall::NotifyRound(round) => {
                let acknowledged = shared.acknowledge().for_round(round.round_id);
                shared.round_announced(round, peer);
                CallAnswer::new(envelope, &acknowledged)
            }
            RefereeCall::NotifyLeagueCompleted(_) | RefereeCall::Shutdown(_) => {
                shared.leave.notify_one();
                CallAnswer::new(envelope, &shared.acknowledge())
            }
            RefereeCall::NotifyLeagueError(error) => {
                let words = error.for_people();
                tracing::warn!("the manager says: {words}");
                shared.note(JournalLevel::Warn, "LEAGUE_ERROR", || format!("the manager says: {words}"));
                CallAnswer::new(envelope, &shared.acknowledge())
            }
            RefereeCall::ProveIdentity(ProveIdentity { nonce }) => {
                let token = shared.identity().and_then(|identity| identity.token);
                let token = token.ok_or_else(|| {
                    RequestError::new(ErrorCode::E010, method, "this referee is not registered in any league yet")
                })?;
                CallAnswer::new(envelope, &ProvedIdentity { proof: token.digest().identity_proof(&nonce) })
            }
            RefereeCall::Ping(empty) => CallAnswer::new(envelope, &empty),
        }
    }

    fn refused(&self, refusal: &RefusedRequest<'_>) {
        self.shared.note_refusal(refusal);
    }

    fn health(&self) -> Health {
        let identity = self.shared.identity();
        Health {
            status: "ok",
            role: Role::Referee,
            id: identity.as_ref().map(|identity| identity.id.to_string()),
            league_id: identity.and_then(|identity| identity.league).map(|league| league.to_string()),
            state: format!("{} matches running", self.running()),
        }
    }
}
