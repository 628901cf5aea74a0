//! What is settled before a match begins.

use std::time::Duration;

use league_protocol::draw::DrawSecret;
use league_protocol::id::MatchId;
use league_protocol::message::start_match::Backoff;
use league_protocol::side::Pair;

/// What is settled before a match begins, and never changes during it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terms {
    /// The match.
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
    /// How long the sides have.
    pub limits: Limits,
    /// The pause after a side's first try, when it kept silent or could not be reached.
    pub base_delay: Duration,
    /// How further pauses grow.
    pub backoff: Backoff,
    /// Who drives it.
    pub mode: Mode,
}

/// How long a side has for an answer, to its last byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// To accept an invitation.
    pub to_join: Duration,
    /// To make one move.
    pub to_move: Duration,
    /// To acknowledge the end.
    pub to_acknowledge: Duration,
}

/// Who drives a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The match itself: each phase follows at once on the one before.
    Flowing,
    /// Somebody who wants to watch: the match waits for a [`Step`](super::step::Step) before it asks for moves, before it
    /// draws and before it tells the end.
    Stepped,
}
