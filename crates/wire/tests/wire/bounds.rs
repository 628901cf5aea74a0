use std::time::Duration;

use league_protocol::sender::Role;
use league_wire::settings::ServerSettings;
use tokio::time::Instant;

use crate::raw::Raw;
use crate::support::{LONG, SHORT, parrot, player};

const PING: &str = r#"{"jsonrpc":"2.0","method":"ping","id":1}"#;

fn hurried() -> ServerSettings {
    ServerSettings { read_limit: SHORT, idle_limit: 3 * SHORT, ..ServerSettings::default() }
}

#[tokio::test]
async fn a_body_of_sixty_four_kibibytes_is_read_and_one_byte_more_is_not() {
    let server = player().await;
    let padded = |length: usize| format!("{PING}{}", " ".repeat(length - PING.len()));
    let mut raw = Raw::to(server.address).await;
    assert_eq!(raw.post("/mcp", "", &padded(64 * 1024)).await.status, 200);
    assert_eq!(raw.post("/mcp", "", &padded(64 * 1024 + 1)).await.status, 413);
}

#[tokio::test]
async fn a_body_that_says_it_is_too_long_is_not_waited_for() {
    let server = player().await;
    let mut raw = Raw::to(server.address).await;
    raw.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000000\r\n\r\n").await;
    assert_eq!(raw.answer().await.status, 413);
    assert!(raw.is_closed().await);
}

#[tokio::test]
async fn a_body_in_pieces_is_cut_at_the_limit_as_well() {
    let server = player().await;
    let mut raw = Raw::to(server.address).await;
    raw.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n").await;
    let piece = format!("4000\r\n{}\r\n", " ".repeat(0x4000));
    for _ in 0..4 {
        raw.send(&piece).await;
    }
    raw.send("1\r\n \r\n").await;
    assert_eq!(raw.answer().await.status, 413);
}

#[tokio::test]
async fn a_head_that_does_not_end_closes_the_connection() {
    let server = parrot(Role::Player, hurried()).await;
    let mut raw = Raw::to(server.address).await;
    let started = Instant::now();
    raw.send("POST /mcp HTTP/1.1\r\nHost: localh").await;
    assert!(raw.is_closed().await);
    assert!((SHORT..LONG).contains(&started.elapsed()));
}

#[tokio::test]
async fn a_second_head_has_the_same_time_and_not_that_of_an_idle_connection() {
    let server =
        parrot(Role::Player, ServerSettings { read_limit: SHORT, idle_limit: LONG, ..ServerSettings::default() }).await;
    let mut raw = Raw::to(server.address).await;
    assert_eq!(raw.post("/mcp", "", PING).await.status, 200);
    raw.send("POST").await;
    let closed = tokio::time::timeout(LONG / 2, raw.is_closed()).await;
    assert_eq!(closed, Ok(true));
}

#[tokio::test]
async fn a_head_that_comes_a_byte_at_a_time_gains_nothing_by_it() {
    let server = parrot(Role::Player, hurried()).await;
    let mut raw = Raw::to(server.address).await;
    let started = Instant::now();
    let (mut reading, mut writing) = raw.0.split();
    let dribble = async {
        loop {
            tokio::time::sleep(SHORT / 5).await;
            if tokio::io::AsyncWriteExt::write_all(&mut writing, b"G").await.is_err() {
                return;
            }
        }
    };
    let mut byte = [0];
    tokio::select! {
        () = dribble => {}
        _ = tokio::io::AsyncReadExt::read(&mut reading, &mut byte) => {}
    }
    assert!(started.elapsed() < LONG);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let server = parrot(Role::Player, hurried()).await;
    let mut raw = Raw::to(server.address).await;
    raw.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{").await;
    assert_eq!(raw.answer().await.status, 408);
    assert!(raw.is_closed().await);
}

#[tokio::test]
async fn an_idle_connection_outlives_the_time_for_a_head_and_is_then_closed() {
    let server = parrot(Role::Player, hurried()).await;
    let mut raw = Raw::to(server.address).await;
    assert_eq!(raw.post("/mcp", "", PING).await.status, 200);
    let started = Instant::now();
    assert!(raw.is_closed().await);
    assert!((2 * SHORT..LONG).contains(&started.elapsed()));
}

#[tokio::test]
async fn a_request_may_take_longer_than_any_limit_of_the_connection() {
    let server = parrot(Role::Referee, hurried()).await;
    let question = r#"{"jsonrpc":"2.0","method":"get_match_state","params":{"match_id":"R1M1"},"id":1}"#;
    let mut raw = Raw::to(server.address).await;
    let release = async {
        server.agent.arrived.notified().await;
        // The request must outlast the limits in real time.
        tokio::time::sleep(4 * SHORT).await;
        server.agent.go.notify_one();
    };
    let (answer, ()) = tokio::join!(raw.post("/mcp", "", question), release);
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_full_server_makes_a_connection_wait_while_all_requests_run() {
    let server = parrot(Role::Referee, ServerSettings { max_connections: 2, ..ServerSettings::default() }).await;
    let question = r#"{"jsonrpc":"2.0","method":"get_match_state","params":{"match_id":"R1M1"},"id":1}"#;
    let (mut one, mut two) = (Raw::to(server.address).await, Raw::to(server.address).await);
    let (length, agent) = (question.len(), &server.agent);
    for raw in [&mut one, &mut two] {
        raw.send(format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{question}")).await;
        agent.arrived.notified().await;
    }
    let mut waiting = Raw::to(server.address).await;
    let early = tokio::time::timeout(Duration::from_millis(150), waiting.post("/mcp", "", PING)).await;
    assert!(early.is_err(), "it was served beyond the limit");
    agent.go.notify_waiters();
    assert_eq!(waiting.answer().await.status, 200);
    assert_eq!((one.answer().await.status, two.answer().await.status), (200, 200), "and nobody lost its answer");
}

#[tokio::test]
async fn a_head_beyond_all_measure_is_refused() {
    let server = player().await;
    let mut raw = Raw::to(server.address).await;
    let header = format!("X-Long: {}\r\n", "x".repeat(20 * 1024));
    assert_eq!(raw.post("/mcp", &header, PING).await.status, 431);
    let mut raw = Raw::to(server.address).await;
    let headers: String = (0..150).map(|number| format!("X-{number}: 1\r\n")).collect();
    assert_eq!(raw.post("/mcp", &headers, PING).await.status, 431);
}

#[tokio::test]
async fn a_peer_that_asks_and_asks_and_never_reads_is_let_go() {
    let server = parrot(Role::Player, hurried()).await;
    let mut raw = Raw::to(server.address).await;
    let question = r#"{"jsonrpc":"2.0","method":"tools/list","id":1}"#;
    let length = question.len();
    let request = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{question}");
    let asking = async { while tokio::io::AsyncWriteExt::write_all(&mut raw.0, request.as_bytes()).await.is_ok() {} };
    assert_eq!(tokio::time::timeout(LONG, asking).await, Ok(()));
}

#[tokio::test]
async fn an_agent_that_panics_takes_one_connection_with_it_and_not_the_server() {
    let server = parrot(Role::Referee, ServerSettings::default()).await;
    let mut raw = Raw::to(server.address).await;
    let fall = r#"{"jsonrpc":"2.0","method":"draw_number","params":{"match_id":"R1M1"},"id":1}"#;
    raw.send(format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{fall}", fall.len())).await;
    assert!(raw.is_closed().await);
    assert_eq!(Raw::to(server.address).await.post("/mcp", "", PING).await.status, 200);
}
