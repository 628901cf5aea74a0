//! The check of a player, which needs only its URL.
//!
//! First a normal match. Then the independent checks, concurrently. Then requests that might harm the player, one by
//! one, each followed by an invitation that shows whether it still plays. Last the end of the league, after which some
//! players exit.

mod bounds;
mod doors;
mod envelope;
mod first;
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
use crate::dialect::CheckDialect;
use crate::discovery::{self, Reached};
use crate::messages::{TestLeague, TestMessage};
use crate::options::CheckOptions;
use crate::posts::Posts;
use crate::report::CheckReport;
use crate::response::{Response, ResponseBody};
use crate::rule::Rule;
use crate::rules::player as rules;

pub(crate) struct Exam<'a> {
    line: &'a AgentClient,
    voice: &'a CheckDialect,
    posts: &'a Posts,
    test_league: &'a TestLeague,
    book: &'a CheckLog,
    options: &'a CheckOptions,
}

struct Met {
    line: AgentClient,
    voice: CheckDialect,
    joined: Response,
    chose: Option<Response>,
}

/// How long a player that acknowledged an invitation may take to post its answer.
const POSTED: Duration = Duration::from_secs(1);

/// The first pause after a player limited the rate; it doubles.
const BACK_OFF: Duration = Duration::from_millis(100);

const MATCHES: u32 = 99;

pub async fn player(endpoint: &Endpoint, options: &CheckOptions) -> CheckReport {
    let (line, book) = (AgentClient::to(endpoint.clone()), CheckLog::default());
    let test_league = TestLeague::new(&Environment::real(), &options.game);
    let mut report = CheckReport {
        set: options.set.name,
        endpoint: endpoint.to_string(),
        role: Role::Player,
        role_because: String::from("as you say"),
        form: None,
        notes: Vec::new(),
        complete: false,
        findings: Vec::new(),
        stale: Vec::new(),
    };
    let mut posts = Posts::default();
    let unreached = match reach(&line, &test_league, &book, options, &mut posts).await {
        Ok(met) => {
            let Met { line, voice, joined, chose } = &met;
            report.form = Some(voice.to_string());
            let exam = Exam { line, voice, posts: &posts, test_league: &test_league, book: &book, options };
            match exam.run(joined, chose.as_ref()).await {
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
    report.findings = book.close(options.set.for_role(Role::Player), unreached);
    report
}

/// Finds the dialect in which the player joins a match and chooses; fails with advice for its author.
async fn reach(
    line: &AgentClient,
    test_league: &TestLeague,
    book: &CheckLog,
    options: &CheckOptions,
    posts: &mut Posts,
) -> Result<Met, String> {
    let (limit, match_id) = (options.wait(LimitKind::Join), test_league.match_no(1));
    options.tell("GAME_INVITATION");
    let answers = |came: &ResponseBody| {
        matches!(joined(&came.body, &match_id), Some(JoinAnswer::Joined { .. } | JoinAnswer::Declined))
    };
    let asked = test_league.asked_to_join(&match_id);
    match discovery::search(line, &asked, None, limit, answers).await {
        Reached::Understood(voice, heard) => {
            book.judge(&rules::REACHABLE, &heard, Ok(()));
            let line = at_its_path(line, &voice);
            Ok(choose(line, voice, heard, test_league, options).await)
        }
        Reached::NotListening(heard, note) => {
            book.judge(&rules::REACHABLE, &heard, Err(heard.came_text()));
            Err(note)
        }
        Reached::Guarded(heard, note) => {
            book.judge(&rules::REACHABLE, &heard, Ok(()));
            book.judge(&rules::JOINS, &heard, Err(note.clone()));
            Err(note)
        }
        Reached::Stranger(tries) => {
            let heard = discovery::most_specific(tries, QuestionKind::Join, &match_id);
            book.judge(&rules::REACHABLE, &heard, Ok(()));
            if let Some(met) = by_posts(line, test_league, options, posts).await {
                return Ok(met);
            }
            let problem = heard.problem(QuestionKind::Join, &match_id);
            let note = discovery::stranger(line, &heard, problem.as_ref());
            book.explain(
                &rules::JOINS,
                &heard,
                problem.map_or_else(|| Err(note.clone().into()), |problem| Err(problem.into())),
            );
            Err(note)
        }
        Reached::Slow(heard) => {
            book.judge(&rules::REACHABLE, &heard, Ok(()));
            let note = format!("the invitation was not answered within {limit:?}");
            book.judge(&rules::JOIN_TIME, &heard, Err(note.clone()));
            Err(note)
        }
    }
}

fn at_its_path(line: &AgentClient, voice: &CheckDialect) -> AgentClient {
    if voice.dialect.is_at_root() && line.endpoint.is_pathless() {
        line.at(line.endpoint.at("/"))
    } else {
        line.clone()
    }
}

async fn choose(
    line: AgentClient,
    mut voice: CheckDialect,
    heard: Response,
    test_league: &TestLeague,
    options: &CheckOptions,
) -> Met {
    let (limit, match_id) = (options.wait(LimitKind::Move), test_league.match_no(1));
    if !matches!(joined(heard.body(), &match_id), Some(JoinAnswer::Joined { .. })) {
        return Met { line, voice, joined: heard, chose: None };
    }
    let asked = test_league.asked_to_choose(&match_id, limit);
    options.tell(asked.call.method().row().message.unwrap_or_default());
    let answers = |came: &ResponseBody| {
        let said = ParsedAnswer::parse(&came.body).map(|layers| test_league.read_move(&layers, &match_id).answer);
        matches!(said, Ok(MoveAnswer::Move(_) | MoveAnswer::Invalid(_)))
    };
    let chose = match discovery::search(&line, &asked, Some(&voice.dialect), limit, answers).await {
        Reached::Understood(learned, chose) => {
            voice = learned;
            chose
        }
        Reached::Stranger(tries) => discovery::most_specific(tries, test_league.kind(), &match_id),
        Reached::NotListening(chose, _) | Reached::Guarded(chose, _) | Reached::Slow(chose) => chose,
    };
    Met { line, voice, joined: heard, chose: Some(chose) }
}

/// Finds a player that acknowledges calls and posts its answers: announces the address for posts, and asks again in
/// each frame.
async fn by_posts(
    line: &AgentClient,
    test_league: &TestLeague,
    options: &CheckOptions,
    posts: &mut Posts,
) -> Option<Met> {
    let referee = posts.open(options, &line.endpoint).await.ok()?;
    let match_id = test_league.match_no(1);
    let limit = options.wait(LimitKind::Join).min(POSTED);
    let round =
        test_league.notice(&Call::NotifyRound(notices::announcement(test_league, 1..=MATCHES, referee.as_str())));
    for frame in [Frame::Direct, Frame::Typed, Frame::Bare, Frame::Nested, Frame::Tool] {
        let voice = CheckDialect::from(PeerDialect::from(frame).posting());
        let told = voice.say(line, &round, options.wait(LimitKind::Generic)).await;
        if told.error().is_some() {
            continue;
        }
        let waiting = posts.waiting(&match_id, Method::GameInvitation);
        let heard = voice.say(line, &test_league.invitation(&match_id, Side::A), limit).await;
        let heard = waiting.or(heard, &voice, limit).await;
        if matches!(joined(heard.body(), &match_id), Some(JoinAnswer::Joined { .. })) {
            return Some(Met { line: line.clone(), voice, joined: heard, chose: None });
        }
    }
    None
}

fn joined(body: &[u8], match_id: &MatchId) -> Option<JoinAnswer> {
    Some(ParsedAnswer::parse(body).ok()?.join(match_id).answer)
}

impl Exam<'_> {
    async fn run(&self, joined: &Response, chose: Option<&Response>) -> Result<(), &'static str> {
        self.first_match(joined, chose).await?;
        tokio::join!(
            self.parallel(),
            self.sides_and_games(),
            self.requests(),
            self.envelopes(),
            self.mcp(),
            self.doors(),
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
    async fn say(&self, letter: &TestMessage, limit: Duration) -> Response {
        self.options.tell(letter.method.row().name);
        let (began, mut pause) = (Instant::now(), BACK_OFF);
        let heard = loop {
            let left = limit.saturating_sub(began.elapsed());
            let heard = self.answered(letter, left).await;
            let limited = heard.status() == Some(StatusCode::TOO_MANY_REQUESTS)
                || heard.error().is_some_and(|error| error.is_rate_limit());
            if !limited || left <= pause {
                break heard;
            }
            sleep(pause).await;
            pause *= 2;
        };
        if matches!(heard.came, Err(crate::response::NoResponse::TooLong)) {
            self.book.judge(&rules::SHORT_ANSWERS, &heard, Err(heard.came_text()));
        }
        heard
    }

    async fn answered(&self, letter: &TestMessage, limit: Duration) -> Response {
        let about = letter.message.get("match_id").and_then(|id| id.as_str()?.parse().ok());
        let question = matches!(letter.method, Method::GameInvitation | Method::ChooseParity | Method::MakeMove);
        let Some(match_id) = about.filter(|_| question) else { return self.voice.say(self.line, letter, limit).await };
        let waiting = self.posts.waiting(&match_id, letter.method);
        let heard = self.voice.say(self.line, letter, limit).await;
        waiting.or(heard, self.voice, limit).await
    }

    async fn invite(&self, number: u32) -> (MatchId, Response) {
        let match_id = self.test_league.match_no(number);
        let letter = self.test_league.invitation(&match_id, Side::A);
        (match_id, self.say(&letter, self.join_limit()).await)
    }

    async fn ask(&self, match_id: &MatchId) -> Response {
        let limit = self.move_limit();
        self.say(&self.test_league.call(match_id, limit), limit).await
    }

    fn choice(&self, heard: &Response, match_id: &MatchId) -> Result<Interpretation<MoveAnswer>, String> {
        if let Err(silence) = &heard.came {
            return Err(silence.to_string());
        }
        let parsed = ParsedAnswer::parse(heard.body()).map_err(|error| error.to_string())?;
        Ok(self.test_league.read_move(&parsed, match_id))
    }

    fn chosen(&self, heard: &Response, match_id: &MatchId) -> Result<String, String> {
        match self.choice(heard, match_id)?.answer {
            MoveAnswer::Move(text) => Ok(text.to_string()),
            MoveAnswer::Invalid(text) => Err(format!("{text:?} is no choice")),
            MoveAnswer::Error(error) => Err(format!("it answers with an error: {}", error.words)),
            MoveAnswer::Nothing => Err(String::from("there is no choice in the answer")),
        }
    }

    /// An error ends the check: further rules would only fail again.
    async fn still_plays(&self, rule: &'static Rule, number: u32, heard: &Response) -> Result<(), Gone> {
        let (match_id, next) = self.invite(number).await;
        let alive = joins(&next, &match_id);
        let plays = if alive.is_ok() { Ok(()) } else { Err(Gone) };
        let judgement = alive.map_err(|why| format!("after this the player no longer joins a match: {why}"));
        self.book.judge(rule, heard, judgement);
        plays
    }
}

struct Gone;

fn joins(heard: &Response, match_id: &MatchId) -> Judgement {
    if let Err(silence) = &heard.came {
        return Err(silence.to_string());
    }
    match joined(heard.body(), match_id) {
        Some(JoinAnswer::Joined { .. }) => Ok(()),
        Some(JoinAnswer::Declined) => Err(String::from("it declines")),
        Some(JoinAnswer::Error(error)) => Err(format!("it answers with an error: {}", error.words)),
        Some(JoinAnswer::Nothing) => Err(String::from("there is no join in the answer")),
        None => Err(String::from("the answer is not a JSON object")),
    }
}
