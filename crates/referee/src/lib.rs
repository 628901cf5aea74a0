//! The referee: performs the effects of [`league_core::game_match`].
//!
//! - [`referee`], [`settings`], `registration`: the agent, its settings, its identity in the league
//! - `orders`, `announced_matches`, `directory`: which matches it plays, and where their players listen
//! - `match_runner`: one match, its calls and its timers
//! - `answer`, `answer_waiter`, `posted_answer`, `held_answers`: the answers of players
//! - `report`, `transcript`, `transcript_writer`, `log`: what the manager, the files and the operator get

mod announced_matches;
mod answer;
mod answer_waiter;
mod directory;
mod held_answers;
mod log;
mod match_runner;
mod orders;
mod posted_answer;
pub mod referee;
mod registration;
mod report;
pub mod settings;
mod transcript;
mod transcript_writer;

pub use referee::Referee;
pub use settings::RefereeSettings;
