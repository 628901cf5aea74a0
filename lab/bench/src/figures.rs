//! The figures that decide about a report: one list for the goals and for comparisons.
//!
//! The state of a machine differs between two runs. A comparison therefore counts times in calls of the bare wire of
//! the same run. Every figure has an allowance. A figure with several turns is worse only if its best turn is worse
//! than the worst before.

use crate::report::{Growth, Pair, Report, RunFigures, median};
use crate::tables::{Table, short};

/// Allowances: medians of several turns, single runs, rare events, memory, and figures that hardly vary.
const TURNS: f64 = 1.2;
const ONCE: f64 = 1.6;
const RARE: f64 = 3.0;
const MEMORY: f64 = 1.25;
const SIZE: f64 = 1.05;

/// How figures of two runs are made comparable.
#[derive(Clone, Copy)]
enum Unit {
    /// Divided by the wall-clock time of a bare call.
    Time,
    /// Divided by the processor time of a bare call.
    Cpu,
    Plain,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    Worse,
    Same,
    Better,
}

struct Figure {
    name: &'static str,
    unit: Unit,
    allowance: f64,
    /// The largest value that meets the goal.
    goal: Option<f64>,
    /// One value, or one for each turn; less is better. None if it was not measured.
    values: fn(&Report) -> Option<Vec<f64>>,
}

const FIGURES: &[Figure] = &[
    figure("calls/s: wire ÷ league", Unit::Plain, TURNS, Some(1.4), |report| {
        turns(report, |Pair { league, ceiling }| {
            Some(ceiling.calls as f64 / ceiling.seconds / calls_per_second(league))
        })
    }),
    figure("launch to champion, s", Unit::Time, TURNS, Some(3.0), |report| {
        turns(report, |pair| Some(pair.league.seconds))
    }),
    figure("CPU per match, µs", Unit::Cpu, TURNS, None, |report| turns(report, |pair| pair.league.cpu_us_per_match())),
    figure("calls per match", Unit::Plain, SIZE, None, |report| {
        turns(report, |pair| Some(pair.league.per_match(pair.league.call_count() as f64)))
    }),
    figure("bytes per match", Unit::Plain, SIZE, None, |report| {
        turns(report, |pair| Some(pair.league.bytes_per_match()))
    }),
    figure("allocations per match", Unit::Plain, SIZE, None, |report| one(report.allocations_per_match? as f64)),
    figure("memory, MB", Unit::Plain, MEMORY, None, |report| {
        turns(report, |pair| Some(pair.league.peak_memory_mb? as f64))
    }),
    figure("LEAGUE_QUERY p50, ms", Unit::Time, ONCE, None, |report| one(report.league_query.p50_us as f64 / 1e3)),
    figure("LEAGUE_QUERY p99, ms", Unit::Time, RARE, Some(10.0), |report| one(report.league_query.p99_us as f64 / 1e3)),
    figure("`league run` of 4 players, s", Unit::Time, ONCE, Some(1.0), |report| one(report.small_seconds)),
    figure("restart with all results, s", Unit::Time, ONCE, Some(2.0), |report| one(report.restart.seconds)),
    figure("manager with all results, MB", Unit::Plain, MEMORY, Some(200.0), |report| {
        one(report.restart.manager_mb? as f64)
    }),
    figure("simulated match, µs", Unit::Time, ONCE, Some(3.3), |report| one(1e6 / report.simulated_per_second)),
    figure("binary, MB", Unit::Plain, SIZE, Some(20.0), |report| one(report.binary_mb)),
    figure("1,000 players: launch to champion, s", Unit::Time, ONCE, Some(300.0), |report| {
        grown(report, |growth| Some(growth.figures.seconds))
    }),
    figure("1,000 players: memory, MB", Unit::Plain, MEMORY, Some(1000.0), |report| {
        grown(report, |growth| Some(growth.figures.peak_memory_mb? as f64))
    }),
    figure("CPU per match: 1,000 ÷ 10 players", Unit::Plain, ONCE, Some(1.3), |report| {
        let few = report.grown(10)?.figures.cpu_us_per_match()?;
        one(report.grown(1000)?.figures.cpu_us_per_match()? / few)
    }),
];

const fn figure(
    name: &'static str,
    unit: Unit,
    allowance: f64,
    goal: Option<f64>,
    values: fn(&Report) -> Option<Vec<f64>>,
) -> Figure {
    Figure { name, unit, allowance, goal, values }
}

fn one(value: f64) -> Option<Vec<f64>> {
    Some(vec![value])
}

fn turns(report: &Report, value: fn(&Pair) -> Option<f64>) -> Option<Vec<f64>> {
    report.pairs.iter().map(value).collect::<Option<Vec<f64>>>().filter(|values| !values.is_empty())
}

fn grown(report: &Report, value: fn(&Growth) -> Option<f64>) -> Option<Vec<f64>> {
    Some(vec![value(report.grown(1000)?)?])
}

pub(crate) fn calls_per_second(league: &RunFigures) -> f64 {
    league.call_count() as f64 / league.playing_seconds
}

impl Figure {
    fn scale(&self, report: &Report) -> Option<f64> {
        let call = match self.unit {
            Unit::Plain => return Some(1.0),
            Unit::Time => turns(report, |pair| Some(pair.ceiling.seconds / pair.ceiling.calls as f64)),
            Unit::Cpu => turns(report, |pair| Some(pair.ceiling.cpu_seconds? / pair.ceiling.calls as f64)),
        };
        median(&call?)
    }
}

pub(crate) fn table(report: &Report) -> Table {
    let mut table = Table::new("Figures", &["the less the better", ">measured", ">goal", ""]);
    for figure in FIGURES {
        let Some(value) = (figure.values)(report).and_then(|values| median(&values)) else { continue };
        // Goals apply to the usual size and to optimised builds.
        let goal = figure.goal.filter(|_| report.setting.players == 100 && report.setting.build == "release");
        let verdict = goal.map_or("", |goal| if value <= goal { "reached" } else { "missed" });
        table.row([
            figure.name.to_owned(),
            short(value),
            goal.map_or(String::new(), |goal| format!("≤ {goal}")),
            verdict.to_owned(),
        ]);
    }
    table.note(format!("Measured with {}.", report.setting))
}

/// Also returns the names of the figures that got worse.
pub(crate) fn compare(before: &Report, now: &Report) -> (Table, Vec<&'static str>) {
    let header = ["the less the better", ">before", ">now", ">now ÷ before", ">against the wire", ">allowed", ""];
    let (mut table, mut worse) = (Table::new("Comparison", &header), Vec::new());
    for figure in FIGURES {
        let both = (figure.values)(before).zip((figure.values)(now));
        let (Some((old, new)), Some(old_scale), Some(new_scale)) = (both, figure.scale(before), figure.scale(now))
        else {
            continue;
        };
        let scaled = |values: &[f64], scale: f64| values.iter().map(|value| value / scale).collect::<Vec<_>>();
        let (old_scaled, new_scaled) = (scaled(&old, old_scale), scaled(&new, new_scale));
        let change = judge(&old_scaled, &new_scaled, figure.allowance);
        let verdict = match change {
            Change::Worse => {
                worse.push(figure.name);
                "worse"
            }
            Change::Same => "",
            Change::Better => "better",
        };
        let middle = |values: &[f64]| median(values).unwrap_or_default();
        let ratio = |new: &[f64], old: &[f64]| format!("{:.2}", middle(new) / middle(old));
        table.row([
            figure.name.to_owned(),
            short(middle(&old)),
            short(middle(&new)),
            ratio(&new, &old),
            ratio(&new_scaled, &old_scaled),
            format!("{:.2}", figure.allowance),
            verdict.to_owned(),
        ]);
    }
    (table, worse)
}

/// The medians decide, unless the turns of both runs overlap.
fn judge(before: &[f64], now: &[f64], allowance: f64) -> Change {
    let range = |values: &[f64]| {
        values.iter().fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(*value), most.max(*value)))
    };
    let ((old_best, old_worst), (new_best, new_worst)) = (range(before), range(now));
    let (old, new) = (median(before).unwrap_or_default(), median(now).unwrap_or_default());
    if new > old * allowance && new_best > old_worst {
        Change::Worse
    } else if new * allowance < old && new_worst < old_best {
        Change::Better
    } else {
        Change::Same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_beyond_its_allowance_and_when_no_turns_overlap() {
        for (before, now, change) in [
            (&[1.0][..], &[1.19][..], Change::Same),
            (&[1.0], &[1.21], Change::Worse),
            (&[1.21], &[1.0], Change::Better),
            (&[1.0, 1.1, 1.3], &[1.2, 1.9, 2.0], Change::Same),
            (&[1.0, 1.1, 1.3], &[1.9, 1.4, 2.0], Change::Worse),
            (&[1.4, 1.9, 2.0], &[1.3, 1.1, 1.0], Change::Better),
        ] {
            assert_eq!(judge(before, now, 1.2), change, "{before:?} {now:?}");
        }
    }
}
