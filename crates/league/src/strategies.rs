//! The strategy of a player, with its language model if it needs one.

use anyhow::Result;
use league_player::llm::{Model, Provider};
use league_player::strategy::registry::{model, strategy};
use league_player::strategy_runner::StrategyRunner;

use crate::secure::Secure;

pub(crate) fn strategy_runner(kind: &str, secure: &Secure) -> Result<StrategyRunner> {
    // The strategies take microseconds: a thread would cost more.
    let strategy_runner = StrategyRunner::new(strategy(kind)?).on_the_callers_task();
    let Some(named) = model(kind) else { return Ok(strategy_runner) };
    let provider = Provider::of_environment(named, |name| std::env::var(name).ok())?;
    let model = match secure.trust() {
        Some(tls) => Model::trusting(provider, tls),
        None => Model::new(provider),
    };
    Ok(strategy_runner.with_model(model?))
}
