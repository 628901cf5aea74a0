//! Shows a league: pages for people, an API for programs, and live updates for both.
//!
//! The manager's server serves the dashboard at the paths that the protocol does not use ([`league_wire::pages`]). The
//! dashboard keeps its own copy of the league, built from the same events, so it never blocks the league. A viewer that
//! is too slow is disconnected.
//!
//! | input | output |
//! |---|---|
//! | [`feed`]: receives durable events | `pages`: HTML |
//! | [`league_snapshot`]: the state after them | `api`: JSON and its description |
//! | `shared_state`: shared by all viewers | `events`, `live`: streams |
//! | [`archive`]: reads stored and past data | `metrics`: figures |
//!
//! `site` routes requests; [`index`] lists the leagues of a server that has several; [`operate`] recognises the operator.

pub mod archive;
pub mod dashboard;
pub mod feed;
pub mod index;
pub mod league_snapshot;
pub mod operate;

mod answers;
mod api;
mod events;
mod gzip;
mod live;
mod match_states;
mod metrics;
mod pages;
mod phases;
mod query;
mod rank_history;
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
