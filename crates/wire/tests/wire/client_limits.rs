use league_protocol::error::ErrorCode;
use league_wire::client::Client;
use league_wire::exchange::Failure;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep};

use crate::raw::message;
use crate::support::{LONG, SECOND, SHORT, call, peer};

#[tokio::test]
async fn a_peer_that_does_not_finish_its_answer_in_time_fails_the_call() {
    // What the peer sends at once, what it sends now and then, and whether that completes the head.
    for (first, more, has_head) in [
        ("", "", false),
        ("HTTP/1.1 200 OK\r\nX-Slow: ", "x", false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{", "", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", " ", true),
    ] {
        let peer = peer(move |mut stream, _| async move {
            message(&mut stream).await;
            stream.write_all(first.as_bytes()).await.unwrap();
            while stream.write_all(more.as_bytes()).await.is_ok() {
                sleep(SHORT / 5).await;
            }
        })
        .await;
        let started = Instant::now();
        let error = call(&Client::default(), &peer, SHORT).await.unwrap_err();
        assert!((SHORT..SHORT + SECOND).contains(&started.elapsed()), "{first}: it took {:?}", started.elapsed());
        assert_eq!((&error.kind, error.code()), (&Failure::TimedOut, Some(ErrorCode::E001)));
        assert_eq!((error.receipt.limit, error.receipt.last_byte), (SHORT, None));
        assert_eq!(error.receipt.first_byte.is_some_and(|after| after < SHORT), has_head, "{first}");
    }
}

#[tokio::test]
async fn a_slow_answer_within_the_limit_counts() {
    let peer = peer(|mut stream, _| async move {
        message(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{").await.unwrap();
        sleep(SHORT).await;
        stream.write_all(b"}").await.unwrap();
    })
    .await;
    let receipt = call(&Client::default(), &peer, LONG).await.unwrap().receipt;
    let (first_byte, last_byte) = (receipt.first_byte.unwrap(), receipt.last_byte.unwrap());
    assert!(last_byte - first_byte > SHORT / 2 && last_byte.as_millis() >= 100, "{receipt:?}");
}

#[tokio::test]
async fn a_late_answer_does_not_answer_the_next_call() {
    let peer = peer(|mut stream, number| async move {
        if number == 1 {
            message(&mut stream).await;
            sleep(2 * SHORT).await;
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
