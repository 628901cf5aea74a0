//! What the project wants to reach, and whether it does.

use serde::Serialize;

use super::page::whole;
use super::report::Report;

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    /// What was measured, as it is shown.
    pub(crate) measured: String,
    /// What is wanted, as it is shown.
    pub(crate) wanted: &'static str,
    pub(crate) verdict: Verdict,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Reached,
    Missed,
    Unmeasured,
}

/// A figure that is to be small enough, or large enough.
#[derive(Clone, Copy)]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// Every goal, and what `report` tells of it.
pub(crate) fn of(report: &Report) -> Vec<Goal> {
    let hundred = report.setting.players == 100;
    let thousand = report.grown(1000);
    let per_match = |players: u32| report.grown(players)?.figures.cpu_us_per_match();
    let mut goals = Vec::new();
    let mut goal = |what, measured: Option<f64>, shown: fn(f64) -> String, wanted, bound| {
        let verdict = match (measured, bound) {
            (None, _) => Verdict::Unmeasured,
            (Some(figure), Bound::AtMost(most)) if figure <= most => Verdict::Reached,
            (Some(figure), Bound::AtLeast(least)) if figure >= least => Verdict::Reached,
            (Some(_), Bound::AtMost(_) | Bound::AtLeast(_)) => Verdict::Missed,
        };
        goals.push(Goal { what, measured: measured.map_or_else(|| "—".to_owned(), shown), wanted, verdict });
    };
    goal(
        "calls/s of the running league ÷ ceiling, 100 players",
        report.median_of(|pair| Some(pair.ratio())).filter(|_| hundred),
        ratio,
        "≥ 0.7",
        Bound::AtLeast(0.7),
    );
    goal(
        "100 players, 4,950 matches, launch to champion",
        report.median_of(|pair| Some(pair.league.seconds)).filter(|_| hundred),
        seconds,
        "≤ 3 s",
        Bound::AtMost(3.0),
    );
    goal(
        "1,000 players, 499,500 matches, launch to champion",
        thousand.map(|grown| grown.figures.seconds),
        seconds,
        "≤ 300 s",
        Bound::AtMost(300.0),
    );
    goal(
        "1,000 players, the whole process",
        thousand.and_then(|grown| grown.figures.peak_memory_mb).map(|mb| mb as f64),
        megabytes,
        "≤ 1,000 MB",
        Bound::AtMost(1000.0),
    );
    goal(
        "1,000 players, a manager alone with all their results",
        thousand.and_then(|grown| grown.restart.manager_mb).map(|mb| mb as f64),
        megabytes,
        "≤ 200 MB",
        Bound::AtMost(200.0),
    );
    goal(
        "cost per match, 1,000 players ÷ 10 players",
        per_match(1000).zip(per_match(10)).map(|(many, few)| many / few),
        ratio,
        "≤ 1.3",
        Bound::AtMost(1.3),
    );
    goal(
        "LEAGUE_QUERY p99 while a league of 100 runs",
        Some(report.league_query.p99_us as f64 / 1e3).filter(|_| hundred),
        |figure| format!("{figure:.1} ms"),
        "≤ 10 ms",
        Bound::AtMost(10.0),
    );
    goal(
        "restart with 499,500 results to serving",
        Some(report.restart.seconds).filter(|_| report.restart.results >= 499_500),
        seconds,
        "≤ 2 s",
        Bound::AtMost(2.0),
    );
    goal(
        "`league run` of 4 players, launch to table",
        Some(report.small_seconds),
        seconds,
        "≤ 1 s",
        Bound::AtMost(1.0),
    );
    goal("release binary", Some(report.binary_mb), |mb| format!("{mb:.1} MB"), "≤ 20 MB", Bound::AtMost(20.0));
    goal(
        "`league simulate`, matches/s on a core",
        Some(report.simulated_per_second),
        whole,
        "≥ 300,000",
        Bound::AtLeast(300_000.0),
    );
    goals
}

fn ratio(value: f64) -> String {
    format!("{value:.2}")
}

fn seconds(value: f64) -> String {
    format!("{value:.2} s")
}

fn megabytes(value: f64) -> String {
    format!("{} MB", whole(value))
}
