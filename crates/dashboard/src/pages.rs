//! The HTML pages, complete without a script.
//!
//! - [`frame`]: the layout of all pages
//! - [`league`], [`projector`], [`crosstable`], [`schedule`], [`player`], [`match_page`], [`agents`], [`log`]: the pages
//! - [`steps`]: the operator's forms
//! - [`index`]: the list of leagues, where one server has several

pub(crate) mod agents;
pub(crate) mod bracket;
pub(crate) mod chart;
pub(crate) mod crosstable;
mod duel;
pub(crate) mod frame;
mod hints;
pub(crate) mod index;
pub(crate) mod league;
pub(crate) mod links;
pub(crate) mod log;
pub(crate) mod match_page;
pub(crate) mod paging;
pub(crate) mod player;
mod podium;
pub(crate) mod projector;
mod replay;
pub(crate) mod schedule;
pub(crate) mod steps;
mod strengths;
mod transcript;
