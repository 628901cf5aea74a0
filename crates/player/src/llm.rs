//! A language model that is asked for a word.
//!
//! Gemini's API and the one of OpenAI, which most others speak too. One request, one answer: no retries, because the time is
//! short and the coin is nearly as good; no redirects, because a key goes where it was meant for and nowhere else. A key is
//! in the header of a request and in no text that anybody could read.

mod key;
mod model;
mod named_move;
mod prompt;
mod provider;
mod settings;

pub use key::ApiKey;
pub use model::{MAX_ANSWER, Model, ModelAnswer, ModelError};
pub use named_move::named_move;
pub use prompt::Prompt;
pub use provider::{BadProvider, ModelApi, Provider, Usage};
pub use settings::BadModelSettings;
