//! What got slower since an earlier report.
//!
//! Two runs met a machine in two moods, so hardly anything is compared as it is. Times are counted in calls of the wire of the same
//! run, speeds are ratios already, and sizes do not depend on moods. Everything has room for what is left of them, and what was
//! measured in turns is slower only where even its best turn is worse than the worst before.

use super::page::Section;
use super::report::{Growth, Pair, Report};

/// Room for ratios of figures that were taken by turns.
const BY_TURNS: f64 = 1.2;
/// Room for times that were taken once or twice.
const ONCE: f64 = 1.6;
/// Room for the time within which 99 of 100 are answered.
const RARE: f64 = 3.0;
const MEMORY: f64 = 1.25;
/// Room for what is nearly the same in every run.
const SIZE: f64 = 1.05;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    Slower,
    Same,
    Faster,
}

/// One figure, the larger the worse, in both reports.
struct Compared {
    what: String,
    before: f64,
    now: f64,
    room: f64,
    change: Change,
}

pub(crate) struct Comparison(Vec<Compared>);

impl Comparison {
    /// Holds `now` against `before`: what both tell.
    pub(crate) fn of(before: &Report, now: &Report) -> Self {
        let mut all = Self(Vec::new());
        let turns = |report: &Report, figure: fn(&Pair) -> Option<f64>| {
            report.pairs.iter().map(figure).collect::<Option<Vec<f64>>>().unwrap_or_default()
        };
        let mut by_turns = |what: &str, room, figure| all.turns(what, room, turns(before, figure), turns(now, figure));
        by_turns("ceiling ÷ league, calls/s", BY_TURNS, |pair| Some(1.0 / pair.ratio()));
        by_turns("CPU of a call ÷ the same on the wire", BY_TURNS, Pair::cpu_ratio);
        by_turns("calls per match", SIZE, |pair| Some(pair.league.per_match(pair.league.call_count() as f64)));
        by_turns("bytes per match", SIZE, |pair| {
            let (asked, answered) = pair.league.bytes_per_match();
            Some(asked + answered)
        });
        by_turns("memory of the league, MB", MEMORY, |pair| pair.league.peak_memory_mb.map(|mb| mb as f64));

        let mut once =
            |what: &str, room, figure: fn(&Report) -> Option<f64>| all.once(what, room, figure(before), figure(now));
        once("allocations per match", SIZE, |report| report.allocations_per_match.map(|count| count as f64));
        once("LEAGUE_QUERY at p50, in calls of the wire", ONCE, |report| {
            report.in_calls(report.league_query.p50_us as f64)
        });
        once("LEAGUE_QUERY at p99, in calls of the wire", RARE, |report| {
            report.in_calls(report.league_query.p99_us as f64)
        });
        once("a league of 4, in calls of the wire", ONCE, |report| report.in_calls(report.small_seconds * 1e6));
        once("restart, in calls of the wire per 1,000 results", ONCE, |report| {
            report.in_calls(report.restart.seconds * 1e9 / f64::from(report.restart.results.max(1)))
        });
        once("memory of a manager with those results, MB", MEMORY, |report| {
            report.restart.manager_mb.map(|mb| mb as f64)
        });
        once("a simulated match, in calls of the wire", ONCE, |report| {
            report.in_calls(1e6 / report.simulated_per_second)
        });
        once("the binary, MB", SIZE, |report| Some(report.binary_mb));
        for grown in &now.growth {
            let players = grown.figures.players;
            let Some(same) = before.grown(players) else { continue };
            let cost = |report: &Report, growth: &Growth| report.in_cpu(growth.figures.cpu_us_per_match()?);
            all.once(
                &format!("{players} players, CPU per match, in calls of the wire"),
                ONCE,
                cost(before, same),
                cost(now, grown),
            );
            let memory = |growth: &Growth| growth.figures.peak_memory_mb.map(|mb| mb as f64);
            all.once(&format!("{players} players, memory, MB"), MEMORY, memory(same), memory(grown));
        }
        all
    }

    /// A figure that was taken in turns.
    fn turns(&mut self, what: &str, room: f64, mut before: Vec<f64>, mut now: Vec<f64>) {
        let (then, today) = (super::report::median(&mut before), super::report::median(&mut now));
        // Both are sorted now.
        let (Some([best, .., worst] | [best @ worst]), Some([now_best, .., now_worst] | [now_best @ now_worst])) =
            (Some(&before[..]), Some(&now[..]))
        else {
            return;
        };
        let change = match judge(then, today, room) {
            Change::Slower if now_best > worst => Change::Slower,
            Change::Faster if now_worst < best => Change::Faster,
            Change::Slower | Change::Same | Change::Faster => Change::Same,
        };
        self.0.push(Compared { what: what.to_owned(), before: then, now: today, room, change });
    }

    /// A figure that both tell once.
    fn once(&mut self, what: &str, room: f64, before: Option<f64>, now: Option<f64>) {
        let (Some(before), Some(now)) = (before, now) else { return };
        self.0.push(Compared { what: what.to_owned(), before, now, room, change: judge(before, now, room) });
    }

    pub(crate) fn slower(&self) -> Vec<String> {
        let worse = self.0.iter().filter(|figure| figure.change == Change::Slower);
        worse
            .map(|Compared { what, before, now, .. }| {
                format!("{what} ({} where it was {})", short(*now), short(*before))
            })
            .collect()
    }

    pub(crate) fn section(&self, with: &str) -> Section {
        let rows = self.0.iter().map(|Compared { what, before, now, room, change }| {
            let verdict = match change {
                Change::Slower => "slower",
                Change::Same => "",
                Change::Faster => "better",
            };
            let change = format!("{:.2}", now / before);
            vec![what.clone(), short(*before), short(*now), change, format!("{room:.2}"), verdict.to_owned()]
        });
        const HEADER: [&str; 6] = ["what, the less the better", ">before", ">now", ">now ÷ before", ">room", ""];
        Section::new(format!("Compared with {with}"), &HEADER, rows.collect())
    }
}

impl Report {
    /// How many calls of this run's wire take so long.
    fn in_calls(&self, us: f64) -> Option<f64> {
        Some(us / self.median_of(|pair| Some(1e6 / pair.ceiling.calls_per_second()))?)
    }

    /// How many calls of this run's wire cost so much processor time.
    fn in_cpu(&self, us: f64) -> Option<f64> {
        Some(us / self.median_of(|pair| pair.ceiling.cpu_us_per_call())?)
    }
}

fn judge(before: f64, now: f64, room: f64) -> Change {
    if now > before * room {
        Change::Slower
    } else if now * room < before {
        Change::Faster
    } else {
        Change::Same
    }
}

/// Three digits, or as many as there are before the point.
fn short(figure: f64) -> String {
    match figure {
        small if small < 10.0 => format!("{small:.2}"),
        medium if medium < 100.0 => format!("{medium:.1}"),
        large => super::page::whole(large),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: &[f64], now: &[f64]) -> Change {
        let mut all = Comparison(Vec::new());
        all.turns("something", 1.2, before.to_vec(), now.to_vec());
        all.0[0].change
    }

    #[test]
    fn what_is_within_its_room_is_the_same() {
        assert_eq!(change(&[1.0], &[1.19]), Change::Same);
        assert_eq!(change(&[1.0], &[1.21]), Change::Slower);
        assert_eq!(change(&[1.21], &[1.0]), Change::Faster);
    }

    #[test]
    fn one_good_turn_shows_that_nothing_got_slower() {
        assert_eq!(change(&[1.0, 1.1, 1.3], &[1.2, 1.9, 2.0]), Change::Same);
        assert_eq!(change(&[1.0, 1.1, 1.3], &[1.9, 1.4, 2.0]), Change::Slower);
        assert_eq!(change(&[1.4, 1.9, 2.0], &[1.3, 1.1, 1.0]), Change::Faster);
    }

    #[test]
    fn what_only_one_of_them_tells_is_not_compared() {
        let mut all = Comparison(Vec::new());
        all.turns("something", 1.2, Vec::new(), vec![1.0]);
        all.once("another", 1.2, None, Some(1.0));
        assert!(all.0.is_empty());
    }
}
