//! Test peers that each understand one form and count their requests.

use std::sync::{Arc, Mutex};

use league_wire::endpoint::Endpoint;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::raw::message;
use crate::support::peer;

#[derive(Clone)]
pub(crate) struct StubRequest {
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl StubRequest {
    /// The JSON-RPC method, or the type of a bare message.
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().or(self.body["message_type"].as_str()).unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub(crate) fn result(&self, result: &Value) -> StubAnswer {
        StubAnswer::json(200, &json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result}))
    }

    pub(crate) fn error(&self, status: u16, code: i64, message: &str) -> StubAnswer {
        let error = json!({"code": code, "message": message});
        StubAnswer::json(status, &json!({"jsonrpc": "2.0", "id": self.body["id"], "error": error}))
    }
}

pub(crate) struct StubAnswer {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
    /// Leaves the body open, as some streams do.
    pub(crate) open: bool,
}

impl StubAnswer {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self { status, headers: "content-type: application/json\r\n".into(), body: body.to_string(), open: false }
    }

    /// The same answer as a stream of events, after other events.
    pub(crate) fn streamed(self) -> Self {
        let headers = self.headers.replace("application/json", "text/event-stream");
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}});
        Self { body: format!(": hm\n\ndata: {notice}\n\nevent: message\ndata: {}\n\n", self.body), headers, ..self }
    }

    pub(crate) fn with(mut self, header: &str) -> Self {
        self.headers.push_str(&format!("{header}\r\n"));
        self
    }
}

pub(crate) struct StubPeer {
    pub(crate) endpoint: Endpoint,
    requests: Arc<Mutex<Vec<StubRequest>>>,
}

impl StubPeer {
    pub(crate) async fn new(answer: impl Fn(&StubRequest) -> StubAnswer + Send + Sync + 'static) -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        let endpoint = peer(move |mut stream, _| {
            let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
            async move {
                while let Some((head, body)) = message(&mut stream).await {
                    let request = StubRequest { head, body: serde_json::from_slice(&body).unwrap() };
                    seen.lock().unwrap().push(request.clone());
                    let StubAnswer { status, headers, body, open } = answer(&request);
                    let length = if open { body.len() + 1 } else { body.len() };
                    let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n");
                    if stream.write_all(format!("{head}{body}").as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await;
        Self { endpoint, requests }
    }

    pub(crate) fn methods(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().map(|request| request.method().to_owned()).collect()
    }

    pub(crate) fn last(&self) -> StubRequest {
        self.requests.lock().unwrap().last().unwrap().clone()
    }
}
