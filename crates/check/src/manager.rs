//! The check of a manager. The agents that it registers stay registered and never play.

mod queries;
mod registration;

use std::sync::OnceLock;
use std::time::Duration;

use http::HeaderMap;
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
use crate::dialect::CheckDialect;
use crate::messages::{TestMessage, rpc};
use crate::options::CheckOptions;
use crate::report::CheckReport;
use crate::response::{NoResponse, Response};
use crate::rule::Rule;
use crate::rules::manager as rules;

pub(crate) struct Exam<'a> {
    line: &'a AgentClient,
    book: &'a CheckLog,
    environment: Environment,
    limit: Duration,
    game: GameType,
    /// Makes the names unique: the manager knows those of earlier checks.
    mark: String,
    voice: OnceLock<CheckDialect>,
}

struct Member {
    id: String,
    token: String,
    league: Option<LeagueId>,
}

pub async fn manager(endpoint: &Endpoint, options: &CheckOptions) -> CheckReport {
    let (line, book, environment) = (AgentClient::to(endpoint.clone()), CheckLog::default(), Environment::real());
    let mark = environment.random()[..4].iter().fold(String::new(), |mark, byte| format!("{mark}{byte:02x}"));
    let exam = Exam {
        line: &line,
        book: &book,
        environment,
        limit: options.wait(LimitKind::Generic),
        game: options.game.clone(),
        mark,
        voice: OnceLock::new(),
    };
    let outcome = exam.run().await;
    let (complete, note, unreached) = match outcome {
        Ok(()) => {
            let left = format!(
                "The agents called \"Checker {}\" stay registered with this manager. They listen nowhere: throw this league away.",
                exam.mark
            );
            (true, left, "it did not come to that")
        }
        Err(note) => (false, note, "the manager could not be checked"),
    };
    CheckReport {
        set: options.set.name,
        endpoint: endpoint.to_string(),
        role: Role::Manager,
        role_because: String::from("as you say"),
        form: Some(exam.voice.get_or_init(CheckDialect::canonical).to_string()),
        notes: vec![note],
        complete,
        findings: book.close(options.set.for_role(Role::Manager), unreached),
        stale: Vec::new(),
    }
}

impl Exam<'_> {
    async fn run(&self) -> Result<(), String> {
        let member = self.let_in().await?;
        tokio::join!(
            self.registrations(),
            self.queries(&member),
            self.envelopes(&member),
            async { self.reports(&member, self.referee().await.as_ref()).await },
            self.requests(),
        );
        // These end the first token, so they come last.
        self.again(&member).await;
        self.bounds().await;
        Ok(())
    }

    async fn post(&self, body: &Value) -> Response {
        self.line.post(&HeaderMap::new(), body.to_string(), self.limit).await
    }

    async fn say(&self, letter: &TestMessage) -> Response {
        self.voice.get_or_init(CheckDialect::canonical).say(self.line, letter, self.limit).await
    }

    fn letter(&self, sender: &str, token: Option<&str>, call: &Call) -> TestMessage {
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

    fn refused_with(&self, rule: &'static Rule, heard: &Response, code: &str) {
        let judgement = match (&heard.came, heard.error()) {
            (Err(silence), _) => Err(silence.to_string()),
            (Ok(_), None) => Err(String::from("it is not refused")),
            (Ok(_), Some(error)) => match error.code {
                Some(found) => ensure(found == code, format!("it is refused with {found}")),
                None => Err(String::from("it is refused without a code of the league's")),
            },
        };
        self.book.judge(rule, heard, judgement);
    }

    async fn requests(&self) {
        let heard = self.post(&rpc("no_such_method_of_the_league", &json!({}), self.line.next_id())).await;
        let code = heard.error_number();
        let found = code.map_or_else(|| String::from("there is no error code"), |code| format!("the code is {code}"));
        self.book.judge(&rules::UNKNOWN_METHOD, &heard, ensure(code == Some(-32601), found));
        let (listed, tools) = self.line.tools(&HeaderMap::new(), self.limit).await;
        let has = |name: &&str| tools.iter().any(|tool| tool.get("name").and_then(Value::as_str) == Some(*name));
        let wanted = ["register_player", "register_referee", "report_match_result", "league_query"];
        let missing = wanted.iter().find(|name| !has(name));
        let judgement = missing.map_or(Ok(()), |name| Err(format!("{name} is not listed")));
        self.book.judge(&rules::TOOLS, &listed, judgement);
    }

    async fn still_answers(&self, rule: &'static Rule, heard: &Response, also: Judgement) {
        let next = self.post(&rpc("get_standings", &json!({}), self.line.next_id())).await;
        let alive = ensure(next.came.is_ok(), format!("after this it no longer answers: {}", next.came_text()));
        self.book.judge(rule, heard, also.and(alive));
    }

    async fn bounds(&self) {
        let broken = self.line.post(&HeaderMap::new(), &b"{\"jsonrpc\": \"2.0\", \"meth"[..], self.limit).await;
        self.still_answers(&rules::NOT_JSON, &broken, Ok(())).await;
        let padded = json!({ "padding": "x".repeat(MAX_BODY + 1) });
        let heard = self.post(&rpc("get_standings", &padded, self.line.next_id())).await;
        let taken = heard.is_success() && !matches!(heard.came, Err(NoResponse::Broken(_)));
        self.still_answers(&rules::OVERSIZED, &heard, ensure(!taken, "it is taken like any other")).await;
    }
}
