//! A league in a process of its own, for whoever wants to look at it; ended when nobody does any more.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::Repository;

/// A league that is being played, or was.
pub(crate) struct Staged {
    child: Child,
    talk: BufReader<ChildStderr>,
}

impl Staged {
    /// Begins a league in `home`, which is emptied first. It goes on serving when it is over.
    pub(crate) fn begin(repository: &Repository, home: &Path, arguments: &[&str]) -> Result<Self, String> {
        if home.exists() {
            std::fs::remove_dir_all(home).map_err(|error| format!("cannot empty {}: {error}", home.display()))?;
        }
        let program = repository.target.join("release").join(format!("league{}", std::env::consts::EXE_SUFFIX));
        let mut command = Command::new(&program);
        command.args(["run", "--port", "0", "--stay", "--json", "--home"]).arg(home).args(arguments);
        let unstarted = |error| format!("{} could not be started: {error}", program.display());
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = quiet.spawn().map_err(unstarted)?;
        let talk = child.stderr.take().ok_or("the league cannot be heard")?;
        Ok(Self { child, talk: BufReader::new(talk) })
    }

    /// Waits for a line that contains `part`.
    pub(crate) fn says(&mut self, part: &str) -> Result<String, String> {
        let mut heard = String::new();
        loop {
            let mut line = String::new();
            match self.talk.read_line(&mut line) {
                Ok(length) if length > 0 && line.contains(part) => return Ok(line),
                Ok(length) if length > 0 => heard.push_str(&line),
                Ok(_) | Err(_) => return Err(format!("the league did not say {part:?}: {heard}")),
            }
        }
    }

    /// Where it is looked at, like `http://127.0.0.1:8000/`.
    pub(crate) fn site(&mut self) -> Result<String, String> {
        let line = self.says("Watch it at ")?;
        Ok(line.trim().rsplit(' ').next().unwrap_or_default().to_owned())
    }
}

impl Staged {
    /// How long processors have worked for it, in seconds, where the system tells. Linux counts hundredths.
    pub(crate) fn worked(&self) -> Option<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // Its name may hold anything, and ends with the last parenthesis.
        let figures: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |place: usize| figures.get(place)?.parse::<f64>().ok();
        Some((ticks(11)? + ticks(12)?) / 100.0)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // It may be gone already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
