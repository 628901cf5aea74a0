//! Raw HTTP: a test controls every byte that it sends.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::LONG;

pub(crate) const PING: &str = r#"{"jsonrpc":"2.0","method":"ping","id":1}"#;
/// The echo agent answers this only after it is released.
pub(crate) const DELAYED: &str = r#"{"jsonrpc":"2.0","method":"get_match_state","params":{"match_id":"R1M1"},"id":1}"#;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn has_header(&self, header: &str) -> bool {
        self.head.to_ascii_lowercase().contains(&format!("{header}\r\n"))
    }
}

pub(crate) struct Raw(pub(crate) TcpStream);

impl Raw {
    pub(crate) async fn to(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).await.unwrap())
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Sends a request without waiting for its answer.
    pub(crate) async fn send_request(&mut self, line: &str, headers: &str, body: &str) {
        let host = if headers.contains("Host:") { "" } else { "Host: localhost\r\n" };
        let length = body.len();
        self.send(format!("{line} HTTP/1.1\r\n{host}{headers}Content-Length: {length}\r\n\r\n{body}")).await;
    }

    pub(crate) async fn post(&mut self, path: &str, headers: &str, body: &str) -> Answer {
        self.send_request(&format!("POST {path}"), headers, body).await;
        self.answer().await
    }

    pub(crate) async fn ping(&mut self) -> u16 {
        self.post("/mcp", "", PING).await.status
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send_request(&format!("GET {path}"), "", "").await;
        self.answer().await
    }

    pub(crate) async fn answer(&mut self) -> Answer {
        let (head, body) = timeout(LONG, message(&mut self.0)).await.expect("in time").expect("an answer");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head, body }
    }

    /// The peer has closed without sending more.
    pub(crate) async fn is_closed(&mut self) -> bool {
        matches!(timeout(LONG, self.0.read(&mut [0; 1])).await, Ok(Ok(0) | Err(_)))
    }
}

pub(crate) async fn ask(address: SocketAddr, body: &str) -> Answer {
    Raw::to(address).await.post("/mcp", "", body).await
}

/// Reads one request or response: head and `Content-Length` bytes.
pub(crate) async fn message(stream: &mut (impl AsyncRead + Unpin)) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    Some((head, body))
}
