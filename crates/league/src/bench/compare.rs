//! What got slower since an earlier report.
//!
//! Ratios within a run are compared closely, since the machine's moods are in both of their parts; times with much room.

use super::report::Report;

/// Room for figures that hold the machine's moods: below this no difference is one.
const ROOM: f64 = 1.3;
/// Room for ratios within one run.
const RATIO_ROOM: f64 = 1.15;

/// A sentence for each figure that got worse.
pub(crate) fn slower(before: &Report, now: &Report) -> Vec<String> {
    let mut worse = Vec::new();
    let mut cost = |what: &str, before: Option<f64>, now: Option<f64>, room: f64| {
        if let (Some(before), Some(now)) = (before, now)
            && now > before * room
        {
            worse.push(format!("{what}: {now:.3} where it was {before:.3}"));
        }
    };
    let inverse = |report: &Report| report.median_of(|pair| 1.0 / pair.ratio());
    cost("the ceiling ÷ the league's calls/s", inverse(before), inverse(now), RATIO_ROOM);
    let cpu = |report: &Report| report.median_of(|pair| pair.league.cpu_us_per_match());
    cost("CPU µs per match", cpu(before), cpu(now), ROOM);
    cost("LEAGUE_QUERY p99 µs", Some(before.query_us.p99_us as f64), Some(now.query_us.p99_us as f64), ROOM * ROOM);
    cost("a newcomer's league, seconds", Some(before.small_seconds), Some(now.small_seconds), ROOM);
    let remembered = |report: &Report| Some(report.restart.seconds / f64::from(report.restart.results.max(1)) * 1e6);
    cost("restart, µs per result", remembered(before), remembered(now), ROOM);
    cost("simulated match, µs", Some(1e6 / before.simulated_per_second), Some(1e6 / now.simulated_per_second), ROOM);
    cost("the binary, MB", Some(before.binary_mb), Some(now.binary_mb), 1.05);
    for grown in &now.growth {
        let same = before.growth.iter().find(|growth| growth.figures.players == grown.figures.players);
        let memory = |megabytes: Option<u64>| megabytes.map(|megabytes| megabytes as f64);
        let was = same.and_then(|growth| memory(growth.figures.peak_memory_mb));
        cost(&format!("{} players, MB", grown.figures.players), was, memory(grown.figures.peak_memory_mb), ROOM);
    }
    worse
}
