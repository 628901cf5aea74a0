//! What the project wants to reach, and whether it does.

use super::report::Report;

/// One thing to reach.
pub(crate) struct Goal {
    /// What.
    pub(crate) what: &'static str,
    /// What was measured, as it is shown.
    pub(crate) measured: String,
    /// What is wanted, as it is shown.
    pub(crate) wanted: &'static str,
    /// Whether it was reached.
    pub(crate) reached: bool,
}

/// Every goal of which `report` tells something.
pub(crate) fn of(report: &Report) -> Vec<Goal> {
    let mut goals = Vec::new();
    let mut goal = |what, measured: Option<f64>, shown: fn(f64) -> String, wanted, reached: fn(f64) -> bool| {
        if let Some(measured) = measured {
            goals.push(Goal { what, measured: shown(measured), wanted, reached: reached(measured) });
        }
    };
    let hundred = report.pairs.iter().all(|pair| pair.league.players == 100 && !report.pairs.is_empty());
    let played = report.median_of(|pair| pair.league.playing_seconds);
    let ratio = report.median_of(|pair| pair.ratio());
    let grown = |players: u32| report.growth.iter().find(|growth| growth.figures.players == players);
    let thousand = grown(1000);
    let per_match = |players: u32| grown(players).map(|growth| growth.figures.cpu_us_per_match());

    goal(
        "calls/s of the league ÷ ceiling, 100 players",
        ratio.filter(|_| hundred),
        |x| format!("{x:.2}"),
        "≥ 0.7",
        |x| x >= 0.7,
    );
    goal("100 players, 4,950 matches, start to champion", played.filter(|_| hundred), seconds, "≤ 3 s", |x| x <= 3.0);
    goal(
        "1,000 players, 499,500 matches",
        thousand.map(|grown| grown.figures.playing_seconds),
        seconds,
        "≤ 5 min",
        |x| x <= 300.0,
    );
    goal(
        "1,000 players, whole process",
        thousand.and_then(|grown| grown.figures.peak_memory_mb).map(|megabytes| megabytes as f64),
        |x| format!("{x:.0} MB"),
        "≤ 1 GB",
        |x| x <= 1000.0,
    );
    goal(
        "cost per match, 1,000 players ÷ 10 players",
        per_match(1000).zip(per_match(10)).map(|(many, few)| many / few),
        |x| format!("{x:.2}"),
        "≤ 1.3",
        |x| x <= 1.3,
    );
    goal(
        "LEAGUE_QUERY p99 while 100 players play",
        Some(report.query_us.p99_us as f64 / 1e3),
        |x| format!("{x:.1} ms"),
        "≤ 10 ms",
        |x| x <= 10.0,
    );
    goal(
        "restart with 500,000 results to serving",
        Some(report.restart.seconds).filter(|_| report.restart.results >= 499_500),
        seconds,
        "≤ 2 s",
        |x| x <= 2.0,
    );
    goal("`league run` of 4 players, launch to table", Some(report.small_seconds), seconds, "≤ 1 s", |x| x <= 1.0);
    goal("release binary", Some(report.binary_mb), |x| format!("{x:.1} MB"), "≤ 20 MB", |x| x <= 20.0);
    goal(
        "`league simulate`, matches/s on a core",
        Some(report.simulated_per_second),
        |x| format!("{x:.0}"),
        "≥ 300,000",
        |x| x >= 300_000.0,
    );
    goals
}

fn seconds(value: f64) -> String {
    format!("{value:.2} s")
}
