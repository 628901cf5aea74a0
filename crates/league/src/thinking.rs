//! The strategy of a player, with its language model if it needs one.

use anyhow::Result;
use league_player::llm::{Model, Provider};
use league_player::strategy::registry::{model, strategy};
use league_player::strategy_runner::StrategyRunner;

use crate::secure::Secure;

pub(crate) fn thinker(kind: &str, secure: &Secure) -> Result<StrategyRunner> {
    // The strategies take microseconds: a thread would cost more.
    let thinker = StrategyRunner::new(strategy(kind)?).on_the_spot();
    let Some(named) = model(kind) else { return Ok(thinker) };
    let provider = Provider::of_environment(named, |name| std::env::var(name).ok())?;
    let model = match secure.trust() {
        Some(tls) => Model::trusting(provider, tls),
        None => Model::new(provider),
    };
    Ok(thinker.with_model(model?))
}
