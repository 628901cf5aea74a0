//! `logs/system/orchestrator.log.jsonl`: the log of `league run --config`.

use anyhow::{Context, Result};
use league_protocol::time::Timestamp;
use league_store::home::Home;
use league_store::journal::{Journal, JournalEntry, JournalLevel};
use league_store::private;
use league_wire::environment::Environment;
use serde_json::Value;

const COMPONENT: &str = "orchestrator";

/// Complete when it is dropped.
pub(crate) struct SystemLog {
    journal: Journal,
}

impl SystemLog {
    pub(crate) fn open(home: &Home) -> Result<Self> {
        let path = home.system_journal();
        if let Some(directory) = path.parent() {
            private::create_dir_all(directory).with_context(|| format!("{} cannot be created", directory.display()))?;
        }
        let journal = Journal::open(&path).with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Self { journal })
    }

    pub(crate) fn info(&self, event: &str, message: impl Into<String>, data: &Value) {
        self.write(JournalLevel::Info, event, message, data);
    }

    pub(crate) fn warn(&self, event: &str, message: impl Into<String>, data: &Value) {
        self.write(JournalLevel::Warn, event, message, data);
    }

    pub(crate) fn error(&self, event: &str, message: impl Into<String>, data: &Value) {
        self.write(JournalLevel::Error, event, message, data);
    }

    fn write(&self, level: JournalLevel, event: &str, message: impl Into<String>, data: &Value) {
        let now: Timestamp = Environment::real().now();
        self.journal.write(JournalEntry::new(now, level, COMPONENT, event, message).with(data));
    }
}

impl Drop for SystemLog {
    fn drop(&mut self) {
        self.journal.flush();
    }
}
