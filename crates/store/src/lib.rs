//! Stores leagues: the event log, views as files, journals.
//!
//! The manager acknowledges an event when the event is durable in the [`log`]. Everything else is derived from the log.
//!
//! - [`home`]: the paths
//! - [`lock`]: one manager per league
//! - [`log`]: the events, chained by hashes
//! - [`views`]: the JSON files, replaced atomically, written in the background
//! - [`journal`]: JSON-lines logs that never delay a match
//! - [`verify`]: checks that log and files agree
//! - [`export`]: a league as SQL tables

mod checksum;
pub mod export;
pub mod file_identity;
pub mod file_name;
pub mod home;
pub mod journal;
pub mod lock;
pub mod log;
pub mod mark;
pub mod private;
pub mod verify;
pub mod views;
