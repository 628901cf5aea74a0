//! Whoever does harm on purpose: those whom we call, and those who call us.

mod callers;
mod peers;
