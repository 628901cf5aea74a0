//! What a strategy knows besides the request.
//!
//! Strategies keep no state of their own. So a restart, a repeated request, a panic or concurrent requests do not change their
//! choices.

use std::cmp::Ordering;
use std::sync::Arc;

use league_core::rules::outcome::points_for;
use league_core::session::{History, MoveRequest, PlayedMatch, PlayerSession};
use league_protocol::id::PlayerId;
use league_protocol::message::finished_game::FinishedGame;
use league_protocol::message::game_over::OwnResult;
use league_protocol::message::standings::StandingsRow;
use league_protocol::message::start_match::MatchPoints;
use league_protocol::parity::Parity;
use smol_str::{SmolStr, format_smolstr};

use crate::chance::Chance;

#[derive(Clone, Debug)]
pub struct Memory {
    pub player: PlayerId,
    pub history: Arc<History>,
    pub standings: Arc<[StandingsRow]>,
    pub chance: Chance,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choices {
    pub own: Parity,
    pub theirs: Parity,
}

/// One game of Even/Odd that was played to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Duel {
    pub choices: Choices,
    /// What the game alone would have earned.
    pub points: u32,
}

impl Choices {
    /// `None` when a choice is missing, as after a forfeit, or is a move of another game.
    fn of(own: Option<&SmolStr>, theirs: Option<&SmolStr>) -> Option<Self> {
        let parity = |text: Option<&SmolStr>| text.and_then(|text| Parity::exact(text));
        Some(Self { own: parity(own)?, theirs: parity(theirs)? })
    }
}

impl Duel {
    fn of(game: &FinishedGame) -> Option<Self> {
        let result = match game.your_score.cmp(&game.opponent_score) {
            Ordering::Greater => OwnResult::Win,
            Ordering::Equal => OwnResult::Draw,
            Ordering::Less => OwnResult::Loss,
        };
        let choices = Choices::of(game.your_moves.last(), game.opponent_moves.last())?;
        Some(Self { choices, points: points_for(result, &MatchPoints::default()) })
    }

    /// The games of a match, the oldest first.
    fn in_match(played: &PlayedMatch) -> impl Iterator<Item = Self> {
        let only = played.games.is_empty().then(|| {
            let choices = Choices::of(played.my_choice.as_ref(), played.opponent_choice.as_ref())?;
            Some(Self { choices, points: played.points })
        });
        only.flatten().into_iter().chain(played.games.iter().filter_map(Self::of))
    }
}

impl Memory {
    pub fn of(session: &PlayerSession, chance: Chance) -> Option<Self> {
        Some(Self {
            player: session.identity()?.player_id.clone(),
            history: Arc::clone(session.history()),
            standings: Arc::clone(session.standings()),
            chance,
        })
    }

    /// With a seed, the same request gets the same option.
    pub fn pick(&self, request: &MoveRequest, count: usize) -> usize {
        // The same view may come again in a later game of the match.
        let later = request.turn.map(|turn| turn.game).filter(|game| *game > 1);
        let view = later.map(|game| format_smolstr!("game {game} {}", request.view));
        self.chance.pick(&request.match_id, &self.player, view.as_ref().unwrap_or(&request.view), count)
    }

    pub fn toss(&self, request: &MoveRequest) -> Parity {
        if self.pick(request, 2) == 0 { Parity::Even } else { Parity::Odd }
    }

    /// `None` when the legal moves are unknown.
    pub fn random_move(&self, request: &MoveRequest) -> Option<SmolStr> {
        request.legal_moves.get(self.pick(request, request.legal_moves.len())).cloned()
    }

    /// In earlier matches and in this one, the oldest first.
    pub fn choices_against_opponent(&self, request: &MoveRequest) -> Vec<Choices> {
        self.duels_against_opponent(request).into_iter().map(|duel| duel.choices).collect()
    }

    /// The games against the opponent of `request`, or those of all matches if the two never met.
    ///
    /// In a round robin players meet once, so at first all opponents together give the best estimate.
    pub fn informative_duels(&self, request: &MoveRequest) -> Vec<Duel> {
        let duels = self.duels_against_opponent(request);
        if duels.is_empty() { self.history.matches().iter().flat_map(Duel::in_match).collect() } else { duels }
    }

    /// The player's last choice against any opponent.
    pub fn last_choice(&self, request: &MoveRequest) -> Option<Parity> {
        let last = |moves: &[SmolStr]| moves.last().and_then(|text| Parity::exact(text));
        let in_match = |games: &[FinishedGame]| games.iter().rev().find_map(|game| last(&game.your_moves));
        let before = || {
            let mut matches = self.history.matches().iter().rev();
            matches.find_map(|played| played.my_choice.as_deref().and_then(Parity::exact))
        };
        in_match(&request.finished_games).or_else(before)
    }

    /// The earlier games against the opponent of `request`, in matches of several games and in this one, the oldest first.
    pub fn games_against_opponent<'a>(
        &'a self,
        request: &'a MoveRequest,
    ) -> impl DoubleEndedIterator<Item = &'a FinishedGame> {
        let before = self.matches_against_opponent(request).flat_map(|played| &played.games);
        before.chain(request.finished_games.iter())
    }

    fn duels_against_opponent(&self, request: &MoveRequest) -> Vec<Duel> {
        let before = self.matches_against_opponent(request).flat_map(Duel::in_match);
        before.chain(request.finished_games.iter().filter_map(Duel::of)).collect()
    }

    fn matches_against_opponent<'a>(
        &'a self,
        request: &'a MoveRequest,
    ) -> impl DoubleEndedIterator<Item = &'a PlayedMatch> {
        let opponent = request.opponent.iter();
        opponent.flat_map(|opponent| self.history.against(opponent))
    }
}
