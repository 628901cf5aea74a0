use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use league_protocol::error::ErrorCode;
use league_wire::client::{Client, ClientSettings};
use league_wire::exchange::Failure;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Barrier, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::raw::message;
use crate::support::{LONG, SECOND, SHORT, call, echo_player, endpoint, peer};

const FINE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

/// Resets a connection instead of closing it.
fn reset(stream: TcpStream) {
    stream.set_zero_linger().unwrap();
    drop(stream);
}

#[tokio::test]
async fn a_refused_connection_fails_at_once() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let refusing = endpoint(socket.local_addr().unwrap());
    let started = Instant::now();
    let error = call(&Client::default(), &refusing, LONG).await.unwrap_err();
    assert!(started.elapsed() < SECOND);
    assert_eq!(error.code(), Some(ErrorCode::E009));
    assert!(error.to_string().contains("nothing listens there"), "{error}");
}

#[tokio::test]
async fn localhost_reaches_a_peer_that_listens_only_on_ipv4() {
    let server = echo_player().await;
    let named = format!("http://localhost:{}", server.address.port()).parse().unwrap();
    assert_eq!(call(&Client::default(), &named, LONG).await.unwrap().status, 200);
}

#[tokio::test]
async fn a_new_connection_that_is_reset_before_the_whole_answer_fails_the_call_and_is_not_retried() {
    for partial in ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half\":"] {
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        let peer = peer(move |mut stream, _| {
            let counted = Arc::clone(&counted);
            async move {
                message(&mut stream).await;
                counted.fetch_add(1, Ordering::Relaxed);
                stream.write_all(partial.as_bytes()).await.unwrap();
                reset(stream);
            }
        })
        .await;
        let error = call(&Client::default(), &peer, LONG).await.unwrap_err();
        assert!(matches!(error.kind, Failure::HungUp(_)), "{error}");
        assert_eq!((error.code(), requests.load(Ordering::Relaxed)), (Some(ErrorCode::E009), 1));
    }
}

#[tokio::test]
async fn a_pooled_connection_that_dies_before_the_answer_is_replaced() {
    // The connection dies at the worst moment: after the second request was sent.
    let peer = peer(|mut stream, number| async move {
        message(&mut stream).await;
        stream.write_all(FINE).await.unwrap();
        message(&mut stream).await;
        if number == 1 {
            reset(stream);
        }
    })
    .await;
    let client = Client::default();
    for _ in 0..2 {
        assert_eq!(&call(&client, &peer, LONG).await.unwrap().body[..], b"{}");
    }
}

#[tokio::test]
async fn a_pooled_connection_that_dies_within_the_answer_fails_the_call() {
    let peer = peer(|mut stream, _| async move {
        message(&mut stream).await;
        stream.write_all(FINE).await.unwrap();
        message(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200").await.unwrap();
        stream.shutdown().await.unwrap();
    })
    .await;
    let client = Client::default();
    call(&client, &peer, LONG).await.unwrap();
    assert_eq!(call(&client, &peer, LONG).await.unwrap_err().code(), Some(ErrorCode::E009));
}

#[tokio::test]
async fn a_peer_that_restarted_is_reached_on_a_new_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = Client::default();
    let once = |listener: TcpListener| async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        message(&mut stream).await;
        stream.write_all(FINE).await.unwrap();
        stream
    };
    let peer = endpoint(address);
    let (answer, kept) = tokio::join!(call(&client, &peer, LONG), once(listener));
    assert_eq!(answer.unwrap().status, 200);
    reset(kept);
    let again = TcpListener::bind(address).await.unwrap();
    let restarted = tokio::spawn(once(again));
    assert_eq!(call(&client, &peer, LONG).await.unwrap().status, 200);
    restarted.await.unwrap();
}

/// The number of connections that `calls` sequential calls use; the peer gives `answer` and waits for more.
async fn connections_for(calls: usize, answer: &'static [u8]) -> usize {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let peer = peer(move |mut stream, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move {
            while message(&mut stream).await.is_some() {
                stream.write_all(answer).await.unwrap();
            }
        }
    })
    .await;
    let client = Client::default();
    for _ in 0..calls {
        assert_eq!(&call(&client, &peer, LONG).await.unwrap().body[..], b"{}");
    }
    connections.load(Ordering::Relaxed)
}

#[tokio::test]
async fn sequential_calls_share_one_connection() {
    assert!(connections_for(20, FINE).await <= 2);
}

#[tokio::test]
async fn an_unused_connection_is_closed_after_the_idle_limit() {
    let (closed, mut ended) = mpsc::unbounded_channel();
    let peer = peer(move |mut stream, number| {
        let closed = closed.clone();
        async move {
            while message(&mut stream).await.is_some() {
                stream.write_all(FINE).await.unwrap();
            }
            closed.send(number).unwrap();
        }
    })
    .await;
    let client = Client::new(ClientSettings { idle_limit: SHORT, ..ClientSettings::default() });
    let began = Instant::now();
    call(&client, &peer, LONG).await.unwrap();
    assert_eq!(timeout(LONG, ended.recv()).await.unwrap(), Some(1));
    assert!(began.elapsed() >= SHORT, "it was kept for {:?}", began.elapsed());
    // The sweeping task must start again for the next connection.
    call(&client, &peer, LONG).await.unwrap();
    assert_eq!(timeout(LONG, ended.recv()).await.unwrap(), Some(2));
}

#[tokio::test]
async fn the_pool_keeps_no_more_connections_than_its_limit() {
    let (closed, mut ended) = mpsc::unbounded_channel();
    let connections = Arc::new(AtomicUsize::new(0));
    let (counted, together) = (Arc::clone(&connections), Arc::new(Barrier::new(2)));
    let peer = peer(move |mut stream, number| {
        counted.fetch_add(1, Ordering::Relaxed);
        let (closed, together) = (closed.clone(), Arc::clone(&together));
        async move {
            message(&mut stream).await;
            together.wait().await;
            stream.write_all(FINE).await.unwrap();
            while message(&mut stream).await.is_some() {
                stream.write_all(FINE).await.unwrap();
            }
            closed.send(number).unwrap();
        }
    })
    .await;
    let client = Client::new(ClientSettings { idle_per_host: 1, idle_limit: LONG, ..ClientSettings::default() });
    let (one, other) = tokio::join!(call(&client, &peer, LONG), call(&client, &peer, LONG));
    assert_eq!((one.unwrap().status, other.unwrap().status), (200.try_into().unwrap(), 200.try_into().unwrap()));
    assert!(timeout(LONG, ended.recv()).await.unwrap().is_some(), "one of them is too many");
    call(&client, &peer, LONG).await.unwrap();
    assert_eq!(connections.load(Ordering::Relaxed), 2, "the other one was kept");
}

#[tokio::test]
async fn a_connection_that_its_peer_closes_is_not_reused() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"[..],
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    ] {
        assert_eq!(connections_for(2, answer).await, 2, "{}", String::from_utf8_lossy(answer));
    }
}

#[tokio::test]
async fn the_connection_of_an_event_stream_is_reused_only_if_the_stream_ended() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    const EVENT: &str = "a\r\ndata: {}\n\n\r\n";
    let [open, ended] = [format!("{HEAD}{EVENT}"), format!("{HEAD}{EVENT}0\r\n\r\n")].map(|answer| &*answer.leak());
    assert_eq!(connections_for(2, open.as_bytes()).await, 2);
    assert_eq!(connections_for(2, ended.as_bytes()).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_calls_to_a_hundred_servers_are_all_answered() {
    let mut servers = Vec::new();
    for _ in 0..100 {
        servers.push(echo_player().await);
    }
    let client = Client::default();
    let mut calls = JoinSet::new();
    for number in 0..500 {
        let (client, endpoint) = (client.clone(), endpoint(servers[number % 100].address));
        calls.spawn(async move { call(&client, &endpoint, LONG).await.map(|exchange| exchange.status.as_u16()) });
    }
    let answers = calls.join_all().await;
    assert!(answers.iter().all(|answer| *answer == Ok(200)), "{answers:?}");
    assert!(servers.iter().all(|server| server.agent.received.load(Ordering::Relaxed) == 5));
}
