//! The games that the league knows: one line each.

use league_protocol::id::GameType;

use super::even_odd::EvenOdd;
use super::game::Game;
use super::tic_tac_toe::TicTacToe;

/// Sets up a game at its beginning.
type Start = fn() -> Box<dyn Game>;

const GAMES: &[(&str, Start)] = &[
    // A bet on a number that is drawn: both move at once.
    ("even_odd", start::<EvenOdd>),
    // A board and no luck: the sides take turns.
    ("tic_tac_toe", start::<TicTacToe>),
];

fn start<G: Game + Default + 'static>() -> Box<dyn Game> {
    Box::new(G::default())
}

/// A new game of this type; nothing when it is not known.
pub fn new_game(game_type: &GameType) -> Option<Box<dyn Game>> {
    let (_, start) = GAMES.iter().find(|(name, _)| *name == game_type.as_str())?;
    Some(start())
}

/// The types of all known games, as they are written.
pub fn known_games() -> impl Iterator<Item = &'static str> {
    GAMES.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::game::GameStage;

    #[test]
    fn every_known_game_has_a_type_of_its_own_and_begins_with_a_move() {
        for name in known_games() {
            assert_eq!(known_games().filter(|other| *other == name).count(), 1, "{name}");
            let game = new_game(&name.parse().unwrap()).unwrap();
            assert!(matches!(game.stage(), GameStage::Moves(due) if due.a || due.b), "{name}");
        }
    }

    #[test]
    fn the_game_of_the_league_is_known_and_a_stranger_is_not() {
        assert!(new_game(&GameType::even_odd()).is_some());
        assert!(new_game(&"chess".parse().unwrap()).is_none());
    }
}
