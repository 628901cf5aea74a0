//! Runs a league. The rules are in [`league_core::season`]; this crate connects them to the network and the disk.
//!
//! - [`manager`]: answers calls; `access` checks credentials, `keys` are the keys of agents; `registration` registers agents
//! - [`league_actor`]: owns the season and its log; `league_loop` performs the next action
//! - [`standby`]: a manager that waits to take the league over
//! - `match_dispatch`: assigns matches to referees and monitors referees; `pulling` hands them to referees that poll, `polls` knows the polls
//! - `notices`: the content of notices; `broadcast` sends them
//! - `withdrawal`, `stepped_control`: actions of the operator
//! - [`rate_limits`], `endpoint_policy`: limits for clients and endpoints
//! - `file_updates`, `transcripts`: the league's files; [`event_lines`], `message_log`: its log; [`page`]: its views

mod access;
mod broadcast;
mod endpoint_policy;
pub mod event_lines;
mod file_updates;
mod game_over_barrier;
mod identity_challenge;
mod inquiry;
mod keys;
pub mod league_actor;
mod league_loop;
pub mod manager;
mod match_dispatch;
mod message_log;
mod notices;
mod operator_actions;
pub mod page;
mod polls;
mod pulling;
pub mod rate_limits;
mod registration;
pub mod settings;
pub mod standby;
mod stepped_control;
mod transcripts;
mod withdrawal;

pub use keys::generate_key;
pub use league_actor::LeagueHandle;
pub use league_loop::LeagueStopped;
pub use manager::Manager;
pub use rate_limits::RateSettings;
pub use settings::{Inspection, Inspector, ManagerSettings};
pub use standby::Standby;
