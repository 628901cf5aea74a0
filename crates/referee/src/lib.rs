//! Who runs matches: the shell around [`league_core::game_match`].
//!
//! - [`settings`]: what a referee is told when it starts
//! - [`referee`]: the agent itself
//! - `enrolment`: who it is in its league, and how it got in
//! - `ring`: one match, its calls and its timers
//! - `answer`: what a player's answer means to the bout
//! - `patience`: an answer may come on two ways
//! - `posted`: answers that players post by themselves, and whose they are
//! - `held`: those among them that wait for the end of their call
//! - `orders`: who may order a match, and what an order leaves out
//! - `announced`, `directory`: matches that are announced and not ordered, and where their players listen
//! - `scribe`: what was said, for the match's file
//! - `log`: what happened, for its log
//! - `report`: telling the manager, until it knows

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
