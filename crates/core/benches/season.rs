//! A million matches, from schedule to standings, through `season` and `bout` in memory on one core.

use std::error::Error;
use std::time::Instant;

use league_core::in_memory::InMemoryLeague;
use league_core::rules::seed::Seed;
use league_core::season::config::LeagueConfig;
use league_protocol::time::Timestamp;
use smol_str::{SmolStr, format_smolstr};

/// Two leagues of so many players are just short of a million matches, so three are played.
const PLAYERS: u32 = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    // Criterion's own flags (`--bench`) are of no interest here: one run is long enough to be steady.
    let names: Vec<SmolStr> = (1..=PLAYERS).map(|number| format_smolstr!("Player {number}")).collect();
    let (mut matches, mut seconds) = (0, 0.0);
    for run in 1..=3 {
        let league = "bench".parse()?;
        let config = LeagueConfig { max_players: PLAYERS, ..LeagueConfig::even_odd(league) };
        let seed = Seed::new(run, config.league_id.clone());
        let mut rehearsal = InMemoryLeague::new(config, &names, seed, Timestamp::EPOCH)?;
        let began = Instant::now();
        while rehearsal.play_round()? {
            // The standings after every round are part of a league.
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
