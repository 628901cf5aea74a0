use std::num::NonZeroU32;
use std::time::Duration;

use league_protocol::draw::{DrawNonce, DrawSecret};
use league_protocol::id::MatchId;
use league_protocol::message::start_match::Backoff;
use league_protocol::side::Pair;

/// Fixed before the match begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchTerms {
    pub match_id: MatchId,
    /// From one. Earlier attempts failed, for example because their referee died.
    pub attempt: u32,
    pub secret: DrawSecret,
    /// Whether the secret came from the league's seed.
    pub seeded: bool,
    /// Enters the draw in place of a nonce that a player did not send.
    pub manager_nonce: DrawNonce,
    /// How many games the match has.
    pub games: NonZeroU32,
    /// Makes the conversation ids unpredictable.
    pub salt: [u8; 32],
    /// How often the referee asks each side the same question: three times, or once while the player is suspended. At least one.
    pub tries: Pair<u8>,
    pub limits: AnswerLimits,
    /// The pause after the first try that timed out or could not reach the player.
    pub base_delay: Duration,
    pub backoff: Backoff,
    pub mode: DriveMode,
}

/// Time for an answer, to its last byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnswerLimits {
    pub to_join: Duration,
    pub to_move: Duration,
    pub to_acknowledge: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DriveMode {
    /// Each phase starts as soon as the one before has ended.
    Flowing,
    /// The match waits for a `StepCommand` before it asks for moves, before it draws and before it tells the end.
    Stepped,
}
