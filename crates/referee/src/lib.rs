//! The referee: performs the effects of [`league_core::game_match`].
//!
//! - [`referee`], [`settings`], `registration`: the agent, its settings, its identity in the league
//! - `orders`, `announced_matches`, `directory`: which matches it plays, and where their players listen
//! - `matches`: the matches that run and those that have ended
//! - `match_runner`: one match, its calls and its timers, and the answers that players post to it
//! - `draw_secrets`: what decides the draws
//! - `answer`, `answer_waiter`, `posted_answer`, `held_answers`: the answers of players
//! - `report`, `confirmations`, `transcript`, `transcript_writer`, `late_lessons`, `log`: what the manager, the files and the
//!   operator get

mod announced_matches;
mod answer;
mod answer_waiter;
mod confirmations;
mod directory;
mod draw_secrets;
mod held_answers;
mod late_lessons;
mod log;
mod match_runner;
mod matches;
mod orders;
mod posted_answer;
mod pulling;
pub mod referee;
mod registration;
mod report;
pub mod settings;
mod transcript;
mod transcript_writer;

pub use referee::Referee;
pub use settings::RefereeSettings;
