//! The check of a manager. The agents that it registers stay registered and never play.

mod queries;
mod registration;

use std::sync::OnceLock;
use std::time::Duration;

use http::HeaderMap;
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, GameType, LeagueId};
use league_protocol::request::MAX_BODY;
use league_protocol::sender::Role;
use league_protocol::table::{Call, LimitKind};
use league_protocol::token::Credential;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use serde_json::{Value, json};

use crate::agent_client::AgentClient;
use crate::check_log::{CheckLog, Judgement, ensure};
use crate::messages::{TestMessage, rpc};
use crate::options::CheckOptions;
use crate::report::CheckReport;
use crate::response::{NoResponse, Response};
use crate::rule::Rule;
use crate::rules::manager as rules;

pub(crate) struct ManagerCheck<'a> {
    client: &'a AgentClient,
    log: &'a CheckLog,
    environment: Environment,
    limit: Duration,
    game: GameType,
    /// Makes the names unique: the manager knows those of earlier checks.
    mark: String,
    dialect: OnceLock<PeerDialect>,
}

struct Member {
    id: String,
    token: String,
    league: Option<LeagueId>,
}

pub async fn manager(endpoint: &Endpoint, options: &CheckOptions) -> CheckReport {
    let (client, log, environment) = (AgentClient::to(endpoint.clone()), CheckLog::default(), Environment::real());
    let mark = environment.random()[..4].iter().fold(String::new(), |mark, byte| format!("{mark}{byte:02x}"));
    let check = ManagerCheck {
        client: &client,
        log: &log,
        environment,
        limit: options.wait(LimitKind::Generic),
        game: options.game.clone(),
        mark,
        dialect: OnceLock::new(),
    };
    let outcome = check.run().await;
    let mut report = CheckReport::new(Role::Manager, endpoint, options.set);
    report.complete = outcome.is_ok();
    report.form = Some(format!("frame {}", check.dialect.get_or_init(PeerDialect::default)));
    let unreached = if report.complete { "it did not come to that" } else { "the manager could not be checked" };
    report.notes.push(outcome.err().unwrap_or_else(|| {
        format!(
            "The agents called \"Checker {}\" stay registered with this manager. They listen nowhere: throw this league away.",
            check.mark
        )
    }));
    report.findings = log.close(options.set.for_role(Role::Manager), unreached);
    report
}

impl ManagerCheck<'_> {
    async fn run(&self) -> Result<(), String> {
        let member = self.register_player().await?;
        tokio::join!(
            self.registrations(),
            self.queries(&member),
            self.envelopes(&member),
            async { self.reports(&member, self.referee().await.as_ref()).await },
            self.requests(),
        );
        // These end the first token, so they come last.
        self.register_again(&member).await;
        self.bounds().await;
        Ok(())
    }

    async fn post(&self, body: &Value) -> Response {
        self.client.post(&HeaderMap::new(), body.to_string(), self.limit).await
    }

    async fn send(&self, message: &TestMessage) -> Response {
        self.client.send(self.dialect.get_or_init(PeerDialect::default), message, self.limit).await
    }

    fn message(&self, sender: &str, token: Option<&str>, call: &Call) -> TestMessage {
        TestMessage::new(&self.envelope(token), call).with("sender", sender)
    }

    fn envelope(&self, token: Option<&str>) -> Envelope {
        Envelope {
            sender: league_protocol::sender::Sender::manager(),
            timestamp: self.environment.now(),
            conversation_id: ConversationId::named(format_args!("conv-check-{}", self.mark)),
            auth_token: token.map(Credential::new),
        }
    }

    fn refused_with(&self, rule: &'static Rule, response: &Response, code: &str) {
        let judgement = match (&response.result, response.error()) {
            (Err(error), _) => Err(error.to_string()),
            (Ok(_), None) => Err(String::from("it is not refused")),
            (Ok(_), Some(error)) => match error.code {
                Some(found) => ensure(found == code, format!("it is refused with {found}")),
                None => Err(String::from("it is refused without a code of the league's")),
            },
        };
        self.log.judge(rule, response, judgement);
    }

    async fn requests(&self) {
        let response = self.post(&rpc("no_such_method_of_the_league", &json!({}), self.client.next_id())).await;
        let code = response.error_number();
        let found = code.map_or_else(|| String::from("there is no error code"), |code| format!("the code is {code}"));
        self.log.judge(&rules::UNKNOWN_METHOD, &response, ensure(code == Some(-32601), found));
        let (listed, tools) = self.client.tools(&HeaderMap::new(), self.limit).await;
        let has = |name: &&str| tools.iter().any(|tool| tool.get("name").and_then(Value::as_str) == Some(*name));
        let wanted = ["register_player", "register_referee", "report_match_result", "league_query"];
        let missing = wanted.iter().find(|name| !has(name));
        let judgement = missing.map_or(Ok(()), |name| Err(format!("{name} is not listed")));
        self.log.judge(&rules::TOOLS, &listed, judgement);
    }

    async fn still_answers(&self, rule: &'static Rule, response: &Response, also: Judgement) {
        let next = self.post(&rpc("get_standings", &json!({}), self.client.next_id())).await;
        let alive = ensure(next.result.is_ok(), format!("after this it no longer answers: {}", next.result_text()));
        self.log.judge(rule, response, also.and(alive));
    }

    async fn bounds(&self) {
        let broken = self.client.post(&HeaderMap::new(), &b"{\"jsonrpc\": \"2.0\", \"meth"[..], self.limit).await;
        self.still_answers(&rules::NOT_JSON, &broken, Ok(())).await;
        let padded = json!({ "padding": "x".repeat(MAX_BODY + 1) });
        let response = self.post(&rpc("get_standings", &padded, self.client.next_id())).await;
        let taken = response.is_success() && !matches!(response.result, Err(NoResponse::Broken(_)));
        self.still_answers(&rules::OVERSIZED, &response, ensure(!taken, "it is taken like any other")).await;
    }
}
