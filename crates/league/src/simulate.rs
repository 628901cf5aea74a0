//! `league simulate`: a whole league in memory. Data on stdout, messages on stderr.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use league_core::in_memory::InMemoryLeague;
use league_core::rules::seed::Seed;
use league_core::season::config::LeagueConfig;
use league_protocol::id::GameType;
use league_protocol::time::Timestamp;
use smol_str::format_smolstr;

use crate::cli::Simulate;
use crate::{show, table};

/// About a minute and 2 GB.
const MAX_MATCHES: u64 = 10_000_000;

pub(crate) fn run(options: &Simulate) -> Result<()> {
    let number = match options.seed {
        Some(number) => number,
        None => getrandom::u64().context("the operating system gave no randomness")?,
    };
    let league = "league_simulated".parse()?;
    let game_type = options.game.clone().unwrap_or_else(GameType::even_odd);
    let format = options.format.clone().unwrap_or_default();
    let games = u64::from(options.games_per_match.unwrap_or(1));
    let matches = format.max_matches(options.players);
    match matches.filter(|matches| matches.saturating_mul(games) > MAX_MATCHES) {
        Some(matches) if games == 1 => {
            bail!("{matches} matches are more than {MAX_MATCHES}; take fewer players, or --format swiss");
        }
        Some(matches) => bail!("{matches} matches of {games} games are more than {MAX_MATCHES} games; take fewer"),
        None => {}
    }
    let config = LeagueConfig { max_players: options.players, game_type, ..LeagueConfig::even_odd(league) };
    let config = config.with_format(format).with_games(options.games_per_match);
    config.check_games()?;
    let seed = Seed::new(number, config.league_id.clone());
    let names: Vec<_> = (1..=options.players).map(|number| format_smolstr!("Player {number}")).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let now = Timestamp::from_unix(i64::try_from(now).unwrap_or_default());

    let began = Instant::now();
    let mut in_memory_league = InMemoryLeague::new(config, &names, seed, now)?;
    while in_memory_league.play_round()? {}
    let took = began.elapsed();

    let season = in_memory_league.season();
    let standings = season.standings();
    show::print(options.json, &standings, || table::standings(&standings).to_string())?;
    let (matches, rounds) = (season.matches_completed(), season.total_rounds());
    eprintln!("{} players, {rounds} rounds, {matches} matches in {took:.1?}.", options.players);
    if let Some(champion) = season.champion() {
        eprintln!("Champion: {} ({}) with {} points.", champion.display_name, champion.player_id, champion.points);
    }
    eprintln!("Play the same league again with --seed {number}.");
    Ok(())
}
