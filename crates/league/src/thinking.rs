//! How a player thinks: by its strategy, and by a language model where that is the strategy.

use anyhow::Result;
use league_player::llm::{Model, Provider};
use league_player::strategy::registry::{model, strategy};
use league_player::strategy_runner::StrategyRunner;

use crate::secure::Secure;

/// A thinker for players of this kind.
pub(crate) fn thinker(kind: &str, secure: &Secure) -> Result<StrategyRunner> {
    // Those of the registry are done in microseconds: a thread of their own would cost more than their thoughts.
    let thinker = StrategyRunner::new(strategy(kind)?).on_the_spot();
    let Some(named) = model(kind) else { return Ok(thinker) };
    let provider = Provider::of_environment(named, |name| std::env::var(name).ok())?;
    let model = match secure.trust() {
        Some(tls) => Model::trusting(provider, tls),
        None => Model::new(provider),
    };
    Ok(thinker.with_model(model?))
}
