//! The options of `league serve` and `league create`.

use std::path::PathBuf;

use clap::Args;
use league_core::rules::registry::game_named;
use league_core::season::config::StartRule;
use league_core::season::format::KnownFormat;
use league_protocol::id::{GameType, LeagueId};
use league_wire::endpoint::Endpoint;

use super::{Operator, Place, SecretOptions};
use crate::store::StoreOption;

#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// The directory of the leagues' data. Each process needs its own.
    #[arg(long, default_value = "SHARED")]
    pub(crate) home: PathBuf,
    #[command(flatten)]
    pub(crate) store: StoreOption,
    #[command(flatten)]
    pub(crate) secrets: SecretOptions,
    /// A host that agents may register although they call from another; may be given several times.
    #[arg(long)]
    pub(crate) allow_host: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The id of the new league, like spring_2026.
    pub(crate) league_id: LeagueId,
    /// The name that pages show; the id if not given.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The game, even_odd unless configured; an unknown one lists them all.
    #[arg(long, value_name = "GAME", value_parser = game_named)]
    pub(crate) game: Option<GameType>,
    /// How players are paired: round_robin, swiss or knockout, with parameters as in swiss:rounds=7. docs/formats.md has them all.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<KnownFormat>,
    /// How many games a match has, with the sides swapped in turn; 1 unless configured.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) games_per_match: Option<u32>,
    /// Start as soon as this many players are registered.
    #[arg(long)]
    pub(crate) expect_players: Option<u32>,
    /// And this many referees.
    #[arg(long)]
    pub(crate) expect_referees: Option<u32>,
    /// Otherwise start after this many seconds with the agents that are registered; if not given, when the operator starts it.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=StartRule::MAX_WINDOW_SEC))]
    pub(crate) registration_window: Option<u64>,
    /// A process of `league serve`.
    #[arg(long, value_name = "URL", default_value = "http://localhost:8000", value_parser = Endpoint::typed)]
    pub(crate) manager: Endpoint,
    /// Print the new league as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operator: Operator,
}
