//! What a report shows: the tables of the terminal and of docs/performance.md.

use super::goals::{self, Verdict};
use super::page::{Section, grouped, whole};
use super::report::{Growth, Pair, Report};
use super::restart::Restart;
use crate::figures::Figures;

const UNTOLD: &str = "—";

pub(crate) fn of(report: &Report) -> Vec<Section> {
    let mut sections = vec![reached(report), turns(report)];
    if let Some(Pair { league, .. }) = report.typical() {
        sections.extend([calls(league), parts(league), one_match(report, league)]);
    }
    if !report.growth.is_empty() {
        sections.push(growth(report));
    }
    sections.push(alone(report));
    sections
}

fn reached(report: &Report) -> Section {
    let goals = goals::of(report).into_iter().map(|goal| {
        let verdict = match goal.verdict {
            Verdict::Reached => "reached",
            Verdict::Missed => "missed",
            Verdict::Unmeasured => "not measured",
        };
        vec![goal.what.to_owned(), goal.measured, goal.wanted.to_owned(), verdict.to_owned()]
    });
    let section = Section::new("Goals", &["what", ">measured", ">goal", ""], goals.collect());
    let setting = &report.setting;
    let told = format!("{} cores, {} build.", setting.cores, setting.build);
    if setting.build == "release" {
        section.noting(told)
    } else {
        section.noting(format!("{told} Only `cargo run --release -- bench` tells anything about goals."))
    }
}

fn turns(report: &Report) -> Section {
    let rows = report.pairs.iter().zip(1..).map(|(pair, turn): (&Pair, u32)| {
        let Pair { league, ceiling } = pair;
        let calls = league.per_match(league.call_count() as f64);
        vec![
            turn.to_string(),
            whole(league.matches_per_second()),
            whole(league.calls_per_second()),
            whole(ceiling.calls_per_second()),
            format!("{:.2}", pair.ratio()),
            league.cpu_us_per_match().map_or_else(untold, |cpu| format!("{:.1}", cpu / calls)),
            ceiling.cpu_us_per_call().map_or_else(untold, |cpu| format!("{cpu:.1}")),
        ]
    });
    const HEADER: [&str; 7] = [
        ">turn",
        ">matches/s",
        ">calls/s",
        ">ceiling, calls/s",
        ">ratio",
        ">CPU µs per call",
        ">ceiling, CPU µs per call",
    ];
    Section::new(format!("A league of {} players beside the wire alone", report.setting.players), &HEADER, rows.collect())
        .noting("The ceiling is bare hyper servers and clients, a runtime per core: as many calls of the same sizes to as many endpoints.")
}

fn calls(league: &Figures) -> Section {
    let rows = league.calls.iter().map(|(what, calls)| {
        let each = |bytes: u64| grouped(bytes / calls.count.max(1));
        vec![
            what.clone(),
            grouped(calls.count),
            calls.failed.to_string(),
            grouped(calls.p50_us),
            grouped(calls.p99_us),
            grouped(calls.p999_us),
            each(calls.bytes_out),
            each(calls.bytes_in),
        ]
    });
    const HEADER: [&str; 8] =
        ["call", ">count", ">failed", ">p50 µs", ">p99 µs", ">p99.9 µs", ">bytes asked", ">bytes answered"];
    Section::new("Every call of that league", &HEADER, rows.collect())
        .noting("From the first byte of a question to the last of its answer, seen by who asks, with as much going on at once as the league has to say.")
}

fn parts(league: &Figures) -> Section {
    const TITLE: &str = "Where the processor time of a match goes";
    let all: f64 = league.cpu_seconds.values().map(|cpu| cpu.all()).sum();
    if all == 0.0 {
        let note = "This system does not tell how long each thread has worked; Linux does, in hundredths of a second.";
        return Section { title: TITLE.to_owned(), table: None, note: Some(note.to_owned()) };
    }
    let mut parts: Vec<_> = league.cpu_seconds.iter().collect();
    parts.sort_by(|(_, one), (_, other)| other.all().total_cmp(&one.all()));
    let rows = parts.into_iter().map(|(part, cpu)| {
        let each = |seconds: f64| league.per_match(seconds * 1e6);
        vec![
            part.clone(),
            whole(each(cpu.all())),
            whole(each(cpu.user)),
            whole(each(cpu.kernel)),
            format!("{:.0} %", 100.0 * cpu.all() / all),
        ]
    });
    Section::new(TITLE, &["part", ">CPU µs per match", ">in the program", ">in the kernel", ">share"], rows.collect())
        .noting("By threads: each core hosts referees and players and what they do on the wire; the start of the process is in it.")
}

fn one_match(report: &Report, league: &Figures) -> Section {
    let (asked, answered) = league.bytes_per_match();
    let allocations = match report.allocations_per_match {
        Some(count) => grouped(count),
        None => "not counted".to_owned(),
    };
    let rows = [
        ("calls", format!("{:.1}", league.per_match(league.call_count() as f64))),
        ("bytes asked", whole(asked)),
        ("bytes answered", whole(answered)),
        ("CPU µs", league.cpu_us_per_match().map_or_else(untold, whole)),
        ("allocations", allocations),
    ];
    let section = Section::new(
        "What a match costs",
        &["what", ">per match"],
        rows.into_iter().map(|(what, figure)| vec![what.to_owned(), figure]).collect(),
    );
    match report.allocations_per_match {
        Some(_) => section,
        None => section.noting(
            "Allocations are counted by a build of their own: `cargo build --release --features allocations --target-dir target/counting`, then `league bench --allocations-by target/counting/release/league`.",
        ),
    }
}

fn growth(report: &Report) -> Section {
    let first = report.growth.first().and_then(|growth| growth.figures.cpu_us_per_match());
    let rows = report.growth.iter().map(|Growth { figures, restart }| {
        let cost = figures.cpu_us_per_match();
        vec![
            grouped(figures.players.into()),
            grouped(figures.matches),
            format!("{:.2}", figures.seconds),
            whole(figures.matches_per_second()),
            cost.map_or_else(untold, whole),
            cost.zip(first).map_or_else(untold, |(cost, first)| format!("{:.2}", cost / first)),
            figures.peak_memory_mb.map_or_else(untold, grouped),
            format!("{:.2}", restart.seconds),
        ]
    });
    const HEADER: [&str; 8] = [
        ">players",
        ">matches",
        ">seconds",
        ">matches/s",
        ">CPU µs per match",
        ">÷ first line",
        ">peak MB",
        ">restart, seconds",
    ];
    Section::new("Growth", &HEADER, rows.collect()).noting(
        "Seconds are from the launch of the process to the champion. A restart is from the launch of a manager in that home until it serves. Of small leagues the middle one of three counts.",
    )
}

fn alone(report: &Report) -> Section {
    let query = &report.league_query;
    let Restart { results, seconds, manager_mb } = report.restart;
    let milliseconds = |us: u64| format!("{:.1}", us as f64 / 1e3);
    let rows = [
        (
            format!(
                "LEAGUE_QUERY, {} times while {} play, ms at p50, p99, p99.9",
                grouped(query.count),
                report.setting.players
            ),
            [query.p50_us, query.p99_us, query.p999_us].map(milliseconds).join(", "),
        ),
        ("`league run` of 4 players, launch to table, seconds".to_owned(), format!("{:.2}", report.small_seconds)),
        (format!("restart with {} results, seconds", grouped(results.into())), format!("{seconds:.2}")),
        ("the manager then, peak MB".to_owned(), manager_mb.map_or_else(untold, grouped)),
        ("`league simulate`, matches/s on a core".to_owned(), whole(report.simulated_per_second)),
        ("this binary, MB".to_owned(), format!("{:.1}", report.binary_mb)),
    ];
    Section::new(
        "Measured for themselves",
        &["what", ">measured"],
        rows.into_iter().map(|(what, figure)| vec![what, figure]).collect(),
    )
    .noting("LEAGUE_QUERY is asked by a player of another process, under its own token: the table, its own figures and the league's, in turns.")
}

fn untold() -> String {
    UNTOLD.to_owned()
}
