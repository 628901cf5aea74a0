//! The conformance checker: grades an agent by named rules, and says what to change.
//!
//! - [`rule`], [`set`]: what is demanded, in frozen sets; [`mod@reference`] writes them down
//! - [`fn@player`], [`fn@referee`], [`fn@manager`]: who is held to it, by acting as everybody else of a league
//! - [`report`]: what came of it, for [`people`] and as [`mod@junit`]; [`accept`] has failures that are known
//! - `approach`, `voice`, `posts`: which form an agent understands, and on which way it answers; `line`, `heard`: how it is spoken to, what came back
//!
//! Everything that the checker sends is a message that some peer may send, or a mistake that some peer may make.

pub mod accept;
mod admission;
mod approach;
mod heard;
pub mod junit;
mod letters;
mod line;
mod manager;
mod notebook;
pub mod options;
pub mod people;
mod player;
mod posts;
mod referee;
pub mod reference;
pub mod report;
mod role;
pub mod rule;
mod rules;
pub mod set;
mod shown;
mod stage;
mod voice;

pub use admission::fit_to_register;
pub use manager::manager;
pub use options::Options;
pub use player::player;
pub use referee::referee;
pub use report::Report;
pub use role::{Guess, role};
pub use set::Set;
