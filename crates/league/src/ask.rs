//! Calls to a running manager, with or without an operator's token.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use league_protocol::answer::{ParsedAnswer, ReplyKind};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::id::ConversationId;
use league_protocol::sender::{Role, Sender};
use league_protocol::table::Call;
use league_protocol::token::Credential;
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::runtime::{Builder, Runtime};

use crate::cli::Operator;
use crate::secure;

const LIMIT: Duration = Duration::from_secs(10);

pub(crate) struct ManagerClient {
    agent: AgentClient,
    runtime: Runtime,
}

impl ManagerClient {
    /// Asks the one of `managers` that leads.
    pub(crate) fn new(managers: &[Endpoint], operator: &Operator) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build().context("a runtime could not be started")?;
        let client = secure::operator_client(operator.ca.as_deref(), managers)?;
        let manager = managers.first().context("no manager is named; say where it is with --manager")?;
        Ok(Self { agent: AgentClient::new(manager.clone(), operator.token.clone(), client), runtime })
    }

    pub(crate) fn ask<A: DeserializeOwned>(&self, call: &Call) -> Result<A> {
        self.runtime.block_on(self.agent.ask(call))
    }
}

pub(crate) struct AgentClient {
    agent: Endpoint,
    token: Option<Credential>,
    client: Client,
}

#[derive(Deserialize)]
struct Answer<A> {
    result: A,
}

impl AgentClient {
    pub(crate) fn new(agent: Endpoint, token: Option<Credential>, client: Client) -> Self {
        Self { agent, token, client }
    }

    pub(crate) async fn ask<A: DeserializeOwned>(&self, call: &Call) -> Result<A> {
        let envelope = Envelope {
            sender: Sender::unregistered(Role::Operator, "cli"),
            timestamp: Environment::real().now(),
            conversation_id: ConversationId::named("conv-operator"),
            auth_token: self.token.clone(),
        };
        let (agent, canonical) = (&self.agent, PeerDialect::default());
        let exchange = match self.client.call(agent, &canonical, &envelope, call, LIMIT).await {
            Ok(exchange) => exchange,
            Err(error) => bail!("the manager at {agent} does not answer: {error}{}", self.hint()),
        };
        let strange = || format!("the program at {agent} does not answer like a manager");
        match ParsedAnswer::parse(&exchange.body).with_context(strange)?.reply_kind() {
            ReplyKind::NoError => Ok(serde_json::from_slice::<Answer<A>>(&exchange.body).with_context(strange)?.result),
            ReplyKind::Error(error) => bail!("{}", error.words),
        }
    }

    fn hint(&self) -> &'static str {
        if self.agent.is_secure() {
            "; an authority of your own is named with --ca"
        } else {
            "; say where it is with --manager"
        }
    }
}
