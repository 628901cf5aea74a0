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
mod agent_client;
mod check_log;
mod dialect;
mod discovery;
mod fake_league;
pub mod junit;
mod manager;
mod messages;
pub mod options;
mod player;
mod posts;
mod referee;
pub mod reference;
pub mod report;
mod response;
mod role;
pub mod rule;
mod rules;
pub mod set;
mod shown;
pub mod text_report;

pub use admission::fit_to_register;
pub use manager::manager;
pub use options::CheckOptions;
pub use player::player;
pub use referee::referee;
pub use report::CheckReport;
pub use role::{GuessedRole, role};
pub use set::RuleSet;
