//! The manager: runs a league. The rules are in [`league_core::season`]; this crate connects them to the network and the disk.
//!
//! - [`manager`]: the calls that a manager answers; `access`: which credential each must show; `registration`: letting agents in
//! - [`league_actor`]: the one owner of the season and of its log
//! - `league_loop`: from registration to the champion, by what is due
//! - `match_dispatch`: giving matches to referees, and watching over referees
//! - `notices`: what agents are told; `broadcast`: telling them
//! - `withdrawal`, `stepped_control`: what the operator does beside starting and stopping
//! - [`rate_limits`], `endpoint_policy`: how often a client may call, and which endpoints an agent may name
//! - `file_updates`, `transcripts`: the league's files; [`event_lines`], `message_log`: its log for people; [`page`]: its views

mod access;
mod broadcast;
mod endpoint_policy;
pub mod event_lines;
mod file_updates;
pub mod league_actor;
mod league_loop;
pub mod manager;
mod match_dispatch;
mod message_log;
mod notices;
pub mod page;
pub mod rate_limits;
mod registration;
pub mod settings;
mod stepped_control;
mod transcripts;
mod withdrawal;

pub use league_actor::LeagueHandle;
pub use league_loop::LeagueStopped;
pub use manager::Manager;
pub use rate_limits::RateSettings;
pub use settings::{Inspection, Inspector, ManagerSettings};
