//! `tic_tac_toe`: perfect play by full search.
//!
//! It picks at random among moves of equal value, so that opponents cannot predict it.

use league_core::session::MoveRequest;
use league_protocol::id::GameType;
use smol_str::{SmolStr, format_smolstr};

use super::{Decision, Strategy};
use crate::memory::Memory;

const LINES: [[usize; 3]; 8] = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];

#[derive(Debug)]
pub(super) struct TicTacToe;

type Board = [u8; 9];

fn is_free(board: &Board, cell: usize) -> bool {
    board[cell] == b'.'
}

/// The value for the side that has just written `mark`: 1 for a win, 0 for a draw, −1 for a loss.
fn value(board: &mut Board, mark: u8) -> i8 {
    if LINES.iter().any(|line| line.iter().all(|cell| board[*cell] == mark)) {
        return 1;
    }
    let reply = if mark == b'X' { b'O' } else { b'X' };
    let mut best = None;
    for cell in 0..9 {
        if best < Some(1) && is_free(board, cell) {
            board[cell] = reply;
            best = best.max(Some(value(board, reply)));
            board[cell] = b'.';
        }
    }
    best.map_or(0, |best: i8| -best)
}

fn best_cells(mut board: Board) -> Vec<usize> {
    let count = |mark: u8| board.iter().filter(|cell| **cell == mark).count();
    let mark = if count(b'X') == count(b'O') { b'X' } else { b'O' };
    let free = (0..9).filter(|cell| is_free(&board, *cell)).collect::<Vec<_>>();
    // Every first move leads to a draw, so half a million games need not be searched.
    if free.len() == board.len() {
        return free;
    }
    let valued = free.into_iter().map(|cell| {
        board[cell] = mark;
        let worth = value(&mut board, mark);
        board[cell] = b'.';
        (worth, cell)
    });
    let valued = valued.collect::<Vec<_>>();
    let best = valued.iter().map(|(worth, _)| *worth).max();
    valued.into_iter().filter(|(worth, _)| Some(*worth) == best).map(|(_, cell)| cell).collect()
}

impl Strategy for TicTacToe {
    fn name(&self) -> &'static str {
        "tic_tac_toe"
    }

    fn games(&self) -> Vec<GameType> {
        "tic_tac_toe".parse().into_iter().collect()
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        let cells = Board::try_from(request.view.as_bytes()).map(best_cells).unwrap_or_default();
        let chosen = cells.get(memory.pick(request, cells.len()));
        // An unreadable board has no best cell; the empty move makes the runner choose at random.
        Decision::Move(chosen.map_or_else(SmolStr::default, |cell| format_smolstr!("{}", cell + 1)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use league_core::rules::game::{Game, GameStage, GameVerdict};
    use league_core::rules::registry::new_game;
    use league_protocol::side::Side;

    use super::*;

    fn cells(board: &str) -> Vec<usize> {
        best_cells(board.as_bytes().try_into().unwrap())
    }

    #[test]
    fn it_wins_where_it_can_and_blocks_where_it_must() {
        assert_eq!(cells("XX.OO...."), [2]);
        assert_eq!(cells("XX..O...."), [2]);
        assert_eq!(cells("X...O...X").iter().filter(|cell| *cell % 2 == 0).count(), 0, "a corner loses");
    }

    fn never_loses(played: &str, perfect: Side, seen: &mut HashSet<String>) {
        let mut game: Box<dyn Game> = new_game(&"tic_tac_toe".parse().unwrap()).unwrap();
        for (cell, side) in played.chars().zip(Side::BOTH.into_iter().cycle()) {
            game.play(side, &cell.to_string()).unwrap();
        }
        if !seen.insert(game.view(Side::A).to_string()) {
            return;
        }
        match game.stage() {
            GameStage::Over(GameVerdict::Win(side)) => assert_eq!(side, perfect, "{played}"),
            GameStage::Over(_) | GameStage::Draw | GameStage::Chance(_) => {}
            GameStage::Moves(due) if due[perfect] => {
                cells(&game.view(perfect))
                    .iter()
                    .for_each(|cell| never_loses(&format!("{played}{}", cell + 1), perfect, seen));
            }
            GameStage::Moves(_) => {
                let replies = game.legal_moves(perfect.other());
                replies.iter().for_each(|reply| never_loses(&format!("{played}{reply}"), perfect, seen));
            }
        }
    }

    #[test]
    fn it_never_loses_on_either_side() {
        for side in Side::BOTH {
            never_loses("", side, &mut HashSet::new());
        }
    }
}
