//! The library of this kit: connects a strategy function to the crate `league-player`, and reads the flags.
//!
//! Your own code is in `main.rs`.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use league_core::rules::registry::all_games;
use league_core::session::MoveRequest;
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

pub use league_core::session::PlayedMatch;
pub use league_protocol::id::{GameType, MatchId, PlayerId};
pub use league_protocol::message::standings::StandingsRow;
pub use league_protocol::time::Timestamp;

#[derive(Debug)]
pub struct Opponent {
    pub player_id: Option<PlayerId>,
    /// The name that tables show; `None` before the first standings.
    pub name: Option<SmolStr>,
}

/// The matches of this league that are over, the oldest first.
#[derive(Debug)]
pub struct PastMatches<'a> {
    pub all: Vec<&'a PlayedMatch>,
    pub with_opponent: Vec<&'a PlayedMatch>,
}

#[derive(Debug)]
pub struct CurrentGame {
    pub game_type: GameType,
    pub match_id: MatchId,
    /// What the referee shows: empty in Even/Odd, nine characters like `X.O......` in Tic-Tac-Toe.
    pub state: SmolStr,
    /// Empty where they are not known.
    pub legal_moves: Vec<SmolStr>,
    /// One of the legal moves, each with the same chance.
    pub random_move: SmolStr,
    pub deadline: Option<Timestamp>,
}

/// Returns a move, such as `even`.
pub type StrategyFunction = fn(&Opponent, &PastMatches<'_>, &[StandingsRow], &CurrentGame) -> SmolStr;

#[derive(Debug)]
struct FunctionStrategy(StrategyFunction);

impl Strategy for FunctionStrategy {
    fn name(&self) -> &'static str {
        "own"
    }

    fn games(&self) -> Vec<GameType> {
        all_games()
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        let row = memory.standings.iter().find(|row| Some(&row.player_id) == request.opponent.as_ref());
        let opponent = Opponent { player_id: request.opponent.clone(), name: row.map(|row| row.display_name.clone()) };
        let all: Vec<&PlayedMatch> = memory.history.matches().iter().collect();
        let with_opponent =
            |played: &&PlayedMatch| played.opponent_id.is_some() && played.opponent_id == request.opponent;
        let with_opponent = all.iter().copied().filter(with_opponent).collect();
        let game = CurrentGame {
            game_type: request.game.clone(),
            match_id: request.match_id.clone(),
            state: request.view.clone(),
            legal_moves: request.legal_moves.clone(),
            random_move: memory.random_move(request).unwrap_or_default(),
            deadline: request.deadline,
        };
        Decision::Move((self.0)(&opponent, &PastMatches { all, with_opponent }, &memory.standings, &game))
    }
}

#[derive(Parser)]
#[command(about = "A player for the agent league")]
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
    /// Where others reach the player; found out when left out.
    #[arg(long, value_name = "URL", value_parser = Endpoint::typed)]
    advertise: Option<Endpoint>,
    /// The league's join key, where players need one.
    #[arg(long, value_name = "KEY")]
    join_key: Option<Credential>,
}

/// Starts a player with the strategy `choose`, and returns when its league is over.
pub async fn play(choose: StrategyFunction) -> anyhow::Result<()> {
    let Options { manager, name, host, port, advertise, join_key } = Options::parse();
    let listener = TcpListener::bind((host, port)).await.with_context(|| {
        format!("cannot listen at {host} port {port}; choose another port with --port, or stop what uses it")
    })?;
    let contact = match advertise {
        Some(advertised) => advertised,
        None => lan::advertised(listener.local_addr()?, "http", &manager).await?,
    };
    let settings = PlayerSettings {
        join_key,
        pause: Duration::from_millis(500),
        ..PlayerSettings::new(name.clone(), manager, contact.clone())
    };
    let strategy = StrategyRunner::new(Arc::new(FunctionStrategy(choose)));
    let player = Player::new(settings, strategy, Client::default(), Environment::real());
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
