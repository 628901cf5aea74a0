//! Calls of a foreign referee or manager: always in its own frame, whatever the peer understands.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::frame::{Frame, opened};
use crate::names::Names;
use crate::post::post;

#[derive(Debug)]
pub(crate) struct TestClient {
    frame: Frame,
    names: Names,
    last: AtomicU64,
    shown: Mutex<Vec<String>>,
}

impl TestClient {
    pub(crate) fn new(frame: Frame) -> Self {
        Self { frame, names: Names::usual_for(&[]), last: AtomicU64::new(0), shown: Mutex::default() }
    }

    pub(crate) async fn call(&self, url: &str, kind: &str, message: &Value) -> Result<Value, String> {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let request = self.frame.request(kind, &self.names, id, message);
        let headers = [("accept", "application/json, text/event-stream")];
        let answer = post(url, &headers, &request).await.map_err(|error| error.to_string())?;
        let answer = opened(&answer.json());
        let shown = answer.as_ref().ok().and_then(|answer| answer.get("auth_token")?.as_str());
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).extend(shown.map(str::to_owned));
        answer
    }

    /// The `auth_token` of each answer that had one.
    pub(crate) fn shown(&self) -> Vec<String> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
