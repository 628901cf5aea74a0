//! JSON-RPC: ids, errors, notifications, batches.

use league_protocol::frame::Frame;
use league_protocol::id::MatchId;
use league_protocol::side::Side;
use league_protocol::table::Method;
use serde::Serialize;
use serde_json::{Value, json};

use super::{PlayerCheck, joins};
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

impl PlayerCheck<'_> {
    pub(super) async fn requests(&self) {
        if !self.dialect.frame().is_rpc() {
            RPC.iter().for_each(|rule| self.log.skip(rule, "the player does not speak JSON-RPC"));
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
        let headers = self.client.headers(self.dialect, Method::GameInvitation);
        self.client.post(&headers, body.to_string(), self.join_limit()).await
    }

    fn request(&self, number: u32, id: impl Serialize) -> (MatchId, Value) {
        let match_id = self.league.match_id(number);
        let request = self.league.invitation(&match_id, Side::A).written(self.dialect, id);
        (match_id, request)
    }

    async fn ids(&self) {
        let (_, request) = self.request(30, 4_711);
        let response = self.post(&request).await;
        let answer = response.json().unwrap_or_default();
        let version = answer.get("jsonrpc");
        self.log.judge(
            &rules::RPC_VERSION,
            &response,
            ensure(version == Some(&json!("2.0")), found_value("jsonrpc", version)),
        );
        let id = answer.get("id");
        self.log.judge(&rules::ID_NUMBER, &response, ensure(id == Some(&json!(4_711)), found_value("id", id)));
        let holds = |key| answer.get(key).is_some_and(|value| !value.is_null());
        let one = ensure(holds("result") != holds("error"), "there are both of result and error, or none");
        self.log.judge(&rules::ONE_OF_BOTH, &response, one);
        let (_, request) = self.request(31, "check-31");
        let response = self.post(&request).await;
        let answer = response.json().unwrap_or_default();
        let id = answer.get("id");
        self.log.judge(&rules::ID_TEXT, &response, ensure(id == Some(&json!("check-31")), found_value("id", id)));
    }

    async fn unknown_method(&self) {
        let params = if self.dialect.frame() == Frame::Nested { json!({ "message": {} }) } else { json!({}) };
        let response = self.post(&rpc("no_such_method_of_the_league", &params, self.client.next_id())).await;
        let number = response.error_number();
        let found = number.map_or_else(|| String::from("there is no error code"), |code| format!("the code is {code}"));
        // The MCP SDKs answer an unknown method with "invalid params", and their users cannot change that.
        let refused = number == Some(-32601) || (self.dialect.frame() == Frame::Tool && number == Some(-32602));
        self.log.judge(&rules::UNKNOWN_METHOD, &response, ensure(refused, found));
    }

    async fn wrong_params(&self) {
        let message = self.league.invitation(&self.league.match_id(32), Side::A);
        let message =
            ["match_id", "game_id", "game_invitation"].iter().fold(message, |message, field| message.without(field));
        let response = self.send(&message, self.join_limit()).await;
        self.log.judge(&rules::WRONG_PARAMS, &response, ensure(response.error().is_some(), "it is not refused"));
    }

    async fn notification(&self) {
        let (_, mut request) = self.request(33, 1);
        if let Some(request) = request.as_object_mut() {
            request.remove("id");
        }
        let response = self.post(&request).await;
        let quiet = response.result.is_ok() && response.json().is_none_or(|answer| answer.get("jsonrpc").is_none());
        self.log.judge(&rules::NOTIFICATION, &response, ensure(quiet, "it is answered like a request"));
    }

    async fn batch(&self) {
        let ((one, first), (_, second)) = (self.request(34, 341), self.request(35, 342));
        let response = self.post(&json!([first, second])).await;
        let judgement = match response.json() {
            Some(Value::Array(answers)) => {
                ensure(answers.len() == 2, format!("{} answers came to two requests for {one}", answers.len()))
            }
            Some(_) | None => Err(String::from("the answer is no array")),
        };
        self.log.judge(&rules::BATCH, &response, judgement);
    }

    async fn extra_key(&self) {
        let (match_id, mut request) = self.request(36, 361);
        request["trace"] = json!("check");
        let posted = self.posts.waiting(&match_id, Method::GameInvitation);
        let response = posted.or(self.post(&request).await, self.dialect, self.join_limit()).await;
        self.log.judge(&rules::EXTRA_KEY, &response, joins(&response, &match_id));
    }
}

fn found_value(what: &str, found: Option<&Value>) -> String {
    match found {
        Some(found) => format!("{what} is {found}"),
        None => format!("there is no {what}"),
    }
}
