//! Who runs matches: the shell around [`league_core::bout`].
//!
//! - [`settings`]: what a referee is told when it starts
//! - [`referee`]: the agent itself, and its registration
//! - `ring`: one match, its calls and its timers
//! - `answer`: what a player's answer means to the bout
//! - `patience`: an answer may come on two ways
//! - `scribe`: what was said, for the match's file
//! - `report`: telling the manager, until it knows

mod answer;
mod patience;
pub mod referee;
mod report;
mod ring;
mod scribe;
pub mod settings;

pub use referee::Referee;
pub use settings::Settings;
