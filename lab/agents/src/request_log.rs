//! The requests that an agent received, in order, with its answers. Tests wait here instead of sleeping.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

#[derive(Clone, Debug)]
pub struct LoggedRequest {
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

    fn met_rate_limit(&self) -> bool {
        self.refused.as_ref().is_some_and(|why| why.to_lowercase().contains("rate limit"))
    }
}

#[derive(Debug)]
pub struct RequestLog {
    requests: Mutex<Vec<LoggedRequest>>,
    length: watch::Sender<usize>,
}

impl Default for RequestLog {
    fn default() -> Self {
        Self { requests: Mutex::default(), length: watch::Sender::new(0) }
    }
}

impl RequestLog {
    fn entries(&self) -> MutexGuard<'_, Vec<LoggedRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(&self, request: LoggedRequest) {
        let length = {
            let mut entries = self.entries();
            entries.push(request);
            entries.len()
        };
        self.length.send_replace(length);
    }

    pub fn all(&self) -> Vec<LoggedRequest> {
        self.entries().clone()
    }

    pub fn of(&self, kind: &str) -> Vec<LoggedRequest> {
        self.entries().iter().filter(|request| request.kind == kind).cloned().collect()
    }

    pub fn refused(&self) -> Vec<LoggedRequest> {
        self.entries().iter().filter(|request| request.refused.is_some()).cloned().collect()
    }

    /// Refused calls by topic, without MCP's own requests and without those that met a rate limit.
    pub fn wasted(&self) -> BTreeMap<String, usize> {
        let mut wasted = BTreeMap::new();
        for request in self.refused().iter().filter(|request| !request.met_rate_limit()) {
            let topic = request.topic();
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
        for request in self.all() {
            let topic = request.topic();
            if request.refused.is_none() {
                answered.insert(topic);
            } else if answered.contains(&topic) && !request.met_rate_limit() {
                wasted.push(topic);
            }
        }
        wasted
    }

    /// Waits at most `limit` for `count` accepted requests of one kind; returns whether they came.
    pub async fn receives(&self, kind: &str, count: usize, limit: Duration) -> bool {
        let mut length = self.length.subscribe();
        let enough = |log: &Self| {
            let entries = log.entries();
            entries.iter().filter(|request| request.kind == kind && request.refused.is_none()).count() >= count
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
