//! Printing that never panics: `print!`, `println!` and `eprintln!` of the standard library panic when the reader of a
//! pipe has closed it, as `head -1` does. This crate uses the macros below.
//!
//! A closed stdout or stderr is no error: the text is dropped, so a reader never stops a league. Any other error on
//! stdout, such as a full disk, makes the exit code 1 through [`failure`].

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

static FAILED: OnceLock<String> = OnceLock::new();

macro_rules! print {
    ($($text:tt)*) => { $crate::console::to_stdout(format_args!($($text)*)) };
}

macro_rules! println {
    ($format:literal $($rest:tt)*) => { $crate::console::to_stdout(format_args!("{}\n", format_args!($format $($rest)*))) };
}

macro_rules! eprintln {
    ($format:literal $($rest:tt)*) => { $crate::console::to_stderr(format_args!($format $($rest)*)) };
}

pub(crate) fn to_stdout(text: Arguments<'_>) {
    let mut stdout = io::stdout().lock();
    // One write: a table of a thousand lines must not need a thousand system calls.
    let written = stdout.write_all(text.to_string().as_bytes()).and_then(|()| stdout.flush());
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        // Only the first error is reported.
        drop(FAILED.set(error.to_string()));
    }
}

pub(crate) fn to_stderr(text: Arguments<'_>) {
    // One write for the whole line, so that lines of several threads do not mix.
    drop(io::stderr().write_all(format!("{text}\n").as_bytes()));
}

pub(crate) fn failure() -> Option<&'static str> {
    FAILED.get().map(String::as_str)
}
