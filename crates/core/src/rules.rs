//! Games and what they share: chance, verdicts, the games of a match.

pub mod chance;
pub mod colonel_blotto;
pub mod connect_four;
pub mod draw;
pub mod even_odd;
pub mod game;
pub mod kuhn_poker;
pub mod leduc_poker;
pub mod outcome;
pub mod prisoners_dilemma;
pub mod registry;
pub mod rock_paper_scissors;
mod rounds;
pub mod seed;
pub mod series;
pub mod tic_tac_toe;
pub mod tree;

#[cfg(test)]
mod tests;
