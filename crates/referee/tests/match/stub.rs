//! Peers of a few lines: they answer what they are told to, and remember what they heard.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A peer that runs until the test ends.
#[derive(Clone)]
pub(crate) struct Stub {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Value>>>,
}

impl Stub {
    /// A peer that answers each body as `answer` says, with status 200.
    pub(crate) async fn new(answer: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stub = Self { address: listener.local_addr().unwrap(), heard: Arc::default() };
        let (heard, answer) = (Arc::clone(&stub.heard), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&heard), Arc::clone(&answer)));
            }
        });
        stub
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Everything that was asked with this method.
    pub(crate) fn heard(&self, method: &str) -> Vec<Value> {
        self.heard.lock().unwrap().iter().filter(|body| body["method"] == method).cloned().collect()
    }
}

async fn serve(
    mut stream: TcpStream,
    heard: Arc<Mutex<Vec<Value>>>,
    answer: Arc<impl Fn(&Value) -> Value + Send + Sync + 'static>,
) {
    let mut bytes = Vec::new();
    loop {
        let head = loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return;
            }
        };
        let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
        let length: usize =
            text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
        while bytes.len() < head + length {
            assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0);
        }
        let body: Value = serde_json::from_slice(&bytes[head..head + length]).unwrap();
        bytes.drain(..head + length);
        heard.lock().unwrap().push(body.clone());
        let said = answer(&body).to_string();
        let reply = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{said}", said.len());
        if stream.write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}
