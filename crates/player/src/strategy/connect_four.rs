//! `connect_four`: searches some moves ahead, all of them to the depth of its parameter.

use league_core::session::MoveRequest;
use league_protocol::id::GameType;
use smol_str::{SmolStr, format_smolstr};

use super::{Decision, Strategy};
use crate::memory::Memory;

const COLUMNS: u32 = 7;
const ROWS: u32 = 6;
/// One bit more than a column has cells, so that no line continues in the next column.
const HEIGHT: u32 = ROWS + 1;
const WIN: i32 = 10_000;
/// The middle columns are in the most lines.
const ORDER: [u32; 7] = [3, 2, 4, 1, 5, 0, 6];

#[derive(Debug)]
pub(super) struct ConnectFour {
    pub(super) depth: u8,
}

/// The discs of the side to move, and of its opponent.
#[derive(Clone, Copy)]
struct Board {
    own: u64,
    theirs: u64,
}

fn has_four(discs: u64) -> bool {
    [1, HEIGHT, HEIGHT - 1, HEIGHT + 1].into_iter().any(|step| {
        let two = discs & (discs >> step);
        two & (two >> (2 * step)) != 0
    })
}

impl Board {
    /// From the rows of a view, the top one first.
    fn read(view: &str) -> Option<Self> {
        let rows: Vec<&[u8]> = view.split('/').map(str::as_bytes).collect();
        if rows.len() != ROWS as usize || rows.iter().any(|row| row.len() != COLUMNS as usize) {
            return None;
        }
        let discs = |mark: u8| {
            let cells = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column)));
            let is_marked = |(row, column): &(u32, u32)| rows[(ROWS - 1 - row) as usize][*column as usize] == mark;
            cells.filter(is_marked).fold(0, |discs, (row, column)| discs | 1 << (column * HEIGHT + row))
        };
        let (first, second): (u64, u64) = (discs(b'X'), discs(b'O'));
        let is_first = first.count_ones() == second.count_ones();
        Some(if is_first { Self { own: first, theirs: second } } else { Self { own: second, theirs: first } })
    }

    /// The board after a disc in `column`, from the opponent's side; `None` if the column is full.
    fn after(self, column: u32) -> Option<Self> {
        let taken = self.own | self.theirs;
        let bit = (0..ROWS).map(|row| 1 << (column * HEIGHT + row)).find(|bit| taken & bit == 0)?;
        Some(Self { own: self.theirs, theirs: self.own | bit })
    }

    /// What the position is worth to the side to move. A faster win is worth more.
    fn value(self, depth: u8, mut least: i32, most: i32) -> i32 {
        if has_four(self.theirs) {
            return -WIN - i32::from(depth);
        }
        if depth == 0 {
            return centre(self.own) - centre(self.theirs);
        }
        let mut best = None;
        for next in ORDER.into_iter().filter_map(|column| self.after(column)) {
            let value = -next.value(depth - 1, -most, -least);
            best = best.max(Some(value));
            least = least.max(value);
            if least >= most {
                break;
            }
        }
        // A full board is a draw.
        best.unwrap_or(0)
    }
}

fn centre(discs: u64) -> i32 {
    let column = |column: u32| discs >> (column * HEIGHT) & 0x3F;
    let weighed = [(3, 3), (2, 2), (4, 2), (1, 1), (5, 1)];
    weighed.into_iter().map(|(at, weight)| weight * column(at).count_ones() as i32).sum()
}

/// All best columns, from one.
fn best_columns(board: Board, depth: u8) -> Vec<u32> {
    let moves = (0..COLUMNS).filter_map(|column| Some((column, board.after(column)?)));
    let valued: Vec<(i32, u32)> =
        moves.map(|(column, next)| (-next.value(depth.saturating_sub(1), -2 * WIN, 2 * WIN), column + 1)).collect();
    let best = valued.iter().map(|(value, _)| *value).max();
    valued.into_iter().filter(|(value, _)| Some(*value) == best).map(|(_, column)| column).collect()
}

impl Strategy for ConnectFour {
    fn name(&self) -> &'static str {
        "connect_four"
    }

    fn games(&self) -> Vec<GameType> {
        "connect_four".parse().into_iter().collect()
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        let columns = Board::read(&request.view).map(|board| best_columns(board, self.depth)).unwrap_or_default();
        let chosen = columns.get(memory.pick(request, columns.len()));
        // An unreadable board has no best column; the empty move makes the runner choose at random.
        Decision::Move(chosen.map_or_else(SmolStr::default, |column| format_smolstr!("{column}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(view: &str, depth: u8) -> Vec<u32> {
        best_columns(Board::read(view).unwrap(), depth)
    }

    #[test]
    fn it_wins_at_once_and_prevents_the_opponents_win() {
        assert_eq!(best("......./......./......./......./OOO..../XXX....", 2), [4]);
        assert_eq!(best("......./......./......./......./.O...../XXX.O..", 3), [4]);
    }

    #[test]
    fn an_unreadable_board_has_no_move() {
        for view in ["", "X", "......./.......", "......./......./......./......./......./........"] {
            assert!(Board::read(view).is_none(), "{view}");
        }
    }
}
