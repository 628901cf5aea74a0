//! Measures how long the Swiss system takes to pair a round: the command that decides it, without playing its matches. On Linux it
//! is the time of the processor, which other programs on the machine do not change.

use std::error::Error;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use league_core::in_memory::InMemoryLeague;
use league_core::rules::seed::Seed;
use league_core::season::NextAction;
use league_core::season::config::LeagueConfig;
use league_protocol::time::Timestamp;
use smol_str::{SmolStr, format_smolstr};

/// Players, rounds and the goal for one round.
const LEAGUES: [(u32, u32, Duration); 3] =
    [(256, 9, Duration::from_secs(1)), (1000, 10, Duration::from_secs(1)), (100_000, 17, Duration::from_secs(10))];

fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let nanoseconds = || std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok();
    nanoseconds().map_or_else(|| START.elapsed(), Duration::from_nanos)
}

fn main() -> Result<(), Box<dyn Error>> {
    for (players, rounds, goal) in LEAGUES {
        let names: Vec<SmolStr> = (1..=players).map(|number| format_smolstr!("Player {number}")).collect();
        let config = LeagueConfig { max_players: players, ..LeagueConfig::even_odd("bench".parse()?) };
        let config = config.with_format(format!("swiss:rounds={rounds}").parse()?);
        let seed = Seed::new(7, config.league_id.clone());
        let mut league = InMemoryLeague::new(config, &names, seed, Timestamp::EPOCH)?;
        let mut times = Vec::new();
        loop {
            if let NextAction::StartRound(_) = league.season().next_action() {
                let began = processor_time();
                league.season().start_round(Timestamp::EPOCH)?;
                times.push(processor_time() - began);
            }
            if !league.play_round()? {
                break;
            }
        }
        let longest = times.iter().max().copied().unwrap_or_default();
        println!("{players} players, round 2 to {rounds}: {times:.1?}");
        println!("{players} players: at most {longest:.2?} a round (goal: {goal:?})");
    }
    Ok(())
}
