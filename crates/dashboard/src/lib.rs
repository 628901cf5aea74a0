//! See the league: pages for people, an API for programs, and both as it happens.
//!
//! The manager's own server shows it, at the paths that the protocol does not know ([`league_wire::pages`]). It has the league a
//! second time, folded from the same events in a task of its own: whoever looks makes nobody wait who plays, and a viewer that is
//! slow is let go.
//!
//! | data | what is made of it |
//! |---|---|
//! | [`feed`]: durable events come in | `pages`: what people see |
//! | [`story`]: what they add up to | `api`: what programs read, with its description |
//! | `stage`: what all who look have in common | `events`, `live`: both, as it happens |
//! | [`archive`]: what is on the disk, and the past | `metrics`: figures |
//!
//! `site` says what is at which path, [`operate`] who may do more than look.

pub mod archive;
pub mod dashboard;
pub mod feed;
pub mod league_snapshot;
pub mod operate;

mod answers;
mod api;
mod events;
mod gzip;
mod live;
mod metrics;
mod pages;
mod phases;
mod query;
mod recent_events;
mod reply;
mod shared_state;
mod site;
mod waiting_room;

pub use archive::Archive;
pub use dashboard::{Dashboard, DashboardSettings};
pub use feed::Feed;
pub use league_snapshot::{LeagueSnapshot, SnapshotBuilder};
pub use waiting_room::WaitingRoom;
