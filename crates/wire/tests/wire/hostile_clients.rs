//! Clients that hold connections without using them must not lock out other clients.

use std::time::Duration;

use league_protocol::sender::Role;
use league_wire::client::Client;
use league_wire::settings::ServerSettings;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::raw::{DELAYED, Raw};
use crate::support::{LONG, SECOND, call, endpoint, serve_echo, serve_remote};

const HALF: &str = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{";

/// Long limits, so that only eviction makes room.
fn crowded(max_connections: usize) -> ServerSettings {
    ServerSettings { max_connections, read_limit: 6 * LONG, idle_limit: 6 * LONG, ..ServerSettings::default() }
}

#[tokio::test]
async fn thousands_of_idle_connections_do_not_lock_agents_out() {
    let server = serve_echo(Role::Player, crowded(1000)).await;
    let client = Client::default();
    let mut idle = Vec::new();
    for round in 0..3 {
        for _ in 0..1500 {
            idle.push(TcpStream::connect(server.address).await.unwrap());
        }
        let started = Instant::now();
        let answer = call(&client, &endpoint(server.address), LONG).await;
        assert_eq!(answer.map(|answer| answer.status.as_u16()), Ok(200), "round {round}");
        assert!(started.elapsed() < 5 * SECOND, "round {round} took {:?}", started.elapsed());
    }
}

#[tokio::test]
async fn requests_that_never_arrive_do_not_lock_agents_out() {
    let server = serve_echo(Role::Player, crowded(16)).await;
    let mut slow = Vec::new();
    for _ in 0..100 {
        let mut raw = Raw::to(server.address).await;
        raw.send(HALF).await;
        slow.push(raw);
    }
    let started = Instant::now();
    let mut honest = Raw::to(server.address).await;
    assert_eq!(honest.ping().await, 200);
    assert!(started.elapsed() < 5 * SECOND);
}

#[tokio::test]
async fn a_full_server_closes_the_connection_that_was_idle_longest() {
    let server = serve_echo(Role::Player, crowded(2)).await;
    let (mut first, mut second) = (Raw::to(server.address).await, Raw::to(server.address).await);
    for raw in [&mut first, &mut second] {
        assert_eq!(raw.ping().await, 200);
        // The clock decides which connection is the oldest.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut third = Raw::to(server.address).await;
    assert_eq!(third.ping().await, 200);
    assert!(first.is_closed().await);
    assert_eq!(second.ping().await, 200);
}

#[tokio::test]
async fn an_address_at_its_limit_loses_its_oldest_idle_connection() {
    let settings = ServerSettings { max_from_one_address: 4, ..crowded(100) };
    let server = serve_remote(Role::Referee, "203.0.113.9:5000", settings).await;
    let mut idle = Vec::new();
    for _ in 0..4 {
        let mut raw = Raw::to(server.address).await;
        assert_eq!(raw.ping().await, 200);
        tokio::time::sleep(Duration::from_millis(5)).await;
        idle.push(raw);
    }
    let mut fifth = Raw::to(server.address).await;
    assert_eq!(fifth.ping().await, 200);
    assert!(idle[0].is_closed().await, "its own oldest one made room");
    assert_eq!(idle[1].ping().await, 200);
}

#[tokio::test]
async fn an_address_with_only_busy_connections_gets_no_more() {
    let settings = ServerSettings { max_from_one_address: 2, ..crowded(100) };
    let server = serve_remote(Role::Referee, "203.0.113.9:5000", settings).await;
    let mut busy = Vec::new();
    for _ in 0..2 {
        let mut raw = Raw::to(server.address).await;
        raw.send_request("POST /mcp", "", DELAYED).await;
        server.agent.arrived.notified().await;
        busy.push(raw);
    }
    assert!(Raw::to(server.address).await.is_closed().await);
    server.agent.go.notify_waiters();
    for raw in &mut busy {
        assert_eq!(raw.answer().await.status, 200, "and nobody lost its answer");
    }
}

#[tokio::test]
async fn a_trusted_proxy_has_more_connections_than_one_address_may_have() {
    let trusted_proxies = ["203.0.113.9".parse().unwrap()].into_iter().collect();
    let settings = ServerSettings { max_from_one_address: 2, trusted_proxies, ..crowded(100) };
    let server = serve_remote(Role::Referee, "203.0.113.9:5000", settings).await;
    let mut busy = Vec::new();
    for _ in 0..6 {
        let mut raw = Raw::to(server.address).await;
        raw.send_request("POST /mcp", "", DELAYED).await;
        server.agent.arrived.notified().await;
        busy.push(raw);
    }
    server.agent.go.notify_waiters();
    for raw in &mut busy {
        assert_eq!(raw.answer().await.status, 200);
    }
}

#[tokio::test]
async fn an_oversized_head_is_refused_in_time() {
    let server = serve_echo(Role::Player, ServerSettings::default()).await;
    let headers = |count: u32| (0..count).map(|number| format!("X-{number}: 1\r\n")).collect::<String>();
    for refused in [format!("X-Long: {}\r\n", "x".repeat(20 * 1024)), headers(150)] {
        assert_eq!(Raw::to(server.address).await.post("/mcp", &refused, "").await.status, 431);
    }
    let long = format!("X-Long: {}\r\n", "x".repeat(1 << 20));
    let line = format!("X-{}: 1\r\n", "y".repeat(1 << 17));
    for bomb in [headers(5000), long, line] {
        let started = Instant::now();
        let mut raw = Raw::to(server.address).await;
        let request = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{bomb}Content-Length: 0\r\n\r\n");
        // The server refuses the request before all of it has arrived. The rest then fails to send, and the answer may be lost.
        drop(tokio::io::AsyncWriteExt::write_all(&mut raw.0, request.as_bytes()).await);
        assert!(tokio::time::timeout(LONG, crate::raw::message(&mut raw.0)).await.is_ok());
        assert!(started.elapsed() < 5 * SECOND);
    }
    assert_eq!(Raw::to(server.address).await.ping().await, 200);
}

#[tokio::test]
async fn a_full_server_answers_more_clients_than_it_has_connections() {
    let server = serve_echo(Role::Player, crowded(8)).await;
    let ask = async |address| Raw::to(address).await.ping().await;
    let mut asking = JoinSet::new();
    for _ in 0..200 {
        asking.spawn(ask(server.address));
    }
    let answers = asking.join_all().await;
    assert!(answers.iter().all(|status| *status == 200), "{answers:?}");
}
