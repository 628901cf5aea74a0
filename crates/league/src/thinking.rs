//! How a player thinks: by its strategy, and by a language model where that is the strategy.

use anyhow::Result;
use league_player::llm::{LlmSettings, Model};
use league_player::strategy::registry::strategy;
use league_player::thinker::Thinker;

use crate::secure::Secure;

/// The strategy whose thinking is done elsewhere.
const BY_MODEL: &str = "llm";

/// A thinker for players of this kind.
pub(crate) fn thinker(kind: &str, secure: &Secure) -> Result<Thinker> {
    // Those of the registry are done in microseconds: a thread of their own would cost more than their thoughts.
    let thinker = Thinker::new(strategy(kind)?).on_the_spot();
    if kind != BY_MODEL {
        return Ok(thinker);
    }
    let provider = LlmSettings::default().resolve(|name| std::env::var(name).ok())?;
    let model = match secure.trust() {
        Some(tls) => Model::trusting(provider, tls),
        None => Model::new(provider),
    };
    Ok(thinker.with_model(model?))
}
