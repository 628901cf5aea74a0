//! Connect Four: a game of turns on a board of seven columns and six rows, without chance.
//!
//! The columns are numbered 1 to 7 from the left. A begins and drops X, B drops O. Four in a line win.

use league_protocol::message::game_view::{GameView, ViewValue};
use league_protocol::side::{Pair, Side};
use smol_str::{SmolStr, SmolStrBuilder, format_smolstr};

use super::game::{About, Game, GameStage, GameVerdict, IllegalMove, check_turn};

const COLUMNS: u32 = 7;
const ROWS: u32 = 6;
/// A column has one bit more than cells, so that no line continues in the next column.
const HEIGHT: u32 = ROWS + 1;
/// The distances of a column, a row and both diagonals.
const DIRECTIONS: [u32; 4] = [1, HEIGHT, HEIGHT - 1, HEIGHT + 1];

const RULES: &str = "\
The board has **seven columns** and **six rows** and stands upright. The players take turns and drop a disc into a column that is not
full; it falls to the lowest free cell. The first player drops X, the second O. **Four discs** of one player in a row, a column
or a diagonal win. A full board without that is a draw. The board is shown row by row from the top, with a dot for a free cell
and a slash between rows. When there are as many X as O, it is the turn of X.
";

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ConnectFour {
    /// One bit for each disc, from the lowest cell of column 1 upwards.
    discs: Pair<u64>,
}

fn cell(column: u32, row: u32) -> u64 {
    1 << (column * HEIGHT + row)
}

fn has_four(discs: u64) -> bool {
    DIRECTIONS.into_iter().any(|step| {
        let two = discs & (discs >> step);
        two & (two >> (2 * step)) != 0
    })
}

impl ConnectFour {
    fn turn(&self) -> Side {
        Side::BOTH[(self.discs.a | self.discs.b).count_ones() as usize % 2]
    }

    fn winner(&self) -> Option<Side> {
        Side::BOTH.into_iter().find(|side| has_four(self.discs[*side]))
    }

    fn free_row(&self, column: u32) -> Option<u32> {
        (0..ROWS).find(|row| (self.discs.a | self.discs.b) & cell(column, *row) == 0)
    }

    fn is_full(&self) -> bool {
        (0..COLUMNS).all(|column| self.free_row(column).is_none())
    }

    fn owner(&self, column: u32, row: u32) -> Option<Side> {
        Side::BOTH.into_iter().find(|side| self.discs[*side] & cell(column, row) != 0)
    }

    fn dropped(&self, side: Side, text: &str) -> Result<u64, IllegalMove> {
        check_turn(self.stage(), side, text)?;
        let [digit @ b'1'..=b'7'] = text.as_bytes() else {
            return Err(IllegalMove::new(text, "a move is the number of a column, 1 to 7"));
        };
        let column = u32::from(digit - b'1');
        let row = self.free_row(column).ok_or_else(|| IllegalMove::new(text, "this column is full, choose another"))?;
        Ok(cell(column, row))
    }

    /// The rows from the top, each from the left.
    fn rows(&self) -> impl Iterator<Item = SmolStr> {
        (0..ROWS).rev().map(|row| {
            let mut text = SmolStrBuilder::new();
            (0..COLUMNS).for_each(|column| text.push(mark(self.owner(column, row))));
            text.finish()
        })
    }
}

fn mark(owner: Option<Side>) -> char {
    match owner {
        None => '.',
        Some(Side::A) => 'X',
        Some(Side::B) => 'O',
    }
}

impl Game for ConnectFour {
    fn about(&self) -> About {
        About {
            name: "Connect Four",
            rules: RULES,
            moves: "the number of a column that is not full, `1` to `7`",
            max_turns: COLUMNS * ROWS,
            ..About::PLAIN
        }
    }

    fn stage(&self) -> GameStage {
        match self.winner() {
            Some(side) => GameStage::Over(GameVerdict::Win(side)),
            None if self.is_full() => GameStage::Over(GameVerdict::Draw),
            None => GameStage::Moves(Pair::from_fn(|side| side == self.turn())),
        }
    }

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.dropped(side, text).map(drop)
    }

    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.discs[side] |= self.dropped(side, text)?;
        Ok(())
    }

    fn legal_moves(&self, side: Side) -> Vec<SmolStr> {
        let is_due = self.stage().awaits(side);
        let free = (0..COLUMNS).filter(|column| is_due && self.free_row(*column).is_some());
        free.map(|column| format_smolstr!("{}", column + 1)).collect()
    }

    /// The rows from the top, such as `......./......./......./......./......./...X...`; the same for both sides.
    fn view(&self, _side: Side) -> SmolStr {
        self.rows().collect::<Vec<_>>().join("/").into()
    }

    fn fields(&self, side: Side) -> GameView {
        let rows = self.rows().collect::<Vec<_>>();
        GameView::default()
            .with("rows", rows.iter().map(SmolStr::as_str).collect::<ViewValue>())
            .with("you", mark(Some(side)).encode_utf8(&mut [0; 4]) as &str)
    }

    fn picture(&self, _side: Side) -> Option<String> {
        let cells = || (0..COLUMNS).flat_map(|column| (0..ROWS).map(move |row| (column, row)));
        let mut svg = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS} {ROWS}" class="board" stroke-width=".84">"#
        );
        for (class, owner) in [("free", None), ("a", Some(Side::A)), ("b", Some(Side::B))] {
            let owned = cells().filter(|(column, row)| self.owner(*column, *row) == owner);
            // A line without length and with round ends is a disc.
            let discs: String = owned.map(|(column, row)| format!("M{column}.5 {}.5h0", ROWS - 1 - row)).collect();
            svg += &format!(r#"<path class="{class}" d="{discs}"/>"#);
        }
        Some(svg + "</svg>")
    }

    fn reason(&self, names: Pair<&str>) -> String {
        match self.winner() {
            Some(side) => format!("{} has four {} in a line and wins", names[side], mark(Some(side))),
            None if self.is_full() => {
                format!("the board is full, and neither {} nor {} has four in a line", names.a, names.b)
            }
            None => format!("it is the turn of {}", names[self.turn()]),
        }
    }
}

#[cfg(test)]
mod tests;
