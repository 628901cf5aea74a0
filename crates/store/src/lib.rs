//! How a league lasts: the event log, views as files, logs.
//!
//! Events are the truth. What the manager accepted is appended to the [`log`] and acknowledged only once it is on disk;
//! everything else here can be lost and made again from it.
//!
//! - [`home`]: where everything lies
//! - [`lock`]: one manager per league
//! - [`log`]: the events, chained by hashes, and tables of them for people with `sqlite3`
//! - [`views`]: the JSON files of the profile, replaced atomically, written in the background
//! - [`journal`]: JSON-lines logs that never hold up a match
//! - [`verify`]: whether all of this agrees with itself, for anybody to ask at any time

pub mod file_name;
pub mod home;
pub mod journal;
pub mod lock;
pub mod log;
pub mod mark;
pub mod outbox;
pub mod verify;
pub mod views;
