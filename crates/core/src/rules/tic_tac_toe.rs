//! Tic-tac-toe: a game of turns on a board that both players see, without chance.
//!
//! The cells are numbered 1 to 9 from the upper left. A begins and writes X, B writes O. Three in a line win.

use std::fmt::Write as _;

use league_protocol::message::game_view::{GameView, ViewValue};
use league_protocol::side::{Pair, Side};
use smol_str::{SmolStr, SmolStrBuilder, format_smolstr};

use super::game::{About, Game, GameStage, GameVerdict, IllegalMove, check_turn};

const LINES: [[usize; 3]; 8] = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];

const RULES: &str = "\
The cells of a board of three rows are numbered 1 to 9 from the upper left. The players take turns and write their mark into
an empty cell: the first player writes X, the second O. Three marks of one player in a row, a column or a diagonal win. A
full board without that is a draw. The board is shown as nine characters, cell 1 first, with a dot for an empty cell. When
there are as many X as O, it is the turn of X. A move is the number of an empty cell.
";

#[derive(Clone, Debug, Default)]
pub struct TicTacToe {
    board: [Option<Side>; 9],
}

fn mark(side: Side) -> char {
    match side {
        Side::A => 'X',
        Side::B => 'O',
    }
}

/// Exactly one digit from 1 to 9, without whitespace.
fn cell(text: &str) -> Option<usize> {
    match text.as_bytes() {
        [digit @ b'1'..=b'9'] => Some(usize::from(digit - b'1')),
        _ => None,
    }
}

impl TicTacToe {
    /// The sides alternate, so the number of marks gives the turn.
    fn turn(&self) -> Side {
        Side::BOTH[self.board.iter().flatten().count() % 2]
    }

    fn winner(&self) -> Option<(Side, [usize; 3])> {
        LINES.into_iter().find_map(|line| {
            let side = self.board[line[0]]?;
            line.iter().all(|cell| self.board[*cell] == Some(side)).then_some((side, line))
        })
    }

    fn is_full(&self) -> bool {
        self.board.iter().all(Option::is_some)
    }

    fn free_cell(&self, side: Side, text: &str) -> Result<usize, IllegalMove> {
        check_turn(self.stage(), side, text)?;
        let Some(cell) = cell(text) else {
            return Err(IllegalMove::new(text, "a move is the number of a cell, 1 to 9"));
        };
        if self.board[cell].is_some() {
            return Err(IllegalMove::new(text, "this cell is taken, choose an empty one"));
        }
        Ok(cell)
    }
}

impl Game for TicTacToe {
    fn about(&self) -> About {
        let moves = "the number of an empty cell, `1` to `9`";
        About { name: "Tic-tac-toe", rules: RULES, moves, max_turns: 9, ..About::PLAIN }
    }

    fn stage(&self) -> GameStage {
        match self.winner() {
            Some((side, _)) => GameStage::Over(GameVerdict::Win(side)),
            None if self.is_full() => GameStage::Over(GameVerdict::Draw),
            None => GameStage::Moves(Pair::from_fn(|side| side == self.turn())),
        }
    }

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.free_cell(side, text).map(drop)
    }

    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove> {
        let cell = self.free_cell(side, text)?;
        self.board[cell] = Some(side);
        Ok(())
    }

    fn legal_moves(&self, side: Side) -> Vec<SmolStr> {
        let moves = (1..=9).map(|cell| format_smolstr!("{cell}"));
        moves.filter(|text| self.check(side, text).is_ok()).collect()
    }

    /// The board from cell 1 to 9, such as `X.O......`; the same for both sides.
    fn view(&self, _side: Side) -> SmolStr {
        let mut text = SmolStrBuilder::new();
        for owner in self.board {
            text.push(owner.map_or('.', mark));
        }
        text.finish()
    }

    fn fields(&self, side: Side) -> GameView {
        let cells = self.board.map(|owner| owner.map(|owner| format_smolstr!("{}", mark(owner))));
        GameView::default()
            .with("cells", cells.iter().map(Option::as_deref).collect::<ViewValue>())
            .with("you", format_smolstr!("{}", mark(side)).as_str())
    }

    fn picture(&self, _side: Side) -> Option<String> {
        let mut svg = String::from(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 3" class="board" stroke-width=".12">"#,
        );
        for (owner, cell) in self.board.into_iter().zip(0..) {
            let (x, y) = (cell % 3, cell / 3);
            // Writing to a string cannot fail.
            let _ = write!(svg, r#"<rect class="free" x="{x}.05" y="{y}.05" width="0.9" height="0.9"/>"#);
            let _ = match owner {
                None => Ok(()),
                Some(Side::A) => write!(svg, r#"<path class="a" d="M{x}.25 {y}.25l.5 .5m0-.5l-.5 .5"/>"#),
                Some(Side::B) => write!(svg, r#"<circle class="b" cx="{x}.5" cy="{y}.5" r="0.27"/>"#),
            };
        }
        Some(svg + "</svg>")
    }

    fn reason(&self, names: Pair<&str>) -> String {
        match self.winner() {
            Some((side, line)) => {
                let [first, middle, last] = line.map(|cell| cell + 1);
                format!("{} has three {} in a line, {first}-{middle}-{last}, and wins", names[side], mark(side))
            }
            None if self.is_full() => {
                format!("the board is full, and neither {} nor {} has three in a line", names.a, names.b)
            }
            None => format!("it is the turn of {}", names[self.turn()]),
        }
    }
}

#[cfg(test)]
mod tests;
