//! Who runs the league.
