//! Changes the HTTP messages of an agent on their way, so that a hostile agent is the real program behind a connector
//! that lies.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use league_wire::net::{Connecting, Connector, Listener, Stream};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::process_id::ProcessId;
use crate::socket::{SimConnector, SimListener, Socket};

/// What becomes of a message.
#[derive(Clone, PartialEq, Debug)]
pub enum Fate {
    Pass,
    /// It never arrives, and its sender gets no answer.
    Lose,
    /// It never arrives. The sender gets this answer, from the adversary.
    Answer(Value),
}

/// Sees each message with a JSON body that an agent sends or receives, and may change it.
pub trait Adversary: Send {
    /// A request of the agent.
    fn sends(&mut self, _to: ProcessId, _request: &mut Value) -> Fate {
        Fate::Pass
    }

    /// The answer to a request of the agent.
    fn hears(&mut self, _from: ProcessId, _request: &Value, _answer: &mut Value) -> Fate {
        Fate::Pass
    }

    /// A request to the agent.
    fn receives(&mut self, _from: ProcessId, _request: &mut Value) -> Fate {
        Fate::Pass
    }

    /// The agent's answer.
    fn answers(&mut self, _to: ProcessId, _request: &Value, _answer: &mut Value) -> Fate {
        Fate::Pass
    }
}

#[derive(Clone)]
pub struct SharedAdversary {
    adversary: Arc<Mutex<dyn Adversary>>,
    /// Messages that did not arrive as they were sent.
    changed: Arc<AtomicU64>,
}

impl fmt::Debug for SharedAdversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedAdversary")
    }
}

impl SharedAdversary {
    pub fn new(adversary: Arc<Mutex<dyn Adversary>>) -> Self {
        Self { adversary, changed: Arc::default() }
    }

    pub fn changed(&self) -> u64 {
        self.changed.load(Ordering::Relaxed)
    }

    fn decide(&self, message: &mut Value, decide: impl FnOnce(&mut dyn Adversary, &mut Value) -> Fate) -> Fate {
        let before = message.clone();
        let fate = decide(&mut *self.adversary.lock().unwrap_or_else(PoisonError::into_inner), message);
        if fate != Fate::Pass || *message != before {
            self.changed.fetch_add(1, Ordering::Relaxed);
        }
        fate
    }
}

#[derive(Clone, Debug)]
pub struct TamperedConnector {
    pub connector: SimConnector,
    pub adversary: SharedAdversary,
}

impl Connector for TamperedConnector {
    fn connect<'a>(&'a self, host: &'a str, port: u16) -> Connecting<'a> {
        Box::pin(async move {
            let peer = ProcessId::of(host).unwrap_or(ProcessId::MANAGER);
            let inner = self.connector.connect(host, port).await?;
            Ok(Box::new(TamperedStream::new(inner, self.adversary.clone(), peer, Near::Client)) as Box<dyn Stream>)
        })
    }
}

#[derive(Debug)]
pub struct TamperedListener {
    pub listener: SimListener,
    pub adversary: SharedAdversary,
}

impl Listener for TamperedListener {
    type Stream = TamperedStream<Socket>;

    async fn accept(&mut self) -> io::Result<(Self::Stream, SocketAddr)> {
        let (socket, peer) = self.listener.accept().await?;
        let from = ProcessId::of(&peer.ip().to_string()).unwrap_or(ProcessId::MANAGER);
        Ok((TamperedStream::new(socket, self.adversary.clone(), from, Near::Server), peer))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// The part of the agent at this end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Near {
    Client,
    Server,
}

pub struct TamperedStream<S> {
    inner: S,
    adversary: SharedAdversary,
    peer: ProcessId,
    near: Near,
    /// The begin of a message that the agent writes.
    written: Vec<u8>,
    /// The begin of a message of the peer.
    arriving: Vec<u8>,
    /// What the agent reads next.
    ready: VecDeque<u8>,
    /// Requests without an answer yet.
    asked: VecDeque<Value>,
    reader: Option<Waker>,
}

impl<S> fmt::Debug for TamperedStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TamperedStream").field("peer", &self.peer).field("near", &self.near).finish_non_exhaustive()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TamperedStream<S> {
    fn new(inner: S, adversary: SharedAdversary, peer: ProcessId, near: Near) -> Self {
        let (written, arriving, ready, asked) = (Vec::new(), Vec::new(), VecDeque::new(), VecDeque::new());
        Self { inner, adversary, peer, near, written, arriving, ready, asked, reader: None }
    }

    fn give_to_agent(&mut self, bytes: &[u8]) {
        self.ready.extend(bytes);
        self.reader.take().into_iter().for_each(Waker::wake);
    }

    /// The simulated network takes everything at once.
    fn send_to_peer(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> io::Result<()> {
        match Pin::new(&mut self.inner).poll_write(cx, bytes) {
            Poll::Ready(taken) => taken.map(drop),
            Poll::Pending => Err(io::Error::other("the simulated network takes everything at once")),
        }
    }

    fn request(&mut self, mut message: HttpMessage) -> (Fate, HttpMessage) {
        let (peer, near) = (self.peer, self.near);
        let decide = |adversary: &mut dyn Adversary, request: &mut Value| match near {
            Near::Client => adversary.sends(peer, request),
            Near::Server => adversary.receives(peer, request),
        };
        let fate = message.json.as_mut().map_or(Fate::Pass, |request| self.adversary.decide(request, decide));
        if fate == Fate::Pass {
            self.asked.push_back(message.json.clone().unwrap_or_default());
        }
        (fate, message)
    }

    fn answer(&mut self, mut message: HttpMessage) -> (Fate, HttpMessage) {
        let request = self.asked.pop_front().unwrap_or_default();
        let (peer, near) = (self.peer, self.near);
        let decide = |adversary: &mut dyn Adversary, answer: &mut Value| match near {
            Near::Client => adversary.hears(peer, &request, answer),
            Near::Server => adversary.answers(peer, &request, answer),
        };
        let fate = message.json.as_mut().map_or(Fate::Pass, |answer| self.adversary.decide(answer, decide));
        (fate, message)
    }

    fn pass_arrivals(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while let Some(message) = HttpMessage::take(&mut self.arriving) {
            let (fate, message) = match self.near {
                Near::Client => self.answer(message),
                Near::Server => self.request(message),
            };
            match fate {
                Fate::Pass => self.give_to_agent(&message.bytes()),
                Fate::Lose => {}
                Fate::Answer(answer) if self.near == Near::Server => self.send_to_peer(cx, &response(&answer))?,
                Fate::Answer(answer) => self.give_to_agent(&response(&answer)),
            }
        }
        Ok(())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for TamperedStream<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if !this.ready.is_empty() {
                let count = this.ready.len().min(buf.remaining());
                this.ready.drain(..count).for_each(|byte| buf.put_slice(&[byte]));
                return Poll::Ready(Ok(()));
            }
            let mut space = [0; 4096];
            let mut arrived = ReadBuf::new(&mut space);
            match Pin::new(&mut this.inner).poll_read(cx, &mut arrived) {
                Poll::Pending => {
                    this.reader = Some(cx.waker().clone());
                    return Poll::Pending;
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Ok(())) if arrived.filled().is_empty() => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(())) => {
                    this.arriving.extend_from_slice(arrived.filled());
                    this.pass_arrivals(cx)?;
                }
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TamperedStream<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.written.extend_from_slice(buf);
        while let Some(message) = HttpMessage::take(&mut this.written) {
            let (fate, message) = match this.near {
                Near::Client => this.request(message),
                Near::Server => this.answer(message),
            };
            match fate {
                Fate::Pass => this.send_to_peer(cx, &message.bytes())?,
                Fate::Lose => {}
                Fate::Answer(answer) if this.near == Near::Client => this.give_to_agent(&response(&answer)),
                Fate::Answer(answer) => this.send_to_peer(cx, &response(&answer))?,
            }
        }
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}

/// A request or an answer with a `Content-Length`, as our client and server send them.
#[derive(Debug)]
struct HttpMessage {
    head: String,
    body: Vec<u8>,
    json: Option<Value>,
}

impl HttpMessage {
    /// Takes a whole message from the front.
    fn take(bytes: &mut Vec<u8>) -> Option<Self> {
        const END: &[u8] = b"\r\n\r\n";
        let length = bytes.windows(END.len()).position(|window| window == END)? + END.len();
        let head = String::from_utf8_lossy(&bytes[..length]).into_owned();
        let body = header(&head, "content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
        if bytes.len() < length + body {
            return None;
        }
        let rest = bytes.split_off(length + body);
        let body = std::mem::replace(bytes, rest).split_off(length);
        let json = serde_json::from_slice(&body).ok();
        Some(Self { head, body, json })
    }

    fn bytes(&self) -> Vec<u8> {
        let Some(json) = &self.json else { return [self.head.as_bytes(), &self.body].concat() };
        let body = json.to_string();
        let kept = self.head.lines().filter(|line| !line.is_empty() && header(line, "content-length").is_none());
        let head: String = kept.map(|line| format!("{line}\r\n")).collect();
        format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}

fn response(answer: &Value) -> Vec<u8> {
    let body = answer.to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_is_taken_when_it_is_whole_and_written_with_its_new_length() {
        let mut bytes = b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n{\"a\":1".to_vec();
        assert!(HttpMessage::take(&mut bytes).is_none());
        bytes.extend(b"}POST");
        let mut message = HttpMessage::take(&mut bytes).unwrap();
        assert_eq!((message.json.clone(), bytes.as_slice()), (Some(json!({"a": 1})), b"POST".as_slice()));
        message.json = Some(json!({"a": 100}));
        let text = String::from_utf8(message.bytes()).unwrap();
        assert_eq!(text, "POST /mcp HTTP/1.1\r\nHost: a\r\ncontent-length: 9\r\n\r\n{\"a\":100}");
    }
}
