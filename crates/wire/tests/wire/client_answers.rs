use league_protocol::error::ErrorCode;
use league_wire::client::Client;
use league_wire::exchange::Failure;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::raw::message;
use crate::support::{LONG, call, endpoint, peer, player};

/// Answers every request with these bytes and keeps its connections open.
async fn saying(answer: impl Into<Vec<u8>>) -> league_wire::endpoint::Endpoint {
    let answer = answer.into();
    peer(move |mut stream, _| {
        let answer = answer.clone();
        async move {
            while message(&mut stream).await.is_some() {
                if stream.write_all(&answer).await.is_err() {
                    return;
                }
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_call_is_answered_and_its_receipt_says_when() {
    let server = player().await;
    let exchange = call(&Client::default(), &endpoint(server.address), LONG).await.unwrap();
    let answer: Value = serde_json::from_slice(&exchange.body).unwrap();
    assert_eq!((exchange.status.as_u16(), &answer["id"]), (200, &json!(1)));
    assert_eq!((&answer["result"]["heard"], &answer["result"]["quirks"]), (&json!("shutdown"), &json!(0)));
    let receipt = exchange.receipt;
    assert!(receipt.first_byte.unwrap() <= receipt.last_byte.unwrap() && receipt.last_byte.unwrap() < LONG);
    assert_eq!(receipt.limit, LONG);
    assert!(receipt.sent_at.unix() > 1_700_000_000);
}

#[tokio::test]
async fn a_question_has_the_headers_that_every_peer_wants_and_an_id_of_its_own() {
    let (told, mut tell) = tokio::sync::mpsc::unbounded_channel();
    let peer = peer(move |mut stream, _| {
        let told = told.clone();
        async move {
            while let Some(question) = message(&mut stream).await {
                told.send(question).unwrap();
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").await.unwrap();
            }
        }
    })
    .await;
    let client = Client::default();
    for id in 1..=3 {
        call(&client.clone(), &peer, LONG).await.unwrap();
        let (head, body) = tell.recv().await.unwrap();
        let head = head.to_ascii_lowercase();
        assert!(head.starts_with("post /mcp http/1.1\r\n"), "{head}");
        for header in ["content-type: application/json\r\n", "accept: application/json, text/event-stream\r\n"] {
            assert!(head.contains(header), "{head}");
        }
        let body: Value = serde_json::from_slice(&body).unwrap();
        let keys: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!((body["id"].as_u64(), keys.len()), (Some(id), 4));
    }
}

#[tokio::test]
async fn an_answer_counts_whatever_its_status() {
    for status in [404_u16, 500] {
        let peer = saying(format!("HTTP/1.1 {status} Oh\r\nContent-Length: 2\r\n\r\n{{}}")).await;
        let exchange = call(&Client::default(), &peer, LONG).await.unwrap();
        assert_eq!((exchange.status.as_u16(), &exchange.body[..]), (status, &b"{}"[..]));
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let server = player().await;
    let location = endpoint(server.address);
    let peer = saying(format!("HTTP/1.1 307 Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")).await;
    let exchange = call(&Client::default(), &peer, LONG).await.unwrap();
    assert_eq!((exchange.status.as_u16(), exchange.body.len()), (307, 0));
    assert_eq!(server.agent.heard.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[tokio::test]
async fn sixty_four_kibibytes_are_an_answer_and_one_byte_more_is_none() {
    for (length, fits) in [(64 * 1024, true), (64 * 1024 + 1, false)] {
        let body = "x".repeat(length);
        let sized = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
        let (first, rest) = body.split_at(1000);
        let chunked = format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x}\r\n{rest}\r\n0\r\n\r\n",
            first.len(),
            rest.len()
        );
        for answer in [sized, chunked] {
            let outcome = call(&Client::default(), &saying(answer).await, LONG).await;
            match outcome {
                Ok(exchange) => assert!(fits && exchange.body.len() == length),
                Err(error) => {
                    assert!(!fits);
                    assert_eq!((&error.kind, error.code(), error.is_transient()), (&Failure::TooLong, None, false));
                }
            }
        }
    }
}

#[tokio::test]
async fn an_endless_answer_is_cut_and_its_connection_dropped() {
    let (closed, is_closed) = tokio::sync::oneshot::channel();
    let closed = std::sync::Mutex::new(Some(closed));
    let peer = peer(move |mut stream, _| {
        let closed = closed.lock().unwrap().take();
        async move {
            message(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n").await.unwrap();
            while stream.write_all(&[b' '; 4096]).await.is_ok() {}
            closed.unwrap().send(()).unwrap();
        }
    })
    .await;
    let error = call(&Client::default(), &peer, LONG).await.unwrap_err();
    assert_eq!(error.kind, Failure::TooLong);
    assert!(error.receipt.first_byte.is_some() && error.receipt.last_byte.is_none());
    tokio::time::timeout(LONG, is_closed).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_is_not_http_is_not_reachable() {
    for answer in ["hello\r\n\r\n", "HTTP/9.9 what\r\n\r\n"] {
        let error = call(&Client::default(), &saying(answer).await, LONG).await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::E009), "{error}");
    }
}
