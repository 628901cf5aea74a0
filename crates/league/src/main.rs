//! The Even/Odd agent league, as one binary.

fn main() {}
