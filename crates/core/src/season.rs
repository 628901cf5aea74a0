//! The league over time: who meets whom.

pub mod schedule;
