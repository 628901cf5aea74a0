//! A foreign manager: it understands registrations only in its own form, and calls every agent in that form.

mod table;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::agent_server::{self, AgentRequest, HttpHandler, HttpResponse};
use crate::client::TestClient;
use crate::frame::{Frame, FramedCall};
use crate::http_server::{HttpServer, ReservedPort};
use crate::mcp::{self, McpAgent};
use crate::message::{envelope, text, with, without};
use crate::names::Names;
use crate::request_log::RequestLog;

const LEAGUE: &str = "league_of_others";

const ROUND: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub struct Plan {
    frame: Frame,
    entrance: Entrance,
    players: usize,
    complains: Complaint,
    orders: Orders,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entrance {
    Frame,
    /// Flat fields posted to `/register` or `/register_referee`; everything else is in the manager's frame.
    Register,
    /// A tool of a stock MCP server with sessions, whose answers are events.
    Session,
    /// The manager understands no registration.
    Closed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Complaint {
    Usual,
    /// Status 200, `"status": "ERROR"` and a text.
    Status,
    /// A LEAGUE_ERROR without a required field.
    Code,
    /// An error with a private number and the name of an exception.
    Exception,
    /// No answer: the handler throws, and the connection is closed.
    HangsUp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Orders {
    Full,
    /// START_MATCH with only ids and endpoints, as in S1.
    Ids,
    /// Only the announcement, which has the endpoints.
    None,
    /// Only the announcement, which lists all agents.
    NoneButAgents,
    /// Only the announcement; the manager answers queries for endpoints.
    NoneButDirectory,
}

impl Plan {
    /// Begins when `players` players and one referee are registered.
    pub fn new(frame: Frame, players: usize) -> Self {
        Self { frame, entrance: Entrance::Frame, players, complains: Complaint::Usual, orders: Orders::Full }
    }

    pub fn entering_by(self, entrance: Entrance) -> Self {
        Self { entrance, ..self }
    }

    pub fn complains(self, complains: Complaint) -> Self {
        Self { complains, ..self }
    }

    pub fn orders(self, orders: Orders) -> Self {
        Self { orders, ..self }
    }

    pub fn serve(self) -> io::Result<Manager> {
        let place = ReservedPort::free()?;
        let endpoint = format!("http://{}/mcp", place.address);
        let frame = if self.entrance == Entrance::Session { Frame::Tools } else { self.frame };
        let kinds = ["MATCH_RESULT_REPORT", "LEAGUE_QUERY", "LEAGUE_REGISTER_REQUEST", "REFEREE_REGISTER_REQUEST"];
        let kinds =
            if matches!(self.entrance, Entrance::Register | Entrance::Closed) { &kinds[..2] } else { &kinds[..] };
        let shared = Arc::new(Shared {
            names: Names::usual_for(kinds),
            client: TestClient::new(self.frame),
            plan: Self { frame, ..self },
            log: RequestLog::default(),
            state: Mutex::default(),
            changes: watch::Sender::new(0),
        });
        let server = agent_server::open(place, Duration::ZERO, Arc::clone(&shared))?;
        let conductor = tokio::spawn(Arc::clone(&shared).conduct());
        Ok(Manager { shared, endpoint, conductor, _server: server })
    }
}

#[derive(Debug)]
pub struct Manager {
    shared: Arc<Shared>,
    endpoint: String,
    conductor: JoinHandle<()>,
    _server: HttpServer,
}

impl Drop for Manager {
    fn drop(&mut self) {
        self.conductor.abort();
    }
}

impl Manager {
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    pub fn log(&self) -> &RequestLog {
        &self.shared.log
    }

    pub fn reports(&self) -> Vec<Value> {
        self.shared.state().reports.clone()
    }

    pub fn answers(&self) -> Vec<(String, String, Result<Value, String>)> {
        self.shared.state().answers.clone()
    }

    /// The final standings, best first; waits at most `limit`.
    pub async fn finished(&self, limit: Duration) -> Option<Value> {
        let over = self.shared.until(|state| state.over.is_some());
        tokio::time::timeout(limit, over).await.ok()?;
        self.shared.state().over.clone()
    }
}

#[derive(Debug, Default)]
struct State {
    /// Ids and endpoints, in the order of registration.
    players: Vec<(String, String)>,
    referees: Vec<(String, String)>,
    reports: Vec<Value>,
    answers: Vec<(String, String, Result<Value, String>)>,
    over: Option<Value>,
    sessions: usize,
}

#[derive(Debug)]
struct Shared {
    plan: Plan,
    names: Names,
    client: TestClient,
    log: RequestLog,
    state: Mutex<State>,
    changes: watch::Sender<usize>,
}

impl HttpHandler for Shared {
    fn log(&self) -> &RequestLog {
        &self.log
    }

    async fn answer(&self, request: AgentRequest) -> HttpResponse {
        match (self.plan.entrance, request.path.as_str()) {
            (Entrance::Session, "/mcp") => mcp::with_session(self, request).await,
            (Entrance::Register, "/register" | "/register_referee") => self.flat(&request),
            (_, "/mcp") => self.framed(&request.body).await,
            (_, _) => HttpResponse::plainly(404, "Not Found"),
        }
    }
}

impl McpAgent for Shared {
    fn open_session(&self) -> String {
        let mut state = self.state();
        state.sessions += 1;
        format!("session-{}", state.sessions)
    }

    fn has_session(&self, session: &str) -> bool {
        let number = session.strip_prefix("session-").and_then(|number| number.parse().ok());
        number.is_some_and(|number: usize| (1..=self.state().sessions).contains(&number))
    }

    fn tools(&self) -> Value {
        let tool =
            |(name, kind): (&str, &str)| json!({"name": name, "description": kind, "inputSchema": {"type": "object"}});
        Value::Array(self.names.iter().map(tool).collect())
    }

    async fn framed(&self, body: &Value) -> HttpResponse {
        let frame = self.plan.frame;
        match frame.read(body, &self.names) {
            Ok(call) => {
                let answer = frame.answer(&call.id, &self.handled(&call));
                self.changes.send_modify(|changes| *changes += 1);
                HttpResponse::json(200, &answer).about(&call.kind, &call.message)
            }
            Err(refusal) => {
                let id = body.get("id").cloned().unwrap_or_default();
                let (status, answer) = match self.plan.complains {
                    Complaint::Usual => frame.refuse(&id, &refusal),
                    Complaint::Status => (200, json!({"status": "ERROR", "message": "Unknown message type"})),
                    Complaint::Code => {
                        let own = json!({"error_code": "E003", "error_description": "MISSING_REQUIRED_FIELD"});
                        (200, with(Self::letter("LEAGUE_ERROR", ""), own))
                    }
                    Complaint::HangsUp => return HttpResponse::default().refusing(refusal.text),
                    Complaint::Exception => {
                        let error = json!({"code": -32000, "message": "KeyError: 'player_meta'"});
                        (500, json!({"jsonrpc": "2.0", "error": error, "id": id}))
                    }
                };
                HttpResponse::json(status, &answer).refusing(refusal.text)
            }
        }
    }
}

/// The same endpoint is the same agent; a new one gets the next number.
fn place(agents: &mut Vec<(String, String)>, prefix: &str, endpoint: &str) -> String {
    if let Some((id, _)) = agents.iter().find(|(_, known)| known == endpoint) {
        return id.clone();
    }
    let id = format!("{prefix}{:02}", agents.len() + 1);
    agents.push((id.clone(), endpoint.to_owned()));
    id
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn until(&self, enough: impl Fn(&State) -> bool) {
        let mut changes = self.changes.subscribe();
        while !enough(&self.state()) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    fn letter(kind: &str, conversation: &str) -> Value {
        with(envelope(kind, "league_manager", conversation), json!({ "league_id": LEAGUE }))
    }

    fn flat(&self, request: &AgentRequest) -> HttpResponse {
        let (kind, meta) = match request.path.as_str() {
            "/register" => ("LEAGUE_REGISTER_REQUEST", "player_meta"),
            _ => ("REFEREE_REGISTER_REQUEST", "referee_meta"),
        };
        let (name, endpoint) = (text(&request.body, "display_name"), text(&request.body, "endpoint"));
        if name.is_empty() || endpoint.is_empty() {
            return HttpResponse::plainly(422, "display_name and endpoint are required");
        }
        let message = json!({ meta: {"display_name": name, "contact_endpoint": endpoint} });
        let call = FramedCall { id: Value::Null, kind: kind.to_owned(), message };
        let said = HttpResponse::json(200, &self.handled(&call)).about(kind, &request.body);
        self.changes.send_modify(|changes| *changes += 1);
        said
    }

    fn handled(&self, FramedCall { kind, message, .. }: &FramedCall) -> Value {
        let mut state = self.state();
        let conversation = text(message, "conversation_id");
        let admit = |answer: &str, field: &str, id: &str| {
            let own = json!({"status": "REGISTERED", field: id, "auth_token": format!("tok-{id}-x"), "reason": null});
            with(Self::letter(answer, conversation), own)
        };
        match kind.as_str() {
            "LEAGUE_REGISTER_REQUEST" => {
                let id = place(&mut state.players, "P", text(&message["player_meta"], "contact_endpoint"));
                admit("LEAGUE_REGISTER_RESPONSE", "player_id", &id)
            }
            "REFEREE_REGISTER_REQUEST" => {
                let id = place(&mut state.referees, "REF", text(&message["referee_meta"], "contact_endpoint"));
                admit("REFEREE_REGISTER_RESPONSE", "referee_id", &id)
            }
            "MATCH_RESULT_REPORT" => {
                let known = state.reports.iter().any(|report| text(report, "match_id") == text(message, "match_id"));
                if !known {
                    state.reports.push(message.clone());
                }
                json!({"status": "ok"})
            }
            _ => {
                let standings = table::standings(&state.players, &state.reports);
                let directory =
                    state.players.iter().map(|(id, endpoint)| json!({"player_id": id, "endpoint": endpoint}));
                let own = json!({"query_type": message.get("query_type"), "success": true, "standings": standings,
                    "data": {"players": directory.collect::<Vec<_>>()}});
                with(Self::letter("LEAGUE_QUERY_RESPONSE", conversation), own)
            }
        }
    }

    async fn tell(&self, (id, endpoint): &(String, String), kind: &str, own: Value) {
        let message = with(Self::letter(kind, &format!("conv-{}", kind.to_lowercase())), own);
        let answer = self.client.call(endpoint, kind, &message).await;
        self.state().answers.push((kind.to_owned(), id.clone(), answer));
    }

    fn announcement(&self, round: usize, matches: &[Value], players: &[(String, String)]) -> Value {
        let bare = |game: &Value| without(game.clone(), &["player_A_endpoint", "player_B_endpoint"]);
        match self.plan.orders {
            Orders::Full | Orders::Ids | Orders::None => json!({"round_id": round, "matches": matches}),
            Orders::NoneButAgents => {
                let agents = players.iter().map(|(id, endpoint)| json!({"agent_id": id, "contact_endpoint": endpoint}));
                let matches: Vec<Value> = matches.iter().map(bare).collect();
                json!({"round_id": round, "matches": matches, "agents": agents.collect::<Vec<_>>()})
            }
            Orders::NoneButDirectory => {
                json!({"round_id": round, "matches": matches.iter().map(bare).collect::<Vec<_>>()})
            }
        }
    }

    /// `start_match` with the fields of S1 and without an envelope.
    async fn order_by_ids(&self, (id, endpoint): &(String, String), game: &Value) {
        let order = without(game.clone(), &["game_type", "referee_endpoint"]);
        let answer = self.client.call(endpoint, "START_MATCH", &order).await;
        self.state().answers.push(("START_MATCH".to_owned(), id.clone(), answer));
    }

    async fn conduct(self: Arc<Self>) {
        let wanted = self.plan.players;
        self.until(|state| state.players.len() >= wanted && !state.referees.is_empty()).await;
        let (players, referees) = {
            let state = self.state();
            (state.players.clone(), state.referees.clone())
        };
        let standings = || table::standings(&players, &self.state().reports);
        let mut played = 0;
        for (round, pairs) in (1..).zip(table::rounds(players.len())) {
            let matches: Vec<Value> = (1..)
                .zip(&pairs)
                .map(|(number, (a, b))| {
                    let (a, b) = (&players[*a], &players[*b]);
                    json!({"match_id": format!("R{round}M{number}"), "game_type": "even_odd", "player_A_id": a.0,
                        "player_B_id": b.0, "player_A_endpoint": a.1, "player_B_endpoint": b.1,
                        "referee_endpoint": referees[0].1})
                })
                .collect();
            let announced = self.announcement(round, &matches, &players);
            for agent in players.iter().chain(&referees) {
                self.tell(agent, "ROUND_ANNOUNCEMENT", announced.clone()).await;
            }
            for game in &matches {
                match self.plan.orders {
                    Orders::Full => {
                        self.tell(&referees[0], "START_MATCH", with(game.clone(), json!({ "round_id": round }))).await;
                    }
                    Orders::Ids => self.order_by_ids(&referees[0], game).await,
                    Orders::None | Orders::NoneButAgents | Orders::NoneButDirectory => {}
                }
            }
            played += matches.len();
            let all = self.until(|state| state.reports.len() >= played);
            if tokio::time::timeout(ROUND, all).await.is_err() {
                return;
            }
            for player in &players {
                self.tell(player, "LEAGUE_STANDINGS_UPDATE", json!({"round_id": round, "standings": standings()}))
                    .await;
                self.tell(player, "ROUND_COMPLETED", json!({"round_id": round, "matches_played": pairs.len()})).await;
            }
        }
        let end = standings();
        for agent in players.iter().chain(&referees) {
            let champion = json!({"player_id": end[0]["player_id"], "points": end[0]["points"]});
            self.tell(agent, "LEAGUE_COMPLETED", json!({"champion": champion, "final_standings": end})).await;
        }
        self.state().over = Some(end);
        self.changes.send_modify(|changes| *changes += 1);
    }
}
