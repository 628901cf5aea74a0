//! The conformance checker: grades an agent by named rules, and says what to change.
//!
//! - [`rule`], [`set`]: the rules, in frozen sets; [`mod@reference`] generates their document
//! - [`fn@player`], [`fn@referee`], [`fn@manager`]: the checks of each role; the checker plays the other roles
//! - [`report`]: the findings, as [`text_report`] and [`mod@junit`]; [`accept`] has known failures
//! - `discovery`, `posts`: the dialect of an agent and the way of its answers; `agent_client`, `response`: requests and answers
//!
//! Everything that the checker sends is a message that some peer may send, or a mistake that some peer may make.

pub mod accept;
mod admission;
mod agent_client;
mod check_log;
mod discovery;
mod excerpt;
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
pub mod text_report;

pub use admission::fit_to_register;
pub use manager::manager;
pub use options::CheckOptions;
pub use player::player;
pub use referee::referee;
pub use report::CheckReport;
pub use role::{GuessedRole, role};
pub use set::RuleSet;
