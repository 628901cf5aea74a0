//! What is settled before a match begins.

use std::time::Duration;

use league_protocol::draw::DrawSecret;
use league_protocol::id::MatchId;
use league_protocol::message::start_match::Backoff;
use league_protocol::side::Pair;

/// What is settled before a match begins, and never changes during it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchTerms {
    pub match_id: MatchId,
    /// The attempt at this match, from one: another referee may have died on an earlier one.
    pub attempt: u32,
    /// What decides a draw, should the game need one.
    pub secret: DrawSecret,
    /// What makes the names of its conversations impossible to guess.
    pub salt: [u8; 32],
    /// How often each side is asked for one and the same thing in all: three times, or once while it is suspended. Nobody
    /// is asked less than once.
    pub tries: Pair<u8>,
    pub limits: AnswerLimits,
    /// The pause after a side's first try, when it kept silent or could not be reached.
    pub base_delay: Duration,
    pub backoff: Backoff,
    pub mode: DriveMode,
}

/// How long a side has for an answer, to its last byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnswerLimits {
    pub to_join: Duration,
    pub to_move: Duration,
    pub to_acknowledge: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DriveMode {
    /// The match itself: each phase follows at once on the one before.
    Flowing,
    /// Somebody who wants to watch: the match waits for a [`StepCommand`](super::step::Step) before it asks for moves, before it
    /// draws and before it tells the end.
    Stepped,
}
