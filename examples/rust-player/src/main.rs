//! A player for the Even/Odd league, with a strategy of its own on top of the league's `player` crate.

use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use league_core::seat::Question;
use league_player::chance::Chance;
use league_player::memory::Memory;
use league_player::player::{Player, Settings};
use league_player::strategy::{Decision, Strategy};
use league_player::thinker::Thinker;
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::server::serve;
use league_wire::world::World;
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

    fn choose(&self, question: &Question, memory: &Memory) -> Decision {
        let last = memory.duels(question).last().map(|choices| choices.theirs.opposite());
        Decision::Bet(last.unwrap_or_else(|| memory.toss(question)))
    }
}

#[derive(Parser)]
#[command(about)]
struct Options {
    /// The port to listen at; 0 takes a free one.
    #[arg(long, default_value_t = 8105)]
    port: u16,
    /// Where the manager listens.
    #[arg(long, default_value = "http://localhost:8000/mcp")]
    manager: Endpoint,
    /// The name that tables show.
    #[arg(long, default_value = "Ferris")]
    name: SmolStr,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Options { port, manager, name } = Options::parse();
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let contact = format!("http://{}/mcp", listener.local_addr()?).parse()?;
    let settings = Settings {
        name: name.clone(),
        wish: None,
        manager,
        contact,
        join_key: None,
        home: None,
        recalls: false,
        scribe: None,
        chance: Chance::System,
        patience: Duration::from_secs(10),
        pause: Duration::from_millis(500),
    };
    let player = Player::new(settings, Thinker::new(Arc::new(Contrary)), Client::default(), World::real());
    let (close, closed) = oneshot::channel::<()>();
    let server = serve(listener, Arc::new(player.clone()), Default::default(), async { drop(closed.await) });
    let server = tokio::spawn(server);
    let id = player.register().await?;
    eprintln!("{id} is {name}");
    player.until_done().await;
    // Whoever told us of the end gets its answer.
    drop(close);
    Ok(server.await??)
}
