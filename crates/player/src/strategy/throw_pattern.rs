//! `throw_pattern`: beats the throw that used to follow on the last throws of both players in rock, paper, scissors, in this game
//! and in earlier ones against the same opponent.
//!
//! Without a pattern it throws at random, so an opponent that throws at random wins nothing from it on average.

use league_core::session::MoveRequest;
use league_protocol::id::GameType;
use smol_str::SmolStr;

use super::{Decision, Strategy};
use crate::memory::Memory;

/// The longest run of throws that it looks for.
const LONGEST: usize = 4;
/// The last throws that it looks at: those of five games. More would cost time and change little.
const MAX_THROWS: usize = 500;

#[derive(Debug)]
pub(super) struct ThrowPattern;

/// From the view: the own throws, then the opponent's.
fn throws(view: &str) -> Vec<(u8, u8)> {
    let (own, theirs) = view.split_once(' ').unwrap_or_default();
    own.bytes().zip(theirs.bytes()).collect()
}

/// What the opponent threw most often after the longest known run; the latest one of several.
fn predicted(throws: &[(u8, u8)]) -> Option<u8> {
    (1..=LONGEST.min(throws.len().saturating_sub(1))).rev().find_map(|length| {
        let last = &throws[throws.len() - length..];
        let followed = |at: &usize| throws[*at..].starts_with(last);
        let next: Vec<u8> = (0..throws.len() - length).filter(followed).map(|at| throws[at + length].1).collect();
        next.iter().copied().max_by_key(|throw| next.iter().filter(|other| *other == throw).count())
    })
}

/// The letter of the view for a throw.
fn letter(throw: &str) -> u8 {
    throw.bytes().next().unwrap_or_default().to_ascii_uppercase()
}

fn beating(throw: u8) -> &'static str {
    match throw {
        b'R' => "paper",
        b'P' => "scissors",
        _ => "rock",
    }
}

impl Strategy for ThrowPattern {
    fn name(&self) -> &'static str {
        "throw_pattern"
    }

    fn games(&self) -> Vec<GameType> {
        "rock_paper_scissors".parse().into_iter().collect()
    }

    fn choose(&self, request: &MoveRequest, memory: &Memory) -> Decision {
        let now = throws(&request.view);
        let newest_first = memory.games_against_opponent(request).rev().flat_map(|game| {
            let both = game.your_moves.iter().rev().zip(game.opponent_moves.iter().rev());
            both.map(|(own, theirs)| (letter(own), letter(theirs)))
        });
        let mut all: Vec<(u8, u8)> = newest_first.take(MAX_THROWS.saturating_sub(now.len())).collect();
        all.reverse();
        all.extend(now);
        match predicted(&all) {
            Some(throw) => Decision::Move(SmolStr::new_static(beating(throw))),
            None => Decision::Move(memory.random_move(request).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use league_protocol::message::finished_game::FinishedGame;

    use super::*;
    use crate::testing::{memory, question};

    #[test]
    fn it_learns_from_the_earlier_games_of_the_match() {
        let moves = |text: &str| text.split(' ').map(Into::into).collect();
        let (your_moves, opponent_moves) = (moves("rock rock rock rock"), moves("paper scissors paper scissors"));
        let game = FinishedGame { game_number: 1, your_moves, opponent_moves, ..FinishedGame::default() };
        let request = MoveRequest { finished_games: vec![game].into(), ..question(1) };
        assert_eq!(ThrowPattern.choose(&request, &memory(&[])), Decision::Move("scissors".into()));
    }

    #[test]
    fn it_beats_what_used_to_follow() {
        for (view, expected) in [("RRRR PSPS", "scissors"), ("RRR RRR", "paper"), ("PPPPP SSSSS", "rock")] {
            let request = MoveRequest { view: view.into(), ..question(1) };
            assert_eq!(ThrowPattern.choose(&request, &memory(&[])), Decision::Move(expected.into()), "{view}");
        }
    }
}
