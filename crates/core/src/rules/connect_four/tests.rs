use std::collections::HashSet;

use super::*;

fn after(columns: &str) -> ConnectFour {
    let mut game = ConnectFour::default();
    for (column, side) in columns.chars().zip(Side::BOTH.into_iter().cycle()) {
        game.play(side, &column.to_string()).unwrap();
    }
    game
}

#[test]
fn the_number_of_positions_by_ply_is_the_known_one() {
    let mut level = HashSet::from([ConnectFour::default()]);
    let mut counts = vec![level.len()];
    for _ in 0..8 {
        let mut next = HashSet::new();
        for game in level.iter().filter(|game| game.winner().is_none()) {
            for column in (0..COLUMNS).filter_map(|column| Some(cell(column, game.free_row(column)?))) {
                let mut after = game.clone();
                after.discs[game.turn()] |= column;
                next.insert(after);
            }
        }
        counts.push(next.len());
        level = next;
    }
    assert_eq!(counts, [1, 7, 49, 238, 1_120, 4_263, 16_422, 54_859, 184_275]);
}

#[test]
fn four_in_every_direction_win() {
    for (columns, winner) in [
        ("1212121", Side::A),
        ("1122334", Side::A),
        ("12234334744", Side::A),
        ("76654554144", Side::A),
        ("12123242", Side::B),
    ] {
        let game = after(columns);
        assert_eq!(game.stage(), GameStage::Over(GameVerdict::Win(winner)), "{columns}: {}", game.view(Side::A));
    }
    let top = cell(0, 3) | cell(0, 4) | cell(0, 5);
    assert!(!has_four(top | cell(1, 0)), "no line goes on in the next column");
}

#[test]
fn a_disc_falls_to_the_lowest_free_cell_and_a_full_column_takes_none() {
    let mut game = after("444444");
    assert_eq!(game.view(Side::A), "...O.../...X.../...O.../...X.../...O.../...X...");
    assert_eq!(game.play(Side::A, "4").unwrap_err().allowed, "this column is full, choose another");
    assert_eq!(game.legal_moves(Side::A), ["1", "2", "3", "5", "6", "7"]);
    assert!(game.picture(Side::A).unwrap().contains(r#"class="a" d="M3.5 5.5h0"#));
}
