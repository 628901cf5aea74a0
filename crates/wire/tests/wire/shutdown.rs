use league_protocol::sender::Role;
use league_wire::settings::ServerSettings;
use tokio::net::TcpStream;

use crate::raw::{DELAYED, Raw, ask};
use crate::support::{LONG, SHORT, echo_player, serve_echo};

#[tokio::test]
async fn a_server_that_shuts_down_finishes_its_requests_and_accepts_no_connection() {
    let server = serve_echo(Role::Referee, ServerSettings::default()).await;
    let asking = tokio::spawn(ask(server.address, DELAYED));
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
async fn a_server_that_shuts_down_closes_idle_connections_at_once() {
    let server = echo_player().await;
    let mut raw = Raw::to(server.address).await;
    assert_eq!(raw.ping().await, 200);
    server.stop.send(()).unwrap();
    assert!(raw.is_closed().await);
    tokio::time::timeout(LONG / 2, server.ended).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_request_that_outlasts_the_grace_of_the_shutdown_is_cut() {
    let server = serve_echo(Role::Referee, ServerSettings { grace: SHORT, ..ServerSettings::default() }).await;
    let mut raw = Raw::to(server.address).await;
    raw.send_request("POST /mcp", "", DELAYED).await;
    server.agent.arrived.notified().await;
    server.stop.send(()).unwrap();
    tokio::time::timeout(LONG / 2, server.ended).await.unwrap().unwrap().unwrap();
    assert!(raw.is_closed().await);
}
