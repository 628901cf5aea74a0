//! Games, and the draws that some of them need.

pub mod game;
