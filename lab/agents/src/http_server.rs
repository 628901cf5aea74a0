//! The HTTP server of every stub and test agent: a free loopback port, and a closure that answers.
//!
//! HTTP/1.1 by hand, as much as our own clients need, so that a server can also misbehave ([`ServerFaults`]). It runs
//! on the caller's runtime, or on its own thread without one, and stops when it is dropped.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HttpRequest {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// False if the client disconnected within the body.
    pub is_complete: bool,
}

impl HttpRequest {
    pub async fn read(stream: &mut (impl AsyncBufRead + Unpin)) -> Option<Self> {
        Self::read_some(stream, false).await
    }

    /// With `once`, the body is what the first read returns.
    async fn read_some(stream: &mut (impl AsyncBufRead + Unpin), once: bool) -> Option<Self> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.ok().filter(|length| *length > 0)?;
            match line.trim_end() {
                "" => break,
                text => lines.push(text.to_owned()),
            }
        }
        let mut first = lines.first()?.split(' ').map(str::to_owned);
        let (method, path) = (first.next()?, first.next()?);
        let headers = lines[1..].iter().filter_map(|line| line.split_once(':'));
        let headers: Vec<_> = headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect();
        let mut request = Self { method, path, headers, body: Vec::new(), is_complete: true };
        request.body = vec![0; request.header("content-length").parse().unwrap_or_default()];
        // A body that is refused for its length must still be read, or the refusal may be lost.
        if once && (1..=MAX_BODY).contains(&request.body.len()) {
            let length = stream.read(&mut request.body).await.unwrap_or_default();
            request.body.truncate(length);
        } else {
            request.is_complete = stream.read_exact(&mut request.body).await.is_ok();
        }
        Some(request)
    }

    /// Takes the name in lower case; returns an empty text for a missing header.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Then {
    #[default]
    KeepOpen,
    Close,
    /// Accepts no more connections, finishes the running requests and stops.
    Stop,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HttpReply {
    /// 0 sends nothing.
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub then: Then,
}

impl HttpReply {
    pub fn text(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, body: body.into(), ..Self::default() }
    }

    pub fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type", String::from("application/json"))];
        Self { headers, ..Self::text(status, body.to_string()) }
    }

    pub fn result(request: &Value, result: &Value) -> Self {
        Self::json(200, &json!({"jsonrpc": "2.0", "result": result, "id": request["id"]}))
    }

    pub fn then(self, then: Then) -> Self {
        Self { then, ..self }
    }

    fn written(&self, says_close: bool) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} Status\r\ncontent-length: {}\r\n", self.status, self.body.len());
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if says_close {
            head += "connection: close\r\n";
        }
        [head.as_bytes(), b"\r\n", &self.body].concat()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ServerFaults {
    pub reads_once: bool,
    pub one_at_a_time: bool,
    /// Closes after each reply without announcing it.
    pub hangs_up: bool,
}

/// A bound port without a listener.
#[derive(Debug)]
pub struct ReservedPort {
    socket: TcpSocket,
    pub address: SocketAddr,
}

impl ReservedPort {
    pub fn free() -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        Ok(Self { address: socket.local_addr()?, socket })
    }

    pub fn serve<H, A>(self, handler: H) -> io::Result<HttpServer>
    where
        H: Fn(HttpRequest) -> A + Send + Sync + 'static,
        A: Future<Output = HttpReply> + Send + 'static,
    {
        self.serve_after(Duration::ZERO, ServerFaults::default(), handler)
    }

    /// Refuses connections until `delay` has passed.
    pub fn serve_after<H, A>(self, delay: Duration, faults: ServerFaults, handler: H) -> io::Result<HttpServer>
    where
        H: Fn(HttpRequest) -> A + Send + Sync + 'static,
        A: Future<Output = HttpReply> + Send + 'static,
    {
        let handler = Arc::new(handler);
        self.connections(delay, faults.one_at_a_time, move |stream, stop| {
            converse(stream, faults, Arc::clone(&handler), stop)
        })
    }

    /// `script` handles each connection, and may stop the server.
    pub fn connections<S, C>(self, delay: Duration, one_at_a_time: bool, script: S) -> io::Result<HttpServer>
    where
        S: Fn(Stream, watch::Sender<bool>) -> C + Send + Sync + 'static,
        C: Future<Output = ()> + Send + 'static,
    {
        let Self { socket, address } = self;
        let stop = watch::Sender::new(false);
        let (held, mut dropped) = oneshot::channel::<()>();
        let own = match Handle::try_current() {
            Ok(_) => None,
            Err(_) => Some(Builder::new_current_thread().enable_all().build()?),
        };
        let entered = own.as_ref().map(|runtime| runtime.enter());
        // Without a delay it listens at once: the next line of a test may connect.
        let ready = if delay.is_zero() { Ok(socket.listen(BACKLOG)?) } else { Err(socket) };
        let work = async move {
            let listener = match ready {
                Ok(listener) => listener,
                Err(socket) => {
                    tokio::time::sleep(delay).await;
                    let Ok(listener) = socket.listen(BACKLOG) else { return };
                    listener
                }
            };
            tokio::select! {
                () = accept(listener, one_at_a_time, script, stop) => {}
                _ = &mut dropped => {}
            }
        };
        drop(entered);
        match own {
            None => drop(tokio::spawn(work)),
            Some(runtime) => drop(std::thread::Builder::new().spawn(move || runtime.block_on(work))?),
        }
        Ok(HttpServer { address, requests: Arc::default(), _held: held })
    }
}

const BACKLOG: u32 = 1024;
/// The protocol's limit.
pub const MAX_BODY: usize = 64 * 1024;

pub type Stream = BufReader<TcpStream>;

async fn accept<S, C>(listener: TcpListener, one_at_a_time: bool, script: S, stop: watch::Sender<bool>)
where
    S: Fn(Stream, watch::Sender<bool>) -> C,
    C: Future<Output = ()> + Send + 'static,
{
    let (mut connections, mut stopped) = (JoinSet::new(), stop.subscribe());
    loop {
        let stream = tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => break,
            Ok((stream, _)) = listener.accept() => stream,
        };
        drop(stream.set_nodelay(true));
        let connection = script(BufReader::new(stream), stop.clone());
        if one_at_a_time {
            connection.await;
        } else {
            connections.spawn(connection);
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn converse<H, A>(mut stream: Stream, faults: ServerFaults, handler: Arc<H>, stop: watch::Sender<bool>)
where
    H: Fn(HttpRequest) -> A,
    A: Future<Output = HttpReply>,
{
    let mut stopped = stop.subscribe();
    loop {
        let request = tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => return,
            request = HttpRequest::read_some(&mut stream, faults.reads_once) => request,
        };
        let Some(request) = request else { return };
        let reply = handler(request).await;
        let closes = reply.then != Then::KeepOpen;
        if reply.then == Then::Stop {
            // Before the reply is sent, so that no request after it is read.
            stop.send_replace(true);
        }
        let sent = reply.status != 0 && stream.write_all(&reply.written(closes)).await.is_ok();
        if !sent || closes || faults.hangs_up {
            return;
        }
    }
}

#[derive(Debug)]
pub struct HttpServer {
    pub address: SocketAddr,
    requests: Arc<Requests>,
    _held: oneshot::Sender<()>,
}

#[derive(Debug, Default)]
struct Requests {
    all: Mutex<Vec<HttpRequest>>,
    arrived: Condvar,
}

impl HttpServer {
    pub fn stub(answer: impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static) -> io::Result<Self> {
        let requests = Arc::<Requests>::default();
        let kept = Arc::clone(&requests);
        let server = ReservedPort::free()?.serve(move |request| {
            kept.all.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
            kept.arrived.notify_all();
            std::future::ready(answer(&request))
        })?;
        Ok(Self { requests, ..server })
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub fn requests(&self) -> Vec<HttpRequest> {
        self.requests.all.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn calls(&self, method: &str) -> Vec<Value> {
        self.requests().iter().map(HttpRequest::json).filter(|body| body["method"] == method).collect()
    }

    /// Blocks until `method` was called `count` times, at most `limit`.
    pub fn wait_for(&self, method: &str, count: usize, limit: Duration) -> Vec<Value> {
        let all = self.requests.all.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = |all: &[HttpRequest]| all.iter().filter(|request| request.json()["method"] == method).count();
        drop(self.requests.arrived.wait_timeout_while(all, limit, |all| calls(all) < count));
        self.calls(method)
    }
}
