//! Values that theory or other programs give for our games.

use std::collections::{HashMap, HashSet};

use super::*;
use crate::rules::tree::GameTree;

fn game(name: &str) -> Box<dyn Game> {
    new_game(&name.parse().unwrap()).unwrap()
}

fn tree(name: &str) -> GameTree {
    GameTree::of(&*game(name), 200_000).unwrap()
}

fn score(game: &dyn Game) -> Pair<i32> {
    let GameStage::Over(verdict) = game.stage() else { panic!("{game:?} is not over") };
    verdict.score()
}

#[test]
fn nobody_beats_a_coin_at_even_odd() {
    let tree = tree("even_odd");
    let coin = tree.uniform();
    assert_eq!(tree.value(&coin), 0.0);
    assert!(Side::BOTH.into_iter().all(|side| tree.best_answer(side, &coin).abs() < 1e-12));
}

#[test]
fn uniform_throws_win_nothing_with_a_variance_of_two_thirds() {
    let throws = ["rock", "paper", "scissors"];
    for theirs in throws {
        let won = throws.map(|ours| {
            let mut game = game("rock_paper_scissors");
            while let GameStage::Moves(_) = game.stage() {
                game.play(Side::A, ours).unwrap();
                game.play(Side::B, theirs).unwrap();
            }
            f64::from(score(&*game).a - score(&*game).b) / 100.0
        });
        let mean: f64 = won.iter().sum::<f64>() / 3.0;
        let variance = won.iter().map(|won| won * won).sum::<f64>() / 3.0;
        assert!(mean.abs() < 1e-12 && (variance - 2.0 / 3.0).abs() < 1e-12, "against {theirs}: {won:?}");
    }
    // The same by 100,000 throws against an opponent that repeats what won the last throw.
    let (mut dice, mut won, games) = (Dice(5), 0, 1_000);
    for _ in 0..games {
        let (mut game, mut theirs) = (game("rock_paper_scissors"), "rock");
        while let GameStage::Moves(_) = game.stage() {
            let ours = throws[dice.below(3)];
            game.play(Side::A, ours).unwrap();
            game.play(Side::B, theirs).unwrap();
            theirs = ours;
        }
        won += score(&*game).a - score(&*game).b;
    }
    let throws = f64::from(games) * 100.0;
    let interval = 3.291 * (2.0 / 3.0 * throws).sqrt();
    println!("uniform against a copier: {won} in {throws} throws, 99.9 % interval ±{interval:.0}");
    assert!(f64::from(won).abs() < interval);
}

#[test]
fn known_strategies_of_the_dilemma_score_what_the_books_say() {
    /// From the own and the opponent's choices so far.
    type Rule = fn(&str) -> &'static str;
    let tit_for_tat: Rule = |theirs| if theirs.ends_with('D') { "defect" } else { "cooperate" };
    let (always_defect, always_cooperate): (Rule, Rule) = (|_| "defect", |_| "cooperate");
    let result = |a: Rule, b: Rule| {
        let mut game = game("prisoners_dilemma");
        while let GameStage::Moves(_) = game.stage() {
            let view = game.view(Side::A);
            let (first, second) = view.split_once(' ').unwrap_or_default();
            game.play(Side::A, a(second)).unwrap();
            game.play(Side::B, b(first)).unwrap();
        }
        let score = score(&*game);
        (score.a, score.b)
    };
    assert_eq!(result(tit_for_tat, tit_for_tat), (600, 600));
    assert_eq!(result(tit_for_tat, always_defect), (199, 204));
    assert_eq!(result(always_defect, always_defect), (200, 200));
    assert_eq!(result(always_cooperate, always_defect), (0, 1000));
}

#[test]
fn tic_tac_toe_is_a_draw_and_has_the_known_number_of_positions() {
    fn value(game: &dyn Game, known: &mut HashMap<SmolStr, i32>) -> i32 {
        if let Some(value) = known.get(&game.view(Side::A)) {
            return *value;
        }
        let GameStage::Moves(due) = game.stage() else {
            let score = score(game);
            known.insert(game.view(Side::A), score.a - score.b);
            return score.a - score.b;
        };
        let side = if due.a { Side::A } else { Side::B };
        let values = game.legal_moves(side).into_iter().map(|text| {
            let mut next = game.boxed();
            next.play(side, &text).unwrap();
            value(&*next, known)
        });
        let values: HashSet<i32> = values.collect();
        let best = if due.a { values.into_iter().max() } else { values.into_iter().min() }.unwrap();
        known.insert(game.view(Side::A), best);
        best
    }
    let mut known = HashMap::new();
    assert_eq!(value(&*game("tic_tac_toe"), &mut known), 0);
    assert_eq!(known.len(), 5_478);
}

#[test]
fn an_equilibrium_of_kuhn_poker_costs_the_first_player_one_eighteenth() {
    let tree = tree("kuhn_poker");
    assert_eq!(tree.sets().len(), 12);
    let policy = tree.solve(2_000);
    let (value, exploitability) = (tree.value(&policy), tree.exploitability(&policy));
    println!("Kuhn poker: value {value:.9}, exploitability {exploitability:.9}");
    assert!(exploitability < 1e-3);
    // The value of the game lies within what the best answers can win.
    assert!((value + 1.0 / 18.0).abs() <= 2.0 * exploitability + 1e-9);
    let uniform = tree.exploitability(&tree.uniform());
    assert!((uniform - 11.0 / 24.0).abs() < 1e-9, "{uniform}");
}

#[test]
fn an_equilibrium_of_leduc_poker_has_the_value_that_open_spiel_gives() {
    let tree = tree("leduc_poker");
    assert_eq!(tree.sets().len(), 288);
    let policy = tree.solve(400);
    let (value, exploitability) = (tree.value(&policy), tree.exploitability(&policy));
    println!("Leduc poker: value {value:.9}, exploitability {exploitability:.9}");
    assert!(exploitability < 5e-3);
    assert!((value + 0.085_606_424_078).abs() <= 2.0 * exploitability);
    let uniform = tree.exploitability(&tree.uniform());
    println!("Leduc poker: exploitability of uniform play {uniform:.9}");
}

#[test]
fn colonel_blotto_is_worth_nothing_to_either_side() {
    let tree = tree("colonel_blotto");
    assert_eq!(tree.sets().iter().map(|set| set.moves.len()).collect::<Vec<_>>(), [66, 66]);
    let policy = tree.solve(400);
    let (value, exploitability) = (tree.value(&policy), tree.exploitability(&policy));
    println!("Colonel Blotto: value {value:.9}, exploitability {exploitability:.9}");
    assert!(exploitability < 1e-2 && value.abs() <= 2.0 * exploitability + 1e-9);
}
