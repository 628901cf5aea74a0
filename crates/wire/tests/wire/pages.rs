//! Pages beside the agent: complete answers, and streams that outlast the idle limit while their client reads.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body_util::channel::{Channel, Sender};
use http_body_util::{BodyExt, Full};
use hyper::body::Frame;
use league_protocol::sender::Role;
use league_wire::pages::{PageFuture, PageHandler, PageRequest};
use league_wire::rate::Rate;
use league_wire::settings::ServerSettings;
use tokio::io::AsyncReadExt;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::raw::Raw;
use crate::support::{LONG, SHORT, serve_echo, serve_remote};

/// Echoes its request; `/drip` sends a word now and then, `/flood` sends as fast as the client reads.
#[derive(Debug, Default)]
struct TestPages {
    given_up: Arc<Notify>,
}

impl PageHandler for TestPages {
    fn respond(&self, request: PageRequest) -> PageFuture<'_> {
        let given_up = Arc::clone(&self.given_up);
        Box::pin(async move {
            let path = request.parts.uri.path().to_owned();
            let (mut sender, body) = Channel::<Bytes, Infallible>::new(1);
            match path.as_str() {
                "/drip" => drop(tokio::spawn(async move {
                    while send_data(&mut sender, Bytes::from_static(b"drop")).await {
                        sleep(SHORT).await;
                    }
                })),
                "/flood" => drop(tokio::spawn(async move {
                    while send_data(&mut sender, Bytes::from(vec![b'x'; 1 << 16])).await {}
                    given_up.notify_one();
                })),
                _ => {
                    let echo = format!("{} {path} {}", request.parts.method, String::from_utf8_lossy(&request.body));
                    return Response::new(Full::from(echo).boxed_unsync());
                }
            }
            Response::new(body.boxed_unsync())
        })
    }
}

async fn send_data(sender: &mut Sender<Bytes, Infallible>, data: Bytes) -> bool {
    sender.send(Frame::data(data)).await.is_ok()
}

fn settings(pages: &Arc<TestPages>) -> ServerSettings {
    ServerSettings {
        pages: Some(Arc::clone(pages) as Arc<dyn PageHandler>),
        idle_limit: 2 * SHORT,
        ..ServerSettings::default()
    }
}

#[tokio::test]
async fn a_path_outside_the_protocol_is_a_page() {
    let served = serve_echo(Role::Manager, settings(&Arc::default())).await;
    let mut raw = Raw::to(served.address).await;
    let posted = raw.post("/form", "", "a=1").await;
    assert_eq!((posted.status, posted.body.as_slice()), (200, &b"POST /form a=1"[..]));
    assert_eq!(raw.get("/page").await.body, b"GET /page ");
    raw.send_request("DELETE /page", "", "").await;
    assert_eq!(raw.answer().await.status, 404);
    assert_eq!(raw.post("/page", "Host: elsewhere.example\r\n", "").await.status, 403);
    assert_eq!(raw.get("/mcp").await.status, 405);
}

#[tokio::test]
async fn a_stream_that_is_read_outlasts_the_idle_limit() {
    let served = serve_echo(Role::Manager, settings(&Arc::default())).await;
    let mut raw = Raw::to(served.address).await;
    raw.send("GET /drip HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let mut received = Vec::new();
    let reading = async {
        while received.windows(4).filter(|data| *data == b"drop").count() < 6 {
            assert!(raw.0.read_buf(&mut received).await.unwrap() > 0, "closed");
        }
    };
    timeout(LONG, reading).await.unwrap();
}

#[tokio::test]
async fn a_stream_that_is_not_read_is_closed() {
    let pages: Arc<TestPages> = Arc::default();
    let served = serve_echo(Role::Manager, settings(&pages)).await;
    let mut raw = Raw::to(served.address).await;
    raw.send("GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    timeout(Duration::from_secs(20), pages.given_up.notified()).await.unwrap();
}

#[tokio::test]
async fn a_remote_viewer_beyond_the_page_rate_gets_retry_after() {
    let pages = Arc::default();
    let slow = ServerSettings { page_rate: Rate::new(1, 5), ..settings(&pages) };
    let remote = serve_remote(Role::Player, "203.0.113.9:5000", slow.clone()).await;
    let mut raw = Raw::to(remote.address).await;
    for _ in 0..5 {
        assert_eq!(raw.get("/look").await.status, 200);
    }
    let answer = raw.get("/look").await;
    assert_eq!(answer.status, 429);
    assert!(answer.has_header("retry-after: 1"), "{answer:?}");
    assert_eq!(raw.ping().await, 200);
    let local = serve_echo(Role::Player, slow).await;
    let mut raw = Raw::to(local.address).await;
    for _ in 0..20 {
        assert_eq!(raw.get("/look").await.status, 200);
    }
}
