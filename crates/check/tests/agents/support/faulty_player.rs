//! A handwritten player, correct except for one fault.

#![expect(clippy::wildcard_enum_match_arm, reason = "a player with one fault has none of the others")]

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use league_protocol::table::{Method, TABLE};
use league_test_agents::http_server::{HttpReply, HttpRequest, HttpServer, MAX_BODY, ServerFaults, Then};
use serde_json::{Map, Value, json};

use super::{NoReply, faults, serve};

faults! {
    None;
    NeverJoins: "player.invitation.in-time";
    JoinsLate: "player.invitation.prompt";
    Declines: "player.invitation.joins";
    NeverChooses: "player.choice.in-time";
    ChoosesLate: "player.choice.prompt";
    ChoosesInCapitals: "player.choice.exact";
    ChoosesANumber: "player.choice.exact";
    ChoosesNothing: "player.choice.answers";
    ErrorForAChoice: "player.choice.answers";
    ThrowsAtAChoice;
    ChangesItsMind: "player.choice.again";
    GivesUpAfterAnError: "player.choice.after-error";
    NoNonce: "player.invitation.nonce";
    OneNonce: "player.invitation.nonce-fresh";
    NewNonceEachTime: "player.invitation.again-same";
    LongNonce: "player.invitation.nonce", "player.invitation.nonce-fresh";
    NoAccept: "player.invitation.accept";
    JoinWithoutType: "player.invitation.message-type";
    JoinWithoutMatch: "player.invitation.match-id";
    JoinWithoutPlayer: "player.invitation.player-id";
    JoinWithoutArrival: "player.invitation.arrival-timestamp";
    ChoiceWithoutType: "player.choice.message-type";
    ChoiceWithoutMatch: "player.choice.match-id";
    ChoiceWithoutPlayer: "player.choice.player-id";
    RefusesSideB: "player.invitation.side-b";
    RefusesRepeats: "player.invitation.again";
    MixesMatchesUp: "player.parallel.joins", "player.parallel.kept-apart";
    NoProtocol: "player.envelope.protocol";
    NoSender: "player.envelope.sender";
    LocalTime: "player.envelope.timestamp";
    FractionalTime: "player.envelope.timestamp-form";
    OwnConversation: "player.envelope.conversation";
    EchoesToken: "player.secrets.echo";
    TellsItsToken: "player.secrets.state";
    RefusesUnknownFields: "player.envelope.unknown-field";
    RefusesFractions: "player.envelope.fraction";
    RefusesOffsets: "player.envelope.offset";
    TakesAnyProtocol: "player.envelope.other-protocol";
    TakesAnyTime: "player.envelope.bad-time";
    NoVersion: "player.rpc.version";
    TextualIds: "player.rpc.id-number";
    NumericIds: "player.rpc.id-text";
    NullError: "player.frame.answer-place";
    OkToEverything: "player.rpc.unknown-method";
    OkToGarbage: "player.rpc.not-json";
    TakesNoMatch: "player.rpc.wrong-params";
    AnswersNotifications: "player.rpc.notification";
    NoBatches: "player.rpc.batch";
    RefusesExtraKeys: "player.rpc.extra-key";
    HtmlAnswers: "player.http.content-type";
    Created: "player.http.status";
    PageAtGet: "player.http.get";
    ReadsOnce: "player.http.split-body";
    OneAtATime: "player.http.idle-neighbour";
    HangsUp: "player.http.keep-alive";
    TakesEverything: "player.bounds.oversized-refused";
    LongAnswers: "player.bounds.answers", "player.choice.answers";
    FallsAtGarbage: "player.bounds.broken-json";
    FallsAtNothing: "player.bounds.empty";
    FallsAtBadText: "player.bounds.not-utf8";
    FallsAtNull: "player.bounds.not-an-object";
    FallsAtDepth: "player.bounds.nested";
    FallsAtLength: "player.bounds.oversized";
    FallsWhenLeft: "player.bounds.hung-up";
    FallsAtOtherGames: "player.invitation.other-game";
    FallsAtStrangeMatches: "player.notice.unknown-match";
    FallsAtUninvited: "player.choice.uninvited";
    RefusesGameOver: "player.notice.forfeit", "player.notice.game-over", "player.notice.game-over-again";
    CountsGameOverTwice: "player.notice.game-over-again";
    CannotReadNull: "player.notice.forfeit";
    RefusesGameError: "player.notice.game-error";
    RefusesRounds: "player.notice.round-announcement";
    RefusesStandings: "player.notice.standings-update";
    CannotReadTheLastRound: "player.notice.round-completed";
    RefusesTheEnd: "player.notice.league-completed";
    ForgetsToPlayOn: "player.notice.plays-on";
    NoHandshake: "player.mcp.initialize";
    NoTools: "player.mcp.tools";
    NoSchemas: "player.mcp.schemas";
    NoPing: "player.mcp.ping";
    OnlyTypes;
    OnlyBare;
    OnlyNested;
}

enum Failure {
    /// A JSON-RPC error.
    Refused(i64, &'static str),
    NoReply(NoReply),
}

fn refuse<T>(code: i64, words: &'static str) -> Result<T, Failure> {
    Err(Failure::Refused(code, words))
}

#[derive(Default)]
struct Memory {
    nonces: HashMap<String, String>,
    last_match: String,
    told: HashSet<String>,
    errors: u32,
    asked: u32,
    made: u32,
    token: String,
    over: bool,
}

struct Player {
    fault: Fault,
    memory: Mutex<Memory>,
}

pub(crate) fn start(fault: Fault) -> HttpServer {
    let faults = ServerFaults {
        reads_once: fault == Fault::ReadsOnce,
        one_at_a_time: fault == Fault::OneAtATime,
        hangs_up: fault == Fault::HangsUp,
    };
    let player = Player { fault, memory: Mutex::default() };
    serve(faults, move |request| player.respond(request))
}

impl Player {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn respond(&self, request: &HttpRequest) -> Result<HttpReply, NoReply> {
        if request.method != "POST" {
            let status = if self.is(Fault::PageAtGet) { 200 } else { 405 };
            return Ok(HttpReply::json(status, &json!({"error": "POST, please"})));
        }
        if !request.is_complete {
            self.crash_if(Fault::FallsWhenLeft, true)?;
            return Ok(HttpReply::text(400, "").then(Then::Close));
        }
        self.crash_if(Fault::FallsAtLength, request.body.len() > MAX_BODY)?;
        if request.body.len() > MAX_BODY && !self.is(Fault::TakesEverything) {
            return Ok(HttpReply::json(413, &json!({"error": "too long"})).then(Then::Close));
        }
        self.crash_if(Fault::FallsAtNothing, request.body.is_empty())?;
        self.crash_if(Fault::FallsAtBadText, std::str::from_utf8(&request.body).is_err())?;
        let text = String::from_utf8_lossy(&request.body);
        self.crash_if(Fault::FallsAtDepth, text.contains("{\"a\":{\"a\":"))?;
        let answer = match serde_json::from_slice(&request.body) {
            Err(_) => {
                self.crash_if(Fault::FallsAtGarbage, text.contains("choose_par"))?;
                let ok = self.is(Fault::OkToGarbage);
                Some(if ok { json!({ "status": "ok" }) } else { error(&Value::Null, -32700, "not JSON") })
            }
            Ok(Value::Array(_)) if self.is(Fault::NoBatches) => Some(error(&Value::Null, -32600, "one at a time")),
            Ok(Value::Array(requests)) => {
                let answers = requests.iter().filter_map(|request| self.request(request).transpose());
                Some(Value::Array(answers.collect::<Result<_, _>>()?))
            }
            Ok(request) => self.request(&request)?,
        };
        let mut reply = answer.map_or_else(|| HttpReply::text(202, ""), |answer| HttpReply::json(200, &answer));
        if self.is(Fault::HtmlAnswers) {
            reply.headers = vec![("content-type", String::from("text/html"))];
        }
        if self.is(Fault::Created) && reply.status == 200 {
            reply.status = 201;
        }
        Ok(reply)
    }

    fn crash_if(&self, fault: Fault, when: bool) -> Result<(), NoReply> {
        if self.is(fault) && when { Err(NoReply::Crash) } else { Ok(()) }
    }

    /// `None` for a notification.
    fn request(&self, request: &Value) -> Result<Option<Value>, NoReply> {
        let Some(outer) = request.as_object() else {
            self.crash_if(Fault::FallsAtNull, request.is_null())?;
            return Ok(Some(error(&Value::Null, -32600, "an object, please")));
        };
        let answer = match self.dispatch(outer) {
            Ok(answer) => Ok(answer),
            Err(Failure::Refused(code, words)) => Err((code, words)),
            Err(Failure::NoReply(no_reply)) => return Err(no_reply),
        };
        if self.is(Fault::OnlyBare) {
            return Ok(Some(answer.unwrap_or_else(|(_, words)| json!({ "error": words }))));
        }
        let id = outer.get("id").cloned();
        let Some(id) = id.or(self.is(Fault::AnswersNotifications).then_some(Value::Null)) else { return Ok(None) };
        let id = match (self.fault, &id) {
            (Fault::TextualIds, Value::Number(number)) => Value::String(number.to_string()),
            (Fault::NumericIds, Value::String(_)) => Value::Null,
            (_, _) => id,
        };
        let mut answer = match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err((code, words)) => error(&id, code, words),
        };
        if self.is(Fault::NoVersion) {
            answer.as_object_mut().unwrap().remove("jsonrpc");
        }
        if self.is(Fault::NullError) && answer.get("result").is_some() {
            answer["error"] = Value::Null;
        }
        Ok(Some(answer))
    }

    fn dispatch(&self, outer: &Map<String, Value>) -> Result<Value, Failure> {
        let empty = Map::new();
        let text = |field: &str| outer.get(field).and_then(Value::as_str).unwrap_or_default();
        let (method, params) = (text("method"), outer.get("params").and_then(Value::as_object).unwrap_or(&empty));
        let mcp = !matches!(self.fault, Fault::OnlyTypes | Fault::OnlyNested);
        let known = ["jsonrpc", "method", "params", "id"];
        match method {
            _ if self.is(Fault::OnlyBare) => match text("message_type") {
                "" => refuse(-32600, "a message, please"),
                name => self.message(name, outer),
            },
            _ if self.is(Fault::RefusesExtraKeys) && outer.keys().any(|key| !known.contains(&key.as_str())) => {
                refuse(-32600, "an extra key")
            }
            "initialize" if mcp && !self.is(Fault::NoHandshake) => Ok(json!({
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "by hand" },
            })),
            "ping" if mcp && !self.is(Fault::NoPing) => Ok(json!({})),
            "tools/list" if mcp => Ok(self.tools()),
            "tools/call" if mcp => {
                let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
                let arguments = params.get("arguments").and_then(Value::as_object).unwrap_or(&empty);
                let answer = self.message(name, arguments)?;
                let content = json!([{ "type": "text", "text": answer.to_string() }]);
                Ok(json!({ "content": content, "structuredContent": answer }))
            }
            _ if self.is(Fault::OnlyTypes) && method != method.to_uppercase() => refuse(-32601, "no such method"),
            _ if self.is(Fault::OnlyNested) => match params.get("message").and_then(Value::as_object) {
                Some(message) => self.message(method, message),
                None => refuse(-32602, "params.message, please"),
            },
            _ => self.message(method, params),
        }
    }

    fn tools(&self) -> Value {
        let tools: Vec<Value> = TABLE
            .iter()
            .filter(|row| row.to.contains(&league_protocol::sender::Role::Player))
            .filter(|row| !(self.is(Fault::NoTools) && row.name == "choose_parity"))
            .map(|row| {
                let schema = if self.is(Fault::NoSchemas) { json!({}) } else { json!({ "type": "object" }) };
                json!({ "name": row.name, "inputSchema": schema })
            })
            .collect();
        json!({ "tools": tools })
    }

    fn message(&self, method: &str, message: &Map<String, Value>) -> Result<Value, Failure> {
        let Some((method, _)) = Method::named(method) else {
            let ok = self.is(Fault::OkToEverything);
            return if ok { Ok(json!({ "status": "ok" })) } else { refuse(-32601, "no such method") };
        };
        self.envelope(message)?;
        let text = |field: &str| message.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let match_id = text("match_id");
        let mut memory = self.memory.lock().unwrap();
        memory.token = text("auth_token");
        let invited = memory.nonces.contains_key(&match_id);
        let refuse_if = |fault: Fault, when: bool| {
            if self.is(fault) && when { refuse(-32603, "KeyError") } else { Ok(()) }
        };
        let name = match method {
            Method::GameInvitation => {
                self.crash_if(Fault::FallsAtOtherGames, text("game_type") != "even_odd")?;
                drop(memory);
                return self.join(message, &match_id);
            }
            Method::ChooseParity => {
                self.crash_if(Fault::FallsAtUninvited, !invited)?;
                drop(memory);
                return self.choose(message, &match_id);
            }
            Method::GetPlayerState if self.is(Fault::TellsItsToken) => {
                return Ok(json!({ "state": "REGISTERED", "auth_token": "s3cr3t" }));
            }
            Method::GetPlayerState => return Ok(json!({ "state": "REGISTERED" })),
            Method::NotifyMatchResult => {
                self.crash_if(Fault::FallsAtStrangeMatches, !invited)?;
                refuse_if(Fault::RefusesGameOver, true)?;
                refuse_if(Fault::CountsGameOverTwice, !memory.told.insert(match_id))?;
                refuse_if(Fault::CannotReadNull, message.get("drawn_number") == Some(&Value::Null))?;
                "GAME_OVER_ACK"
            }
            Method::NotifyGameError => {
                memory.errors += 1;
                refuse_if(Fault::RefusesGameError, true)?;
                "GAME_ERROR_ACK"
            }
            Method::NotifyRound => {
                refuse_if(Fault::RefusesRounds, true)?;
                "ROUND_ANNOUNCEMENT_ACK"
            }
            Method::UpdateStandings => {
                refuse_if(Fault::RefusesStandings, true)?;
                "STANDINGS_UPDATE_ACK"
            }
            Method::NotifyRoundCompleted => {
                memory.over = true;
                refuse_if(Fault::CannotReadTheLastRound, message.get("next_round_id") == Some(&Value::Null))?;
                "ROUND_COMPLETED_ACK"
            }
            Method::NotifyLeagueCompleted => {
                refuse_if(Fault::RefusesTheEnd, true)?;
                "LEAGUE_COMPLETED_ACK"
            }
            _ => "ACK",
        };
        Ok(self.answer(message, name, &json!({ "status": "ACKNOWLEDGED" })))
    }

    fn envelope(&self, message: &Map<String, Value>) -> Result<(), Failure> {
        let text = |field: &str| message.get(field).and_then(Value::as_str).unwrap_or_default();
        if !self.is(Fault::TakesAnyProtocol) && text("protocol") != "league.v2" {
            return refuse(-32602, "E018");
        }
        let time = text("timestamp");
        let utc = time.ends_with('Z') || time.ends_with("+00:00");
        if !self.is(Fault::TakesAnyTime) && !utc {
            return refuse(-32602, "E021");
        }
        match self.fault {
            Fault::RefusesFractions if time.contains('.') => refuse(-32602, "fractions"),
            Fault::RefusesOffsets if time.ends_with("+00:00") => refuse(-32602, "an offset"),
            Fault::RefusesUnknownFields if message.contains_key("x_unknown_field") => refuse(-32602, "an extra field"),
            _ => Ok(()),
        }
    }

    /// Some faults leave out parts of the envelope.
    fn answer(&self, request: &Map<String, Value>, message_type: &str, body: &Value) -> Value {
        let mut answer = body.clone();
        let mut put = |field: &str, value: Value| drop(answer.as_object_mut().unwrap().insert(field.to_owned(), value));
        put("message_type", json!(message_type));
        if !self.is(Fault::NoProtocol) {
            put("protocol", json!("league.v2"));
        }
        if !self.is(Fault::NoSender) {
            put("sender", json!("player:P01"));
        }
        let time = match self.fault {
            Fault::LocalTime => "2025-01-15 10:30",
            Fault::FractionalTime => "2025-01-15T10:30:00.123456Z",
            _ => "2025-01-15T10:30:00Z",
        };
        put("timestamp", json!(time));
        let echoed = |field: &str| request.get(field).cloned().unwrap_or_default();
        let own = self.is(Fault::OwnConversation);
        put("conversation_id", if own { json!("mine") } else { echoed("conversation_id") });
        if self.is(Fault::EchoesToken) {
            put("auth_token", echoed("auth_token"));
        }
        answer
    }

    fn join(&self, request: &Map<String, Value>, match_id: &str) -> Result<Value, Failure> {
        if match_id.is_empty() && !self.is(Fault::TakesNoMatch) {
            return refuse(-32602, "match_id is missing");
        }
        let (nonce, again) = {
            let mut memory = self.memory.lock().unwrap();
            if self.is(Fault::ForgetsToPlayOn) && memory.over {
                return refuse(-32603, "the round is over");
            }
            memory.last_match = match_id.to_owned();
            memory.made += 1;
            let made = memory.made;
            let again = memory.nonces.contains_key(match_id);
            let fresh = self.is(Fault::NewNonceEachTime);
            let kept = memory.nonces.entry(match_id.to_owned()).or_insert_with(|| format!("nonce {made}")).clone();
            (if fresh { format!("nonce {made}") } else { kept }, again)
        };
        match self.fault {
            Fault::NeverJoins => return Err(NoReply::Silence.into()),
            Fault::JoinsLate if nonce == "nonce 1" && !again => thread::sleep(Duration::from_millis(2_550)),
            Fault::RefusesRepeats if again => return refuse(-32603, "already joined"),
            Fault::RefusesSideB if request.get("role_in_match") == Some(&json!("PLAYER_B")) => {
                return refuse(-32603, "only PLAYER_A");
            }
            _ => {}
        }
        let mut body = json!({
            "match_id": match_id, "player_id": "P01", "arrival_timestamp": "2025-01-15T10:30:00Z",
            "accept": !self.is(Fault::Declines), "draw_nonce": nonce,
        });
        match self.fault {
            Fault::OneNonce => body["draw_nonce"] = json!("always"),
            Fault::LongNonce => body["draw_nonce"] = json!("x".repeat(100)),
            _ => {}
        }
        let missing = match self.fault {
            Fault::NoNonce => "draw_nonce",
            Fault::NoAccept => "accept",
            Fault::JoinWithoutMatch => "match_id",
            Fault::JoinWithoutPlayer => "player_id",
            Fault::JoinWithoutArrival => "arrival_timestamp",
            _ => "",
        };
        body.as_object_mut().unwrap().remove(missing);
        let mut answer = self.answer(request, "GAME_JOIN_ACK", &body);
        if self.is(Fault::JoinWithoutType) {
            answer["message_type"] = json!("OK");
        }
        Ok(answer)
    }

    fn choose(&self, request: &Map<String, Value>, match_id: &str) -> Result<Value, Failure> {
        let (asked_before, errors, last) = {
            let mut memory = self.memory.lock().unwrap();
            memory.asked += 1;
            (memory.asked - 1, memory.errors, memory.last_match.clone())
        };
        match self.fault {
            Fault::NeverChooses => return Err(NoReply::Silence.into()),
            Fault::ChoosesLate if asked_before == 0 => thread::sleep(Duration::from_millis(2_550)),
            Fault::ThrowsAtAChoice => std::panic::resume_unwind(Box::new("KeyError")),
            Fault::ErrorForAChoice => return refuse(-32603, "KeyError"),
            Fault::GivesUpAfterAnError if errors > 0 && asked_before == 2 => return refuse(-32603, "lost already"),
            _ => {}
        }
        let choice = match self.fault {
            Fault::ChoosesInCapitals => json!("EVEN"),
            Fault::ChoosesANumber => json!(2),
            Fault::ChoosesNothing => Value::Null,
            Fault::ChangesItsMind if asked_before % 2 == 1 => json!("odd"),
            Fault::LongAnswers => json!("even".repeat(20_000)),
            _ => json!("even"),
        };
        let named = if self.is(Fault::MixesMatchesUp) { &last } else { match_id };
        let mut body = json!({ "match_id": named, "player_id": "P01", "parity_choice": choice });
        let missing = match self.fault {
            Fault::ChoosesNothing => "parity_choice",
            Fault::ChoiceWithoutMatch => "match_id",
            Fault::ChoiceWithoutPlayer => "player_id",
            _ => "",
        };
        body.as_object_mut().unwrap().remove(missing);
        let mut answer = self.answer(request, "CHOOSE_PARITY_RESPONSE", &body);
        if self.is(Fault::ChoiceWithoutType) {
            answer["message_type"] = json!("OK");
        }
        Ok(answer)
    }
}

fn error(id: &Value, code: i64, words: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": words } })
}

impl From<NoReply> for Failure {
    fn from(no_reply: NoReply) -> Self {
        Self::NoReply(no_reply)
    }
}
