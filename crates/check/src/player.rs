//! The check of a player, which needs only its URL.
//!
//! First a normal match. Then the independent checks, concurrently. Then requests that might harm the player, one by
//! one, each followed by an invitation that shows whether it still plays. Last the end of the league, after which some
//! players exit.

mod bounds;
mod envelope;
mod first_match;
mod http_requests;
mod mcp;
mod notices;
mod rpc;

use std::time::Duration;

use http::StatusCode;
use league_protocol::answer::{Interpretation, JoinAnswer, MoveAnswer, ParsedAnswer};
use league_protocol::dialect::PeerDialect;
use league_protocol::frame::Frame;
use league_protocol::id::MatchId;
use league_protocol::problem::QuestionKind;
use league_protocol::sender::Role;
use league_protocol::side::Side;
use league_protocol::table::{Call, LimitKind, Method};
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use tokio::time::{Instant, sleep};

use crate::agent_client::AgentClient;
use crate::check_log::{CheckLog, Judgement};
use crate::discovery::{self, Reached};
use crate::messages::{TestLeague, TestMessage};
use crate::options::CheckOptions;
use crate::posts::Posts;
use crate::report::CheckReport;
use crate::response::{Response, ResponseBody};
use crate::rule::Rule;
use crate::rules::player as rules;

pub(crate) struct PlayerCheck<'a> {
    client: &'a AgentClient,
    dialect: &'a PeerDialect,
    posts: &'a Posts,
    league: &'a TestLeague,
    log: &'a CheckLog,
    options: &'a CheckOptions,
}

struct ReachedPlayer {
    client: AgentClient,
    dialect: PeerDialect,
    joined: Response,
    chose: Option<Response>,
}

/// How long a player that acknowledged an invitation may take to post its answer.
const POSTED: Duration = Duration::from_secs(1);

/// The first pause after a player limited the rate; it doubles.
const BACK_OFF: Duration = Duration::from_millis(100);

const MATCHES: u32 = 99;

pub async fn player(endpoint: &Endpoint, options: &CheckOptions) -> CheckReport {
    let (client, log) = (AgentClient::to(endpoint.clone()), CheckLog::default());
    let league = TestLeague::new(&Environment::real(), &options.game);
    let mut report = CheckReport::new(Role::Player, endpoint, options.set);
    let mut posts = Posts::default();
    let unreached = match reach(&client, &league, &log, options, &mut posts).await {
        Ok(reached) => {
            let ReachedPlayer { client, dialect, joined, chose } = &reached;
            report.form = Some(format!("frame {dialect}"));
            let check = PlayerCheck { client, dialect, posts: &posts, league: &league, log: &log, options };
            match check.run(joined, chose.as_ref()).await {
                Ok(()) => {
                    report.complete = true;
                    "it did not come to that"
                }
                Err(why) => {
                    report.notes.push(format!("Most of the checks need a player that plays, and {why}."));
                    why
                }
            }
        }
        Err(note) => {
            report.notes.push(note);
            "the player could not be checked"
        }
    };
    report.findings = log.close(options.set.for_role(Role::Player), unreached);
    report
}

/// Finds the dialect in which the player joins a match and chooses; fails with advice for its author.
async fn reach(
    client: &AgentClient,
    league: &TestLeague,
    log: &CheckLog,
    options: &CheckOptions,
    posts: &mut Posts,
) -> Result<ReachedPlayer, String> {
    let (limit, match_id) = (options.wait(LimitKind::Join), league.match_id(1));
    options.show_progress("GAME_INVITATION");
    let answers = |answer: &ResponseBody| {
        matches!(joined(&answer.body, &match_id), Some(JoinAnswer::Joined { .. } | JoinAnswer::Declined))
    };
    let question = league.join_question(&match_id);
    match discovery::search(client, &question, None, limit, answers).await {
        Reached::Understood(dialect, response) => {
            log.judge(&rules::REACHABLE, &response, Ok(()));
            let client = client_at_path(client, &dialect);
            Ok(choose(client, dialect, response, league, options).await)
        }
        Reached::NotListening(response, note) => {
            log.judge(&rules::REACHABLE, &response, Err(response.result_text()));
            Err(note)
        }
        Reached::Guarded(response, note) => {
            log.judge(&rules::REACHABLE, &response, Ok(()));
            log.judge(&rules::JOINS, &response, Err(note.clone()));
            Err(note)
        }
        Reached::Stranger(tries) => {
            let response = discovery::most_specific(tries, QuestionKind::Join, &match_id);
            log.judge(&rules::REACHABLE, &response, Ok(()));
            if let Some(reached) = find_posting_player(client, league, options, posts).await {
                return Ok(reached);
            }
            let problem = response.problem(QuestionKind::Join, &match_id);
            let note = discovery::stranger(client, &response, problem.as_ref());
            log.explain(
                &rules::JOINS,
                &response,
                problem.map_or_else(|| Err(note.clone().into()), |problem| Err(problem.into())),
            );
            Err(note)
        }
        Reached::Slow(response) => {
            log.judge(&rules::REACHABLE, &response, Ok(()));
            let note = format!("the invitation was not answered within {limit:?}");
            log.judge(&rules::JOIN_TIME, &response, Err(note.clone()));
            Err(note)
        }
    }
}

fn client_at_path(client: &AgentClient, dialect: &PeerDialect) -> AgentClient {
    if dialect.is_at_root() && client.endpoint.is_pathless() {
        client.at(client.endpoint.at("/"))
    } else {
        client.clone()
    }
}

async fn choose(
    client: AgentClient,
    mut dialect: PeerDialect,
    response: Response,
    league: &TestLeague,
    options: &CheckOptions,
) -> ReachedPlayer {
    let (limit, match_id) = (options.wait(LimitKind::Move), league.match_id(1));
    if !matches!(joined(response.body(), &match_id), Some(JoinAnswer::Joined { .. })) {
        return ReachedPlayer { client, dialect, joined: response, chose: None };
    }
    let question = league.move_question(&match_id, limit);
    options.show_progress(question.call.method().row().message.unwrap_or_default());
    let answers = |answer: &ResponseBody| {
        let parsed = ParsedAnswer::parse(&answer.body).map(|layers| league.read_move(&layers, &match_id).answer);
        matches!(parsed, Ok(MoveAnswer::Move(_) | MoveAnswer::Invalid(_)))
    };
    let chose = match discovery::search(&client, &question, Some(&dialect), limit, answers).await {
        Reached::Understood(learned, chose) => {
            dialect = learned;
            chose
        }
        Reached::Stranger(tries) => discovery::most_specific(tries, league.kind(), &match_id),
        Reached::NotListening(chose, _) | Reached::Guarded(chose, _) | Reached::Slow(chose) => chose,
    };
    ReachedPlayer { client, dialect, joined: response, chose: Some(chose) }
}

/// Finds a player that acknowledges calls and posts its answers: announces the address for posts, and asks again in
/// each frame.
async fn find_posting_player(
    client: &AgentClient,
    league: &TestLeague,
    options: &CheckOptions,
    posts: &mut Posts,
) -> Option<ReachedPlayer> {
    let referee = posts.open(options, &client.endpoint).await.ok()?;
    let match_id = league.match_id(1);
    let limit = options.wait(LimitKind::Join).min(POSTED);
    let round =
        league.manager_message(&Call::NotifyRound(notices::announcement(league, 1..=MATCHES, referee.as_str())));
    for frame in [Frame::Direct, Frame::Typed, Frame::Bare, Frame::Nested, Frame::Tool] {
        let dialect = PeerDialect::from(frame).posting();
        let announced = client.send(&dialect, &round, options.wait(LimitKind::Generic)).await;
        if announced.error().is_some() {
            continue;
        }
        let waiting = posts.waiting(&match_id, Method::GameInvitation);
        let response = client.send(&dialect, &league.invitation(&match_id, Side::A), limit).await;
        let response = waiting.or(response, &dialect, limit).await;
        if matches!(joined(response.body(), &match_id), Some(JoinAnswer::Joined { .. })) {
            return Some(ReachedPlayer { client: client.clone(), dialect, joined: response, chose: None });
        }
    }
    None
}

fn joined(body: &[u8], match_id: &MatchId) -> Option<JoinAnswer> {
    Some(ParsedAnswer::parse(body).ok()?.join(match_id).answer)
}

impl PlayerCheck<'_> {
    async fn run(&self, joined: &Response, chose: Option<&Response>) -> Result<(), &'static str> {
        self.first_match(joined, chose).await?;
        tokio::join!(
            self.parallel(),
            self.sides_and_games(),
            self.requests(),
            self.envelopes(),
            self.mcp(),
            self.http_requests(),
            self.state(),
        );
        self.idle_neighbour().await;
        if self.notices().await.is_ok() && self.bounds().await.is_ok() && self.options.to_the_end {
            self.the_end().await;
        }
        Ok(())
    }

    fn join_limit(&self) -> Duration {
        self.options.wait(LimitKind::Join)
    }

    fn move_limit(&self) -> Duration {
        self.options.wait(LimitKind::Move)
    }

    /// Waits for an answer, direct or posted. After a rate limit it calls again within the same `limit`.
    async fn send(&self, message: &TestMessage, limit: Duration) -> Response {
        self.options.show_progress(message.method.row().name);
        let (began, mut pause) = (Instant::now(), BACK_OFF);
        let response = loop {
            let left = limit.saturating_sub(began.elapsed());
            let response = self.answered(message, left).await;
            let limited = response.status() == Some(StatusCode::TOO_MANY_REQUESTS)
                || response.error().is_some_and(|error| error.is_rate_limit());
            if !limited || left <= pause {
                break response;
            }
            sleep(pause).await;
            pause *= 2;
        };
        if matches!(response.result, Err(crate::response::NoResponse::TooLong)) {
            self.log.judge(&rules::SHORT_ANSWERS, &response, Err(response.result_text()));
        }
        response
    }

    async fn answered(&self, message: &TestMessage, limit: Duration) -> Response {
        let about = message.fields.get("match_id").and_then(|id| id.as_str()?.parse().ok());
        let question = matches!(message.method, Method::GameInvitation | Method::ChooseParity | Method::MakeMove);
        let Some(match_id) = about.filter(|_| question) else {
            return self.client.send(self.dialect, message, limit).await;
        };
        let waiting = self.posts.waiting(&match_id, message.method);
        let response = self.client.send(self.dialect, message, limit).await;
        waiting.or(response, self.dialect, limit).await
    }

    async fn invite(&self, number: u32) -> (MatchId, Response) {
        let match_id = self.league.match_id(number);
        let message = self.league.invitation(&match_id, Side::A);
        (match_id, self.send(&message, self.join_limit()).await)
    }

    async fn ask(&self, match_id: &MatchId) -> Response {
        let limit = self.move_limit();
        self.send(&self.league.move_message(match_id, limit), limit).await
    }

    fn choice(&self, response: &Response, match_id: &MatchId) -> Result<Interpretation<MoveAnswer>, String> {
        if let Err(error) = &response.result {
            return Err(error.to_string());
        }
        let parsed = ParsedAnswer::parse(response.body()).map_err(|error| error.to_string())?;
        Ok(self.league.read_move(&parsed, match_id))
    }

    fn chosen(&self, response: &Response, match_id: &MatchId) -> Result<String, String> {
        match self.choice(response, match_id)?.answer {
            MoveAnswer::Move(text) => Ok(text.to_string()),
            MoveAnswer::Invalid(text) => Err(format!("{text:?} is no choice")),
            MoveAnswer::Error(error) => Err(format!("it answers with an error: {}", error.words)),
            MoveAnswer::Nothing => Err(String::from("there is no choice in the answer")),
        }
    }

    /// An error ends the check: further rules would only fail again.
    async fn still_plays(&self, rule: &'static Rule, number: u32, response: &Response) -> Result<(), StoppedPlaying> {
        let (match_id, next) = self.invite(number).await;
        let alive = joins(&next, &match_id);
        let plays = if alive.is_ok() { Ok(()) } else { Err(StoppedPlaying) };
        let judgement = alive.map_err(|why| format!("after this the player no longer joins a match: {why}"));
        self.log.judge(rule, response, judgement);
        plays
    }
}

struct StoppedPlaying;

fn joins(response: &Response, match_id: &MatchId) -> Judgement {
    if let Err(error) = &response.result {
        return Err(error.to_string());
    }
    match joined(response.body(), match_id) {
        Some(JoinAnswer::Joined { .. }) => Ok(()),
        Some(JoinAnswer::Declined) => Err(String::from("it declines")),
        Some(JoinAnswer::Error(error)) => Err(format!("it answers with an error: {}", error.words)),
        Some(JoinAnswer::Nothing) => Err(String::from("there is no join in the answer")),
        None => Err(String::from("the answer is not a JSON object")),
    }
}
