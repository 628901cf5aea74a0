//! HTTP by hand: what is sent is exactly what a villain wants to send.

use std::sync::atomic::Ordering;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Shared;

#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) body: Value,
}

impl Asked {
    /// The next one on this connection.
    pub(crate) async fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.ok()?);
        }
        let head = String::from_utf8_lossy(&head).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        let mut body = vec![0; length.unwrap_or_default()];
        stream.read_exact(&mut body).await.ok()?;
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        Some(Self { path, body: serde_json::from_slice(&body).unwrap_or_default() })
    }
}

/// Sends `bytes`, and counts what went; whether all of it did.
pub(crate) async fn send(stream: &mut TcpStream, shared: &Shared, bytes: impl AsRef<[u8]>) -> bool {
    let mut left = bytes.as_ref();
    while !left.is_empty() {
        match stream.write(left).await {
            Ok(0) | Err(_) => return false,
            Ok(written) => {
                shared.pushed.fetch_add(written, Ordering::Relaxed);
                left = &left[written..];
            }
        }
    }
    true
}

/// A whole answer with this body, which says that it has `length` bytes.
pub(crate) fn answer(length: usize, more: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{more}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body.as_ref()].concat()
}
