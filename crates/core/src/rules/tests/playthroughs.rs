//! A recorded course of each game: what both sides see, may do and get. A change of rules or views shows here.

use std::fmt::Write as _;

use super::*;

/// A new game can be added. Without that, the game kit still tests it.
const RECORDED: [&str; 8] = [
    "colonel_blotto",
    "connect_four",
    "even_odd",
    "kuhn_poker",
    "leduc_poker",
    "prisoners_dilemma",
    "rock_paper_scissors",
    "tic_tac_toe",
];
/// Long games are recorded for this many moves.
const MOST_MOVES: usize = 42;

fn playthrough(name: &str) -> String {
    let (mut text, mut dice) = (String::new(), Dice(19));
    let mut game = new_game(&name.parse().unwrap()).unwrap();
    let show = |text: &mut String, game: &dyn Game| {
        for side in Side::BOTH {
            let legal = game.legal_moves(side).join(" ");
            let fields = serde_json::to_string(&game.fields(side)).unwrap();
            writeln!(text, "  {side:?} sees {:?} {fields}, may play [{legal}]", game.view(side)).unwrap();
        }
    };
    let mut stream = dice.stream();
    for _ in 0..MOST_MOVES {
        serve(game.as_mut(), &mut stream);
        show(&mut text, game.as_ref());
        let GameStage::Moves(due) = game.stage() else { break };
        let side = if due.a { Side::A } else { Side::B };
        let played = dice.pick(&game.legal_moves(side)).clone();
        writeln!(text, "{side:?} plays {played}").unwrap();
        game.play(side, &played).unwrap();
    }
    match game.stage() {
        GameStage::Over(verdict) => {
            writeln!(text, "{verdict:?}: {}", game.reason(Pair::new("P01", "P02"))).unwrap();
        }
        stage @ (GameStage::Moves(_) | GameStage::Draw | GameStage::Chance(_)) => {
            writeln!(text, "and so on: {stage:?}").unwrap();
        }
    }
    text
}

#[test]
fn games_are_played_as_recorded() {
    for name in RECORDED {
        insta::assert_snapshot!(name, playthrough(name));
    }
}
