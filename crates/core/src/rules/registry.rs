use league_protocol::id::GameType;
use thiserror::Error;

use super::chance::{ChanceOutcome, ChanceRequest};
use super::colonel_blotto::ColonelBlotto;
use super::connect_four::ConnectFour;
use super::even_odd::EvenOdd;
use super::game::{Game, GameStage};
use super::kuhn_poker::KuhnPoker;
use super::leduc_poker::LeducPoker;
use super::prisoners_dilemma::PrisonersDilemma;
use super::rock_paper_scissors::RockPaperScissors;
use super::tic_tac_toe::TicTacToe;

type Start = fn() -> Box<dyn Game>;

const GAMES: &[(&str, Start)] = &[
    ("even_odd", start::<EvenOdd>),
    ("tic_tac_toe", start::<TicTacToe>),
    ("connect_four", start::<ConnectFour>),
    ("rock_paper_scissors", start::<RockPaperScissors>),
    ("prisoners_dilemma", start::<PrisonersDilemma>),
    ("kuhn_poker", start::<KuhnPoker>),
    ("leduc_poker", start::<LeducPoker>),
    ("colonel_blotto", start::<ColonelBlotto>),
];

fn start<G: Game + Default + 'static>() -> Box<dyn Game> {
    Box::new(G::default())
}

pub fn new_game(game_type: &GameType) -> Option<Box<dyn Game>> {
    let (_, start) = GAMES.iter().find(|(name, _)| *name == game_type.as_str())?;
    Some(start())
}

/// A game at its first question, with the chance before it served by the lowest outcome. For examples and checks.
pub fn first_position(game_type: &GameType) -> Option<Box<dyn Game>> {
    let mut game = new_game(game_type)?;
    // A few deals at most come before the first question.
    for _ in 0..16 {
        let GameStage::Chance(request) = game.stage() else { break };
        game.chance(&match request {
            ChanceRequest::UpTo(_) => ChanceOutcome::Number(0),
            ChanceRequest::Shuffle(cards) => ChanceOutcome::Order((0..cards).collect()),
        });
    }
    Some(game)
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
    use super::*;

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
}
