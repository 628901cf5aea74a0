//! Gets an answer out of a strategy in time, whatever the strategy does.
//!
//! The rule: a strategy that panics, stalls, talks nonsense or cannot reach its model costs its own choice and never the
//! match. The player then tosses a coin, because a fixed fallback could be provoked and exploited. A strategy has all of the time that
//! is left but a margin, in which the answer travels: 27 of 30 seconds.

mod outcome;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use league_core::session::StrategyQuestion;
use league_protocol::parity::Parity;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

pub use outcome::{ModelCall, StrategyError, StrategyOutcome};

use crate::llm::{Model, one_word};
use crate::memory::Memory;
use crate::strategy::{Decision, Strategy};

/// The part of the time left that is kept for the answer's way.
const MARGIN: u32 = 10;
/// The least that is kept, where there is that much: clocks and deadlines count whole seconds.
const LEAST_MARGIN: Duration = Duration::from_millis(1500);

/// The most thoughts at once. One that never ends keeps its thread for good: after so many of them no more are begun.
const MAX_THOUGHTS: usize = 16;

/// A strategy, and what keeps it from doing harm.
#[derive(Debug)]
pub struct StrategyRunner {
    strategy: Arc<dyn Strategy>,
    model: Option<Model>,
    patience: Option<Duration>,
    thoughts: Arc<Semaphore>,
    where_to_think: Where,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Where {
    /// On a thread for blocking work, where it can stall and panic as it likes.
    Apart,
    Here,
}

impl StrategyRunner {
    /// Thinks by `strategy`.
    pub fn new(strategy: Arc<dyn Strategy>) -> Self {
        let thoughts = Arc::new(Semaphore::new(MAX_THOUGHTS));
        Self { strategy, model: None, patience: None, thoughts, where_to_think: Where::Apart }
    }

    /// With a model, for the strategy that asks one.
    pub fn with_model(self, model: Model) -> Self {
        Self { model: Some(model), ..self }
    }

    /// With this much time at most for a thought.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// Thinking on the task that asks, without a thread for it. Nothing then keeps a strategy from stalling its player, so this is
    /// for strategies that are known to be quick, as those of the registry are, and for simulations, into which threads would
    /// bring chance.
    pub fn on_the_spot(self) -> Self {
        Self { where_to_think: Where::Here, ..self }
    }

    pub fn name(&self) -> &'static str {
        self.strategy.name()
    }

    /// The model that it asks, where it asks one.
    pub fn model(&self) -> Option<&str> {
        self.model.as_ref().map(Model::name)
    }

    /// An answer to `question`, of which `left` is left until its deadline.
    ///
    /// Several questions may be thought about at once. A strategy runs on a thread for blocking work: while one is stalled, a
    /// runtime that is dropped waits for it, and one that is shut down in the background does not.
    pub async fn think(&self, question: StrategyQuestion, memory: Memory, left: Duration) -> StrategyOutcome {
        // What was answered before stands, and need not be thought of again.
        if let Some(stands) = question.answered.as_deref().and_then(Parity::exact) {
            return StrategyOutcome::Chosen(stands);
        }
        let toss = memory.toss(&question);
        let budget = self.patience.map_or(budget(left), |patience| patience.min(budget(left)));
        let began = Instant::now();
        let worked_out = timeout(budget, self.work_out(question, memory)).await;
        match worked_out.unwrap_or(Err(StrategyError::Late { budget })) {
            Ok(thought) => thought,
            Err(because) => {
                let asked = self.model().map(|model| ModelCall::failed(model, began.elapsed()));
                StrategyOutcome::Fallback { parity: toss, because, asked }
            }
        }
    }

    async fn work_out(&self, question: StrategyQuestion, memory: Memory) -> Result<StrategyOutcome, StrategyError> {
        match self.decide(question, memory).await? {
            Decision::Bet(parity) => Ok(StrategyOutcome::Chosen(parity)),
            Decision::Misbehave(behaviour) => Ok(StrategyOutcome::Misbehave(behaviour)),
            Decision::Ask(prompt) => {
                let model = self.model.as_ref().ok_or(StrategyError::NoModel)?;
                let began = Instant::now();
                let answer = model.ask(&prompt).await?;
                let parity = one_word(&answer.text).ok_or_else(|| StrategyError::invalid(&answer.text))?;
                let (model, latency) = (model.name().to_owned(), began.elapsed());
                Ok(StrategyOutcome::Advised { parity, asked: ModelCall { model, latency, usage: answer.usage } })
            }
        }
    }

    async fn decide(&self, question: StrategyQuestion, memory: Memory) -> Result<Decision, StrategyError> {
        let permit = Arc::clone(&self.thoughts).try_acquire_owned().map_err(|_| StrategyError::Stalled)?;
        let strategy = Arc::clone(&self.strategy);
        if self.where_to_think == Where::Here {
            return Ok(strategy.choose(&question, &memory));
        }
        let thinking = spawn_blocking(move || {
            let decision = strategy.choose(&question, &memory);
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
