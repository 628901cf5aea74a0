//! Rounds in which both sides choose at once, for games of simultaneous moves.

use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::game::{GameStage, GameVerdict};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Rounds<C> {
    done: Vec<Pair<C>>,
    /// The choices of the current round.
    pending: Pair<Option<C>>,
}

impl<C> Default for Rounds<C> {
    fn default() -> Self {
        Self { done: Vec::new(), pending: Pair::default() }
    }
}

impl<C: Copy> Rounds<C> {
    pub(super) fn done(&self) -> &[Pair<C>] {
        &self.done
    }

    /// The caller has checked that `side` owes a choice.
    pub(super) fn choose(&mut self, side: Side, choice: C) {
        self.pending[side] = Some(choice);
        if let (Some(a), Some(b)) = (self.pending.a, self.pending.b) {
            self.done.push(Pair::new(a, b));
            self.pending = Pair::default();
        }
    }

    /// The stage of a game of `rounds` rounds whose score is the sum of what the rounds pay.
    pub(super) fn stage(&self, rounds: usize, pay: impl Fn(Pair<C>) -> Pair<i32>) -> GameStage {
        if self.done.len() >= rounds {
            return GameStage::Over(GameVerdict::Score(self.score(pay)));
        }
        GameStage::Moves(self.pending.as_ref().map(|choice| choice.is_none()))
    }

    pub(super) fn score(&self, pay: impl Fn(Pair<C>) -> Pair<i32>) -> Pair<i32> {
        self.done
            .iter()
            .map(|round| pay(*round))
            .fold(Pair::new(0, 0), |sum, paid| Pair::from_fn(|side| sum[side] + paid[side]))
    }

    /// The letters of all choices of `side`, then those of its opponent, such as `RPS SSP`; empty before the end of the first round.
    pub(super) fn view(&self, side: Side, letter: impl Fn(C) -> char) -> SmolStr {
        if self.done.is_empty() {
            return SmolStr::default();
        }
        let of = |side: Side| self.done.iter().map(move |round| round[side]);
        of(side).map(&letter).chain([' ']).chain(of(side.other()).map(&letter)).collect()
    }
}
