//! Whole leagues through the real binary, over real sockets.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod access;
mod browser;
mod checks;
mod console;
mod documents;
mod everyone;
mod files;
mod foreign_referees;
mod friendly;
mod games;
mod hostile_referees;
mod impostors;
mod kills;
mod kits;
mod leagues;
mod logs;
mod machine;
mod misbehaviour;
mod models;
#[cfg(target_os = "linux")]
mod operating;
mod operator;
mod operator_calls;
mod orchestrator;
mod outsiders;
mod pages;
mod peers;
mod pipes;
#[cfg(target_os = "linux")]
mod postgres;
mod processes;
mod pulling;
mod refusals;
mod secrets;
mod secure;
mod serve;
mod several_games;
#[cfg(target_os = "linux")]
mod several_machines;
mod source;
mod stepped;
mod support;
#[cfg(target_os = "linux")]
mod takeovers;
mod taught_dialects;
#[path = "../../../wire/tests/test_certificates/mod.rs"]
mod test_certificates;
#[cfg(target_os = "linux")]
mod throughput;
mod traces;
mod transcripts;
mod windows;
