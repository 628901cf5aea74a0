//! Who runs the league: the shell around [`league_core::season`].
//!
//! - [`settings`]: what a manager is told when it starts
//! - [`manager`]: the agent itself: registrations, reports, queries, the operator
//! - [`desk`]: the one owner of the season, and of its log
//! - [`chronicle`]: what happened, line by line, for people
//! - `message_log`: what was said to whom and what came of it, in the same file
//! - [`page`]: a league as whoever runs it or watches it looks at it
//! - `conductor`: from registration to the champion, by what is due
//! - `filing`: the files of a league, written as it goes on
//! - `escort`: giving a match to a referee, and watching over referees
//! - `notices`: what everybody is told; `excerpt`: what of it one agent hears
//! - [`heralds`]: who tells it, and from where; `turns`: to how many at a time; `hearing`: who has heard
//! - `latecomers`: telling those who come back when all is over
//! - `lead`: stepped matches, led by hand
//! - [`gate`]: how often anybody may ask; `access`: who may do what; `reach`: which endpoints a registrant may name
//! - `promptness`: how quickly referees answer
//! - `transcripts`: what was said in matches whose referee has another home
//! - `withdrawal`: taking players out, and telling them

mod access;
mod endpoint_policy;
pub mod event_lines;
mod excerpt;
mod file_updates;
mod hearing;
pub mod heralds;
mod late_joiners;
pub mod league_actor;
mod league_loop;
pub mod manager;
mod match_dispatch;
mod message_log;
mod notices;
pub mod page;
mod promptness;
pub mod rate_limits;
pub mod settings;
mod stepped_control;
mod transcripts;
mod turns;
mod withdrawal;

pub use heralds::Heralds;
pub use league_actor::LeagueHandle;
pub use league_loop::LeagueStopped;
pub use manager::Manager;
pub use rate_limits::RateSettings;
pub use settings::{Inspection, Inspector, ManagerSettings};
