//! The HTML pages, complete without a script.
//!
//! - [`frame`]: the layout of all pages
//! - [`league`], [`crosstable`], [`schedule`], [`player`], [`match_page`], [`agents`], [`log`]: the pages
//! - [`steps`]: the operator's forms

pub(crate) mod agents;
pub(crate) mod bracket;
pub(crate) mod chart;
pub(crate) mod crosstable;
pub(crate) mod frame;
pub(crate) mod league;
pub(crate) mod links;
pub(crate) mod log;
pub(crate) mod match_page;
pub(crate) mod paging;
pub(crate) mod player;
mod replay;
pub(crate) mod schedule;
pub(crate) mod steps;
