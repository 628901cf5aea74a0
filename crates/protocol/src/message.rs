//! Every message of the call table, and its answer, without the envelope (see [`crate::envelope`]). Reading accepts every known form;
//! writing uses one, the union of the forms that the sources define. A field that a foreign agent may omit is an `Option`.

pub mod acknowledgement;
pub mod choice;
pub mod coded_moves;
pub mod evidence;
pub mod finished_game;
pub mod game_error;
pub mod game_move;
pub mod game_over;
pub mod game_view;
pub mod identity;
pub mod invitation;
pub mod league_error;
pub mod league_view;
pub mod next_match;
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
