//! A client that calls a manager by hand.

use league_test_agents::post::{Posted, post};
use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Caller {
    pub(crate) fn at(url: String) -> Self {
        Self { url, headers: Vec::new() }
    }

    pub(crate) fn with(&self, name: &'static str, value: impl Into<String>) -> Self {
        let mut caller = self.clone();
        caller.headers.push((name, value.into()));
        caller
    }

    pub(crate) async fn call(&self, method: &str, sender: &str, token: Option<&str>, fields: Value) -> Posted {
        let message_type = match method {
            "register_player" => "LEAGUE_REGISTER_REQUEST",
            "register_referee" => "REFEREE_REGISTER_REQUEST",
            "report_match_result" => "MATCH_RESULT_REPORT",
            "league_query" => "LEAGUE_QUERY",
            other => other,
        };
        let mut params = json!({"protocol": "league.v2", "message_type": message_type, "sender": sender,
            "timestamp": "2025-01-15T10:00:00Z", "conversation_id": "by-hand", "auth_token": token});
        params.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let request = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": 1});
        let headers: Vec<_> = self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        post(&self.url, &headers, &request).await.unwrap()
    }

    pub(crate) async fn register(&self, role: &str, name: &str, endpoint: &str, key: Option<&str>) -> Posted {
        let meta = json!({
            "display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": endpoint,
        });
        let fields = json!({ format!("{role}_meta"): meta, "join_key": key });
        self.call(&format!("register_{role}"), &format!("{role}:{name}"), None, fields).await
    }

    pub(crate) async fn status(&self, token: &str) -> Posted {
        let fields = json!({"query_type": "GET_STATUS", "query_params": {}});
        let owner = token.split('-').nth(1).unwrap_or("P01");
        self.call("league_query", &format!("player:{owner}"), Some(token), fields).await
    }
}

pub(crate) fn code(answer: &Posted) -> String {
    answer.json()["error"]["data"]["error_code"].as_str().unwrap_or_default().to_owned()
}

pub(crate) fn admitted(answer: &Posted) -> (String, String) {
    let result = answer.json()["result"].clone();
    let id = result["player_id"].as_str().or(result["referee_id"].as_str());
    assert_eq!(result["status"], "ACCEPTED", "{answer:?}");
    (id.unwrap().to_owned(), result["auth_token"].as_str().unwrap().to_owned())
}

pub(crate) fn must_wait(answer: &Posted) -> bool {
    let body = answer.json();
    let error = &body["error"]["data"];
    let header = answer.header("retry-after").and_then(|seconds| seconds.parse::<u64>().ok());
    code(answer) == "E014"
        && answer.status == 429
        && error["retryable"] == true
        && header.is_some_and(|seconds| (1..=10).contains(&seconds))
        && error["retry_after"].as_u64() == header
}
