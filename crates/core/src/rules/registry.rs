use league_protocol::id::GameType;
use thiserror::Error;

use super::even_odd::EvenOdd;
use super::game::Game;
use super::tic_tac_toe::TicTacToe;

type Start = fn() -> Box<dyn Game>;

const GAMES: &[(&str, Start)] = &[("even_odd", start::<EvenOdd>), ("tic_tac_toe", start::<TicTacToe>)];

fn start<G: Game + Default + 'static>() -> Box<dyn Game> {
    Box::new(G::default())
}

pub fn new_game(game_type: &GameType) -> Option<Box<dyn Game>> {
    let (_, start) = GAMES.iter().find(|(name, _)| *name == game_type.as_str())?;
    Some(start())
}

pub fn known_games() -> impl Iterator<Item = &'static str> {
    GAMES.iter().map(|(name, _)| *name)
}

pub fn all_games() -> Vec<GameType> {
    known_games().filter_map(|name| name.parse().ok()).collect()
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("unknown game {found:?}: expected one of {}", known_games().collect::<Vec<_>>().join(", "))]
pub struct UnknownGame {
    found: String,
}

pub fn game_named(name: &str) -> Result<GameType, UnknownGame> {
    let known = name.parse().ok().filter(|game_type| new_game(game_type).is_some());
    known.ok_or_else(|| UnknownGame { found: name.chars().take(64).collect() })
}

#[cfg(test)]
mod tests {
    use league_protocol::side::{Pair, Side};
    use proptest::prelude::*;

    use super::*;
    use crate::rules::game::{DrawnNumber, GameStage};

    #[test]
    fn a_name_is_one_game_and_an_unknown_name_lists_the_games() {
        for name in known_games() {
            assert_eq!(known_games().filter(|other| *other == name).count(), 1, "{name}");
            assert_eq!(game_named(name).unwrap().as_str(), name);
        }
        assert!(all_games().contains(&GameType::even_odd()));
        let told = game_named("chess").unwrap_err().to_string();
        assert_eq!(
            told,
            format!("unknown game \"chess\": expected one of {}", known_games().collect::<Vec<_>>().join(", "))
        );
    }

    /// Plays `game` to its end by the moves that `choices` pick, and checks the `Game` contract at every stage.
    fn plays_by_its_own_rules(mut game: Box<dyn Game>, choices: &[usize]) {
        let (mut waits, mut choices) = (0, choices.iter().copied().cycle());
        loop {
            match game.stage() {
                GameStage::Over(_) => break,
                GameStage::Draw => game.draw(DrawnNumber::new(7).unwrap()),
                GameStage::Moves(due) => {
                    assert_ne!(due, Pair::new(false, false), "{game:?} waits for no side");
                    waits += 1;
                    let (legal, before) = (Pair::from_fn(|side| game.legal_moves(side)), format!("{game:?}"));
                    assert_eq!(
                        legal.as_ref().map(|moves| !moves.is_empty()),
                        due,
                        "{game:?} lists the moves of who moves"
                    );
                    for (side, illegal) in [(Side::A, ""), (Side::A, " "), (Side::B, ""), (Side::B, "no such move")] {
                        game.play(side, illegal).unwrap_err();
                    }
                    assert_eq!(format!("{game:?}"), before, "an illegal move changes nothing");
                    for side in Side::BOTH.into_iter().filter(|side| due[*side]) {
                        let chosen = &legal[side][choices.next().unwrap() % legal[side].len()];
                        game.check(side, chosen).unwrap();
                        game.play(side, chosen).unwrap();
                    }
                }
            }
        }
        assert!(waits <= game.info().max_turns, "{waits} waits in {game:?}");
        assert!(Side::BOTH.into_iter().all(|side| game.legal_moves(side).is_empty()), "nothing is legal after the end");
        assert!(!game.reason(Pair::new("P01", "P02")).is_empty());
    }

    proptest! {
        #[test]
        fn every_game_ends_within_its_longest_course(choices in prop::collection::vec(0..1_000_usize, 1..60)) {
            for game_type in all_games() {
                plays_by_its_own_rules(new_game(&game_type).unwrap(), &choices);
            }
        }
    }
}
