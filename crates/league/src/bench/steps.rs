//! What is being measured, and how much there is still to come: on stderr, for people who wait.

use std::fmt::Display;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};

/// So many steps, of which each is told when it begins.
pub(crate) struct Steps {
    all: usize,
    begun: usize,
}

impl Steps {
    pub(crate) fn new(all: usize) -> Self {
        Self { all, begun: 0 }
    }

    /// Takes the next one. At a terminal its seconds are counted while it lasts.
    pub(crate) fn take<T>(&mut self, what: impl Display, step: impl FnOnce() -> Result<T>) -> Result<T> {
        self.begun += 1;
        let told = format!("[{} of {}] {what}", self.begun, self.all);
        let waiting = waiting(&told);
        let began = Instant::now();
        let done = step();
        waiting.finish_and_clear();
        if std::io::stderr().is_terminal() && done.is_ok() {
            eprintln!("{told}: {:.1} s", began.elapsed().as_secs_f64());
        }
        done.with_context(|| what.to_string())
    }
}

/// A line that shows for how long it has been standing there; a plain one where nobody watches.
fn waiting(told: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        eprintln!("{told}");
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(told.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
