//! A handwritten player, correct except for one fault.

#![expect(clippy::wildcard_enum_match_arm, reason = "a player with one fault has none of the others")]

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use league_protocol::table::{Method, TABLE};
use league_test_agents::http_server::{HttpReply, HttpRequest, HttpServer, MAX_BODY, ServerFaults, Then};
use serde_json::{Map, Value, json};

use super::{NoReply, serve};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    None,
    NeverJoins,
    JoinsLate,
    Declines,
    NeverChooses,
    ChoosesLate,
    ChoosesInCapitals,
    ChoosesANumber,
    ChoosesNothing,
    ErrorForAChoice,
    ThrowsAtAChoice,
    ChangesItsMind,
    GivesUpAfterAnError,
    NoNonce,
    OneNonce,
    NewNonceEachTime,
    LongNonce,
    NoAccept,
    JoinWithoutType,
    JoinWithoutMatch,
    JoinWithoutPlayer,
    JoinWithoutArrival,
    ChoiceWithoutType,
    ChoiceWithoutMatch,
    ChoiceWithoutPlayer,
    RefusesSideB,
    RefusesRepeats,
    MixesMatchesUp,
    NoProtocol,
    NoSender,
    LocalTime,
    FractionalTime,
    OwnConversation,
    EchoesToken,
    TellsItsToken,
    RefusesUnknownFields,
    RefusesFractions,
    RefusesOffsets,
    TakesAnyProtocol,
    TakesAnyTime,
    NoVersion,
    TextualIds,
    NumericIds,
    NullError,
    OkToEverything,
    OkToGarbage,
    TakesNoMatch,
    AnswersNotifications,
    NoBatches,
    RefusesExtraKeys,
    HtmlAnswers,
    Created,
    PageAtGet,
    ReadsOnce,
    OneAtATime,
    HangsUp,
    TakesEverything,
    LongAnswers,
    FallsAtGarbage,
    FallsAtNothing,
    FallsAtBadText,
    FallsAtNull,
    FallsAtDepth,
    FallsAtLength,
    FallsWhenLeft,
    FallsAtOtherGames,
    FallsAtStrangeMatches,
    FallsAtUninvited,
    RefusesGameOver,
    CountsGameOverTwice,
    CannotReadNull,
    RefusesGameError,
    RefusesRounds,
    RefusesStandings,
    CannotReadTheLastRound,
    RefusesTheEnd,
    ForgetsToPlayOn,
    NoHandshake,
    NoTools,
    NoSchemas,
    NoPing,
    OnlyTypes,
    OnlyBare,
    OnlyNested,
}

struct Refusal(i64, String);

fn refuse<T>(code: i64, words: &str) -> Result<T, Refusal> {
    Err(Refusal(code, words.to_owned()))
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

fn reply(status: u16, body: &Value) -> HttpReply {
    HttpReply::json(status, body)
}

impl Player {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn respond(&self, request: &HttpRequest) -> Result<HttpReply, NoReply> {
        if request.method != "POST" {
            let status = if self.is(Fault::PageAtGet) { 200 } else { 405 };
            return Ok(reply(status, &json!({"error": "POST, please"})));
        }
        if !request.is_complete {
            if self.is(Fault::FallsWhenLeft) {
                return Err(NoReply::Crash);
            }
            return Ok(HttpReply::text(400, "").then(Then::Close));
        }
        self.fall(Fault::FallsAtLength, request.body.len() > MAX_BODY)?;
        if request.body.len() > MAX_BODY && !self.is(Fault::TakesEverything) {
            return Ok(reply(413, &json!({"error": "too long"})).then(Then::Close));
        }
        self.fall(Fault::FallsAtNothing, request.body.is_empty())?;
        self.fall(Fault::FallsAtBadText, std::str::from_utf8(&request.body).is_err())?;
        let parsed: Result<Value, _> = serde_json::from_slice(&request.body);
        let text = String::from_utf8_lossy(&request.body);
        self.fall(Fault::FallsAtDepth, text.contains("{\"a\":{\"a\":"))?;
        let mut answer = match parsed {
            Err(_) if text.contains("choose_par") && self.is(Fault::FallsAtGarbage) => return Err(NoReply::Crash),
            Err(_) if self.is(Fault::OkToGarbage) => reply(200, &json!({ "status": "ok" })),
            Err(_) => reply(200, &error(&Value::Null, &Refusal(-32700, String::from("not JSON")))),
            Ok(Value::Array(_)) if self.is(Fault::NoBatches) => {
                reply(200, &error(&Value::Null, &Refusal(-32600, String::from("one at a time"))))
            }
            Ok(Value::Array(requests)) => {
                let mut answers = Vec::new();
                for request in &requests {
                    answers.extend(self.request(request)?);
                }
                reply(200, &Value::Array(answers))
            }
            Ok(request) => match self.request(&request)? {
                Some(answer) => reply(200, &answer),
                None => HttpReply::text(202, ""),
            },
        };
        if self.is(Fault::HtmlAnswers) {
            answer.headers = vec![("content-type", String::from("text/html"))];
        }
        if self.is(Fault::Created) && answer.status == 200 {
            answer.status = 201;
        }
        Ok(answer)
    }

    fn fall(&self, fault: Fault, when: bool) -> Result<(), NoReply> {
        if self.is(fault) && when { Err(NoReply::Crash) } else { Ok(()) }
    }

    /// `None` for a notification.
    fn request(&self, request: &Value) -> Result<Option<Value>, NoReply> {
        let Some(outer) = request.as_object() else {
            self.fall(Fault::FallsAtNull, request.is_null())?;
            return Ok(Some(error(&Value::Null, &Refusal(-32600, String::from("an object, please")))));
        };
        if self.is(Fault::OnlyBare) {
            let answer = match outer.get("message_type").and_then(Value::as_str) {
                Some(name) => self.message(name, outer)?,
                None => refuse(-32600, "a message, please"),
            };
            return Ok(Some(answer.unwrap_or_else(|Refusal(_, words)| json!({ "error": words }))));
        }
        let id = outer.get("id").cloned();
        let known = ["jsonrpc", "method", "params", "id"];
        if self.is(Fault::RefusesExtraKeys) && outer.keys().any(|key| !known.contains(&key.as_str())) {
            return Ok(Some(error(&id.unwrap_or_default(), &Refusal(-32600, String::from("an extra key")))));
        }
        let answer = self.dispatch(outer)?;
        let Some(id) = id.or(self.is(Fault::AnswersNotifications).then_some(Value::Null)) else { return Ok(None) };
        let id = match (self.fault, &id) {
            (Fault::TextualIds, Value::Number(number)) => Value::String(number.to_string()),
            (Fault::NumericIds, Value::String(_)) => Value::Null,
            (_, _) => id,
        };
        let mut answer = match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(refusal) => error(&id, &refusal),
        };
        if self.is(Fault::NoVersion) {
            answer.as_object_mut().unwrap().remove("jsonrpc");
        }
        if self.is(Fault::NullError) && answer.get("result").is_some() {
            answer["error"] = Value::Null;
        }
        Ok(Some(answer))
    }

    fn dispatch(&self, outer: &Map<String, Value>) -> Result<Result<Value, Refusal>, NoReply> {
        let method = outer.get("method").and_then(Value::as_str).unwrap_or_default();
        let empty = Map::new();
        let params = outer.get("params").and_then(Value::as_object).unwrap_or(&empty);
        let forms = matches!(self.fault, Fault::OnlyTypes | Fault::OnlyNested);
        match method {
            "initialize" if !forms && !self.is(Fault::NoHandshake) => Ok(Ok(json!({
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "by hand" },
            }))),
            "ping" if !forms && !self.is(Fault::NoPing) => Ok(Ok(json!({}))),
            "tools/list" if !forms => Ok(Ok(self.tools())),
            "tools/call" if !forms => {
                let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
                let arguments = params.get("arguments").and_then(Value::as_object).unwrap_or(&empty);
                let answer = self.message(name, arguments)?;
                Ok(answer.map(|message| {
                    json!({ "content": [{ "type": "text", "text": message.to_string() }], "structuredContent": message })
                }))
            }
            _ if self.is(Fault::OnlyTypes) && method != method.to_uppercase() => Ok(refuse(-32601, "no such method")),
            _ if self.is(Fault::OnlyNested) => match params.get("message").and_then(Value::as_object) {
                Some(message) => self.message(method, message),
                None => Ok(refuse(-32602, "params.message, please")),
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

    fn message(&self, method: &str, message: &Map<String, Value>) -> Result<Result<Value, Refusal>, NoReply> {
        let Some((method, _)) = Method::named(method) else {
            let ok = self.is(Fault::OkToEverything);
            return Ok(if ok { Ok(json!({ "status": "ok" })) } else { refuse(-32601, "no such method") });
        };
        if let Err(refusal) = self.envelope(message) {
            return Ok(Err(refusal));
        }
        let text = |field: &str| message.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let match_id = text("match_id");
        let mut memory = self.memory.lock().unwrap();
        memory.token = text("auth_token");
        match method {
            Method::GameInvitation => {
                self.fall(Fault::FallsAtOtherGames, text("game_type") != "even_odd")?;
                drop(memory);
                if self.is(Fault::NeverJoins) { Err(NoReply::Silence) } else { Ok(self.join(message, &match_id)) }
            }
            Method::ChooseParity => {
                self.fall(Fault::FallsAtUninvited, !memory.nonces.contains_key(&match_id))?;
                drop(memory);
                if self.is(Fault::NeverChooses) { Err(NoReply::Silence) } else { Ok(self.choose(message, &match_id)) }
            }
            Method::NotifyMatchResult => {
                self.fall(Fault::FallsAtStrangeMatches, !memory.nonces.contains_key(&match_id))?;
                let again = !memory.told.insert(match_id);
                let null = message.get("drawn_number") == Some(&Value::Null);
                Ok(match self.fault {
                    Fault::RefusesGameOver => refuse(-32603, "KeyError"),
                    Fault::CountsGameOverTwice if again => refuse(-32603, "already over"),
                    Fault::CannotReadNull if null => refuse(-32603, "TypeError"),
                    _ => Ok(self.acknowledge(message, "GAME_OVER_ACK")),
                })
            }
            Method::NotifyGameError => {
                memory.errors += 1;
                self.notice(message, "GAME_ERROR_ACK", Fault::RefusesGameError)
            }
            Method::NotifyRound => self.notice(message, "ROUND_ANNOUNCEMENT_ACK", Fault::RefusesRounds),
            Method::UpdateStandings => self.notice(message, "STANDINGS_UPDATE_ACK", Fault::RefusesStandings),
            Method::NotifyRoundCompleted => {
                memory.over = true;
                let last = message.get("next_round_id") == Some(&Value::Null);
                let refused = self.is(Fault::CannotReadTheLastRound) && last;
                Ok(if refused {
                    refuse(-32603, "TypeError")
                } else {
                    Ok(self.acknowledge(message, "ROUND_COMPLETED_ACK"))
                })
            }
            Method::NotifyLeagueCompleted => self.notice(message, "LEAGUE_COMPLETED_ACK", Fault::RefusesTheEnd),
            Method::GetPlayerState if self.is(Fault::TellsItsToken) => {
                Ok(Ok(json!({ "state": "REGISTERED", "auth_token": "s3cr3t" })))
            }
            Method::GetPlayerState => Ok(Ok(json!({ "state": "REGISTERED" }))),
            _ => Ok(Ok(self.acknowledge(message, "ACK"))),
        }
    }

    fn notice(
        &self,
        message: &Map<String, Value>,
        name: &str,
        fault: Fault,
    ) -> Result<Result<Value, Refusal>, NoReply> {
        Ok(if self.is(fault) { refuse(-32603, "KeyError") } else { Ok(self.acknowledge(message, name)) })
    }

    fn envelope(&self, message: &Map<String, Value>) -> Result<(), Refusal> {
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
    fn answer(&self, asked: &Map<String, Value>, message_type: &str, body: &Value) -> Value {
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
        let own = self.is(Fault::OwnConversation);
        put(
            "conversation_id",
            if own { json!("mine") } else { asked.get("conversation_id").cloned().unwrap_or_default() },
        );
        if self.is(Fault::EchoesToken) {
            put("auth_token", asked.get("auth_token").cloned().unwrap_or_default());
        }
        answer
    }

    fn acknowledge(&self, asked: &Map<String, Value>, name: &str) -> Value {
        self.answer(asked, name, &json!({ "status": "ACKNOWLEDGED" }))
    }

    fn join(&self, asked: &Map<String, Value>, match_id: &str) -> Result<Value, Refusal> {
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
            Fault::JoinsLate if nonce == "nonce 1" && !again => thread::sleep(Duration::from_millis(2_550)),
            Fault::RefusesRepeats if again => return refuse(-32603, "already joined"),
            Fault::RefusesSideB if asked.get("role_in_match") == Some(&json!("PLAYER_B")) => {
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
        let mut answer = self.answer(asked, "GAME_JOIN_ACK", &body);
        if self.is(Fault::JoinWithoutType) {
            answer["message_type"] = json!("OK");
        }
        Ok(answer)
    }

    fn choose(&self, asked: &Map<String, Value>, match_id: &str) -> Result<Value, Refusal> {
        let (asked_before, errors, last) = {
            let mut memory = self.memory.lock().unwrap();
            memory.asked += 1;
            (memory.asked - 1, memory.errors, memory.last_match.clone())
        };
        match self.fault {
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
        let mut answer = self.answer(asked, "CHOOSE_PARITY_RESPONSE", &body);
        if self.is(Fault::ChoiceWithoutType) {
            answer["message_type"] = json!("OK");
        }
        Ok(answer)
    }
}

fn error(id: &Value, Refusal(code, words): &Refusal) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": words } })
}
