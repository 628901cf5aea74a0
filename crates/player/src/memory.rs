//! What a strategy may know beside the question: everything that it remembers is here, and nowhere else.
//!
//! Strategies keep nothing of their own, so a restart, a repeated question, a panic or two questions at once change nothing
//! about what they would choose.

use std::sync::Arc;

use league_core::session::{History, PlayedMatch, PlayerSession, StrategyQuestion};
use league_protocol::id::PlayerId;
use league_protocol::message::standings::StandingsRow;
use league_protocol::parity::Parity;

use crate::chance::Chance;

/// What a player knows when it is asked.
#[derive(Clone, Debug)]
pub struct Memory {
    pub player: PlayerId,
    pub history: Arc<History>,
    /// The table, as it was told last.
    pub standings: Arc<[StandingsRow]>,
    pub chance: Chance,
}

/// What both chose in a match that was played out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choices {
    pub own: Parity,
    pub theirs: Parity,
}

impl Choices {
    /// The choices of `played`; none where one is missing, as after a forfeit, or is a move of another game.
    pub fn of(played: &PlayedMatch) -> Option<Self> {
        let parity = |text: &Option<_>| text.as_deref().and_then(Parity::exact);
        Some(Self { own: parity(&played.my_choice)?, theirs: parity(&played.opponent_choice)? })
    }
}

impl Memory {
    /// What whoever sits in `seat` knows; nothing before it has a name.
    pub fn of(seat: &PlayerSession, chance: Chance) -> Option<Self> {
        Some(Self {
            player: seat.identity()?.player_id.clone(),
            history: Arc::clone(seat.history()),
            standings: Arc::clone(seat.standings()),
            chance,
        })
    }

    /// A toss of the coin for this question: with a seed, the same one each time.
    pub fn toss(&self, question: &StrategyQuestion) -> Parity {
        self.chance.toss(&question.match_id, &self.player)
    }

    /// What was chosen in the matches against the opponent of `question`, the oldest first.
    pub fn duels(&self, question: &StrategyQuestion) -> Vec<Choices> {
        self.met(question).into_iter().filter_map(Choices::of).collect()
    }

    /// The matches that say most about the opponent of `question`: those against it, or all when they never met.
    ///
    /// A round robin brings everybody together once, so at first the field as a whole is the best guess about a stranger.
    pub fn telling(&self, question: &StrategyQuestion) -> Vec<&PlayedMatch> {
        let met = self.met(question);
        if met.iter().any(|played| Choices::of(played).is_some()) {
            met
        } else {
            self.history.matches().iter().collect()
        }
    }

    fn met(&self, question: &StrategyQuestion) -> Vec<&PlayedMatch> {
        let Some(opponent) = &question.opponent else { return Vec::new() };
        self.history.matches().iter().filter(|played| played.opponent_id.as_ref() == Some(opponent)).collect()
    }
}
