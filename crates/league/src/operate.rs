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
use league_wire::client::Client;
use league_wire::world::World;

use crate::cli::Operate;

/// Which of the two.
pub(crate) enum Command {
    Start,
    Stop,
}

pub(crate) fn run(options: &Operate, command: &Command) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(tell(options, command))
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
    let came = Client::default().call(&options.manager, Form::default(), &envelope, &call, limit).await;
    let exchange = match came {
        Ok(exchange) => exchange,
        Err(error) => bail!("the manager at {} does not answer: {error}", options.manager),
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
