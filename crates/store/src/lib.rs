//! Stores leagues: the event log, views as files, journals.
//!
//! Events are the truth. What the manager accepts is appended to the [`log`] and acknowledged when it is on the disk. Everything
//! else can be lost and made again from the log.
//!
//! - [`home`]: the paths
//! - [`lock`]: one manager per league
//! - [`log`]: the events, chained by hashes
//! - [`views`]: the JSON files of the profile, replaced atomically, written in the background
//! - [`journal`]: JSON-lines logs that never delay a match
//! - [`verify`]: checks that log and files agree
//! - [`export`]: a league as SQL tables

pub mod export;
pub mod file_name;
pub mod home;
pub mod journal;
pub mod lock;
pub mod log;
pub mod mark;
pub mod outbox;
pub mod verify;
pub mod views;
