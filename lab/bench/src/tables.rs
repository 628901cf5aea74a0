//! The tables of a report: Markdown that also reads well on a terminal.

use std::fmt;

use crate::figures::{self, calls_per_second};
use crate::report::{Growth, Pair, Report};

/// For figures that only Linux provides.
const UNKNOWN: &str = "—";

pub(crate) struct Table {
    title: String,
    /// Columns whose names begin with `>` hold numbers.
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    note: String,
}

impl Table {
    pub(crate) fn new(title: impl Into<String>, header: &[&'static str]) -> Self {
        Self { title: title.into(), header: header.to_vec(), rows: Vec::new(), note: String::new() }
    }

    pub(crate) fn row(&mut self, cells: impl Into<Vec<String>>) {
        self.rows.push(cells.into());
    }

    pub(crate) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.header.iter().map(|name| name.trim_start_matches('>')).collect();
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].as_str()).chain([names[column]]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default().max(3)
        };
        let is_number = |column: usize| self.header[column].starts_with('>');
        let padded = |column: usize, cell: &str| {
            let width = width(column);
            if is_number(column) { format!(" {cell:>width$} |") } else { format!(" {cell:<width$} |") }
        };
        let line =
            |cells: &[&str]| cells.iter().enumerate().map(|(column, cell)| padded(column, cell)).collect::<String>();
        let rule = |column: usize| match is_number(column) {
            true => format!("{}:|", "-".repeat(width(column) + 1)),
            false => format!("{}|", "-".repeat(width(column) + 2)),
        };
        writeln!(f, "### {}\n\n|{}", self.title, line(&names))?;
        writeln!(f, "|{}", (0..names.len()).map(rule).collect::<String>())?;
        for row in &self.rows {
            writeln!(f, "|{}", line(&row.iter().map(String::as_str).collect::<Vec<_>>()))?;
        }
        if self.note.is_empty() { Ok(()) } else { writeln!(f, "\n{}", self.note) }
    }
}

pub(crate) fn all(report: &Report) -> Vec<Table> {
    let mut tables = vec![figures::table(report), turns(report)];
    if let Some(pair) = report.typical() {
        tables.extend([calls(pair), parts(pair)]);
    }
    if !report.growth.is_empty() {
        tables.push(growth(report));
    }
    tables
}

fn turns(report: &Report) -> Table {
    let title = format!("A league of {} players beside the bare wire", report.setting.players);
    let header = [">turn", ">matches/s", ">calls/s", ">wire, calls/s", ">CPU µs per call", ">wire, CPU µs per call"];
    let mut table = Table::new(title, &header);
    for (pair, turn) in report.pairs.iter().zip(1..) {
        let Pair { league, ceiling } = pair;
        let calls = league.per_match(league.call_count() as f64);
        let wire = ceiling.cpu_seconds.map(|seconds| seconds * 1e6 / ceiling.calls as f64);
        table.row([
            i32::to_string(&turn),
            short(league.matches as f64 / league.playing_seconds),
            short(calls_per_second(league)),
            short(ceiling.calls as f64 / ceiling.seconds),
            known(league.cpu_us_per_match().map(|cpu| cpu / calls)),
            known(wire),
        ]);
    }
    table.note("The bare wire is hyper servers and clients, one runtime per core: as many calls of the same sizes to as many endpoints.")
}

fn calls(Pair { league, .. }: &Pair) -> Table {
    let header = ["message", ">per match", ">failed", ">bytes out", ">bytes in", ">p50 ms", ">p99 ms", ">p99.9 ms"];
    let mut table = Table::new("The calls of that league", &header);
    let mut calls: Vec<_> = league.calls.iter().collect();
    calls.sort_by_key(|(_, calls)| std::cmp::Reverse(calls.count));
    for (name, calls) in calls {
        let each = |bytes: u64| short(bytes as f64 / calls.count.max(1) as f64);
        let ms = |us: u64| format!("{:.1}", us as f64 / 1e3);
        table.row([
            name.clone(),
            format!("{:.2}", league.per_match(calls.count as f64)),
            calls.failed.to_string(),
            each(calls.bytes_out),
            each(calls.bytes_in),
            ms(calls.p50_us),
            ms(calls.p99_us),
            ms(calls.p999_us),
        ]);
    }
    table
}

fn parts(Pair { league, .. }: &Pair) -> Table {
    let header = ["threads", ">CPU µs per match", ">in the program", ">in the kernel"];
    let mut table = Table::new("Processor time of that league", &header);
    let mut parts: Vec<_> = league.cpu_seconds.iter().collect();
    parts.sort_by(|(_, one), (_, other)| (other.user + other.kernel).total_cmp(&(one.user + one.kernel)));
    for (part, cpu) in parts {
        let each = |seconds: f64| short(league.per_match(seconds * 1e6));
        table.row([part.clone(), each(cpu.user + cpu.kernel), each(cpu.user), each(cpu.kernel)]);
    }
    table.note("The start of the process is included.")
}

fn growth(report: &Report) -> Table {
    let header = ">players|>matches|>seconds|>matches/s|>CPU µs per match|>peak MB|>restart, s|>manager MB";
    let mut table = Table::new("Growth", &header.split('|').collect::<Vec<_>>());
    for Growth { figures, restart } in &report.growth {
        table.row([
            short(figures.players.into()),
            short(figures.matches as f64),
            format!("{:.2}", figures.seconds),
            short(figures.matches as f64 / figures.playing_seconds),
            known(figures.cpu_us_per_match()),
            known(figures.peak_memory_mb.map(|mb| mb as f64)),
            format!("{:.2}", restart.seconds),
            known(restart.manager_mb.map(|mb| mb as f64)),
        ]);
    }
    table.note("Seconds are from the launch of the process to the champion, and from the launch of a manager in the same home until it serves.")
}

fn known(figure: Option<f64>) -> String {
    figure.map_or_else(|| UNKNOWN.to_owned(), short)
}

/// Three digits, or all before the point, in groups: 0.29, 12.5, 499,500.
pub(crate) fn short(figure: f64) -> String {
    if figure < 10.0 && figure.fract() != 0.0 {
        return format!("{figure:.2}");
    }
    if figure < 100.0 && figure.fract() != 0.0 {
        return format!("{figure:.1}");
    }
    let digits = format!("{figure:.0}");
    let groups = digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok());
    groups.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_markdown_with_aligned_columns() {
        let mut table = Table::new("Things", &["thing", ">count"]).note("That is all.");
        table.row(["one".to_owned(), short(499_500.0)]);
        let expected = "### Things\n\n| thing |   count |\n|-------|--------:|\n| one   | 499,500 |\n\nThat is all.\n";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn figures_keep_three_digits() {
        assert_eq!([0.294, 7.0, 12.54, 999.4, 1_234_567.0].map(short), ["0.29", "7", "12.5", "999", "1,234,567"]);
    }
}
