//! The HTTP server of an agent: a free port on the loopback, and a resident that answers.
//!
//! Whoever holds the door holds all of it: when it is dropped, the listener and every connection are gone.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::request_log::{LoggedRequest, RequestLog};

/// What these agents read at most; they are no better than others at noticing that a body is long.
const LONGEST: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl HttpRequest {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// What is answered, and what the diary says of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct HttpResponse {
    /// 0 breaks the connection off.
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
    pub(crate) kind: String,
    pub(crate) message: Value,
    pub(crate) refused: Option<String>,
}

impl HttpResponse {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type", String::from("application/json"))];
        Self { status, headers, body: body.to_string(), ..Self::default() }
    }

    /// The same, noted as of this kind.
    pub(crate) fn about(self, kind: &str, message: &Value) -> Self {
        Self { kind: kind.to_owned(), message: message.clone(), ..self }
    }

    /// The same, noted as a refusal.
    pub(crate) fn refusing(self, why: impl Into<String>) -> Self {
        Self { refused: Some(why.into()), ..self }
    }

    /// A refusal in a few words of text.
    pub(crate) fn plainly(status: u16, why: &str) -> Self {
        Self { status, body: why.to_owned(), ..Self::default() }.refusing(why)
    }
}

pub(crate) trait HttpHandler: Send + Sync + 'static {
    fn diary(&self) -> &RequestLog;

    fn answer(&self, arrived: HttpRequest) -> impl Future<Output = HttpResponse> + Send;

    /// Whether connections are kept for a second request.
    fn keeps_connections(&self) -> bool {
        true
    }
}

/// A port that is taken, and not listened at yet: whoever knocks is refused.
#[derive(Debug)]
pub(crate) struct ReservedPort {
    socket: TcpSocket,
    pub(crate) address: SocketAddr,
}

impl ReservedPort {
    pub(crate) fn free() -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }
}

#[derive(Debug)]
pub(crate) struct HttpServer {
    work: JoinHandle<io::Result<()>>,
}

impl HttpServer {
    /// Opens it once `delay` has passed; at once when there is none.
    pub(crate) fn open<R: HttpHandler>(
        place: ReservedPort,
        delay: Option<Duration>,
        resident: Arc<R>,
        leaving: watch::Receiver<bool>,
    ) -> io::Result<Self> {
        let work = match delay {
            None => tokio::spawn(attend(place.socket.listen(1024)?, resident, leaving)),
            Some(delay) => tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                attend(place.socket.listen(1024)?, resident, leaving).await
            }),
        };
        Ok(Self { work })
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.work.abort();
    }
}

async fn attend<R: HttpHandler>(
    listener: TcpListener,
    resident: Arc<R>,
    mut leaving: watch::Receiver<bool>,
) -> io::Result<()> {
    let mut connections = JoinSet::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted?.0,
            () = left(&mut leaving) => break,
        };
        let (resident, mut leaving) = (Arc::clone(&resident), leaving.clone());
        connections.spawn(async move {
            let keeps = resident.keeps_connections();
            let service = service_fn(move |request| serve(Arc::clone(&resident), request));
            let mut builder = http1::Builder::new();
            builder.keep_alive(keeps).timer(TokioTimer::new());
            let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
            // A connection that breaks is the other side's affair.
            tokio::select! {
                ended = connection.as_mut() => drop(ended),
                () = left(&mut leaving) => {
                    connection.as_mut().graceful_shutdown();
                    drop(connection.await);
                }
            }
        });
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
    Ok(())
}

/// Waits until the agent ends by itself.
async fn left(leaving: &mut watch::Receiver<bool>) {
    if leaving.wait_for(|leaving| *leaving).await.is_err() {
        // Whoever could say so is gone; the door is dropped with it.
        std::future::pending::<()>().await;
    }
}

async fn serve<R: HttpHandler>(
    resident: Arc<R>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, io::Error> {
    let (head, body) = request.into_parts();
    let named = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let headers: Vec<(String, String)> = head.headers.iter().map(named).collect();
    let bytes = Limited::new(body, LONGEST).collect().await.map_err(io::Error::other)?.to_bytes();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let (at, path) = (Instant::now(), head.uri.path().to_owned());
    let arrived = HttpRequest { method: head.method.to_string(), path: path.clone(), headers, body };
    let (headers, body) = (arrived.headers.clone(), arrived.body.clone());
    let said = match (arrived.method.as_str(), arrived.body.is_null()) {
        ("POST", false) => resident.answer(arrived).await,
        ("POST", true) => {
            let error = serde_json::json!({"code": -32700, "message": "Parse error"});
            HttpResponse::json(400, &serde_json::json!({"jsonrpc": "2.0", "error": error, "id": null}))
                .refusing("not JSON")
        }
        (_, _) => HttpResponse::plainly(405, "Method Not Allowed"),
    };
    let HttpResponse { status, headers: back, body: answer, kind, message, refused } = said;
    resident.diary().note(LoggedRequest {
        at,
        path,
        headers,
        body,
        kind,
        message,
        refused,
        status,
        answer: answer.clone(),
    });
    if status == 0 {
        return Err(io::Error::other("it hangs up"));
    }
    let mut response = Response::builder().status(status);
    for (name, value) in back {
        response = response.header(name, value);
    }
    response.body(Full::new(Bytes::from(answer))).map_err(io::Error::other)
}
