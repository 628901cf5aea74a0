//! `timeout`, `slow`, `invalid`, `crash`: strategies that break a rule on purpose, for tests.

use std::time::Duration;

use league_core::rules::registry::all_games;
use league_core::session::MoveRequest;
use league_protocol::id::GameType;
use smol_str::SmolStr;

use super::{Decision, Strategy};
use crate::memory::Memory;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misbehaviour {
    /// Never answers, and keeps the connection open.
    Timeout,
    /// Answers with a random legal move after this percentage of the time.
    Slow(u8),
    /// Answers at once with a text that resembles a move but is none, to test lenient readers.
    Invalid,
    /// Panics, so that the connection breaks without an answer.
    Crash,
}

impl Misbehaviour {
    /// `left` is the time to the deadline, `random` a legal move.
    #[expect(clippy::panic, reason = "the strategy `crash` shows that a league survives a panic")]
    pub(crate) async fn answer(self, left: Duration, random: Option<SmolStr>) -> SmolStr {
        match self {
            Self::Timeout => std::future::pending().await,
            Self::Slow(percent) => {
                tokio::time::sleep(left / 100 * u32::from(percent)).await;
                random.unwrap_or_default()
            }
            Self::Invalid => SmolStr::new_static("neither"),
            Self::Crash => panic!("the strategy `crash` panics"),
        }
    }
}

impl Strategy for Misbehaviour {
    fn name(&self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Slow(_) => "slow",
            Self::Invalid => "invalid",
            Self::Crash => "crash",
        }
    }

    fn games(&self) -> Vec<GameType> {
        all_games()
    }

    fn choose(&self, _: &MoveRequest, _: &Memory) -> Decision {
        Decision::Misbehave(*self)
    }
}
