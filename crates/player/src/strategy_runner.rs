//! Runs a strategy within its deadline.
//!
//! A strategy that panics, stalls, answers illegally or cannot reach its model loses its own choice but never the match. The
//! player then plays a random legal move, because an opponent could exploit a fixed fallback. The strategy gets the time left
//! minus a margin for sending the answer: 27 of 30 seconds.

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

/// One part in `MARGIN` of the time left is reserved for sending the answer.
const MARGIN: u32 = 10;
/// The smallest margin, if that much time is left: clocks and deadlines count whole seconds.
const LEAST_MARGIN: Duration = Duration::from_millis(1500);

/// The most concurrent choices. A choice that never ends blocks its thread, so this bounds the blocked threads.
const MAX_CONCURRENT_CHOICES: usize = 16;

#[derive(Debug)]
pub struct StrategyRunner {
    strategy: Arc<dyn Strategy>,
    games: Vec<GameType>,
    model: Option<Model>,
    time_limit: Option<Duration>,
    permits: Arc<Semaphore>,
    thread: ChoiceThread,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ChoiceThread {
    /// On a blocking thread, where it may stall and panic.
    Apart,
    Here,
}

impl StrategyRunner {
    pub fn new(strategy: Arc<dyn Strategy>) -> Self {
        let permits = Arc::new(Semaphore::new(MAX_CONCURRENT_CHOICES));
        let games = strategy.games();
        Self { strategy, games, model: None, time_limit: None, permits, thread: ChoiceThread::Apart }
    }

    pub fn with_model(self, model: Model) -> Self {
        Self { model: Some(model), ..self }
    }

    pub fn with_time_limit(self, time_limit: Duration) -> Self {
        Self { time_limit: Some(time_limit), ..self }
    }

    /// Runs the strategy on the caller's task. A stalling strategy then stalls its player, so this is only for the fast
    /// strategies of the registry, and for simulations, which threads would make unrepeatable.
    pub fn on_the_callers_task(self) -> Self {
        Self { thread: ChoiceThread::Here, ..self }
    }

    pub fn name(&self) -> &'static str {
        self.strategy.name()
    }

    pub fn games(&self) -> &[GameType] {
        &self.games
    }

    pub fn limited_to(mut self, games: &[GameType]) -> Self {
        self.games.retain(|game| games.contains(game));
        self
    }

    pub fn model(&self) -> Option<&str> {
        self.model.as_ref().map(Model::name)
    }

    /// `left` is the time to the deadline of `request`.
    ///
    /// Requests may run concurrently. Dropping the runtime waits for a stalled strategy; shutting it down in the background does
    /// not.
    pub async fn think(&self, request: MoveRequest, memory: Memory, left: Duration) -> StrategyOutcome {
        if let Some(stands) = request.answered {
            return StrategyOutcome::Chosen(stands);
        }
        let random = memory.random_move(&request);
        let budget = self.time_limit.map_or(budget(left), |time_limit| time_limit.min(budget(left)));
        let began = Instant::now();
        let outcome = timeout(budget, self.choose(request, memory)).await;
        match outcome.unwrap_or(Err(StrategyError::Late { budget })) {
            Ok(chosen) => chosen,
            #[cfg(feature = "test-strategies")]
            Err(StrategyError::Misbehaves(how)) => StrategyOutcome::Chosen(how.answer(left, random).await),
            Err(because) => {
                let asked = self.model().map(|model| ModelCall::failed(model, began.elapsed()));
                StrategyOutcome::Fallback { played: random, because, asked }
            }
        }
    }

    async fn choose(&self, request: MoveRequest, memory: Memory) -> Result<StrategyOutcome, StrategyError> {
        let legal = request.legal_moves.clone();
        match self.run_strategy(request, memory).await? {
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

    async fn run_strategy(&self, request: MoveRequest, memory: Memory) -> Result<Decision, StrategyError> {
        let permit = Arc::clone(&self.permits).try_acquire_owned().map_err(|_| StrategyError::Stalled)?;
        let strategy = Arc::clone(&self.strategy);
        if self.thread == ChoiceThread::Here {
            return Ok(strategy.choose(&request, &memory));
        }
        let running = spawn_blocking(move || {
            let decision = strategy.choose(&request, &memory);
            drop(permit);
            decision
        });
        running.await.map_err(StrategyError::panicked)
    }
}

fn budget(left: Duration) -> Duration {
    left - (left / MARGIN).max(LEAST_MARGIN).min(left / 2)
}
