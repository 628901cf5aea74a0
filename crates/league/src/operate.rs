//! `league start` and `league stop`: the operator speaks to a running manager.

use std::time::Duration;

use anyhow::{Result, bail};
use league_protocol::answer::{Heard, Layers};
use league_protocol::head::Envelope;
use league_protocol::id::ConversationId;
use league_protocol::message::operate::LeagueCommand;
use league_protocol::sender::{Role, Sender};
use league_protocol::speech::Form;
use league_protocol::table::Call;
use league_wire::endpoint::Endpoint;
use league_wire::world::World;

use crate::cli::Operate;
use crate::secure;

/// Which of the two.
pub(crate) enum Command {
    Start,
    Stop,
}

pub(crate) fn run(options: &Operate, command: &Command) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(tell(options, command))
}

/// What may help where HTTPS does not work.
fn hint(manager: &Endpoint) -> &'static str {
    if manager.is_secure() { "; an authority of your own is named with --ca" } else { "" }
}

async fn tell(options: &Operate, command: &Command) -> Result<()> {
    let envelope = Envelope {
        sender: Sender::unregistered(Role::Operator, "cli"),
        timestamp: World::real().now(),
        conversation_id: ConversationId::named("conv-operator"),
        auth_token: options.token.clone(),
    };
    let call = match command {
        Command::Start => Call::StartLeague(LeagueCommand::default()),
        Command::Stop => Call::StopLeague(LeagueCommand::default()),
    };
    let limit = Duration::from_secs(10);
    let client = secure::caller(options.ca.as_deref())?;
    let came = client.call(&options.manager, Form::default(), &envelope, &call, limit).await;
    let exchange = match came {
        Ok(exchange) => exchange,
        Err(error) => bail!("the manager at {} does not answer: {error}{}", options.manager, hint(&options.manager)),
    };
    match Layers::parse(&exchange.body).map(|layers| layers.heard()) {
        Ok(Heard::Yes) => {
            println!("{}", String::from_utf8_lossy(&exchange.body));
            Ok(())
        }
        Ok(Heard::Error(error)) => bail!("{}", error.words),
        Err(unreadable) => bail!("{unreadable}"),
    }
}
