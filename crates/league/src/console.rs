//! Printing that never panics: `print!`, `println!` and `eprintln!` of the standard library panic when the reader of a
//! pipe has closed it, as `head -1` does. This crate uses the macros below.
//!
//! A closed stdout or stderr is no error: the text is dropped, so a reader never stops a league. Any other error on
//! stdout, such as a full disk, makes the exit code 1 through [`failure`].
//!
//! Names, reasons and errors come from other programs. Everything printed is therefore escaped: it cannot move the cursor,
//! change the title or reorder the line.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

use league_protocol::display::escaped;

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
    to_stdout_unescaped(&escaped(&text.to_string()));
}

/// For text with our own colours, whose foreign parts are escaped.
pub(crate) fn to_stdout_unescaped(text: &str) {
    let mut stdout = io::stdout().lock();
    // One write: a table of a thousand lines must not need a thousand system calls.
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        // Only the first error is reported.
        drop(FAILED.set(error.to_string()));
    }
}

pub(crate) fn to_stderr(text: Arguments<'_>) {
    // One write for the whole line, so that lines of several threads do not mix.
    drop(io::stderr().write_all(escaped(&format!("{text}\n")).as_bytes()));
}

pub(crate) fn failure() -> Option<&'static str> {
    FAILED.get().map(String::as_str)
}

/// The log on stderr quotes messages of peers, too. A line reaches the writer in one piece.
#[derive(Debug)]
pub(crate) struct EscapedStderr;

impl Write for EscapedStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(escaped(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
