//! The player as an MCP server.

use http::HeaderMap;
use league_protocol::dialect::PeerDialect;
use league_protocol::frame::Frame;
use league_protocol::side::Side;
use league_protocol::table::{LimitKind, Method};
use serde_json::{Value, json};

use super::{PlayerCheck, joins};
use crate::check_log::ensure;
use crate::messages::rpc;
use crate::rules::player as rules;

const REVISION: &str = "2025-06-18";

impl PlayerCheck<'_> {
    pub(super) async fn mcp(&self) {
        tokio::join!(self.handshake(), self.ping(), self.tool_frame());
    }

    async fn handshake(&self) {
        let limit = self.options.wait(LimitKind::Generic);
        let client_info = json!({ "name": "league-check", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": REVISION, "capabilities": {}, "clientInfo": client_info });
        let request = rpc("initialize", &params, self.client.next_id());
        let first = self.client.post(&HeaderMap::new(), request.to_string(), limit).await;
        let result = first.json().and_then(|answer| answer.get("result").cloned()).unwrap_or_default();
        let text = |value: Option<&Value>| value.is_some_and(Value::is_string);
        let complete = text(result.get("protocolVersion"))
            && result.get("capabilities").is_some_and(Value::is_object)
            && text(result.get("serverInfo").and_then(|info| info.get("name")));
        self.log.judge(&rules::MCP_INITIALIZE, &first, ensure(complete, "the answer is not one to initialize"));
        if !complete {
            for rule in [&rules::MCP_TOOLS, &rules::MCP_SCHEMAS] {
                self.log.skip(rule, "the player is no MCP server");
            }
            return;
        }
        // With the headers of its session, if it has one.
        let headers = self.client.peer_client.open_session(&self.client.endpoint, limit).await.unwrap_or_default();
        let (listed, tools) = self.client.tools(&headers, limit).await;
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool.get("name")?.as_str()).collect();
        let missing = [Method::GameInvitation, self.league.method()]
            .into_iter()
            .find(|method| !names.iter().any(|name| Method::named(name).is_some_and(|(found, _)| found == *method)));
        let judgement = missing.map_or(Ok(()), |method| Err(format!("{} is not among {names:?}", method.row().name)));
        self.log.judge(&rules::MCP_TOOLS, &listed, judgement);
        let is_object =
            |tool: &&Value| tool.get("inputSchema").and_then(|schema| schema.get("type")) == Some(&json!("object"));
        let bad = tools.iter().find(|tool| !is_object(tool)).and_then(|tool| tool.get("name")).cloned();
        let judgement = bad.map_or(Ok(()), |name| Err(format!("the inputSchema of {name} is not of type object")));
        self.log.judge(&rules::MCP_SCHEMAS, &listed, judgement);
    }

    async fn ping(&self) {
        let limit = self.options.wait(LimitKind::Generic);
        let headers = self.client.headers(self.dialect, Method::Ping);
        let response =
            self.client.post(&headers, rpc("ping", &json!({}), self.client.next_id()).to_string(), limit).await;
        let answered = response.json().is_some_and(|answer| answer.get("result").is_some());
        self.log.judge(&rules::MCP_PING, &response, ensure(answered, "there is no result"));
    }

    async fn tool_frame(&self) {
        let match_id = self.league.match_id(60);
        let message = self.league.invitation(&match_id, Side::A);
        let dialect =
            if self.dialect.frame() == Frame::Tool { self.dialect.clone() } else { PeerDialect::from(Frame::Tool) };
        let response = self.client.send(&dialect, &message, self.join_limit()).await;
        self.log.judge(&rules::TOOL_FRAME, &response, joins(&response, &match_id));
    }
}
