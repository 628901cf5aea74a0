//! The requests that an agent received, in order, with its answers. Tests wait here instead of sleeping.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;

#[derive(Clone, Debug)]
pub struct LoggedRequest {
    pub at: Instant,
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// Null if it was not JSON.
    pub body: Value,
    /// The message type, or the MCP method; empty if it was not understood.
    pub kind: String,
    /// Null if it was not understood.
    pub message: Value,
    pub refused: Option<String>,
    /// 0 if there was no answer.
    pub status: u16,
    pub answer: String,
}

impl LoggedRequest {
    /// The subject of a request, as far as it is visible without understanding it.
    fn topic(&self) -> String {
        let places = [
            "/message_type",
            "/params/message_type",
            "/params/message/message_type",
            "/params/arguments/message_type",
            "/params/arguments/message/message_type",
            "/params/name",
            "/method",
        ];
        let found = places.iter().find_map(|place| self.body.pointer(place)?.as_str());
        found.unwrap_or_default().to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Debug)]
pub struct RequestLog {
    heard: Mutex<Vec<LoggedRequest>>,
    length: watch::Sender<usize>,
}

impl Default for RequestLog {
    fn default() -> Self {
        Self { heard: Mutex::default(), length: watch::Sender::new(0) }
    }
}

impl RequestLog {
    fn entries(&self) -> MutexGuard<'_, Vec<LoggedRequest>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(&self, heard: LoggedRequest) {
        let length = {
            let mut entries = self.entries();
            entries.push(heard);
            entries.len()
        };
        self.length.send_replace(length);
    }

    pub fn all(&self) -> Vec<LoggedRequest> {
        self.entries().clone()
    }

    pub fn of(&self, kind: &str) -> Vec<LoggedRequest> {
        self.entries().iter().filter(|heard| heard.kind == kind).cloned().collect()
    }

    pub fn refused(&self) -> Vec<LoggedRequest> {
        self.entries().iter().filter(|heard| heard.refused.is_some()).cloned().collect()
    }

    /// Refused calls by topic, without MCP's own requests and without those that met a rate limit.
    pub fn wasted(&self) -> BTreeMap<String, usize> {
        let busy =
            |heard: &LoggedRequest| heard.refused.as_ref().is_some_and(|why| why.to_lowercase().contains("rate limit"));
        let mut wasted = BTreeMap::new();
        for heard in self.refused().iter().filter(|heard| !busy(heard)) {
            let topic = heard.topic();
            if !["server/discover", "initialize", "tools/list"].contains(&topic.as_str()) {
                *wasted.entry(topic).or_default() += 1;
            }
        }
        wasted
    }

    /// Refused calls of a kind that the agent had answered before.
    pub fn wasted_after_answer(&self) -> Vec<String> {
        let mut answered = BTreeSet::new();
        let mut wasted = Vec::new();
        for heard in self.all() {
            let topic = heard.topic();
            match &heard.refused {
                None => {
                    answered.insert(topic);
                }
                Some(why) if answered.contains(&topic) && !why.to_lowercase().contains("rate limit") => {
                    wasted.push(topic);
                }
                Some(_) => {}
            }
        }
        wasted
    }

    /// Waits at most `limit` for `so_many` accepted requests of one kind; returns whether they came.
    pub async fn hears(&self, kind: &str, so_many: usize, limit: Duration) -> bool {
        let mut length = self.length.subscribe();
        let enough = |log: &Self| {
            let entries = log.entries();
            entries.iter().filter(|heard| heard.kind == kind && heard.refused.is_none()).count() >= so_many
        };
        let waiting = async {
            while !enough(self) {
                if length.changed().await.is_err() {
                    break;
                }
            }
        };
        tokio::time::timeout(limit, waiting).await.is_ok()
    }
}
