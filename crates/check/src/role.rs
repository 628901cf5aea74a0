//! Finds the role of an agent without disturbing it.

use std::time::Duration;

use http::HeaderMap;
use league_protocol::sender::Role;
use league_protocol::table::{Method, TABLE};
use league_wire::endpoint::Endpoint;
use serde_json::{Value, json};

use crate::agent_client::AgentClient;
use crate::messages::rpc;

const LIMIT: Duration = Duration::from_secs(3);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuessedRole {
    pub role: Role,
    pub because: String,
}

/// Without any sign the role is player: most agents are.
pub async fn role(endpoint: &Endpoint) -> GuessedRole {
    let client = AgentClient::to(endpoint.clone());
    if let Some(role) = by_health(&client).await {
        return GuessedRole { role, because: String::from("its /health says so") };
    }
    if let Some(headers) = client.peer_client.open_session(endpoint, LIMIT).await
        && let (_, tools) = client.tools(&headers, LIMIT).await
        && let Some(role) = by_tools(tools.iter().filter_map(|tool| tool.get("name")?.as_str()))
    {
        return GuessedRole { role, because: String::from("its tools say so") };
    }
    if let Some(role) = by_calls(&client).await {
        return GuessedRole { role, because: String::from("the calls that it understands say so") };
    }
    GuessedRole { role: Role::Player, because: String::from("taken for a player; --role says otherwise") }
}

async fn by_health(client: &AgentClient) -> Option<Role> {
    if !client.is_plain() {
        return None;
    }
    let health = client.get("/health", LIMIT).await.json()?;
    let named = health.get("role")?.as_str()?.to_owned();
    [Role::Player, Role::Referee, Role::Manager].into_iter().find(|role| role.to_string() == named)
}

fn by_tools<'a>(names: impl Iterator<Item = &'a str>) -> Option<Role> {
    let known: Vec<Method> = names.filter_map(|name| Method::named(name).map(|(method, _)| method)).collect();
    let only = |role: Role| {
        let own = |method: &&Method| TABLE.iter().any(|row| row.method == **method && row.to == [role]);
        known.iter().filter(own).count()
    };
    let best = [Role::Player, Role::Referee, Role::Manager].into_iter().max_by_key(|role| only(*role))?;
    (only(best) > 0).then_some(best)
}

/// Uses calls that change nothing: a manager answers with its table, a referee with an unknown match.
async fn by_calls(client: &AgentClient) -> Option<Role> {
    let ask = async |method: &str, params: Value| {
        client.post(&HeaderMap::new(), rpc(method, &params, client.next_id()).to_string(), LIMIT).await
    };
    let standings = ask("get_standings", json!({})).await;
    if standings.is_success() && String::from_utf8_lossy(standings.body()).contains("\"standings\"") {
        return Some(Role::Manager);
    }
    let state = ask("get_match_state", json!({ "match_id": "R0M0" })).await;
    let error = state.error()?;
    (error.code.as_deref() == Some("E007")).then_some(Role::Referee)
}
