//! A foreign referee: it learns of its matches in one way only, and calls every agent in its own frame.

mod game;

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::agent_server::{self, AgentRequest, HttpHandler, HttpResponse};
use crate::client::TestClient;
use crate::frame::Frame;
use crate::http_server::{HttpServer, ReservedPort};
use crate::message::{envelope, text, with};
use crate::names::Names;
use crate::request_log::RequestLog;
use game::Game;

const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(100);

/// How a referee learns of its matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    Call,
    CallNamed(&'static str),
    /// ROUND_ANNOUNCEMENT with the endpoints; it does not know START_MATCH.
    Announcements,
    /// `get_assigned_matches` at this interval; it does not know START_MATCH.
    Polling(Duration),
    /// START_MATCH, of which it reads only the ids; it asks for endpoints with GET_PLAYER_DIRECTORY.
    Directory,
}

#[derive(Clone, Debug)]
pub struct Plan {
    name: String,
    frame: Frame,
    work: Work,
    claims_passes: bool,
    teaches: Option<Value>,
}

impl Plan {
    /// The default is `Work::Call`.
    pub fn new(name: &str, frame: Frame) -> Self {
        Self { name: name.to_owned(), frame, work: Work::Call, claims_passes: false, teaches: None }
    }

    pub fn works(self, work: Work) -> Self {
        Self { work, ..self }
    }

    /// Registers with a claim to show the passes that it gets.
    pub fn claims_passes(self) -> Self {
        Self { claims_passes: true, ..self }
    }

    /// Reports this dialect for both players of each match.
    pub fn teaches(self, dialect: Value) -> Self {
        Self { teaches: Some(dialect), ..self }
    }

    fn names(&self) -> Names {
        let notices = ["ROUND_ANNOUNCEMENT", "LEAGUE_COMPLETED", "SHUTDOWN_COMMAND"];
        let all = [&notices[..], &["START_MATCH"]].concat();
        match self.work {
            Work::Call | Work::Directory => Names::usual_for(&all),
            Work::CallNamed(name) => Names::usual_for(&all).named("START_MATCH", name),
            Work::Announcements | Work::Polling(_) => Names::usual_for(&notices),
        }
    }

    pub fn serve(self) -> io::Result<Referee> {
        let place = ReservedPort::free()?;
        let shared = Arc::new(Shared {
            endpoint: format!("http://{}/mcp", place.address),
            names: self.names(),
            client: TestClient::new(self.frame),
            plan: self,
            log: RequestLog::default(),
            state: Mutex::default(),
            tasks: Mutex::default(),
        });
        let server = agent_server::open(place, Duration::ZERO, Arc::new(Handler(Arc::clone(&shared))))?;
        Ok(Referee { shared, _server: server })
    }

    pub async fn join(self, manager: &str) -> io::Result<Referee> {
        let referee = self.serve()?;
        referee.register(manager).await?;
        Ok(referee)
    }
}

#[derive(Debug)]
pub struct Referee {
    shared: Arc<Shared>,
    _server: HttpServer,
}

impl Drop for Referee {
    fn drop(&mut self) {
        self.shared.tasks().abort_all();
    }
}

impl Referee {
    pub async fn register(&self, manager: &str) -> io::Result<Value> {
        let Shared { plan, client, endpoint, .. } = &*self.shared;
        let meta = json!({"display_name": plan.name, "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": endpoint, "max_concurrent_matches": 2});
        let letter = envelope("REFEREE_REGISTER_REQUEST", &format!("referee:{}", plan.name), "conv-ref-reg");
        let meta = if plan.claims_passes { with(meta, json!({"pass_scheme": "hmac-sha256"})) } else { meta };
        let letter = with(letter, json!({ "referee_meta": meta }));
        let mut reply = client.call(manager, "REFEREE_REGISTER_REQUEST", &letter).await;
        for _ in 0..TRIES {
            if reply.is_ok() {
                break;
            }
            tokio::time::sleep(PAUSE).await;
            reply = client.call(manager, "REFEREE_REGISTER_REQUEST", &letter).await;
        }
        let reply = reply.map_err(io::Error::other)?;
        if text(&reply, "referee_id").is_empty() {
            return Err(io::Error::other(format!("not registered: {reply}")));
        }
        {
            let mut state = self.shared.state();
            manager.clone_into(&mut state.manager);
            state.admitted = reply.clone();
        }
        if let Work::Polling(pause) = plan.work {
            let shared = Arc::clone(&self.shared);
            self.shared.tasks().spawn(async move { shared.poll(pause).await });
        }
        Ok(reply)
    }

    /// The credentials that its peers put into their answers.
    pub fn shown_credentials(&self) -> Vec<String> {
        self.shared.client.shown()
    }

    pub fn reports(&self) -> Vec<(Value, Result<Value, String>)> {
        self.shared.state().reports.clone()
    }
}

#[derive(Debug, Default)]
struct State {
    manager: String,
    admitted: Value,
    begun: HashSet<String>,
    reports: Vec<(Value, Result<Value, String>)>,
}

impl State {
    fn id(&self) -> String {
        text(&self.admitted, "referee_id").to_owned()
    }
}

#[derive(Debug)]
struct Shared {
    plan: Plan,
    names: Names,
    client: TestClient,
    endpoint: String,
    log: RequestLog,
    state: Mutex<State>,
    tasks: Mutex<JoinSet<()>>,
}

/// Shared, because matches outlive the request that began them.
#[derive(Debug)]
struct Handler(Arc<Shared>);

impl HttpHandler for Handler {
    fn log(&self) -> &RequestLog {
        &self.0.log
    }

    async fn answer(&self, request: AgentRequest) -> HttpResponse {
        let shared = &self.0;
        let (frame, body) = (shared.plan.frame, &request.body);
        let call = match frame.read(body, &shared.names) {
            Ok(call) => call,
            Err(refusal) => {
                let (status, answer) = frame.refuse(&body.get("id").cloned().unwrap_or_default(), &refusal);
                return HttpResponse::json(status, &answer).refusing(refusal.text);
            }
        };
        let (kind, message) = (call.kind.as_str(), &call.message);
        let games: Vec<Game> = match (kind, shared.plan.work) {
            ("START_MATCH", _) => Game::read(message, message).into_iter().collect(),
            ("ROUND_ANNOUNCEMENT", Work::Announcements) => shared.own(message),
            _ => Vec::new(),
        };
        let accepted = kind != "START_MATCH" || !games.is_empty();
        for game in games {
            shared.begin(game);
        }
        let status = if kind == "START_MATCH" { "ACCEPTED" } else { "ok" };
        let status = if accepted { status } else { "REFUSED" };
        let answer = json!({"status": status, "match_id": message.get("match_id")});
        HttpResponse::json(200, &frame.answer(&call.id, &answer)).about(kind, message)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn own(&self, message: &Value) -> Vec<Game> {
        let id = self.state().id();
        let all = message.get("matches").and_then(Value::as_array);
        let own = all
            .into_iter()
            .flatten()
            .filter(|entry| text(entry, "referee_endpoint") == self.endpoint || text(entry, "referee_id") == id);
        own.filter_map(|entry| Game::read(entry, message)).collect()
    }

    /// Begins each match only once.
    fn begin(self: &Arc<Self>, game: Game) {
        if self.state().begun.insert(game.name.clone()) {
            let shared = Arc::clone(self);
            self.tasks().spawn(async move { shared.run(game).await });
        }
    }

    async fn run(&self, mut game: Game) {
        let (manager, id, token, league) = {
            let state = self.state();
            let said = |field: &str| text(&state.admitted, field).to_owned();
            (state.manager.clone(), state.id(), said("auth_token"), said("league_id"))
        };
        if game.league.is_empty() {
            game.league = league;
        }
        if self.plan.work == Work::Directory {
            self.look_up(&mut game, &manager, &id, &token).await;
        }
        let mut report = game.play(&self.client, &id, &token).await;
        if let Some(dialect) = &self.plan.teaches {
            let lesson = json!({ "manner": dialect });
            let learned = json!({(&game.players[0].0): lesson, (&game.players[1].0): lesson});
            report = with(report, json!({ "learned": learned }));
        }
        let answer = self.client.call(&manager, "MATCH_RESULT_REPORT", &report).await;
        self.state().reports.push((report, answer));
    }

    async fn look_up(&self, game: &mut Game, manager: &str, id: &str, token: &str) {
        let query = with(
            envelope("LEAGUE_QUERY", &format!("referee:{id}"), "conv-directory"),
            json!({"auth_token": token, "league_id": game.league, "query_type": "GET_PLAYER_DIRECTORY"}),
        );
        let found = self.client.call(manager, "LEAGUE_QUERY", &query).await.unwrap_or_default();
        let rows = found.pointer("/data/players").and_then(Value::as_array);
        for (player, endpoint) in &mut game.players {
            let row = rows.into_iter().flatten().find(|row| text(row, "player_id") == player);
            *endpoint = row.map_or("", |row| text(row, "endpoint")).to_owned();
        }
    }

    async fn poll(self: Arc<Self>, pause: Duration) {
        let (manager, id, token) = {
            let state = self.state();
            (state.manager.clone(), state.id(), text(&state.admitted, "auth_token").to_owned())
        };
        while self.log.of("LEAGUE_COMPLETED").is_empty() {
            // This tool has no message; some dialects send one with every call.
            let question = envelope("GET_ASSIGNED_MATCHES", &format!("referee:{id}"), "conv-poll");
            let question = with(question, json!({ "auth_token": token }));
            if let Ok(answer) = self.client.call(&manager, "GET_ASSIGNED_MATCHES", &question).await {
                for game in self.own(&answer) {
                    self.begin(game);
                }
            }
            tokio::time::sleep(pause).await;
        }
    }
}
