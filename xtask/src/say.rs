//! What is said to the person at the keyboard: on stderr, in colour on a terminal, and complete without.

use std::env;
use std::io::{self, IsTerminal};

const BOLD: &str = "1";
const GREEN: &str = "32";
const RED: &str = "1;31";
const YELLOW: &str = "33";

/// A part of the work begins.
pub(crate) fn begin(what: &str) {
    eprintln!("{} {what}", painted(BOLD, "==>"));
}

pub(crate) fn passed(what: &str) {
    eprintln!("{} {what}", painted(GREEN, "==>"));
}

/// It was left out, for want of something on this machine.
pub(crate) fn skipped(what: &str) {
    eprintln!("{} {what}", painted(YELLOW, "skipped:"));
}

pub(crate) fn error(why: &str) {
    eprintln!("{} {why}", painted(RED, "error:"));
}

fn painted(colour: &str, text: &str) -> String {
    if io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none() {
        format!("\x1b[{colour}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}
