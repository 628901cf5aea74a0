//! The Windows program in its own process. Wine turns the signal INT into the console event for Ctrl-C.

use std::env;
use std::ffi::OsStr;
use std::process::Command;

use crate::support::{Exit, Process, TestHome, Venue};

/// Wine's loader and the program, set by `cargo xtask ci windows`, with the variables that Wine itself reads.
const WINE: &str = "LEAGUE_WINE";
const PROGRAM: &str = "LEAGUE_WINDOWS";

/// The process id is that of Wine's loader, which becomes the program: it can be killed.
pub(super) fn start<A: AsRef<OsStr>>(arguments: &[A]) -> Process {
    let variable = |name| env::var(name).unwrap_or_else(|_| panic!("{name} is set by cargo xtask ci windows"));
    let mut command = Command::new(variable(WINE));
    command.arg(on_windows(&variable(PROGRAM))).args(arguments).current_dir(env::temp_dir());
    Process::of(command)
}

pub(super) fn league(arguments: &[&str]) -> Exit {
    start(arguments).wait()
}

fn on_windows(path: &str) -> String {
    format!("Z:{}", path.replace('/', "\\"))
}

/// Its path has a space and a letter beyond ASCII, as names of students have.
pub(super) fn home() -> TestHome {
    TestHome::below("José's league")
}

pub(super) fn home_argument(home: &TestHome) -> String {
    on_windows(home.path())
}

pub(super) fn venue() -> Venue {
    let home = home();
    let argument = home_argument(&home);
    Venue::launched_by(start, home, argument)
}
