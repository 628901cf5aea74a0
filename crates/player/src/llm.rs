//! Asks a language model for a move, by the API of Gemini or of OpenAI.
//!
//! Each question is one request. There are no retries, because time is short and a random move is nearly as good. There are no
//! redirects, so the key reaches only its own server. The key appears in a header and in no readable text.

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
