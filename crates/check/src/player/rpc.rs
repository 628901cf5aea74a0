//! JSON-RPC: ids, errors, notifications, batches.

use league_protocol::frame::Frame;
use league_protocol::id::MatchId;
use league_protocol::side::Side;
use league_protocol::table::Method;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Exam, joins};
use crate::check_log::ensure;
use crate::messages::rpc;
use crate::response::Response;
use crate::rule::Rule;
use crate::rules::player as rules;

static RPC: [&Rule; 9] = [
    &rules::RPC_VERSION,
    &rules::ID_NUMBER,
    &rules::ID_TEXT,
    &rules::ONE_OF_BOTH,
    &rules::UNKNOWN_METHOD,
    &rules::WRONG_PARAMS,
    &rules::NOTIFICATION,
    &rules::BATCH,
    &rules::EXTRA_KEY,
];

impl Exam<'_> {
    pub(super) async fn requests(&self) {
        if !self.voice.frame().is_rpc() {
            RPC.iter().for_each(|rule| self.book.skip(rule, "the player does not speak JSON-RPC"));
            return;
        }
        tokio::join!(
            self.ids(),
            self.unknown_method(),
            self.wrong_params(),
            self.notification(),
            self.batch(),
            self.extra_key()
        );
    }

    async fn post(&self, body: &Value) -> Response {
        let headers = self.voice.headers(self.line, Method::GameInvitation);
        self.line.post(&headers, body.to_string(), self.join_limit()).await
    }

    fn request(&self, number: u32, id: impl Serialize) -> (MatchId, Value) {
        let match_id = self.test_league.match_no(number);
        let request = self.voice.write(&self.test_league.invitation(&match_id, Side::A), id);
        (match_id, request)
    }

    async fn ids(&self) {
        let (_, request) = self.request(30, 4_711);
        let heard = self.post(&request).await;
        let answer = heard.json().unwrap_or_default();
        let version = answer.get("jsonrpc");
        self.book.judge(&rules::RPC_VERSION, &heard, ensure(version == Some(&json!("2.0")), said("jsonrpc", version)));
        let id = answer.get("id");
        self.book.judge(&rules::ID_NUMBER, &heard, ensure(id == Some(&json!(4_711)), said("id", id)));
        let holds = |key| answer.get(key).is_some_and(|value| !value.is_null());
        let one = ensure(holds("result") != holds("error"), "there are both of result and error, or none");
        self.book.judge(&rules::ONE_OF_BOTH, &heard, one);
        let (_, request) = self.request(31, "check-31");
        let heard = self.post(&request).await;
        let answer = heard.json().unwrap_or_default();
        let id = answer.get("id");
        self.book.judge(&rules::ID_TEXT, &heard, ensure(id == Some(&json!("check-31")), said("id", id)));
    }

    async fn unknown_method(&self) {
        let params = if self.voice.frame() == Frame::Nested { json!({ "message": {} }) } else { json!({}) };
        let heard = self.post(&rpc("no_such_method_of_the_league", &params, self.line.next_id())).await;
        let number = heard.error_number();
        let found = number.map_or_else(|| String::from("there is no error code"), |code| format!("the code is {code}"));
        // The MCP SDKs answer an unknown method with "invalid params", and their users cannot change that.
        let refused = number == Some(-32601) || (self.voice.frame() == Frame::Tool && number == Some(-32602));
        self.book.judge(&rules::UNKNOWN_METHOD, &heard, ensure(refused, found));
    }

    async fn wrong_params(&self) {
        let letter = self.test_league.invitation(&self.test_league.match_no(32), Side::A);
        let letter =
            ["match_id", "game_id", "game_invitation"].iter().fold(letter, |letter, field| letter.without(field));
        let heard = self.say(&letter, self.join_limit()).await;
        let judgement = match heard.error() {
            Some(_) => Ok(()),
            None => Err(String::from("it is not refused")),
        };
        self.book.judge(&rules::WRONG_PARAMS, &heard, judgement);
    }

    async fn notification(&self) {
        let (_, mut request) = self.request(33, 1);
        if let Some(request) = request.as_object_mut() {
            request.remove("id");
        }
        let heard = self.post(&request).await;
        let quiet = heard.came.is_ok() && heard.json().is_none_or(|answer| answer.get("jsonrpc").is_none());
        self.book.judge(&rules::NOTIFICATION, &heard, ensure(quiet, "it is answered like a request"));
    }

    async fn batch(&self) {
        let ((one, first), (_, second)) = (self.request(34, 341), self.request(35, 342));
        let heard = self.post(&json!([first, second])).await;
        let judgement = match heard.json() {
            Some(Value::Array(answers)) => {
                ensure(answers.len() == 2, format!("{} answers came to two requests for {one}", answers.len()))
            }
            Some(_) | None => Err(String::from("the answer is no array")),
        };
        self.book.judge(&rules::BATCH, &heard, judgement);
    }

    async fn extra_key(&self) {
        let (match_id, mut request) = self.request(36, 361);
        request["trace"] = json!("check");
        let posted = self.posts.waiting(&match_id, Method::GameInvitation);
        let heard = posted.or(self.post(&request).await, self.voice, self.join_limit()).await;
        self.book.judge(&rules::EXTRA_KEY, &heard, joins(&heard, &match_id));
    }
}

fn said(what: &str, found: Option<&Value>) -> String {
    match found {
        Some(found) => format!("{what} is {found}"),
        None => format!("there is no {what}"),
    }
}
