//! A foreign player.

pub mod dialect;
mod joining;
mod reply;
mod state;
mod strictness;
mod tools;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::agent_server::{self, AgentRequest, HttpHandler, HttpResponse};
use crate::frame::{Frame, FramedCall, Refusal};
use crate::http_server::{HttpServer, ReservedPort, Then};
use crate::mcp::{self, McpAgent};
use crate::message::text;
use crate::names::Names;
use crate::post::post;
use crate::request_log::RequestLog;
use dialect::{PlayerDialect, Speech, parameter};
use joining::ONE_METHOD;
use state::State;

const KINDS: [&str; 8] = [
    "ROUND_ANNOUNCEMENT",
    "GAME_INVITATION",
    "CHOOSE_PARITY_CALL",
    "GAME_OVER",
    "GAME_ERROR",
    "LEAGUE_STANDINGS_UPDATE",
    "ROUND_COMPLETED",
    "LEAGUE_COMPLETED",
];

#[derive(Clone, Debug)]
pub struct Plan {
    name: String,
    speech: Speech,
    dialects: Vec<PlayerDialect>,
    choice: &'static str,
}

impl Plan {
    pub fn new(name: &str, speech: Speech) -> Self {
        Self { name: name.to_owned(), speech, dialects: Vec::new(), choice: "even" }
    }

    pub fn dialect(mut self, dialect: PlayerDialect) -> Self {
        self.dialects.push(dialect);
        self
    }

    pub fn always(self, choice: &'static str) -> Self {
        Self { choice, ..self }
    }

    pub fn serve(self) -> io::Result<Player> {
        let delay = parameter!(self.dialects, ListensLater);
        let place = ReservedPort::free()?;
        let (address, names) = (place.address, self.names());
        let shared =
            Arc::new(Shared { plan: self, names, address, log: RequestLog::default(), state: Mutex::default() });
        let server = agent_server::open(place, delay.unwrap_or_default(), Arc::clone(&shared))?;
        Ok(Player { shared, _server: server })
    }

    pub async fn join(self, manager: &str) -> io::Result<Player> {
        let player = self.serve()?;
        player.register(manager).await?;
        Ok(player)
    }

    fn has(&self, dialect: &PlayerDialect) -> bool {
        self.dialects.contains(dialect)
    }

    fn names(&self) -> Names {
        if self.has(&PlayerDialect::OtherToolNames) {
            return Names::others_for(&["GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"]);
        }
        let usual = Names::usual_for(&KINDS);
        if self.speech == Speech::ParityChoose { usual.named("CHOOSE_PARITY_CALL", "parity_choose") } else { usual }
    }

    fn frame(&self) -> Frame {
        match self.speech {
            Speech::Direct | Speech::ParityChoose | Speech::OneMethod | Speech::Register => Frame::Direct,
            Speech::Types => Frame::Types,
            Speech::Tools | Speech::Session | Speech::Stateless => Frame::Tools,
            Speech::Bare => Frame::Bare,
            Speech::Nested => Frame::Nested,
        }
    }

    fn path(&self) -> &'static str {
        parameter!(self.dialects, Path).unwrap_or(if self.has(&PlayerDialect::NoPath) { "" } else { "/mcp" })
    }
}

#[derive(Debug)]
pub struct Player {
    shared: Arc<Shared>,
    _server: HttpServer,
}

impl Player {
    /// Some dialects register several times.
    pub async fn register(&self, manager: &str) -> io::Result<Value> {
        let plan = &self.shared.plan;
        let (url, request) = joining::request(plan, &self.endpoint(), manager);
        let mut admitted = joining::register(&url, &request, &plan.dialects).await?;
        text(&admitted, "auth_token").clone_into(&mut self.shared.state().first_token);
        for _ in 1..parameter!(plan.dialects, RegistersOften).unwrap_or(1) {
            admitted = joining::register(&url, &request, &plan.dialects).await?;
        }
        self.shared.state().admitted = admitted.clone();
        Ok(admitted)
    }

    /// The endpoint that it registers, which may differ from where it listens.
    pub fn endpoint(&self) -> String {
        let Shared { plan, address, .. } = &*self.shared;
        let host = if plan.has(&PlayerDialect::Localhost) { "localhost".to_owned() } else { address.ip().to_string() };
        let path = if plan.has(&PlayerDialect::LeavesPathOut) { "" } else { plan.path() };
        format!("http://{host}:{}{path}", address.port())
    }

    pub fn name(&self) -> &str {
        &self.shared.plan.name
    }

    pub fn id(&self) -> String {
        self.shared.state().id().to_owned()
    }

    pub fn log(&self) -> &RequestLog {
        &self.shared.log
    }
}

#[derive(Debug)]
pub(crate) struct Shared {
    plan: Plan,
    names: Names,
    address: SocketAddr,
    log: RequestLog,
    state: Mutex<State>,
}

impl HttpHandler for Shared {
    fn log(&self) -> &RequestLog {
        &self.log
    }

    fn keeps_connections(&self) -> bool {
        !self.plan.has(&PlayerDialect::ClosesConnections)
    }

    async fn answer(&self, request: AgentRequest) -> HttpResponse {
        if request.path.trim_end_matches('/') != self.plan.path() {
            return HttpResponse::plainly(404, "Not Found");
        }
        if let (Value::Array(parts), true) = (&request.body, self.plan.has(&PlayerDialect::AcceptsBatches)) {
            let mut answers = Vec::<Value>::new();
            for part in parts {
                answers.push(serde_json::from_str(&self.framed(part).await.body).unwrap_or_default());
            }
            return HttpResponse::json(200, &answers.into()).about("batch", &request.body);
        }
        match self.plan.speech {
            Speech::Session => mcp::with_session(self, request).await,
            Speech::Stateless => mcp::stateless(self, request).await,
            Speech::Tools if text(&request.body, "method") == "tools/list" => {
                let answer = json!({"jsonrpc": "2.0", "id": request.body.get("id"), "result": {"tools": self.tools()}});
                HttpResponse::json(200, &answer).about("tools/list", &request.body)
            }
            Speech::Direct
            | Speech::ParityChoose
            | Speech::Types
            | Speech::Tools
            | Speech::Bare
            | Speech::Nested
            | Speech::OneMethod
            | Speech::Register => self.framed(&request.body).await,
        }
    }
}

impl McpAgent for Shared {
    fn open_session(&self) -> String {
        let mut state = self.state();
        state.opened += 1;
        let session = format!("session-{}", state.opened);
        state.sessions.insert(session.clone());
        session
    }

    fn has_session(&self, session: &str) -> bool {
        self.state().sessions.contains(session)
    }

    fn tools(&self) -> Value {
        tools::listed(&self.names, &self.plan.dialects)
    }

    async fn framed(&self, body: &Value) -> HttpResponse {
        let (frame, dialects) = (self.plan.frame(), &self.plan.dialects);
        let id = body.get("id").cloned().unwrap_or_default();
        let refuse = |refusal: &Refusal| {
            let (status, answer) = frame.refuse(&id, refusal);
            HttpResponse::json(status, &answer).refusing(&refusal.text)
        };
        if let Some(refusal) = strictness::about_the_frame(dialects, body) {
            return refuse(&refusal);
        }
        let call = self.read(body).and_then(|call| match frame {
            Frame::Tools => {
                let message = tools::message(&call.kind, call.message, dialects)?;
                Ok(FramedCall { message, ..call })
            }
            Frame::Direct | Frame::Types | Frame::Bare | Frame::Nested => Ok(call),
        });
        let call = match call {
            Ok(call) => call,
            Err(refusal) => return refuse(&refusal),
        };
        let objection = strictness::about_the_message(dialects, &mut self.state(), &call);
        if let Some(refusal) = objection {
            return refuse(&refusal).about(&call.kind, &call.message);
        }
        self.handled(&call).await.about(&call.kind, &call.message)
    }
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, body: &Value) -> Result<FramedCall, Refusal> {
        let (frame, speech) = (self.plan.frame(), self.plan.speech);
        if speech != Speech::OneMethod {
            return frame.read(body, &self.names);
        }
        let method = text(body, "method");
        if method != ONE_METHOD {
            return Err(Refusal::new(-32601, format!("Method not found: {method}")));
        }
        let kind = body.pointer("/params/message_type").and_then(Value::as_str).unwrap_or_default();
        frame.read(body, &Names::usual_for(&[kind]).named(kind, ONE_METHOD))
    }

    async fn handled(&self, call: &FramedCall) -> HttpResponse {
        let plan = &self.plan;
        let answer = {
            let mut state = self.state();
            match call.kind.as_str() {
                "ROUND_ANNOUNCEMENT" => state.announced(&call.message),
                "GAME_INVITATION" => state.playing = Some(text(&call.message, "match_id").to_owned()),
                "GAME_OVER" => state.playing = None,
                _ => {}
            }
            reply::to(&plan.dialects, &state, call, plan.choice)
        };
        if call.kind == "LEAGUE_COMPLETED" && plan.has(&PlayerDialect::HangsUpAtTheEnd) {
            return HttpResponse { then: Then::Stop, ..HttpResponse::default() };
        }
        if call.kind == "LEAGUE_COMPLETED" && plan.has(&PlayerDialect::LeavesAtTheEnd) {
            return HttpResponse { then: Then::Stop, ..self.wrapped(call, &answer) };
        }
        let question = ["GAME_INVITATION", "CHOOSE_PARITY_CALL"].contains(&call.kind.as_str());
        let before = plan.has(&PlayerDialect::PostsBefore);
        if question && (before || plan.has(&PlayerDialect::PostsAfterwards)) {
            let posting = self.posting(call, &answer);
            let word = if before {
                posting.await;
                "ok"
            } else {
                tokio::spawn(posting);
                "RECEIVED"
            };
            return HttpResponse::json(200, &plan.frame().answer(&call.id, &json!({ "status": word })));
        }
        self.wrapped(call, &answer)
    }

    fn wrapped(&self, call: &FramedCall, answer: &Value) -> HttpResponse {
        let plan = &self.plan;
        let mut body = plan.frame().answer(&call.id, answer);
        if plan.has(&PlayerDialect::AnswersInData) {
            body = plan.frame().answer(&call.id, &json!({"success": true, "data": answer}));
        }
        if plan.has(&PlayerDialect::AnswersInParams) {
            body = json!({"jsonrpc": "2.0", "method": text(answer, "message_type"), "params": answer, "id": call.id});
        }
        if plan.has(&PlayerDialect::AnswersBare) {
            body = answer.clone();
        }
        if plan.has(&PlayerDialect::NullError) {
            body["error"] = Value::Null;
        }
        HttpResponse::json(if plan.has(&PlayerDialect::Status400) { 400 } else { 200 }, &body)
    }

    fn posting(&self, call: &FramedCall, answer: &Value) -> impl Future<Output = ()> + Send + use<> {
        let referee = self.state().referees.get(text(&call.message, "match_id")).cloned();
        let kind = ["message_type", "type"].map(|field| text(answer, field)).into_iter().find(|kind| !kind.is_empty());
        let kind = kind.unwrap_or_default();
        let names = self.names.clone();
        let names = if self.plan.speech == Speech::OneMethod { names.named(kind, ONE_METHOD) } else { names };
        let request = self.plan.frame().request(kind, &names, 1, answer);
        async move {
            let Some(referee) = referee else { return };
            // A referee that refuses it says so in the match.
            drop(post(&referee, &[], &request).await);
        }
    }
}
