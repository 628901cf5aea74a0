//! `logs/system/orchestrator.log.jsonl`: what the program that starts a league did, and why.

use anyhow::{Context, Result};
use league_protocol::time::Timestamp;
use league_store::home::Home;
use league_store::journal::{Entry, Journal, Level};
use league_wire::world::World;
use serde_json::Value;

/// The name under which the lines are written.
const COMPONENT: &str = "orchestrator";

/// The log; complete when it is dropped.
pub(crate) struct SystemLog {
    journal: Journal,
}

impl SystemLog {
    /// The log of `home`.
    pub(crate) fn open(home: &Home) -> Result<Self> {
        let path = home.system_journal();
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).with_context(|| format!("{} cannot be created", directory.display()))?;
        }
        let journal = Journal::open(&path).with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Self { journal })
    }

    /// Something happened as intended.
    pub(crate) fn info(&self, event: &str, message: impl Into<String>, data: &Value) {
        self.write(Level::Info, event, message, data);
    }

    /// Something went wrong, and the league goes on.
    pub(crate) fn warn(&self, event: &str, message: impl Into<String>, data: &Value) {
        self.write(Level::Warn, event, message, data);
    }

    /// Something went wrong for good.
    pub(crate) fn error(&self, event: &str, message: impl Into<String>, data: &Value) {
        self.write(Level::Error, event, message, data);
    }

    fn write(&self, level: Level, event: &str, message: impl Into<String>, data: &Value) {
        let now: Timestamp = World::real().now();
        self.journal.write(Entry::new(now, level, COMPONENT, event, message).with(data));
    }
}

impl Drop for SystemLog {
    fn drop(&mut self) {
        self.journal.flush();
    }
}
