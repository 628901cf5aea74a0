//! The manager as the network sees it: registrations, reports, queries, and the operator.

use std::sync::Arc;

use league_core::record::MatchRecord;
use league_core::season::agent::{AgentId, AgentProfile};
use league_core::season::config::LeagueConfig;
use league_core::season::event::{Event, Fact};
use league_core::season::{CommandOutcome, LeaguePhase, Registered, Rejection, RejectionReason, ReportOutcome, Season};
use league_protocol::dialect::{COLON_SENDER, PeerDialect};
use league_protocol::envelope::{Envelope, ReceivedEnvelope};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, LeagueId, RefereeId};
use league_protocol::message::league_view::{GetLeague, LeaguePage, LeagueView};
use league_protocol::message::query::{AssignedMatches, LeagueQuery, LeagueQueryResponse, LeagueStatus};
use league_protocol::message::registration::{AgentMeta, PASS_SCHEME, RegisterResponse, RegistrationStatus};
use league_protocol::message::report::{Account, LearnedDialect, MatchResultAck, MatchResultReport};
use league_protocol::message::standings::StandingsAnswer;
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::sender::{Role, Sender};
use league_protocol::table::{Call, Method};
use league_protocol::time::Timestamp;
use league_protocol::token::Credential;
use league_store::views::find_match::kept;
use league_store::views::match_file::MatchFile;
use league_store::views::writer::ViewWriter;
use league_wire::agent::{Agent, CallAnswer, Health, IncomingCall};
use league_wire::breaker::Breakers;
use league_wire::client::Client;
use league_wire::client_network::ClientNetwork;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use league_wire::refusal_log::{RefusalLog, RefusedRequest};
use smol_str::SmolStr;

use crate::heralds::Herald;
use crate::league_actor::LeagueHandle;
use crate::league_loop::LeagueStopped;
use crate::notices::envelope;
use crate::page;
use crate::promptness::Promptness;
use crate::rate_limits::RateLimits;
use crate::settings::ManagerSettings;
use crate::transcripts::{Transcripts, file_of};

#[derive(Clone, Debug)]
pub struct Manager {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) league: LeagueId,
    pub(crate) strict: bool,
    pub(crate) settings: ManagerSettings,
    pub(crate) desk: LeagueHandle,
    pub(crate) herald: Herald,
    pub(crate) breakers: Breakers,
    pub(crate) promptness: Promptness,
    /// Who writes the league's files, where they are.
    pub(crate) views: Option<ViewWriter>,
    pub(crate) world: Environment,
    pub(crate) gate: Arc<RateLimits>,
    /// What was said in matches of referees with another home.
    pub(crate) transcripts: Transcripts,
    pub(crate) refusals: RefusalLog,
}

impl Manager {
    /// The manager of a league with these rules, at its desk.
    pub fn new(
        rules: &LeagueConfig,
        settings: ManagerSettings,
        desk: LeagueHandle,
        client: Client,
        views: Option<ViewWriter>,
        world: Environment,
    ) -> Self {
        let (league, strict, breakers) = (rules.league_id.clone(), rules.strict, Breakers::default());
        let (herald, promptness) = (Herald::new(client), Promptness::default());
        let refusals = RefusalLog::default();
        let gate = Arc::new(RateLimits::new(settings.rates, Arc::clone(&settings.strikes)));
        let transcripts = Transcripts::default();
        let shared = Shared {
            league,
            strict,
            settings,
            desk,
            herald,
            breakers,
            promptness,
            views,
            world,
            gate,
            transcripts,
            refusals,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Runs the league to its end.
    pub async fn conduct(&self) -> Result<(), LeagueStopped> {
        self.shared.conduct().await
    }

    /// Has the league's files written as they stand: for who stops in the middle of a league.
    pub async fn file(&self) -> Result<(), RequestError> {
        self.shared.file().await
    }

    /// Waits until the league's log is written.
    pub fn flush_log(&self) {
        if let Some(journal) = &self.shared.settings.journal {
            journal.flush();
        }
    }

    pub fn desk(&self) -> &LeagueHandle {
        &self.shared.desk
    }
}

impl Shared {
    /// Has a new player looked at, where somebody is there for that. Whoever is in already listens to its own league only, and
    /// was looked at when it came.
    async fn inspected(&self, meta: &AgentMeta) -> Result<Option<RegisterResponse>, RequestError> {
        let Some(inspector) = &self.settings.inspector else { return Ok(None) };
        // What is no endpoint at all is rejected by the season, which says why.
        let Ok(endpoint) = meta.contact_endpoint.trim().parse::<Endpoint>() else { return Ok(None) };
        let profile = AgentProfile::from(meta);
        let stranger = self.desk.read(move |season, _| {
            let open = season.phase() == LeaguePhase::WaitingForRegistrations;
            open && !season.players().iter().any(|player| player.profile.is_same(&profile))
        });
        // Whom the season will turn away need not be looked at.
        if !stranger.await? {
            return Ok(None);
        }
        let unfit = |reason| self.rejected(Rejection::new(RejectionReason::Endpoint, Method::RegisterPlayer, reason));
        Ok(inspector.inspect(endpoint).await.err().map(unfit))
    }

    pub(crate) fn rejected(&self, rejection: Rejection) -> RegisterResponse {
        let Rejection { reason, code, error } = rejection;
        RegisterResponse {
            status: RegistrationStatus::Rejected,
            player_id: None,
            referee_id: None,
            league_id: Some(self.league.clone()),
            reason: Some(reason),
            reason_code: Some(code),
            error_code: Some(SmolStr::new_static(error.as_str())),
            pass_scheme: None,
            warnings: Vec::new(),
        }
    }

    /// The answer to a registration, and the token for its envelope.
    fn registered(&self, registered: Registered, quirks: Quirks) -> (RegisterResponse, Option<Credential>) {
        let admitted = match registered {
            Registered::Rejected(rejection) => return (self.rejected(rejection), None),
            Registered::Admitted(admitted) => admitted,
        };
        let (player_id, referee_id) = match admitted.id {
            AgentId::Player(id) => (Some(id), None),
            AgentId::Referee(id) => (None, Some(id)),
        };
        let answer = RegisterResponse {
            status: RegistrationStatus::Accepted,
            player_id,
            referee_id,
            league_id: Some(self.league.clone()),
            reason: None,
            reason_code: None,
            error_code: None,
            pass_scheme: Some(SmolStr::new_static(PASS_SCHEME)),
            warnings: quirks.iter().map(|quirk| format!("{}: {}", quirk.what(), quirk.advice())).collect(),
        };
        (answer, Some(admitted.token.into()))
    }

    async fn report(&self, head: &ReceivedEnvelope, report: MatchResultReport) -> Result<MatchResultAck, RequestError> {
        const METHOD: Method = Method::ReportMatchResult;
        let (token, sender) = (head.token(METHOD)?.clone(), head.sender.as_good().cloned());
        let (acknowledgement, file) = self
            .desk
            .command_batched(move |season, now| {
                let (referee, odd_sender) = referee_behind(season, &token, sender.as_ref(), METHOD, now)?;
                let record = season.read_report(&report)?;
                let odd = odd_sender.into_iter().chain(season.odd_score(&report, record.outcome)).collect();
                let mut ruling = season.report(&referee, &report.match_id, report.attempt, record.clone(), now)?;
                let mut file = None;
                if ruling.reply == ReportOutcome::Now {
                    let agent = AgentId::Referee(referee.clone());
                    ruling.events.extend(season.learn_from(&report, &agent, odd, now));
                    file = explained(season, &referee, &report, &record, &mut ruling.events, now);
                }
                let acknowledgement = MatchResultAck {
                    status: SmolStr::new_static("ACCEPTED"),
                    round_id: report.match_id.parts().map(|(round, _)| round),
                    match_id: report.match_id,
                    duplicate: ruling.reply == ReportOutcome::Before,
                };
                Ok(CommandOutcome { events: ruling.events, reply: (acknowledgement, file) })
            })
            .await?;
        if let Some(file) = file {
            self.keep_match(file).await;
        }
        Ok(acknowledgement)
    }

    async fn query(&self, head: &ReceivedEnvelope, query: LeagueQuery) -> Result<LeagueQueryResponse, RequestError> {
        const METHOD: Method = Method::LeagueQuery;
        let (token, gate) = (head.token(METHOD)?.clone(), Arc::clone(&self.gate));
        let sender = head.sender.as_good().cloned();
        let asked = self.desk.read(move |season, now| {
            let asker = season.authenticate(&token, METHOD, now)?;
            gate.asks(&asker, METHOD)?;
            let odd = season.check_sender(&asker, sender.as_ref(), METHOD)?;
            let learned =
                LearnedDialect { quirks: odd.into_iter().collect(), shows_token: true, ..LearnedDialect::default() };
            let news = season.learn(&asker, &learned, now).map(|_| (asker.clone(), learned));
            Ok((season.query(&query, &asker)?, news))
        });
        let (answer, news) = asked.await??;
        if let Some((asker, learned)) = news {
            self.learn(asker, learned).await;
        }
        Ok(answer)
    }

    async fn assigned(&self, head: &ReceivedEnvelope) -> Result<AssignedMatches, RequestError> {
        const METHOD: Method = Method::GetAssignedMatches;
        let (token, gate) = (head.token(METHOD)?.clone(), Arc::clone(&self.gate));
        let sender = head.sender.as_good().cloned();
        self.desk
            .read(move |season, now| {
                let (referee, _) = referee_behind(season, &token, sender.as_ref(), METHOD, now)?;
                gate.asks(&AgentId::Referee(referee.clone()), METHOD)?;
                Ok(AssignedMatches { matches: season.assigned(&referee) })
            })
            .await?
    }

    async fn standings(&self) -> Result<StandingsAnswer, RequestError> {
        self.desk
            .read(|season, _| StandingsAnswer {
                league_id: season.config().league_id.clone(),
                current_round: season.round_number(),
                standings: season.standings(),
            })
            .await
    }

    async fn page(&self, asked: GetLeague) -> Result<LeaguePage, RequestError> {
        const METHOD: Method = Method::GetLeague;
        if asked.league_id.as_ref().is_some_and(|league| *league != self.league) {
            let message = format!("there is no such league here; this is {}", self.league);
            return Err(RequestError::new(ErrorCode::E008, METHOD, message).about("league_id"));
        }
        if asked.view != LeagueView::Match {
            return self.desk.read(move |season, _| page::of_season(season, &asked)).await;
        }
        let match_id = asked.match_id.ok_or_else(|| {
            RequestError::new(ErrorCode::E003, METHOD, "match_id is missing; send the match to show, like R1M1")
                .about("match_id")
        })?;
        let missing = || {
            let message = format!("there is no file of {match_id} here; get_league lists what was played (schedule)");
            RequestError::new(ErrorCode::E007, METHOD, message).about("match_id")
        };
        let home = self.settings.home.clone().ok_or_else(missing)?;
        let (league, wanted) = (self.league.clone(), match_id.clone());
        let read = tokio::task::spawn_blocking(move || kept(&home, &league, &wanted)).await;
        let text = read.ok().and_then(Result::ok).flatten().ok_or_else(missing)?;
        Ok(page::of_text(&text, asked.from))
    }

    async fn status(&self) -> Result<LeagueStatus, RequestError> {
        self.desk.read(|season, _| season.status()).await
    }
}

/// Puts what a report tells beside its result before the event of the result. Gives the match file, where the referee did not write it into
/// the manager's home.
fn explained(
    season: &Season,
    referee: &RefereeId,
    report: &MatchResultReport,
    record: &MatchRecord,
    events: &mut Vec<Event>,
    now: Timestamp,
) -> Option<MatchFile> {
    let counted = events.iter().find_map(|event| {
        if let Fact::MatchReported { attempt, .. } = &event.fact { Some((*attempt, event.at)) } else { None }
    });
    let (attempt, at) = counted?;
    let fact = season.explain(report, attempt, record);
    let account = match &fact {
        Some(Fact::MatchExplained { account, .. }) => Account::clone(account),
        Some(_) | None => Account::default(),
    };
    events.splice(0..0, fact.map(|fact| Event { at, fact }));
    if report.account.in_your_home {
        return None;
    }
    file_of(season, referee, (&report.match_id, attempt), record, account, now)
}

/// The referee whose token this is, and what is odd about the `sender` beside it.
pub(crate) fn referee_behind(
    season: &Season,
    token: &Credential,
    sender: Option<&Sender>,
    method: Method,
    now: Timestamp,
) -> Result<(RefereeId, Option<Quirk>), RequestError> {
    let owner = season.authenticate(token, method, now)?;
    let odd = season.check_sender(&owner, sender, method)?;
    match owner {
        AgentId::Referee(id) => Ok((id, odd)),
        AgentId::Player(id) => {
            let message = format!("{id} is a player; register as a referee first");
            Err(RequestError::new(ErrorCode::E013, method, message))
        }
    }
}

impl Agent for Manager {
    fn role(&self) -> Role {
        Role::Manager
    }

    fn strict(&self) -> bool {
        self.shared.strict
    }

    fn envelope(&self, echo: Option<ConversationId>) -> Envelope {
        let conversation = echo.unwrap_or_else(|| ConversationId::named("conv-manager"));
        envelope(conversation, self.shared.world.now(), None)
    }

    async fn call(&self, arrived: IncomingCall) -> Result<CallAnswer, RequestError> {
        let (whence, method) = (ClientNetwork::of(arrived.peer), arrived.call.method());
        let request = self.shared.request(&arrived);
        let answer = self.answer(arrived).await;
        if let (Some(request), Ok(answer)) = (&request, &answer) {
            self.shared.note_answered(request, answer);
        }
        answer.map_err(|fault| self.shared.gate.refused(fault, whence, method))
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
    async fn answer(&self, arrived: IncomingCall) -> Result<CallAnswer, RequestError> {
        let IncomingCall { call, head, quirks, frame, one_name, peer, .. } = arrived;
        let (shared, method) = (&self.shared, call.method());
        let mut envelope = Agent::envelope(self, head.conversation_id.as_good().cloned());
        let sender: Option<Sender> = head.sender.as_good().cloned();
        let random = shared.world.random();
        let manner = PeerDialect::of_registration(frame, &head, one_name.as_deref());
        if manner.wants_colon()
            && let Ok(sender) = COLON_SENDER.parse()
        {
            envelope.sender = sender;
        }
        match call {
            Call::RegisterPlayer(request) => {
                let (meta, key) = (&request.player_meta, request.join_key.as_ref());
                let needed = shared.settings.player_key.as_ref();
                if let Some(rejection) = shared.admissible(method, meta, key, needed, peer)? {
                    return CallAnswer::new(envelope, &rejection);
                }
                if let Some(rejection) = shared.inspected(&request.player_meta).await? {
                    return CallAnswer::new(envelope, &rejection);
                }
                let register = move |season: &Season, now| {
                    let ruling = season.register_player(&request, sender.as_ref(), &random, now)?;
                    Ok(season.note_form(ruling, manner, quirks, now))
                };
                let registered = shared.desk.command(register).await?;
                shared.tell_latecomer(&registered);
                let (answer, token) = shared.registered(registered, quirks);
                envelope.auth_token = token;
                CallAnswer::new(envelope, &answer)
            }
            Call::RegisterReferee(request) => {
                let (meta, key) = (&request.referee_meta, request.join_key.as_ref());
                let needed = shared.settings.referee_key.as_ref();
                if let Some(rejection) = shared.admissible(method, meta, key, needed, peer)? {
                    return CallAnswer::new(envelope, &rejection);
                }
                let register = move |season: &Season, now| {
                    let ruling = season.register_referee(&request, sender.as_ref(), &random, now)?;
                    Ok(season.note_form(ruling, manner, quirks, now))
                };
                let registered = shared.desk.command(register).await?;
                shared.tell_latecomer(&registered);
                let (answer, token) = shared.registered(registered, quirks);
                envelope.auth_token = token;
                CallAnswer::new(envelope, &answer)
            }
            Call::ReportMatchResult(report) => CallAnswer::new(envelope, &shared.report(&head, report).await?),
            Call::StoreTranscript(part) => CallAnswer::new(envelope, &shared.store_transcript(&head, part).await?),
            Call::LeagueQuery(query) => CallAnswer::new(envelope, &shared.query(&head, query).await?),
            Call::GetAssignedMatches(_) => CallAnswer::new(envelope, &shared.assigned(&head).await?),
            Call::GetStandings(_) => {
                shared.gate.wonders(ClientNetwork::of(peer), method)?;
                CallAnswer::new(envelope, &shared.standings().await?)
            }
            Call::GetLeague(asked) => {
                shared.gate.wonders(ClientNetwork::of(peer), method)?;
                if matches!(asked.view, LeagueView::Agents | LeagueView::Match) {
                    shared.check_operator(&head, peer, method)?;
                }
                CallAnswer::new(envelope, &shared.page(asked).await?)
            }
            Call::CreateSchedule(wanted) => {
                shared.check_operator(&head, peer, method)?;
                CallAnswer::new(envelope, &self.schedule(wanted).await?)
            }
            Call::StartLeague(_) => {
                shared.check_operator(&head, peer, method)?;
                shared.desk.command(|season, now| season.start(now)).await?;
                CallAnswer::new(envelope, &shared.status().await?)
            }
            Call::StopLeague(_) => {
                shared.check_operator(&head, peer, method)?;
                shared.desk.command(|season, now| season.stop(now)).await?;
                CallAnswer::new(envelope, &shared.status().await?)
            }
            Call::ReopenRegistration(_) => {
                shared.check_operator(&head, peer, method)?;
                shared.desk.command(|season, now| season.reopen(now)).await?;
                CallAnswer::new(envelope, &shared.status().await?)
            }
            Call::WithdrawPlayer(wanted) => {
                shared.check_operator(&head, peer, method)?;
                self.withdraw(wanted.player_id).await?;
                CallAnswer::new(envelope, &shared.status().await?)
            }
            Call::Ping(nothing) => CallAnswer::new(envelope, &nothing),
            Call::StartMatch(_)
            | Call::CollectChoices(_)
            | Call::DrawNumber(_)
            | Call::FinalizeMatch(_)
            | Call::GetMatchState(_)
            | Call::RegisterToLeague(_)
            | Call::NotifyRound(_)
            | Call::GameInvitation(_)
            | Call::ChooseParity(_)
            | Call::MakeMove(_)
            | Call::NotifyMatchResult(_)
            | Call::NotifyGameError(_)
            | Call::PostJoin(_)
            | Call::PostChoice(_)
            | Call::UpdateStandings(_)
            | Call::NotifyRoundCompleted(_)
            | Call::NotifyLeagueCompleted(_)
            | Call::NotifyLeagueError(_)
            | Call::Shutdown(_)
            | Call::GetPlayerState(_) => {
                // The server lets only the calls for a manager through; the compiler does not know that.
                Err(RequestError::new(ErrorCode::E010, method, "a manager does not answer this"))
            }
        }
    }
}
