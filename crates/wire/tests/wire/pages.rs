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
use crate::support::{LONG, SHORT, faraway, parrot};

/// Echoes its request; `/drip` sends a word now and then, `/flood` sends as fast as the client reads.
#[derive(Debug, Default)]
struct Wall {
    given_up: Arc<Notify>,
}

impl PageHandler for Wall {
    fn show(&self, visit: PageRequest) -> PageFuture<'_> {
        let given_up = Arc::clone(&self.given_up);
        Box::pin(async move {
            let path = visit.parts.uri.path().to_owned();
            let (mut words, body) = Channel::<Bytes, Infallible>::new(1);
            match path.as_str() {
                "/drip" => drop(tokio::spawn(async move {
                    while say(&mut words, Bytes::from_static(b"drop")).await {
                        sleep(SHORT).await;
                    }
                })),
                "/flood" => drop(tokio::spawn(async move {
                    while say(&mut words, Bytes::from(vec![b'x'; 1 << 16])).await {}
                    given_up.notify_one();
                })),
                _ => {
                    let heard = format!("{} {path} {}", visit.parts.method, String::from_utf8_lossy(&visit.body));
                    return Response::new(Full::from(heard).boxed_unsync());
                }
            }
            Response::new(body.boxed_unsync())
        })
    }
}

async fn say(words: &mut Sender<Bytes, Infallible>, word: Bytes) -> bool {
    words.send(Frame::data(word)).await.is_ok()
}

fn settings(wall: &Arc<Wall>) -> ServerSettings {
    ServerSettings {
        pages: Some(Arc::clone(wall) as Arc<dyn PageHandler>),
        idle_limit: 2 * SHORT,
        ..ServerSettings::default()
    }
}

#[tokio::test]
async fn paths_that_the_protocol_does_not_know_are_the_pages() {
    let served = parrot(Role::Manager, settings(&Arc::default())).await;
    let mut raw = Raw::to(served.address).await;
    let posted = raw.post("/form", "", "a=1").await;
    assert_eq!((posted.status, posted.body.as_slice()), (200, &b"POST /form a=1"[..]));
    raw.send("GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(raw.answer().await.body, b"GET /page ");
    raw.send("DELETE /page HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(raw.answer().await.status, 404);
    assert_eq!(raw.post("/page", "Host: elsewhere.example\r\n", "").await.status, 403);
    raw.send("GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(raw.answer().await.status, 405);
}

#[tokio::test]
async fn a_stream_that_is_read_outlasts_the_idle_limit() {
    let served = parrot(Role::Manager, settings(&Arc::default())).await;
    let mut raw = Raw::to(served.address).await;
    raw.send("GET /drip HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let mut heard = Vec::new();
    let reading = async {
        while heard.windows(4).filter(|word| *word == b"drop").count() < 6 {
            assert!(raw.0.read_buf(&mut heard).await.unwrap() > 0, "closed");
        }
    };
    timeout(LONG, reading).await.unwrap();
}

#[tokio::test]
async fn a_stream_that_is_not_read_is_closed() {
    let wall: Arc<Wall> = Arc::default();
    let served = parrot(Role::Manager, settings(&wall)).await;
    let mut raw = Raw::to(served.address).await;
    raw.send("GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    timeout(Duration::from_secs(20), wall.given_up.notified()).await.unwrap();
}

#[tokio::test]
async fn who_looks_too_often_from_elsewhere_is_told_when_to_come_back_and_agents_are_served() {
    let wall = Arc::default();
    let slow = ServerSettings { visits: Rate::new(1, 5), ..settings(&wall) };
    let far = faraway(Role::Player, "203.0.113.9:5000", slow.clone()).await;
    let mut raw = Raw::to(far.address).await;
    let look = "GET /look HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for _ in 0..5 {
        raw.send(look).await;
        assert_eq!(raw.answer().await.status, 200);
    }
    raw.send(look).await;
    let answer = raw.answer().await;
    assert_eq!(answer.status, 429);
    assert!(answer.head.to_ascii_lowercase().contains("retry-after: 1\r\n"), "{answer:?}");
    assert_eq!(raw.post("/mcp", "", r#"{"jsonrpc":"2.0","method":"ping","id":1}"#).await.status, 200);
    let near = parrot(Role::Player, slow).await;
    let mut raw = Raw::to(near.address).await;
    for _ in 0..20 {
        raw.send(look).await;
        assert_eq!(raw.answer().await.status, 200);
    }
}
