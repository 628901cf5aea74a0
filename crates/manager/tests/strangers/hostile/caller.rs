//! Somebody who calls a manager by hand.

use league_test_agents::post::{Posted, post};
use serde_json::{Value, json};

/// Somebody who knows where a manager is.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    url: String,
}

/// The envelope of a message, as a stranger writes it.
fn envelope(method: &str, sender: &str, token: Option<&str>) -> Value {
    let message_type = match method {
        "register_player" => "LEAGUE_REGISTER_REQUEST",
        "register_referee" => "REFEREE_REGISTER_REQUEST",
        "report_match_result" => "MATCH_RESULT_REPORT",
        "league_query" => "LEAGUE_QUERY",
        other => other,
    };
    json!({
        "protocol": "league.v2", "message_type": message_type, "sender": sender, "timestamp": "2025-01-15T10:00:00Z", "conversation_id": "by-hand",
        "auth_token": token,
    })
}

impl Caller {
    /// Who calls this manager.
    pub(crate) fn of(url: impl Into<String>) -> Self {
        Self { url: url.into() }
    }

    /// Calls `method` with these fields beside the envelope.
    pub(crate) async fn call(&self, method: &str, sender: &str, token: Option<&str>, fields: Value) -> Posted {
        let mut params = envelope(method, sender, token);
        params.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let request = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": 1});
        post(&self.url, &[], &request).await.unwrap()
    }

    /// Registers as a player or a referee (`role`), with or without the key.
    pub(crate) async fn register(&self, role: &str, name: &str, endpoint: &str, key: Option<&str>) -> Posted {
        let meta = json!({
            "display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": endpoint,
        });
        let fields = json!({ format!("{role}_meta"): meta, "join_key": key });
        self.call(&format!("register_{role}"), &format!("{role}:{name}"), None, fields).await
    }

    /// Asks where the league stands.
    pub(crate) async fn status(&self, token: &str) -> Posted {
        let fields = json!({"query_type": "GET_STATUS", "query_params": {}});
        let owner = token.split('-').nth(1).unwrap_or("P01");
        self.call("league_query", &format!("player:{owner}"), Some(token), fields).await
    }
}

/// The league's code of a refusal; empty where it is none.
pub(crate) fn code(answer: &Posted) -> String {
    answer.json()["error"]["data"]["error_code"].as_str().unwrap_or_default().to_owned()
}

/// What somebody who was let in got: its id and its token.
pub(crate) fn admitted(answer: &Posted) -> (String, String) {
    let result = answer.json()["result"].clone();
    let id = result["player_id"].as_str().or(result["referee_id"].as_str());
    assert_eq!(result["status"], "ACCEPTED", "{answer:?}");
    (id.unwrap().to_owned(), result["auth_token"].as_str().unwrap().to_owned())
}

/// Whether somebody was told to come back later, in all the ways that this is said.
pub(crate) fn is_told_to_wait(answer: &Posted) -> bool {
    let body = answer.json();
    let error = &body["error"]["data"];
    let header = answer.header("retry-after").and_then(|seconds| seconds.parse::<u64>().ok());
    code(answer) == "E014"
        && answer.status == 429
        && error["retryable"] == true
        && header.is_some_and(|seconds| (1..=10).contains(&seconds))
        && error["retry_after"].as_u64() == header
}
