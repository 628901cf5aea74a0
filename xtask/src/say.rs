//! Progress and errors: on stderr, in colour on a terminal.

use std::env;
use std::io::{self, IsTerminal};

pub(crate) fn begin(what: &str) {
    line("1", "==>", what);
}

pub(crate) fn passed(what: &str) {
    line("32", "==>", what);
}

pub(crate) fn skipped(what: &str) {
    line("33", "skipped:", what);
}

pub(crate) fn error(why: &str) {
    line("1;31", "error:", why);
}

fn line(colour: &str, mark: &str, text: &str) {
    if io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none() {
        eprintln!("\x1b[{colour}m{mark}\x1b[0m {text}");
    } else {
        eprintln!("{mark} {text}");
    }
}
