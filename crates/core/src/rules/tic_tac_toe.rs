//! Tic-tac-toe: a game of turns on a board that both players see, without chance.
//!
//! The cells are numbered 1 to 9 from the upper left. A begins and writes X, B writes O. Three in a line win.

use league_protocol::side::{Pair, Side};
use smol_str::{SmolStr, SmolStrBuilder, format_smolstr};

use super::game::{Game, GameInfo, GameStage, GameVerdict, IllegalMove};

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
        match self.stage() {
            GameStage::Over(_) | GameStage::Draw => return Err(IllegalMove::new(text, "the game is over")),
            GameStage::Moves(due) if !due[side] => return Err(IllegalMove::new(text, "it is the opponent's turn")),
            GameStage::Moves(_) => {}
        }
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
    fn info(&self) -> GameInfo {
        GameInfo { name: "Tic-tac-toe", rules: RULES, max_turns: 9 }
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
mod tests {
    use super::*;

    const NAMES: Pair<&str> = Pair { a: "P01", b: "P02" };

    fn after(cells: &str) -> TicTacToe {
        let mut game = TicTacToe::default();
        for (cell, side) in cells.chars().zip(Side::BOTH.into_iter().cycle()) {
            game.play(side, &cell.to_string()).unwrap();
        }
        game
    }

    #[test]
    fn the_sides_take_turns_and_a_begins() {
        let mut game = TicTacToe::default();
        assert_eq!(game.stage(), GameStage::Moves(Pair::new(true, false)));
        game.play(Side::B, "5").unwrap_err();
        game.play(Side::A, "1").unwrap();
        assert_eq!(game.stage(), GameStage::Moves(Pair::new(false, true)));
        game.play(Side::A, "2").unwrap_err();
        game.play(Side::B, "3").unwrap();
        assert_eq!(game.stage(), GameStage::Moves(Pair::new(true, false)));
        assert!(Side::BOTH.into_iter().all(|side| game.view(side) == "X.O......"));
    }

    #[test]
    fn only_an_empty_cell_is_a_move_and_a_refusal_changes_nothing() {
        let mut game = after("5");
        for text in ["5", "0", "10", "", " 1", "1 ", "a", "-1", "１", "even"] {
            game.play(Side::B, text).unwrap_err();
        }
        assert_eq!(game.view(Side::B), "....X....");
        game.play(Side::B, "1").unwrap();
    }

    #[test]
    fn three_in_a_line_win_and_end_the_game() {
        let mut game = after("14253");
        assert_eq!(game.stage(), GameStage::Over(GameVerdict::Win(Side::A)));
        assert_eq!(game.reason(NAMES), "P01 has three X in a line, 1-2-3, and wins");
        game.play(Side::B, "6").unwrap_err();
        let second = after("132567");
        assert_eq!(second.stage(), GameStage::Over(GameVerdict::Win(Side::B)), "{}", second.view(Side::A));
        assert_eq!(second.reason(NAMES), "P02 has three O in a line, 3-5-7, and wins");
    }

    #[test]
    fn a_full_board_without_a_line_is_a_draw() {
        let game = after("123547698");
        assert_eq!(game.stage(), GameStage::Over(GameVerdict::Draw), "{}", game.view(Side::A));
        assert_eq!(game.reason(NAMES), "the board is full, and neither P01 nor P02 has three in a line");
    }

    #[test]
    fn every_line_of_play_ends_and_the_known_number_of_them_is_won() {
        fn count(game: &TicTacToe, ends: &mut [u32; 3]) {
            match game.stage() {
                GameStage::Over(GameVerdict::Win(side)) => ends[side.index()] += 1,
                GameStage::Over(GameVerdict::Draw) => ends[2] += 1,
                GameStage::Draw => panic!("tic-tac-toe draws no number"),
                GameStage::Moves(due) => {
                    let side = if due.a { Side::A } else { Side::B };
                    for cell in game.legal_moves(side) {
                        let mut next = game.clone();
                        next.play(side, &cell).unwrap();
                        count(&next, ends);
                    }
                }
            }
        }
        let mut ends = [0; 3];
        count(&TicTacToe::default(), &mut ends);
        // Of the 255,168 games of tic-tac-toe the first player wins 131,184, the second 77,904, and 46,080 are drawn.
        assert_eq!(ends, [131_184, 77_904, 46_080]);
    }
}
