//! Gets a move out of a strategy in time, whatever the strategy does.
//!
//! A strategy that panics, stalls, answers with an illegal move or cannot reach its model costs its own choice and never the
//! match. The player then plays a random legal move, because an opponent could exploit a fixed fallback. A strategy has all
//! of the time that is left but a margin, in which the answer travels: 27 of 30 seconds.

mod outcome;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use league_core::session::MoveRequest;
use league_protocol::id::GameType;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

pub use outcome::{ModelCall, StrategyError, StrategyOutcome};

use crate::llm::{Model, named_move};
use crate::memory::Memory;
use crate::strategy::{Decision, Strategy};

/// The part of the time left that is kept for the answer's way.
const MARGIN: u32 = 10;
/// The least that is kept, where there is that much: clocks and deadlines count whole seconds.
const LEAST_MARGIN: Duration = Duration::from_millis(1500);

/// The most choices at once. One that never ends keeps its thread for good: after so many of them no more are begun.
const MAX_THOUGHTS: usize = 16;

/// A strategy, and what keeps it from doing harm.
#[derive(Debug)]
pub struct StrategyRunner {
    strategy: Arc<dyn Strategy>,
    games: Vec<GameType>,
    model: Option<Model>,
    patience: Option<Duration>,
    thoughts: Arc<Semaphore>,
    where_to_think: Where,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Where {
    /// On a thread for blocking work, where it can stall and panic.
    Apart,
    /// On the task that asked.
    Here,
}

impl StrategyRunner {
    pub fn new(strategy: Arc<dyn Strategy>) -> Self {
        let thoughts = Arc::new(Semaphore::new(MAX_THOUGHTS));
        let games = strategy.games();
        Self { strategy, games, model: None, patience: None, thoughts, where_to_think: Where::Apart }
    }

    /// With a model, for the strategy that asks one.
    pub fn with_model(self, model: Model) -> Self {
        Self { model: Some(model), ..self }
    }

    /// With this much time at most for a choice.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// Runs the strategy on the task that asks, without a thread for it. Nothing then keeps a strategy from stalling its
    /// player, so this is for the quick strategies of the registry, and for simulations, which threads would make
    /// unrepeatable.
    pub fn on_the_spot(self) -> Self {
        Self { where_to_think: Where::Here, ..self }
    }

    pub fn name(&self) -> &'static str {
        self.strategy.name()
    }

    /// The games that the player offers.
    pub fn games(&self) -> &[GameType] {
        &self.games
    }

    /// Offers only `games`, of those that the strategy plays.
    pub fn limited_to(mut self, games: &[GameType]) -> Self {
        self.games.retain(|game| games.contains(game));
        self
    }

    /// The name of the model that it asks, where it asks one.
    pub fn model(&self) -> Option<&str> {
        self.model.as_ref().map(Model::name)
    }

    /// A move for `request`; `left` is the time to its deadline.
    ///
    /// Several requests may be worked on at once. While a strategy is stalled on its thread, a runtime that is dropped waits
    /// for it, and one that is shut down in the background does not.
    pub async fn think(&self, request: MoveRequest, memory: Memory, left: Duration) -> StrategyOutcome {
        if let Some(stands) = request.answered {
            return StrategyOutcome::Chosen(stands);
        }
        let random = memory.random_move(&request);
        let budget = self.patience.map_or(budget(left), |patience| patience.min(budget(left)));
        let began = Instant::now();
        let worked_out = timeout(budget, self.work_out(request, memory)).await;
        match worked_out.unwrap_or(Err(StrategyError::Late { budget })) {
            Ok(outcome) => outcome,
            #[cfg(feature = "test-strategies")]
            Err(StrategyError::Misbehaves(how)) => StrategyOutcome::Chosen(how.answer(left, random).await),
            Err(because) => {
                let asked = self.model().map(|model| ModelCall::failed(model, began.elapsed()));
                StrategyOutcome::Fallback { played: random, because, asked }
            }
        }
    }

    async fn work_out(&self, request: MoveRequest, memory: Memory) -> Result<StrategyOutcome, StrategyError> {
        let legal = request.legal_moves.clone();
        match self.decide(request, memory).await? {
            Decision::Move(text) if legal.contains(&text) || (legal.is_empty() && !text.is_empty()) => {
                Ok(StrategyOutcome::Chosen(text))
            }
            Decision::Move(text) => Err(StrategyError::Illegal(text)),
            #[cfg(feature = "test-strategies")]
            Decision::Misbehave(how) => Err(StrategyError::Misbehaves(how)),
            Decision::Ask(prompt) => {
                let model = self.model.as_ref().ok_or(StrategyError::NoModel)?;
                let began = Instant::now();
                let answer = model.ask(&prompt).await?;
                let played = named_move(&answer.text, &legal).ok_or_else(|| StrategyError::invalid(&answer.text))?;
                let (model, latency) = (model.name().to_owned(), began.elapsed());
                Ok(StrategyOutcome::Advised { played, asked: ModelCall { model, latency, usage: answer.usage } })
            }
        }
    }

    async fn decide(&self, request: MoveRequest, memory: Memory) -> Result<Decision, StrategyError> {
        let permit = Arc::clone(&self.thoughts).try_acquire_owned().map_err(|_| StrategyError::Stalled)?;
        let strategy = Arc::clone(&self.strategy);
        if self.where_to_think == Where::Here {
            return Ok(strategy.choose(&request, &memory));
        }
        let thinking = spawn_blocking(move || {
            let decision = strategy.choose(&request, &memory);
            drop(permit);
            decision
        });
        thinking.await.map_err(StrategyError::panicked)
    }
}

/// How much of the time `left` a strategy may use.
fn budget(left: Duration) -> Duration {
    left - (left / MARGIN).max(LEAST_MARGIN).min(left / 2)
}
