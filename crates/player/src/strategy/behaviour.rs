//! `timeout`, `slow`, `invalid`, `crash`: players as a league meets them, for its tests.
//!
//! A strategy only says how it would misbehave; the agent does it, because only the agent has a connection to do it on.

use std::time::Duration;

use league_core::session::StrategyQuestion;
use league_protocol::parity::Parity;

use super::{Decision, Strategy};
use crate::memory::Memory;

/// How an agent does not play as one should.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behaviour {
    /// It never answers, and keeps the connection open.
    Silence,
    /// It answers properly, when this share of the time has passed.
    Slow { share: Share, parity: Parity },
    /// It answers at once with a text that is no move.
    Invalid(&'static str),
    /// It falls over: the connection breaks without an answer. A process of its own ends; in a shared one the task that
    /// serves this call panics, and no other.
    Crash,
}

/// A share of a span of time, in percent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share(u8);

impl Share {
    /// `percent` of a span, 100 at most.
    pub fn percent(percent: u8) -> Self {
        Self(percent.min(100))
    }

    /// This share of `span`.
    pub fn of(self, span: Duration) -> Duration {
        span / 100 * u32::from(self.0)
    }
}

#[derive(Debug)]
pub(super) enum Misbehaving {
    Timeout,
    Slow(Share),
    Invalid,
    Crash,
}

impl Strategy for Misbehaving {
    fn name(&self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Slow(_) => "slow",
            Self::Invalid => "invalid",
            Self::Crash => "crash",
        }
    }

    fn choose(&self, question: &StrategyQuestion, memory: &Memory) -> Decision {
        Decision::Misbehave(match self {
            Self::Timeout => Behaviour::Silence,
            Self::Slow(share) => Behaviour::Slow { share: *share, parity: memory.toss(question) },
            // Near enough to a move to tempt a lenient reader.
            Self::Invalid => Behaviour::Invalid("neither"),
            Self::Crash => Behaviour::Crash,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{memory, question};

    #[test]
    fn each_kind_says_what_it_would_do() {
        let (question, memory) = (question(1), memory(&[]));
        let would = |kind: Misbehaving| match kind.choose(&question, &memory) {
            Decision::Misbehave(behaviour) => behaviour,
            other @ (Decision::Bet(_) | Decision::Ask(_)) => panic!("{other:?}"),
        };
        assert_eq!(would(Misbehaving::Timeout), Behaviour::Silence);
        assert_eq!(would(Misbehaving::Crash), Behaviour::Crash);
        let (share, parity) = (Share::percent(25), memory.toss(&question));
        assert_eq!(would(Misbehaving::Slow(share)), Behaviour::Slow { share, parity });
        let Behaviour::Invalid(text) = would(Misbehaving::Invalid) else { panic!("not invalid") };
        assert_eq!((Parity::exact(text), Parity::folded(text)), (None, None));
    }

    #[test]
    fn a_share_is_of_the_limit_and_never_more_than_all_of_it() {
        assert_eq!(Share::percent(25).of(Duration::from_secs(30)), Duration::from_millis(7_500));
        assert_eq!(Share::percent(200).of(Duration::from_secs(30)), Duration::from_secs(30));
        assert_eq!(Share::percent(0).of(Duration::from_secs(30)), Duration::ZERO);
    }
}
