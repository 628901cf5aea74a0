//! What a strategy knows besides the request.
//!
//! Strategies keep no state of their own. So a restart, a repeated request, a panic or concurrent requests do not change their
//! choices.

use std::sync::Arc;

use league_core::session::{History, MoveRequest, PlayedMatch, PlayerSession};
use league_protocol::id::PlayerId;
use league_protocol::message::standings::StandingsRow;
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

impl Choices {
    /// `None` when a choice is missing, as after a forfeit, or is a move of another game.
    pub fn of(played: &PlayedMatch) -> Option<Self> {
        let parity = |text: &Option<_>| text.as_deref().and_then(Parity::exact);
        Some(Self { own: parity(&played.my_choice)?, theirs: parity(&played.opponent_choice)? })
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

    /// The oldest first.
    pub fn choices_against_opponent(&self, request: &MoveRequest) -> Vec<Choices> {
        self.matches_against_opponent(request).into_iter().filter_map(Choices::of).collect()
    }

    /// The matches against the opponent of `request`, or all matches if the two never met.
    ///
    /// In a round robin players meet once, so at first all opponents together give the best estimate.
    pub fn informative_matches(&self, request: &MoveRequest) -> Vec<&PlayedMatch> {
        let matches_against_opponent = self.matches_against_opponent(request);
        if matches_against_opponent.iter().any(|played| Choices::of(played).is_some()) {
            matches_against_opponent
        } else {
            self.history.matches().iter().collect()
        }
    }

    fn matches_against_opponent(&self, request: &MoveRequest) -> Vec<&PlayedMatch> {
        let Some(opponent) = &request.opponent else { return Vec::new() };
        self.history.matches().iter().filter(|played| played.opponent_id.as_ref() == Some(opponent)).collect()
    }
}
