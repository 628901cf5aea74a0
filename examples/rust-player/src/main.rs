//! A player for the Even/Odd league, with a strategy of its own on top of the league's `player` crate.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use league_core::session::StrategyQuestion;
use league_player::chance::Chance;
use league_player::memory::Memory;
use league_player::player::{Player, PlayerSettings};
use league_player::strategy::{Decision, Strategy};
use league_player::strategy_runner::StrategyRunner;
use league_protocol::token::Credential;
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use league_wire::lan;
use league_wire::server::serve;
use league_wire::settings::ServerSettings;
use smol_str::SmolStr;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Says the opposite of what the opponent said last: equal choices are always a draw.
#[derive(Debug)]
struct Contrary;

impl Strategy for Contrary {
    fn name(&self) -> &'static str {
        "contrary"
    }

    fn choose(&self, question: &StrategyQuestion, memory: &Memory) -> Decision {
        let last = memory.duels(question).last().map(|choices| choices.theirs.opposite());
        Decision::Bet(last.unwrap_or_else(|| memory.toss(question)))
    }
}

#[derive(Parser)]
#[command(about)]
struct Options {
    /// Where the manager listens.
    #[arg(long, value_name = "URL", default_value = "http://localhost:8000/mcp", value_parser = Endpoint::typed)]
    manager: Endpoint,
    /// The name that tables show.
    #[arg(long, default_value = "Ferris")]
    name: SmolStr,
    /// The address to listen at; 0.0.0.0 for every address of this machine.
    #[arg(long, default_value = "127.0.0.1")]
    host: IpAddr,
    /// The port to listen at; 0 takes a free one.
    #[arg(long, default_value_t = 8105)]
    port: u16,
    /// Where others reach this player; found out when left out.
    #[arg(long, value_name = "URL", value_parser = Endpoint::typed)]
    advertise: Option<Endpoint>,
    /// The league's join key, where players need one.
    #[arg(long, value_name = "KEY")]
    join_key: Option<Credential>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Options { manager, name, host, port, advertise, join_key } = Options::parse();
    let listener = TcpListener::bind((host, port)).await.with_context(|| {
        format!("cannot listen at {host} port {port}; choose another port with --port, or stop what uses it")
    })?;
    let contact = match advertise {
        Some(advertised) => advertised,
        None => lan::advertised(listener.local_addr()?, "http", &manager).await?,
    };
    let settings = PlayerSettings {
        name: name.clone(),
        wish: None,
        manager,
        contact: contact.clone(),
        join_key,
        home: None,
        recalls: false,
        histories: None,
        scribe: None,
        chance: Chance::System,
        patience: Duration::from_secs(10),
        pause: Duration::from_millis(500),
        give_up_after: None,
    };
    let player = Player::new(settings, StrategyRunner::new(Arc::new(Contrary)), Client::default(), Environment::real());
    player.on_news(|line| eprintln!("{line}"));
    // Requests name the host that was advertised.
    let server = ServerSettings { allowed_hosts: vec![contact.host().to_owned()], ..ServerSettings::default() };
    let (close, closed) = oneshot::channel::<()>();
    let server = tokio::spawn(serve(listener, Arc::new(player.clone()), server, async { drop(closed.await) }));
    let id = player.register().await?;
    eprintln!("{id} is {name} at {contact}");
    player.until_done().await;
    // The manager still waits for the answer to its last message.
    drop(close);
    Ok(server.await??)
}
