//! A handwritten referee, correct except for one fault. It never registers.

#![expect(clippy::wildcard_enum_match_arm, reason = "a referee with one fault has none of the others")]

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use league_core::rules::draw::Draw;
use league_protocol::draw::{DrawNonce, DrawSecret};
use league_protocol::side::Pair;
use league_test_agents::http_server::{HttpReply, HttpRequest, HttpServer, ServerFaults};
use serde_json::{Value, json};

use super::{faults, serve};

faults! {
    None;
    AnswersAtTheEnd: "referee.start.at-once";
    PlaysTwice: "referee.start.again";
    TakesNobody: "referee.start.malformed";
    InvitesOneAfterTheOther: "referee.invitation.together";
    SwapsSides: "referee.invitation.sides";
    NamesNoOpponent: "referee.invitation.fields";
    NoCommitment: "referee.draw.provable", "referee.invitation.commitment";
    ManyConversations: "referee.conversation.one";
    ShowsNoPass: "referee.pass.shown";
    AsksOneAfterTheOther: "referee.choice.together";
    RevealsTheOtherChoice: "referee.choice.hidden";
    DrawsEleven: "referee.draw.number", "referee.draw.provable";
    DrawsAsItLikes: "referee.draw.provable";
    FavoursB: "referee.result.winner";
    TellsOneOnly: "referee.decline.loss", "referee.over.both", "referee.retry.loss";
    TellsTwoThings: "referee.over.alike";
    NeverReports: "referee.decline.loss", "referee.report.sent", "referee.retry.loss";
    ReportsSomethingElse: "referee.report.agrees";
    CountsTwoPoints: "referee.report.score";
    SaysNothingOfErrors: "referee.retry.told";
    AsksTwice: "referee.retry.three";
    ForgivesForfeits: "referee.decline.loss", "referee.retry.loss";
    GivesUpOnSilence: "referee.timeout.retried";
    AsksWhoDeclined: "referee.decline.loss";
    KnowsEveryMatch: "referee.state.unknown-match";
    KnowsEveryMethod: "referee.rpc.unknown-method";
}

pub(crate) fn start(fault: Fault, manager: u16) -> HttpServer {
    let seen: Mutex<HashSet<String>> = Mutex::default();
    serve(ServerFaults::default(), move |request| Ok(respond(fault, manager, &seen, request)))
}

fn respond(fault: Fault, manager: u16, seen: &Mutex<HashSet<String>>, request: &HttpRequest) -> HttpReply {
    let Ok(request) = serde_json::from_slice::<Value>(&request.body) else { return refusal(&Value::Null, -32700) };
    let (id, params) = (&request["id"], request["params"].clone());
    match request["method"].as_str().unwrap_or_default() {
        "start_match" => {
            let match_id = params["match_id"].as_str().unwrap_or_default().to_owned();
            if !params["players"].is_array() && fault != Fault::TakesNobody {
                return refusal(id, -32602);
            }
            let new = seen.lock().unwrap().insert(match_id.clone()) || fault == Fault::PlaysTwice;
            if new && params["players"].is_array() {
                let playing = thread::spawn(move || Match { fault, manager, order: params }.play());
                if fault == Fault::AnswersAtTheEnd {
                    drop(playing.join());
                }
            }
            result(id, &json!({ "status": "ACCEPTED", "match_id": match_id }))
        }
        "get_match_state" if fault == Fault::KnowsEveryMatch => result(id, &json!({ "state": "FINISHED" })),
        "get_match_state" => refusal(id, 7),
        _ if fault == Fault::KnowsEveryMethod => result(id, &json!({ "status": "ok" })),
        _ => refusal(id, -32601),
    }
}

fn result(id: &Value, result: &Value) -> HttpReply {
    HttpReply::json(200, &json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn refusal(id: &Value, code: i64) -> HttpReply {
    HttpReply::json(200, &json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "no" } }))
}

/// `None` if no answer comes in time.
fn post(port: u16, method: &str, params: &Value, limit: Duration) -> Option<Value> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(limit)).ok()?;
    stream.write_all((head + &body).as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let text = String::from_utf8(answer).ok()?;
    let answer: Value = serde_json::from_str(text.split_once("\r\n\r\n")?.1).ok()?;
    Some(answer["result"].clone())
}

struct Match {
    fault: Fault,
    manager: u16,
    order: Value,
}

const SECRET: DrawSecret = DrawSecret([9; 32]);

impl Match {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn name(&self, side: usize) -> String {
        self.order["players"][side]["player_id"].as_str().unwrap().to_owned()
    }

    fn tell(&self, side: usize, method: &str, message_type: &str, body: &Value) -> Option<Value> {
        let player = &self.order["players"][side];
        let endpoint = player["endpoint"].as_str().unwrap();
        let port = endpoint.split([':', '/']).find_map(|part| part.parse::<u16>().ok()).unwrap();
        let mut message = body.clone();
        let many = self.is(Fault::ManyConversations);
        let conversation = if many { format!("conv-{message_type}") } else { String::from("conv-1") };
        let envelope = json!({
            "protocol": "league.v2", "message_type": message_type, "sender": "referee:REF01",
            "timestamp": "2025-01-15T10:30:00Z", "conversation_id": conversation, "match_id": self.order["match_id"],
            "player_id": player["player_id"], "game_type": "even_odd",
        });
        message.as_object_mut().unwrap().extend(envelope.as_object().unwrap().clone());
        if !self.is(Fault::ShowsNoPass) {
            message["auth_token"] = player["referee_pass"].clone();
        }
        // The limits in the checker's START_MATCH.
        post(port, method, &message, Duration::from_secs(if method == "choose_parity" { 1 } else { 2 }))
    }

    /// Concurrent unless `in_turn`.
    fn both<T: Send>(&self, in_turn: bool, act: impl Fn(usize) -> T + Send + Sync) -> [T; 2] {
        if in_turn {
            return [act(0), act(1)];
        }
        thread::scope(|scope| {
            let other = scope.spawn(|| act(1));
            [act(0), other.join().unwrap()]
        })
    }

    fn play(&self) {
        let joins = self.both(self.is(Fault::InvitesOneAfterTheOther), |side| self.invite(side));
        let declined = |side: usize| joins[side]["accept"] != json!(true);
        if let Some(loser) = (0..2).find(|side| declined(*side)) {
            if self.is(Fault::AsksWhoDeclined) {
                self.ask(loser);
            }
            return self.forfeited(loser);
        }
        let choices = self.both(self.is(Fault::AsksOneAfterTheOther), |side| self.choice(side));
        if let Some(loser) = (0..2).find(|side| choices[*side].is_none()) {
            return self.forfeited(loser);
        }
        let nonce = |side: usize| joins[side]["draw_nonce"].as_str().unwrap_or_default().parse::<DrawNonce>().unwrap();
        let match_id = self.order["match_id"].as_str().unwrap().parse().unwrap();
        let draw = Draw { secret: SECRET, match_id, attempt: 1, nonces: Pair::new(nonce(0), nonce(1)), seeded: false };
        let number = match self.fault {
            Fault::DrawsEleven => 11,
            Fault::DrawsAsItLikes => (draw.number().get() + 1) % 10 + 1,
            _ => draw.number().get(),
        };
        let parity = if number % 2 == 0 { "even" } else { "odd" };
        let right = |side: usize| choices[side].as_deref() == Some(parity);
        let winner = if self.is(Fault::FavoursB) { usize::from(right(0)) } else { usize::from(!right(0)) };
        let result = json!({
            "status": "WIN", "winner_player_id": self.name(winner), "drawn_number": number, "number_parity": parity,
            "choices": { self.name(0): choices[0], self.name(1): choices[1] }, "reason": "",
        });
        let revealed = json!({
            "commitment": SECRET.commitment(), "secret": SECRET, "attempt": 1,
            "nonces": { self.name(0): joins[0]["draw_nonce"], self.name(1): joins[1]["draw_nonce"] },
        });
        self.end(&result, winner, &json!({ "draw": revealed }));
    }

    fn invite(&self, side: usize) -> Value {
        let role = if (side == 0) == self.is(Fault::SwapsSides) { "PLAYER_B" } else { "PLAYER_A" };
        let mut body = json!({ "role_in_match": role, "attempt": 1 });
        if !self.is(Fault::NamesNoOpponent) {
            body["opponent_id"] = json!(self.name(1 - side));
        }
        if !self.is(Fault::NoCommitment) {
            body["draw_commitment"] = json!(SECRET.commitment());
        }
        self.tell(side, "handle_game_invitation", "GAME_INVITATION", &body).unwrap_or_default()
    }

    fn ask(&self, side: usize) -> Option<Value> {
        let mut body = json!({ "context": { "opponent_id": self.name(1 - side) }, "deadline": "2035-01-15T10:30:00Z" });
        if self.is(Fault::RevealsTheOtherChoice) {
            body["context"]["opponent_id"] = json!("odd");
        }
        self.tell(side, "choose_parity", "CHOOSE_PARITY_CALL", &body)
    }

    fn choice(&self, side: usize) -> Option<String> {
        let tries = if self.is(Fault::AsksTwice) { 2 } else { 3 };
        for number in 1..=tries {
            let answer = self.ask(side);
            let code = if answer.is_none() { "E001" } else { "E004" };
            let answer = answer.unwrap_or_default();
            match answer["parity_choice"].as_str() {
                Some(choice @ ("even" | "odd")) => return Some(choice.to_owned()),
                _ if code == "E001" && self.is(Fault::GivesUpOnSilence) => return None,
                _ if self.is(Fault::SaysNothingOfErrors) && code == "E004" => {}
                _ => {
                    let body = json!({ "error_code": code, "retry_count": number, "max_retries": 3 });
                    self.tell(side, "notify_game_error", "GAME_ERROR", &body);
                }
            }
        }
        None
    }

    fn forfeited(&self, loser: usize) {
        let winner = if self.is(Fault::ForgivesForfeits) { loser } else { 1 - loser };
        let result = json!({
            "status": "TECHNICAL_LOSS", "winner_player_id": self.name(winner), "drawn_number": null,
            "number_parity": null, "choices": {}, "reason": "",
        });
        self.end(&result, winner, &json!({}));
    }

    fn end(&self, result: &Value, winner: usize, more: &Value) {
        let recipients = if self.is(Fault::TellsOneOnly) { 1 } else { 2 };
        for side in 0..recipients {
            let mut over = more.clone();
            over["game_result"] = result.clone();
            if self.is(Fault::TellsTwoThings) && side == 1 {
                over["game_result"]["winner_player_id"] = json!(self.name(1 - winner));
            }
            self.tell(side, "notify_match_result", "GAME_OVER", &over);
        }
        if self.is(Fault::NeverReports) {
            return;
        }
        let points = if self.is(Fault::CountsTwoPoints) { 2 } else { 3 };
        let score = json!({ self.name(winner): points, self.name(1 - winner): 0 });
        let mut details = result.clone();
        details.as_object_mut().unwrap().remove("winner_player_id");
        let played = result["status"] == json!("WIN");
        if self.is(Fault::ReportsSomethingElse) && played {
            details["drawn_number"] = json!(result["drawn_number"].as_u64().unwrap() % 10 + 1);
            details["number_parity"] = Value::Null;
        }
        let report = json!({
            "protocol": "league.v2", "message_type": "MATCH_RESULT_REPORT", "sender": "referee:REF01",
            "timestamp": "2025-01-15T10:30:00Z", "conversation_id": "conv-1", "auth_token": "none",
            "match_id": self.order["match_id"], "round_id": self.order["round_id"], "game_type": "even_odd",
            "result": { "winner": result["winner_player_id"], "score": score, "details": details },
        });
        post(self.manager, "report_match_result", &report, Duration::from_secs(1));
    }
}
