//! Answers the calls of agents and of the operator.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use league_core::record::MatchRecord;
use league_core::season::agent::AgentId;
use league_core::season::config::LeagueConfig;
use league_core::season::event::{Event, Fact};
use league_core::season::evidence::{AlertKind, Testimonies};
use league_core::season::{Assignment, CommandOutcome, ReportOutcome, Season};
use league_protocol::dialect::{COLON_SENDER, PeerDialect};
use league_protocol::envelope::{Envelope, ReceivedEnvelope};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, LeagueId, MatchId, PlayerId, RefereeId};
use league_protocol::message::acknowledgement::Acknowledgement;
use league_protocol::message::evidence::{GameOverConfirmation, MatchDispute, MoveDeposit};
use league_protocol::message::league_view::{GetLeague, LeaguePage, LeagueView};
use league_protocol::message::operate::RotateKey;
use league_protocol::message::query::{AssignedMatches, LeagueQuery, LeagueQueryResponse, LeagueStatus};
use league_protocol::message::report::{Account, LearnedDialect, MatchResultAck, MatchResultReport};
use league_protocol::message::round::AnnouncedMatch;
use league_protocol::message::standings::StandingsAnswer;
use league_protocol::sender::{Role, Sender};
use league_protocol::table::{Access, ManagerCall, Method};
use league_protocol::time::Timestamp;
use league_store::journal::JournalLevel;
use league_store::views::find_match::find_match;
use league_store::views::match_file::MatchFile;
use league_store::views::writer::ViewWriter;
use league_wire::agent::{Agent, CallAnswer, Health, IncomingCall};
use league_wire::client::Client;
use league_wire::client_network::ClientNetwork;
use league_wire::environment::Environment;
use league_wire::refusal_log::{RefusalLog, RefusedRequest};
use smol_str::SmolStr;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::access::ShownToken;
use crate::broadcast::Broadcaster;
use crate::game_over_barrier::GameOverBarrier;
use crate::inquiry::finish;
use crate::keys::JoinKeys;
use crate::league_actor::LeagueHandle;
use crate::league_loop::LeagueStopped;
use crate::notices::envelope;
use crate::page;
use crate::polls::Polls;
use crate::pulling::UnreachableMatches;
use crate::rate_limits::RateLimits;
use crate::settings::ManagerSettings;
use crate::transcripts::Transcripts;

#[derive(Clone, Debug)]
pub struct Manager {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) league: LeagueId,
    pub(crate) strict: bool,
    pub(crate) settings: ManagerSettings,
    pub(crate) league_handle: LeagueHandle,
    pub(crate) broadcaster: Broadcaster,
    pub(crate) latencies: Mutex<HashMap<AgentId, Duration>>,
    pub(crate) announced: Mutex<HashSet<Assignment>>,
    /// When the referee took the order.
    pub(crate) begun: Mutex<HashMap<Assignment, Instant>>,
    pub(crate) views: Option<ViewWriter>,
    pub(crate) environment: Environment,
    pub(crate) rate_limits: Arc<RateLimits>,
    pub(crate) keys: JoinKeys,
    pub(crate) transcripts: Transcripts,
    pub(crate) game_over: Arc<GameOverBarrier>,
    pub(crate) polls: Polls,
    pub(crate) unreachable: Mutex<UnreachableMatches>,
    /// Notified when a match may be assigned although the season has not changed.
    pub(crate) reassign: Notify,
    pub(crate) refusals: RefusalLog,
}

impl Manager {
    pub fn new(
        rules: &LeagueConfig,
        settings: ManagerSettings,
        league_handle: LeagueHandle,
        client: Client,
        views: Option<ViewWriter>,
        environment: Environment,
    ) -> Self {
        let shared = Shared {
            league: rules.league_id.clone(),
            strict: rules.strict,
            league_handle,
            broadcaster: Broadcaster::new(client),
            latencies: Mutex::default(),
            announced: Mutex::default(),
            begun: Mutex::default(),
            views,
            environment,
            rate_limits: Arc::new(RateLimits::new(settings.rates, Arc::clone(&settings.strikes))),
            keys: JoinKeys::new(&settings),
            transcripts: Transcripts::default(),
            game_over: Arc::default(),
            polls: Polls::default(),
            unreachable: Mutex::default(),
            reassign: Notify::new(),
            refusals: RefusalLog::default(),
            settings,
        };
        Self { shared: Arc::new(shared) }
    }

    pub async fn conduct(&self) -> Result<(), LeagueStopped> {
        self.shared.conduct().await
    }

    pub async fn file(&self) -> Result<(), RequestError> {
        self.shared.file().await
    }

    pub fn flush_log(&self) {
        if let Some(journal) = &self.shared.settings.journal {
            journal.flush();
        }
    }

    pub fn league_handle(&self) -> &LeagueHandle {
        &self.shared.league_handle
    }
}

impl Shared {
    async fn report(&self, head: &ReceivedEnvelope, report: MatchResultReport) -> Result<MatchResultAck, RequestError> {
        const METHOD: Method = Method::ReportMatchResult;
        let shown = ShownToken::of(head, METHOD)?;
        let report = Arc::new(report);
        let testimonies = if report.result.details.may_charge() {
            self.testimonies(&shown, &report).await?
        } else {
            Testimonies::default()
        };
        let game_over = Arc::clone(&self.game_over);
        let promised = report.account.transcript_sha256.filter(|_| !report.account.in_your_home);
        let transcript = self.transcript_before(&report.match_id, promised).await;
        let is_owed = promised.is_some() && transcript.is_none() && self.views.is_some();
        let (acknowledgement, file, refused, pulling) = self
            .league_handle
            .command_batched(move |season, now| {
                let (referee, odd_sender) = shown.referee(season, now)?;
                let record = season.read_report(&report)?;
                let odd = odd_sender.into_iter().chain(season.score_quirk(&report, record.outcome)).collect();
                let mut ruling = season.judge_report(&referee, &report, &record, &testimonies, now)?;
                let (mut file, mut refused) = (None, Vec::new());
                if let ReportOutcome::Contested(kind) = ruling.reply {
                    let reply = (Err(contested(&report.match_id, kind)), None, Vec::new(), None);
                    return Ok(CommandOutcome { events: ruling.events, reply });
                }
                let known = season.referee(&referee);
                let pulling = known.filter(|referee| referee.profile.pulls).map(|_| referee.clone());
                if ruling.reply == ReportOutcome::Now && pulling.is_some() && is_owed {
                    return Err(transcript_missing(&report.match_id));
                }
                if ruling.reply == ReportOutcome::Now {
                    let agent = AgentId::Referee(referee.clone());
                    let lessons = season.learn_from(&report, &agent, odd, now);
                    ruling.events.extend(lessons.events);
                    refused = lessons.refused.into_iter().map(|(player, bad)| (referee.clone(), player, bad)).collect();
                    file = explained(season, &referee, &report, &record, &mut ruling.events);
                }
                let acknowledgement = MatchResultAck {
                    status: SmolStr::new_static("ACCEPTED"),
                    round_id: report.match_id.parts().map(|(round, _)| round),
                    match_id: report.match_id.clone(),
                    duplicate: ruling.reply == ReportOutcome::Before,
                    next_match: None,
                };
                let confirms = known.is_some_and(|referee| referee.deposits);
                if confirms && ruling.reply == ReportOutcome::Now {
                    game_over.expect(report.match_id.clone());
                }
                Ok(CommandOutcome { events: ruling.events, reply: (Ok(acknowledgement), file, refused, pulling) })
            })
            .await?;
        for (referee, player, bad) in refused {
            tracing::warn!(%referee, %player, %bad, "a dialect is refused");
            self.log(JournalLevel::Warn, "DIALECT_REFUSED", || {
                format!("{referee} taught a dialect of {player} that is not used: {bad}")
            });
        }
        if let Some(file) = file {
            let kept = self.keep_match(MatchFile { transcript: transcript.unwrap_or_default(), ..file }).await;
            // The referee sends transcript and report again.
            kept.map_err(|error| RequestError::new(ErrorCode::E015, METHOD, error.to_string()))?;
        }
        let mut acknowledgement = acknowledgement?;
        if let Some(referee) = pulling {
            acknowledgement.next_match = self.next_unclaimed(&referee).await;
        }
        Ok(acknowledgement)
    }

    /// What the players say that this report charges with silence.
    async fn testimonies(
        &self,
        shown: &ShownToken,
        report: &Arc<MatchResultReport>,
    ) -> Result<Testimonies, RequestError> {
        let (shown, asked) = (shown.clone(), Arc::clone(report));
        let reading = self.league_handle.read(move |season, now| {
            let (referee, _) = shown.referee(season, now)?;
            Ok(season.players_to_ask(&referee, &asked))
        });
        let (attempt, players) = reading.await??;
        self.ask_players(&report.match_id, attempt, players).await
    }

    async fn deposit(&self, head: &ReceivedEnvelope, deposit: MoveDeposit) -> Result<Acknowledgement, RequestError> {
        let match_id = deposit.match_id.clone();
        let decide = move |season: &Season, player: &PlayerId, now| season.deposit(player, &deposit, now);
        self.command_of_player(head, Method::DepositMove, match_id, decide).await
    }

    async fn dispute(&self, head: &ReceivedEnvelope, dispute: MatchDispute) -> Result<Acknowledgement, RequestError> {
        let match_id = dispute.match_id.clone();
        let decide = move |season: &Season, player: &PlayerId, now| season.dispute(player, &dispute, now);
        self.command_of_player(head, Method::DisputeMatch, match_id, decide).await
    }

    async fn command_of_player(
        &self,
        head: &ReceivedEnvelope,
        method: Method,
        match_id: MatchId,
        decide: impl FnOnce(&Season, &PlayerId, Timestamp) -> Result<CommandOutcome<()>, RequestError> + Send + 'static,
    ) -> Result<Acknowledgement, RequestError> {
        let (shown, rate_limits) = (ShownToken::of(head, method)?, Arc::clone(&self.rate_limits));
        let command = self.league_handle.command(move |season, now| {
            let (owner, _) = shown.owner(season, now)?;
            rate_limits.check_query(&owner, method)?;
            let AgentId::Player(player) = owner else {
                let message = format!("{} is a referee; only players may do this", owner.as_str());
                return Err(RequestError::new(ErrorCode::E005, method, message));
            };
            let events = decide(season, &player, now)?.events;
            Ok(CommandOutcome { events, reply: player })
        });
        Ok(Acknowledgement::of_player(command.await?).for_match(match_id))
    }

    async fn confirm_game_over(
        &self,
        head: &ReceivedEnvelope,
        confirmed: GameOverConfirmation,
    ) -> Result<Acknowledgement, RequestError> {
        let (shown, now) = (ShownToken::of(head, Method::ConfirmGameOver)?, self.environment.now());
        let reading = self.league_handle.read_uncommitted(move |season| {
            let (referee, _) = shown.referee(season, now)?;
            let own = confirmed.match_ids.into_iter().filter(|match_id| season.has_reported(&referee, match_id));
            Ok((own.collect::<Vec<_>>(), referee))
        });
        let (match_ids, referee) = reading.await??;
        self.game_over.confirm(&match_ids);
        Ok(Acknowledgement::of_referee(referee))
    }

    async fn query(&self, head: &ReceivedEnvelope, query: LeagueQuery) -> Result<LeagueQueryResponse, RequestError> {
        const METHOD: Method = Method::LeagueQuery;
        let (shown, rate_limits) = (ShownToken::of(head, METHOD)?, Arc::clone(&self.rate_limits));
        let reading = self.league_handle.read(move |season, now| {
            let (asker, odd) = shown.owner(season, now)?;
            rate_limits.check_query(&asker, METHOD)?;
            let learned =
                LearnedDialect { quirks: odd.into_iter().collect(), shows_token: true, ..LearnedDialect::default() };
            let news = season.learn(&asker, &learned, now).map(|_| (asker.clone(), learned));
            Ok((season.query(&query, &asker)?, news))
        });
        let (answer, news) = reading.await??;
        if let Some((asker, learned)) = news {
            self.learn(asker, learned).await;
        }
        Ok(answer)
    }

    async fn assigned(&self, head: &ReceivedEnvelope) -> Result<AssignedMatches, RequestError> {
        const METHOD: Method = Method::GetAssignedMatches;
        let (shown, rate_limits) = (ShownToken::of(head, METHOD)?, Arc::clone(&self.rate_limits));
        let asked = self.league_handle.read(move |season, now| {
            let (referee, _) = shown.referee(season, now)?;
            rate_limits.check_query(&AgentId::Referee(referee.clone()), METHOD)?;
            Ok((season.assigned(&referee), season.assignments()))
        });
        let (mut matches, held): (_, Vec<Assignment>) = asked.await??;
        // A match begins when its players know that they are called without passes.
        let announced = self.announced();
        let is_known = |held: &&Assignment| announced.contains(*held);
        let known: HashSet<&MatchId> = held.iter().filter(is_known).map(|held| &held.match_id).collect();
        matches.retain(|one: &AnnouncedMatch| known.contains(&one.match_id));
        Ok(AssignedMatches { matches })
    }

    async fn standings(&self) -> Result<StandingsAnswer, RequestError> {
        self.league_handle
            .read(|season, _| StandingsAnswer {
                league_id: season.config().league_id.clone(),
                current_round: season.round_number(),
                standings: season.standings(),
            })
            .await
    }

    async fn page(&self, request: GetLeague) -> Result<LeaguePage, RequestError> {
        const METHOD: Method = Method::GetLeague;
        if request.league_id.as_ref().is_some_and(|league| *league != self.league) {
            let message = format!("there is no such league here; this is {}", self.league);
            return Err(RequestError::new(ErrorCode::E008, METHOD, message).about("league_id"));
        }
        if request.view != LeagueView::Match {
            return self.league_handle.read(move |season, _| page::of_season(season, &request)).await;
        }
        let match_id = request.match_id.ok_or_else(|| {
            RequestError::new(ErrorCode::E003, METHOD, "match_id is missing; send the match to show, like R1M1")
                .about("match_id")
        })?;
        let missing = || {
            let message = format!("there is no file of {match_id} here; get_league lists what was played (schedule)");
            RequestError::new(ErrorCode::E007, METHOD, message).about("match_id")
        };
        let home = self.settings.home.clone().ok_or_else(missing)?;
        let (league, wanted) = (self.league.clone(), match_id.clone());
        let read = tokio::task::spawn_blocking(move || find_match(&home, &league, &wanted)).await;
        let text = read.ok().and_then(Result::ok).flatten().ok_or_else(missing)?;
        Ok(page::of_text(&text, request.from))
    }

    /// Waits until this manager certainly leads the league, if there may be others.
    async fn confirm_lease(&self) {
        if let Some(lease) = &self.settings.lease {
            lease.confirmed().await;
        }
    }

    async fn status(&self) -> Result<LeagueStatus, RequestError> {
        self.league_handle.read(|season, _| season.status()).await
    }
}

/// What the referee hears whose report contradicts the evidence.
fn contested(match_id: &MatchId, kind: AlertKind) -> RequestError {
    let subject = if kind.concerns_a_player() { "a player " } else { "" };
    let message = format!(
        "this result of {match_id} does not count, because {subject}{}; the operator is alerted. Report what was played, with the signatures of the players",
        kind.words()
    );
    RequestError::new(ErrorCode::E010, Method::ReportMatchResult, message).about("signatures")
}

/// What a referee that pulls hears if its report comes before its transcript: it may be killed before it could send it.
fn transcript_missing(match_id: &MatchId) -> RequestError {
    let message = format!("the transcript of {match_id} is not here; send it with store_transcript, then report again");
    RequestError::new(ErrorCode::E015, Method::ReportMatchResult, message).about("transcript_sha256")
}

/// Puts the explanation before the event of the result. Returns the match file, unless the referee wrote it into the
/// manager's home.
fn explained(
    season: &Season,
    referee: &RefereeId,
    report: &MatchResultReport,
    record: &MatchRecord,
    events: &mut Vec<Event>,
) -> Option<MatchFile> {
    let counted = events.iter().find_map(|event| {
        if let Fact::MatchReported { attempt, .. } = &event.fact { Some((*attempt, event.at)) } else { None }
    });
    let (attempt, at) = counted?;
    let account = season.account(report, attempt, record);
    let fact = Fact::explained(report.match_id.clone(), attempt, account.clone());
    let account = if fact.is_some() { account } else { Account::default() };
    events.splice(0..0, fact.map(|fact| Event { at, fact }));
    if report.account.in_your_home {
        return None;
    }
    MatchFile::of_report(season, referee, (&report.match_id, attempt), record, account, at)
}

impl Agent for Manager {
    type Call = ManagerCall;

    fn role(&self) -> Role {
        Role::Manager
    }

    fn strict(&self) -> bool {
        self.shared.strict
    }

    fn envelope(&self, echo: Option<ConversationId>) -> Envelope {
        let conversation = echo.unwrap_or_else(|| ConversationId::named("conv-manager"));
        envelope(conversation, self.shared.environment.now(), None)
    }

    async fn authorize(&self, access: Access, incoming: &IncomingCall<ManagerCall>) -> Result<(), RequestError> {
        let checked = self.shared.check_access(access, incoming);
        checked.map_err(|fault| {
            self.shared.rate_limits.count_failure(fault, ClientNetwork::of(incoming.peer), incoming.method)
        })
    }

    async fn call(&self, incoming: IncomingCall<ManagerCall>) -> Result<CallAnswer, RequestError> {
        let (network, method) = (ClientNetwork::of(incoming.peer), incoming.method);
        let request = self.shared.request(&incoming);
        self.shared.confirm_lease().await;
        let answer = self.answer(incoming).await;
        // A poll is open for ten seconds. Another manager may lead since.
        self.shared.confirm_lease().await;
        if let (Some(request), Ok(answer)) = (&request, &answer) {
            self.shared.note_answered(request, answer);
        }
        answer.map_err(|fault| self.shared.rate_limits.count_failure(fault, network, method))
    }

    fn refused(&self, refusal: &RefusedRequest<'_>) {
        self.shared.note_refusal(refusal);
    }

    fn health(&self) -> Health {
        Health {
            status: "ok",
            role: Role::Manager,
            id: None,
            league_id: Some(self.shared.league.to_string()),
            state: String::from("serving"),
        }
    }
}

impl Manager {
    async fn answer(&self, incoming: IncomingCall<ManagerCall>) -> Result<CallAnswer, RequestError> {
        let IncomingCall { call, method, head, quirks, frame, one_name, peer, .. } = incoming;
        let shared = &self.shared;
        let mut envelope = Agent::envelope(self, head.conversation_id.as_good().cloned());
        let sender: Option<Sender> = head.sender.as_good().cloned();
        let dialect = PeerDialect::of_registration(frame, &head, one_name.as_deref());
        if dialect.wants_colon()
            && let Ok(sender) = COLON_SENDER.parse()
        {
            envelope.sender = sender;
        }
        match call {
            ManagerCall::RegisterPlayer(request) => {
                let meta = &request.player_meta;
                let mut rejection = shared.check_endpoint(meta, Role::Player, peer);
                if rejection.is_none() {
                    rejection = shared.challenge(meta, Role::Player, head.auth_token.as_ref()).await?;
                }
                if rejection.is_none() {
                    rejection = shared.inspect(meta).await?;
                }
                if let Some(rejection) = rejection {
                    return CallAnswer::new(envelope, &shared.rejected(rejection));
                }
                let meta = request.player_meta.clone();
                let decide = move |season: &Season, random: &[u8; 32], now| {
                    season.register_player(&request, sender.as_ref(), random, now)
                };
                let (answer, token) = shared.register((&meta, Role::Player), (dialect, quirks), decide).await?;
                CallAnswer::new(Envelope { auth_token: token, ..envelope }, &answer)
            }
            ManagerCall::RegisterReferee(mut request) => {
                let mut rejection = shared.check_pulling(&mut request.referee_meta, peer);
                let meta = &request.referee_meta;
                if rejection.is_none() {
                    rejection = shared.check_endpoint(meta, Role::Referee, peer);
                }
                if rejection.is_none() {
                    rejection = shared.challenge(meta, Role::Referee, head.auth_token.as_ref()).await?;
                }
                if let Some(rejection) = rejection {
                    return CallAnswer::new(envelope, &shared.rejected(rejection));
                }
                let (returning, of) = (Arc::clone(shared), meta.clone());
                let interrupted = async move { returning.interrupt_returning(&of).await };
                finish(Method::RegisterReferee, interrupted).await?;
                let meta = request.referee_meta.clone();
                let decide = move |season: &Season, random: &[u8; 32], now| {
                    season.register_referee(&request, sender.as_ref(), random, now)
                };
                let (answer, token) = shared.register((&meta, Role::Referee), (dialect, quirks), decide).await?;
                CallAnswer::new(Envelope { auth_token: token, ..envelope }, &answer)
            }
            // The referee may hang up while the manager asks a player, or between the commit and the writing of the match file.
            ManagerCall::ReportMatchResult(report) => {
                let reported = Arc::clone(shared);
                let counted = finish(Method::ReportMatchResult, async move { reported.report(&head, report).await });
                CallAnswer::new(envelope, &counted.await?)
            }
            ManagerCall::StoreTranscript(part) => {
                CallAnswer::new(envelope, &shared.store_transcript(&head, part).await?)
            }
            ManagerCall::LeagueQuery(query) => CallAnswer::new(envelope, &shared.query(&head, query).await?),
            ManagerCall::GetAssignedMatches(_) => CallAnswer::new(envelope, &shared.assigned(&head).await?),
            ManagerCall::NextMatch(request) => CallAnswer::new(envelope, &shared.next_match(&head, request).await?),
            ManagerCall::GetStandings(_) => CallAnswer::new(envelope, &shared.standings().await?),
            ManagerCall::GetLeague(request) => {
                if matches!(request.view, LeagueView::Agents | LeagueView::Match) {
                    shared.check_operator(&head, peer, method)?;
                }
                CallAnswer::new(envelope, &shared.page(request).await?)
            }
            ManagerCall::CreateSchedule(wanted) => CallAnswer::new(envelope, &self.schedule(wanted).await?),
            ManagerCall::StartLeague(_) => {
                self.start_league().await?;
                CallAnswer::new(envelope, &shared.status().await?)
            }
            ManagerCall::StopLeague(_) => {
                self.stop_league().await?;
                CallAnswer::new(envelope, &shared.status().await?)
            }
            ManagerCall::ReopenRegistration(_) => {
                self.reopen_registration().await?;
                CallAnswer::new(envelope, &shared.status().await?)
            }
            ManagerCall::WithdrawPlayer(wanted) => {
                self.withdraw(wanted.player_id).await?;
                CallAnswer::new(envelope, &shared.status().await?)
            }
            ManagerCall::DepositMove(deposit) => CallAnswer::new(envelope, &shared.deposit(&head, deposit).await?),
            ManagerCall::DisputeMatch(dispute) => CallAnswer::new(envelope, &shared.dispute(&head, dispute).await?),
            ManagerCall::ConfirmGameOver(confirmed) => {
                CallAnswer::new(envelope, &shared.confirm_game_over(&head, confirmed).await?)
            }
            ManagerCall::WithdrawReferee(wanted) => {
                self.withdraw_referee(wanted.referee_id).await?;
                CallAnswer::new(envelope, &shared.status().await?)
            }
            ManagerCall::ResolveDispute(wanted) => {
                self.resolve_dispute(wanted.match_id, wanted.decision).await?;
                CallAnswer::new(envelope, &shared.status().await?)
            }
            ManagerCall::ForgetDialect(wanted) => {
                self.forget_dialect(wanted.player_id).await?;
                CallAnswer::new(envelope, &shared.status().await?)
            }
            ManagerCall::RotateKey(RotateKey { role }) => CallAnswer::new(envelope, &self.rotate_key(role).await?),
            ManagerCall::Ping(empty) => CallAnswer::new(envelope, &empty),
        }
    }
}
