//! Tables on the terminal.

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, Row, Table};
use league_protocol::message::standings::StandingsRow;

pub(crate) fn plain<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    figures: &[usize],
) -> Table {
    of_any(&header, rows, figures)
}

pub(crate) fn of_any<R: Into<Row>>(header: &[&str], rows: impl IntoIterator<Item = R>, figures: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY);
    table.set_header(header);
    for row in rows {
        table.add_row(row);
    }
    for place in figures {
        if let Some(column) = table.column_mut(*place) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

const WHOLE: usize = 40;
/// How many of the first and of the last rows a shortened table has.
const BEST: usize = 20;
const LAST: usize = 5;

/// `which` are the flags that name the league.
pub(crate) fn excerpt(rows: &[StandingsRow], which: &str) -> String {
    if rows.len() <= WHOLE {
        return standings(rows).to_string();
    }
    let (best, last) = (&rows[..BEST], &rows[rows.len() - LAST..]);
    let left = rows.len() - BEST - LAST;
    let gap = ["…".to_owned(), format!("{left} more")].into_iter().chain(std::iter::repeat_n(String::new(), 6));
    let lines =
        best.iter().map(cells).map(Vec::from).chain([gap.collect()]).chain(last.iter().map(cells).map(Vec::from));
    format!("{}\nAll {} of them: league standings{which}", of_any(&COLUMNS, lines, &FIGURES), rows.len())
}

const COLUMNS: [&str; 8] = ["#", "Player", "Id", "Played", "Won", "Drawn", "Lost", "Points"];
const FIGURES: [usize; 6] = [0, 3, 4, 5, 6, 7];

pub(crate) fn standings(rows: &[StandingsRow]) -> Table {
    plain(COLUMNS, rows.iter().map(cells), &FIGURES)
}

fn cells(row: &StandingsRow) -> [String; 8] {
    [
        row.rank.to_string(),
        if row.withdrawn { format!("{} (withdrawn)", row.display_name) } else { row.display_name.to_string() },
        row.player_id.to_string(),
        row.played.to_string(),
        row.wins.to_string(),
        row.draws.to_string(),
        row.losses.to_string(),
        row.points.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use league_protocol::id::PlayerId;

    fn rows(number: u32) -> Vec<StandingsRow> {
        let row = |rank: u32| StandingsRow {
            rank,
            player_id: PlayerId::numbered(rank),
            display_name: "random".into(),
            played: 1,
            wins: 1,
            draws: 0,
            losses: 0,
            points: 3,
            score: None,
            withdrawn: false,
        };
        (1..=number).map(row).collect()
    }

    #[test]
    fn a_long_table_is_printed_in_part_with_the_command_for_the_rest() {
        let printed = excerpt(&rows(300), " --home SHARED");
        assert_eq!(printed.lines().count(), 4 + 20 + 1 + 5 + 1, "{printed}");
        for shown in
            [" P01 ", " P20 ", " P296 ", " P300 ", "275 more", "All 300 of them: league standings --home SHARED"]
        {
            assert!(printed.contains(shown), "{shown}: {printed}");
        }
        assert!(!printed.contains(" P21 ") && !printed.contains(" P295 "), "{printed}");
    }

    #[test]
    fn a_short_table_is_printed_whole() {
        assert_eq!(excerpt(&rows(40), ""), standings(&rows(40)).to_string());
    }
}
