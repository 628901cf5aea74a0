//! Tables for people.

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, Row, Table};
use league_protocol::message::standings::StandingsRow;

/// A table with these columns, of which the `figures` stand to the right.
pub(crate) fn plain<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    figures: &[usize],
) -> Table {
    of_any(&header, rows, figures)
}

/// The same where it is not known before how many columns there are.
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

/// The standings, best first.
pub(crate) fn standings(rows: &[StandingsRow]) -> Table {
    let lines = rows.iter().map(|row| {
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
    });
    plain(["#", "Player", "Id", "Played", "Won", "Drawn", "Lost", "Points"], lines, &[0, 3, 4, 5, 6, 7])
}
