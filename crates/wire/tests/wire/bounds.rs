use std::time::Duration;

use league_protocol::sender::Role;
use league_wire::settings::ServerSettings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};

use crate::raw::{DELAYED, PING, Raw};
use crate::support::{LONG, SHORT, echo_player, serve_echo};

fn short_limits() -> ServerSettings {
    ServerSettings { read_limit: SHORT, idle_limit: 3 * SHORT, ..ServerSettings::default() }
}

#[tokio::test]
async fn a_body_of_more_than_64_kib_is_refused_however_it_arrives() {
    let server = echo_player().await;
    let padded = |length: usize| format!("{PING}{}", " ".repeat(length - PING.len()));
    let mut raw = Raw::to(server.address).await;
    assert_eq!(raw.post("/mcp", "", &padded(64 * 1024)).await.status, 200);
    assert_eq!(raw.post("/mcp", "", &padded(64 * 1024 + 1)).await.status, 413);

    let mut announced = Raw::to(server.address).await;
    announced.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000000\r\n\r\n").await;
    assert_eq!(announced.answer().await.status, 413, "the server does not wait for the body");
    assert!(announced.is_closed().await);

    let mut chunked = Raw::to(server.address).await;
    chunked.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n").await;
    for _ in 0..4 {
        chunked.send(format!("4000\r\n{}\r\n", " ".repeat(0x4000))).await;
    }
    chunked.send("1\r\n \r\n").await;
    assert_eq!(chunked.answer().await.status, 413);
}

#[tokio::test]
async fn a_head_that_does_not_end_closes_the_connection() {
    let server = serve_echo(Role::Player, short_limits()).await;
    let mut raw = Raw::to(server.address).await;
    let started = Instant::now();
    raw.send("POST /mcp HTTP/1.1\r\nHost: localh").await;
    assert!(raw.is_closed().await);
    assert!((SHORT..LONG).contains(&started.elapsed()));
}

#[tokio::test]
async fn the_head_of_a_second_request_has_the_read_limit_and_not_the_idle_limit() {
    let settings = ServerSettings { read_limit: SHORT, idle_limit: LONG, ..ServerSettings::default() };
    let server = serve_echo(Role::Player, settings).await;
    let mut raw = Raw::to(server.address).await;
    assert_eq!(raw.ping().await, 200);
    raw.send("POST").await;
    assert_eq!(timeout(LONG / 2, raw.is_closed()).await, Ok(true));
}

#[tokio::test]
async fn a_head_that_arrives_byte_by_byte_does_not_extend_the_read_limit() {
    let server = serve_echo(Role::Player, short_limits()).await;
    let mut raw = Raw::to(server.address).await;
    let started = Instant::now();
    let (mut reader, mut writer) = raw.0.split();
    let dribble = async {
        while writer.write_all(b"G").await.is_ok() {
            tokio::time::sleep(SHORT / 5).await;
        }
    };
    let mut byte = [0];
    tokio::select! {
        () = dribble => {}
        _ = reader.read(&mut byte) => {}
    }
    assert!(started.elapsed() < LONG);
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_refused_after_the_read_limit() {
    let server = serve_echo(Role::Player, short_limits()).await;
    let mut raw = Raw::to(server.address).await;
    raw.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{").await;
    assert_eq!(raw.answer().await.status, 408);
    assert!(raw.is_closed().await);
}

#[tokio::test]
async fn an_idle_connection_outlives_the_read_limit_and_closes_after_the_idle_limit() {
    let server = serve_echo(Role::Player, short_limits()).await;
    let mut raw = Raw::to(server.address).await;
    assert_eq!(raw.ping().await, 200);
    let started = Instant::now();
    assert!(raw.is_closed().await);
    assert!((2 * SHORT..LONG).contains(&started.elapsed()));
}

#[tokio::test]
async fn a_request_may_take_longer_than_any_limit_of_the_connection() {
    let server = serve_echo(Role::Referee, short_limits()).await;
    let mut raw = Raw::to(server.address).await;
    let release = async {
        server.agent.arrived.notified().await;
        // The request must outlast the limits in real time.
        tokio::time::sleep(4 * SHORT).await;
        server.agent.go.notify_one();
    };
    let (answer, ()) = tokio::join!(raw.post("/mcp", "", DELAYED), release);
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_full_server_makes_a_connection_wait_while_all_requests_run() {
    let server = serve_echo(Role::Referee, ServerSettings { max_connections: 2, ..ServerSettings::default() }).await;
    let mut busy = [Raw::to(server.address).await, Raw::to(server.address).await];
    for raw in &mut busy {
        raw.send_request("POST /mcp", "", DELAYED).await;
        server.agent.arrived.notified().await;
    }
    let mut waiting = Raw::to(server.address).await;
    let early = timeout(Duration::from_millis(150), waiting.ping()).await;
    assert!(early.is_err(), "it was served beyond the limit");
    server.agent.go.notify_waiters();
    assert_eq!(waiting.answer().await.status, 200);
    for raw in &mut busy {
        assert_eq!(raw.answer().await.status, 200, "no request lost its answer");
    }
}

#[tokio::test]
async fn a_client_that_sends_and_never_reads_is_disconnected() {
    let server = serve_echo(Role::Player, short_limits()).await;
    let mut raw = Raw::to(server.address).await;
    let body = r#"{"jsonrpc":"2.0","method":"tools/list","id":1}"#;
    let request = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let sending = async { while raw.0.write_all(request.as_bytes()).await.is_ok() {} };
    assert_eq!(timeout(LONG, sending).await, Ok(()));
}

#[tokio::test]
async fn an_agent_that_panics_loses_one_connection_and_the_server_runs_on() {
    let server = serve_echo(Role::Referee, ServerSettings::default()).await;
    let mut raw = Raw::to(server.address).await;
    let panic = r#"{"jsonrpc":"2.0","method":"draw_number","params":{"match_id":"R1M1"},"id":1}"#;
    raw.send_request("POST /mcp", "Content-Type: application/json\r\n", panic).await;
    assert!(raw.is_closed().await);
    assert_eq!(Raw::to(server.address).await.ping().await, 200);
}
