//! The bare wire: hyper servers and clients, one runtime per core, which only parse and answer.
//!
//! The calls are those of a league: as many, of the same sizes, to as many endpoints. Every second client runs on
//! another core than its server, as referees do. Reports of earlier versions are compared by this figure, so its work
//! must not change.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use crate::report::{Ceiling, RunFigures};

#[derive(Clone, Debug)]
struct Calls {
    endpoints: usize,
    kinds: Vec<Kind>,
}

#[derive(Clone, Copy, Debug)]
struct Kind {
    calls: u64,
    question: usize,
    answer: usize,
}

/// Small members, as in the messages of a league, written and read by serde.
#[derive(Serialize, Deserialize)]
struct WireMessage<'a> {
    jsonrpc: &'a str,
    id: u64,
    wants: usize,
    #[serde(borrow)]
    params: Vec<Member<'a>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Member<'a> {
    name: &'a str,
    value: &'a str,
}

impl WireMessage<'_> {
    /// `size` is approximate.
    fn of(size: usize, wants: usize) -> Self {
        const MEMBER: Member<'static> = Member { name: "player_id", value: "P042" };
        const AROUND: usize = r#"{"jsonrpc":"2.0","id":1,"wants":400,"params":[]}"#.len();
        const EACH: usize = r#"{"name":"player_id","value":"P042"},"#.len();
        let members = size.saturating_sub(AROUND) / EACH;
        Self { jsonrpc: "2.0", id: 1, wants, params: vec![MEMBER; members] }
    }

    fn written(&self) -> Bytes {
        serde_json::to_vec(self).map(Bytes::from).unwrap_or_default()
    }
}

impl Calls {
    fn of(figures: &RunFigures) -> Self {
        let mean = |bytes: u64, calls: u64| usize::try_from(bytes / calls.max(1)).unwrap_or_default();
        let kinds = figures.calls.values().map(|calls| Kind {
            calls: calls.count,
            question: mean(calls.bytes_out, calls.count),
            answer: mean(calls.bytes_in, calls.count),
        });
        Self { endpoints: figures.players as usize, kinds: kinds.collect() }
    }

    fn share(&self, caller: usize) -> Vec<(Kind, u64)> {
        let share = |calls: u64| {
            let (callers, rank) = (self.endpoints as u64, caller as u64);
            calls / callers + u64::from(rank < calls % callers)
        };
        self.kinds.iter().map(|kind| (*kind, share(kind.calls))).collect()
    }
}

pub(crate) fn measure(league: &RunFigures) -> Result<Ceiling> {
    let plan = Calls::of(league);
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let listeners = (0..plan.endpoints).map(|_| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        Ok((listener.local_addr()?, listener))
    });
    let (addresses, listeners): (Vec<SocketAddr>, Vec<_>) =
        listeners.collect::<std::io::Result<Vec<_>>>()?.into_iter().unzip();
    let mut homes: Vec<Vec<std::net::TcpListener>> = (0..cores).map(|_| Vec::new()).collect();
    for (number, listener) in listeners.into_iter().enumerate() {
        homes[number % cores].push(listener);
    }
    let barriers = Arc::new(Barriers { start: Barrier::new(cores + 1), finish: tokio::sync::Barrier::new(cores) });
    let workers = homes.into_iter().enumerate().map(|(core, home)| {
        let (plan, addresses, barriers) = (plan.clone(), addresses.clone(), Arc::clone(&barriers));
        let work = move || work((core, cores), home, &plan, &addresses, &barriers);
        thread::Builder::new().name(format!("ceiling-{core}")).spawn(work)
    });
    let workers = workers.collect::<std::io::Result<Vec<_>>>()?;
    barriers.start.wait();
    let (began, used) = (Instant::now(), cpu_seconds());
    let mut calls = 0;
    for worker in workers {
        calls += worker.join().map_err(|_| anyhow!("a thread panicked"))??;
    }
    let cpu_seconds = cpu_seconds().zip(used).map(|(now, before)| now - before);
    Ok(Ceiling { calls, seconds: began.elapsed().as_secs_f64(), cpu_seconds })
}

/// `None` if the system does not tell.
fn cpu_seconds() -> Option<f64> {
    #[cfg(unix)]
    {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Some(used.tv_sec as f64 + used.tv_nsec as f64 / 1e9)
    }
    #[cfg(not(unix))]
    None
}

struct Barriers {
    start: Barrier,
    finish: tokio::sync::Barrier,
}

fn work(
    (core, cores): (usize, usize),
    home: Vec<std::net::TcpListener>,
    plan: &Calls,
    addresses: &[SocketAddr],
    barriers: &Barriers,
) -> Result<u64> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        for listener in home {
            tokio::spawn(serve(TcpListener::from_std(listener)?));
        }
        let mut callers = JoinSet::new();
        for (number, address) in addresses.iter().enumerate().filter(|(number, _)| number / 2 % cores == core) {
            callers.spawn(call(*address, plan.share(number)));
        }
        barriers.start.wait();
        let mut calls = 0;
        while let Some(done) = callers.join_next().await {
            calls += done??;
        }
        // Other cores still call the servers of this one.
        barriers.finish.wait().await;
        anyhow::Ok(calls)
    })
}

async fn serve(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        drop(stream.set_nodelay(true));
        tokio::spawn(async move {
            let service = service_fn(answer);
            // A client that is done disconnects.
            drop(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let size = serde_json::from_slice::<WireMessage<'_>>(&body).map_or(0, |question| question.wants);
    let mut response = Response::new(Full::new(WireMessage::of(size, 0).written()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// One connection; returns the number of calls.
async fn call(address: SocketAddr, share: Vec<(Kind, u64)>) -> Result<u64> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let host = HeaderValue::from_str(&address.to_string())?;
    let mut calls = 0;
    for (kind, count) in share {
        for _ in 0..count {
            let mut request = Request::new(Full::new(WireMessage::of(kind.question, kind.answer).written()));
            *request.method_mut() = Method::POST;
            *request.uri_mut() = http::Uri::from_static("/mcp");
            let headers = request.headers_mut();
            headers.insert(header::HOST, host.clone());
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
            sender.ready().await?;
            let response = sender.send_request(request).await?;
            let body = response.into_body().collect().await?.to_bytes();
            std::hint::black_box(serde_json::from_slice::<WireMessage<'_>>(&body)?.id);
            calls += 1;
        }
    }
    Ok(calls)
}
