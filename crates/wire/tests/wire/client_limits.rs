use std::time::Duration;

use league_protocol::error::ErrorCode;
use league_wire::client::Client;
use league_wire::exchange::{CallError, Failure};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::raw::message;
use crate::support::{LONG, SECOND, SHORT, call, peer};

/// Calls a peer that never finishes, and returns the error.
async fn waited<F>(script: impl Fn(TcpStream, usize) -> F + Send + 'static) -> CallError
where
    F: Future<Output = ()> + Send + 'static,
{
    let peer = peer(script).await;
    let started = Instant::now();
    let error = call(&Client::default(), &peer, SHORT).await.unwrap_err();
    assert!((SHORT..SHORT + SECOND).contains(&started.elapsed()), "it took {:?}", started.elapsed());
    assert_eq!((&error.kind, error.code()), (&Failure::TimedOut, Some(ErrorCode::E001)));
    assert_eq!((error.receipt.limit, error.receipt.last_byte), (SHORT, None));
    error
}

#[tokio::test]
async fn a_peer_that_accepts_and_never_answers_is_too_late() {
    let error = waited(|stream, _| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    assert_eq!(error.receipt.first_byte, None);
}

#[tokio::test]
async fn headers_at_once_and_the_body_late_is_too_late() {
    let error = waited(|mut stream, _| async move {
        message(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{").await.unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    assert!(error.receipt.first_byte.unwrap() < SHORT);
}

#[tokio::test]
async fn a_byte_now_and_then_is_too_late_however_steady() {
    let error = waited(|mut stream, _| async move {
        message(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n").await.unwrap();
        while stream.write_all(b" ").await.is_ok() {
            tokio::time::sleep(SHORT / 5).await;
        }
    })
    .await;
    assert!(error.receipt.first_byte.is_some());
}

#[tokio::test]
async fn a_head_that_dribbles_is_too_late() {
    waited(|mut stream, _| async move {
        message(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nX-Slow: ").await.unwrap();
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(SHORT / 5).await;
        }
    })
    .await;
}

#[tokio::test]
async fn an_answer_just_in_time_is_one() {
    let peer = peer(|mut stream, _| async move {
        message(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{").await.unwrap();
        tokio::time::sleep(SHORT).await;
        stream.write_all(b"}").await.unwrap();
    })
    .await;
    let receipt = call(&Client::default(), &peer, LONG).await.unwrap().receipt;
    assert!(receipt.last_byte.unwrap() - receipt.first_byte.unwrap() > SHORT / 2);
    assert!(receipt.last_byte.unwrap() >= Duration::from_millis(100));
}

#[tokio::test]
async fn an_answer_that_came_too_late_does_not_answer_the_next_call() {
    let peer = peer(|mut stream, number| async move {
        if number == 1 {
            message(&mut stream).await;
            tokio::time::sleep(2 * SHORT).await;
        }
        while message(&mut stream).await.is_some() {
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{number}");
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    })
    .await;
    let client = Client::default();
    assert_eq!(call(&client, &peer, SHORT).await.unwrap_err().kind, Failure::TimedOut);
    assert_eq!(&call(&client, &peer, LONG).await.unwrap().body[..], b"2");
}
