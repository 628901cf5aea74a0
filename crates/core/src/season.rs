//! The league over time: who meets whom, and where everybody stands.

pub mod schedule;
pub mod standings;
