//! A server in front of another one: it sees each request and may change it, or lose it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::http_server::{HttpRequest, HttpServer, ReservedPort, Stream};

/// What becomes of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passage {
    Forwarded,
    /// The client gets no answer: the connection is closed.
    Lost,
}

pub fn start<F>(server: SocketAddr, change: F) -> io::Result<HttpServer>
where
    F: Fn(&mut Value) -> Passage + Send + Sync + 'static,
{
    let change = Arc::new(change);
    ReservedPort::free()?.connections(Duration::ZERO, false, move |mut stream, _| {
        let change = Arc::clone(&change);
        async move {
            let Some(mut request) = HttpRequest::read(&mut stream).await else { return };
            let mut body = request.json();
            if body.is_object() {
                if change(&mut body) == Passage::Lost {
                    return;
                }
                request.body = body.to_string().into_bytes();
            }
            let answer = forward(&request, server).await.unwrap_or_default();
            answer_once(stream, &answer).await;
        }
    })
}

/// One exchange per connection. The client closes it: Node's client fails when a server closes before the client has read all.
pub(crate) async fn answer_once(mut stream: Stream, answer: &[u8]) {
    if stream.write_all(answer).await.is_ok() && !answer.is_empty() {
        drop(stream.read(&mut [0]).await);
    }
}

/// Returns the whole answer, head and body.
pub(crate) async fn forward(request: &HttpRequest, server: SocketAddr) -> io::Result<Vec<u8>> {
    let mut head = format!("{} {} HTTP/1.1\r\nconnection: close\r\n", request.method, request.path);
    for (name, value) in request.headers.iter().filter(|(name, _)| name != "connection" && name != "content-length") {
        head += &format!("{name}: {value}\r\n");
    }
    if request.method == "POST" {
        head += &format!("content-length: {}\r\n", request.body.len());
    }
    let mut stream = TcpStream::connect(server).await?;
    stream.write_all(&[head.as_bytes(), b"\r\n", &request.body].concat()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(answer)
}
