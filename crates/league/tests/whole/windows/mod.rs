//! The Windows program, under Wine: leagues, restarts, Ctrl-C, pages, the checker, and a league with agents of both systems.
//!
//! `cargo xtask ci windows` builds the program, sets up Wine below the target directory, and runs these tests.

mod ends;
mod leagues;
mod program;
