//! What people see: rendered here, complete without a script.
//!
//! - [`frame`]: what all pages have in common
//! - [`league`], [`crosstable`], [`schedule`], [`player`], [`game`], [`agents`], [`log`]: the pages
//! - [`steps`]: what the operator finds on them
//! - [`chart`], [`links`], [`paging`]: what they are made of

pub(crate) mod agents;
pub(crate) mod chart;
pub(crate) mod crosstable;
pub(crate) mod frame;
pub(crate) mod league;
pub(crate) mod links;
pub(crate) mod log;
pub(crate) mod match_page;
pub(crate) mod paging;
pub(crate) mod player;
pub(crate) mod schedule;
pub(crate) mod steps;
