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
            GameStage::Over(_) => ends[2] += 1,
            GameStage::Draw | GameStage::Chance(_) => panic!("tic-tac-toe has no chance"),
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
