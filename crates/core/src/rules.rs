pub mod draw;
pub mod even_odd;
pub mod game;
pub mod outcome;
pub mod registry;
pub mod seed;
pub mod tic_tac_toe;
