//! Every message of the call table, and its answer.
//!
//! A body holds the message's own fields; the envelope is kept apart (see [`crate::head`]). Fields are read as widely as
//! any known agent writes them and written in one form; where sources know several shapes we write the union of them.
//! What a stranger may leave out is an `Option`; what we cannot do without is not.

pub mod acknowledgement;
pub mod choice;
pub mod game_error;
pub mod game_move;
pub mod game_over;
pub mod invitation;
pub mod league_error;
pub mod league_view;
pub mod operate;
pub mod query;
pub mod registration;
pub mod report;
pub mod round;
pub mod standings;
pub mod start_match;
pub mod state;
pub mod step;
pub mod transcript;
