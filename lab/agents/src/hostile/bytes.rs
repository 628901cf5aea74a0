//! HTTP answers as raw bytes.

use std::sync::atomic::Ordering;

use tokio::io::AsyncWriteExt;

use super::Shared;
use crate::http_server::Stream;

/// Returns whether all bytes were sent.
pub(crate) async fn send(stream: &mut Stream, shared: &Shared, bytes: impl AsRef<[u8]>) -> bool {
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

pub(crate) fn answer(length: usize, more: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{more}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body.as_ref()].concat()
}
