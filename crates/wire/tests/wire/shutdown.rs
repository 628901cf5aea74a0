use league_protocol::sender::Role;
use league_wire::settings::ServerSettings;
use tokio::net::TcpStream;

use crate::raw::{Raw, ask};
use crate::support::{LONG, SHORT, parrot, player};

const WAIT: &str = r#"{"jsonrpc":"2.0","method":"get_match_state","params":{"match_id":"R1M1"},"id":1}"#;

#[tokio::test]
async fn a_running_request_is_finished_and_no_new_one_is_accepted() {
    let server = parrot(Role::Referee, ServerSettings::default()).await;
    let asking = tokio::spawn(ask(server.address, WAIT));
    server.agent.arrived.notified().await;
    server.stop.send(()).unwrap();
    while TcpStream::connect(server.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    server.agent.go.notify_one();
    assert_eq!(asking.await.unwrap().status, 200);
    tokio::time::timeout(LONG, server.ended).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn idle_connections_are_closed_at_once() {
    let server = player().await;
    let mut raw = Raw::to(server.address).await;
    assert_eq!(raw.post("/mcp", "", r#"{"method":"ping","id":1}"#).await.status, 200);
    server.stop.send(()).unwrap();
    assert!(raw.is_closed().await);
    tokio::time::timeout(LONG / 2, server.ended).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_request_that_outlasts_the_grace_is_cut() {
    let server = parrot(Role::Referee, ServerSettings { grace: SHORT, ..ServerSettings::default() }).await;
    let mut raw = Raw::to(server.address).await;
    raw.send(format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{WAIT}", WAIT.len())).await;
    server.agent.arrived.notified().await;
    server.stop.send(()).unwrap();
    tokio::time::timeout(LONG / 2, server.ended).await.unwrap().unwrap().unwrap();
    assert!(raw.is_closed().await);
}
