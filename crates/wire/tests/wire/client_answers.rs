use league_protocol::error::ErrorCode;
use league_wire::client::Client;
use league_wire::exchange::Failure;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::raw::message;
use crate::support::{LONG, call, echo_player, endpoint, peer};

/// Answers every request with these bytes and keeps its connections open.
async fn peer_answering(answer: impl Into<Vec<u8>>) -> league_wire::endpoint::Endpoint {
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
async fn a_receipt_has_the_times_of_its_call() {
    let server = echo_player().await;
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
async fn a_request_has_path_host_content_type_accept_and_its_own_id() {
    let (sender, mut requests) = tokio::sync::mpsc::unbounded_channel();
    let peer = peer(move |mut stream, _| {
        let sender = sender.clone();
        async move {
            while let Some(request) = message(&mut stream).await {
                sender.send(request).unwrap();
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").await.unwrap();
            }
        }
    })
    .await;
    let (client, host) = (Client::default(), format!("127.0.0.1:{}", peer.port()));
    for (id, path) in [(1, "/mcp"), (2, "/mcp"), (3, "/a/path?with=more")] {
        call(&client.clone(), &format!("http://{host}{path}").parse().unwrap(), LONG).await.unwrap();
        let (head, body) = requests.recv().await.unwrap();
        let head = head.to_ascii_lowercase();
        assert!(head.starts_with(&format!("post {path} http/1.1\r\n")), "{head}");
        let headers = ["content-type: application/json", "accept: application/json, text/event-stream"];
        for header in headers.map(String::from).into_iter().chain([format!("host: {host}")]) {
            assert!(head.contains(&format!("\r\n{header}\r\n")), "{head}");
        }
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((body["id"].as_u64(), body.as_object().unwrap().len()), (Some(id), 4));
    }
}

#[tokio::test]
async fn an_answer_counts_with_any_http_status() {
    for status in [404_u16, 500] {
        let peer = peer_answering(format!("HTTP/1.1 {status} Oh\r\nContent-Length: 2\r\n\r\n{{}}")).await;
        let exchange = call(&Client::default(), &peer, LONG).await.unwrap();
        assert_eq!((exchange.status.as_u16(), &exchange.body[..]), (status, &b"{}"[..]));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = echo_player().await;
    let location = endpoint(server.address);
    let peer =
        peer_answering(format!("HTTP/1.1 307 Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")).await;
    let exchange = call(&Client::default(), &peer, LONG).await.unwrap();
    assert_eq!((exchange.status.as_u16(), exchange.body.len()), (307, 0));
    assert_eq!(server.agent.received.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[tokio::test]
async fn an_answer_of_more_than_64_kib_fails_the_call() {
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
            match call(&Client::default(), &peer_answering(answer).await, LONG).await {
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
async fn an_endless_answer_ends_with_its_connection() {
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
async fn an_answer_that_is_not_http_fails_the_call() {
    for answer in ["hello\r\n\r\n", "HTTP/9.9 what\r\n\r\n"] {
        let error = call(&Client::default(), &peer_answering(answer).await, LONG).await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::E009), "{error}");
    }
}
