//! How a referee bears up: one real `league referee` process, thousands of players, and a manager that always has the next match.
//!
//! Players take their time, up to three quarters of their limit, and a few of them are silent now and then. Whoever answered within four
//! fifths of its limit must not be charged; whoever was silent must be, and soon. All of it is read from the receipts in the
//! match files that the referee writes anyway.
//!
//! - [`plan`]: how much of everything
//! - [`run`]: a run from beginning to end
//! - [`report`]: what came of it, and which goals were missed
//! - `crowd`, `manager`, `referee`: who takes part; `door` is the HTTP of the first two
//! - `sweep`: reads the match files as they come, and clears them away
//! - `metronome`: how late somebody wakes up here who has nothing else to do
//! - `tally`: what the crowd did, and what the receipts say

mod crowd;
mod door;
mod manager;
mod metronome;
pub mod plan;
mod referee;
pub mod report;
pub mod run;
mod sweep;
mod tally;
