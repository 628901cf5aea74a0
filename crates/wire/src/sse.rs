//! Reads an answer that is a stream of events; some MCP servers always send one. Only the response to the client's own request counts.

use bytes::Bytes;
use http::{HeaderMap, header};
use serde::Deserialize;
use serde::de::IgnoredAny;

pub(crate) fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

#[derive(Deserialize)]
struct Shape {
    #[serde(default)]
    id: Option<serde_json::Value>,
    #[serde(default)]
    method: Option<IgnoredAny>,
}

#[derive(Debug)]
pub(crate) struct Events {
    wanted: Option<u64>,
    line: Vec<u8>,
    data: Vec<u8>,
}

impl Events {
    /// `None` accepts any response.
    pub(crate) fn until(wanted: Option<u64>) -> Self {
        Self { wanted, line: Vec::new(), data: Vec::new() }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) -> Option<Bytes> {
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if let Some(response) = self.line(line.strip_suffix(b"\r").unwrap_or(&line)) {
                return Some(response);
            }
        }
        None
    }

    pub(crate) fn end(mut self) -> Bytes {
        let line = std::mem::take(&mut self.line);
        let response = self.line(&line).or_else(|| self.line(b""));
        response.unwrap_or_default()
    }

    fn line(&mut self, line: &[u8]) -> Option<Bytes> {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return self.is_response(&data).then(|| Bytes::from(data));
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        }
        None
    }

    fn is_response(&self, data: &[u8]) -> bool {
        let Ok(shape) = serde_json::from_slice::<Shape>(data) else { return false };
        // An error that occurred before the id was read has no id.
        let ours = match (&shape.id, self.wanted) {
            (Some(id), Some(wanted)) if !id.is_null() => *id == wanted,
            (Some(_) | None, Some(_) | None) => true,
        };
        ours && shape.method.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &[u8] = b"id: 0\r\ndata:\r\n\r\n: thinking\n\nevent: message\n\
        data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n\
        data: {\"jsonrpc\":\"2.0\",\"id\":6,\"result\":{}}\n\n\
        event: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":7,\"result\":{\"a\":1}}\n\n\
        data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":2}}\n\n";
    const RESPONSE: &[u8] = b"{\"jsonrpc\":\"2.0\",\n\"id\":7,\"result\":{\"a\":1}}";

    #[test]
    fn the_response_with_the_wanted_id_is_found_wherever_the_stream_is_split() {
        for cut in 0..STREAM.len() {
            let mut events = Events::until(Some(7));
            let (first, rest) = STREAM.split_at(cut);
            let found = events.take(first).or_else(|| events.take(rest));
            assert_eq!(found.as_deref(), Some(RESPONSE), "cut at {cut}");
        }
    }

    #[test]
    fn an_event_counts_without_the_blank_line_at_the_end_of_the_stream() {
        let mut events = Events::until(Some(1));
        assert_eq!(events.take(b"data: {\"id\":1,\"result\":{}}"), None);
        assert_eq!(events.end(), b"{\"id\":1,\"result\":{}}"[..]);
        assert!(Events::until(Some(1)).end().is_empty());
    }
}
