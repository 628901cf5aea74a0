//! Plays a million matches, from schedule to standings, in memory on one core.

use std::error::Error;
use std::time::Instant;

use league_core::in_memory::InMemoryLeague;
use league_core::rules::seed::Seed;
use league_core::season::config::LeagueConfig;
use league_protocol::time::Timestamp;
use smol_str::{SmolStr, format_smolstr};

/// Two leagues of 1,000 players fall just short of a million matches, so the benchmark plays three.
const PLAYERS: u32 = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    // The benchmark ignores Criterion's flags (`--bench`): one run is long enough for a stable figure.
    let names: Vec<SmolStr> = (1..=PLAYERS).map(|number| format_smolstr!("Player {number}")).collect();
    let (mut matches, mut seconds) = (0, 0.0);
    for run in 1..=3 {
        let league = "bench".parse()?;
        let config = LeagueConfig { max_players: PLAYERS, ..LeagueConfig::even_odd(league) };
        let seed = Seed::new(run, config.league_id.clone());
        let mut rehearsal = InMemoryLeague::new(config, &names, seed, Timestamp::EPOCH)?;
        let began = Instant::now();
        while rehearsal.play_round()? {
            assert_eq!(rehearsal.season().standings().len(), PLAYERS as usize);
        }
        let took = began.elapsed().as_secs_f64();
        let played = rehearsal.season().matches_completed();
        println!("league {run}: {played} matches in {took:.2} s, {:.0} matches/s", f64::from(played) / took);
        matches += played;
        seconds += took;
    }
    println!("all: {matches} matches, {:.0} matches/s on one core (goal: 300,000)", f64::from(matches) / seconds);
    Ok(())
}
