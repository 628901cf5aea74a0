//! A runtime that is late extends the deadline and says so. A silent peer gains nothing from it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use league_wire::client::{Client, ClientSettings};
use league_wire::exchange::{CallError, Exchange, Failure};
use league_wire::net::{Connecting, Connector, Tcp};
use league_wire::runtime_lag::LagMonitor;
use tokio::time::Instant;

use crate::support::{SECOND, SHORT, call, endpoint};

/// A peer on its own thread with one connection; it answers after this delay, or never.
fn peer_on_thread(answer_after: Option<Duration>) -> (league_wire::endpoint::Endpoint, Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = endpoint(listener.local_addr().unwrap());
    let (leave, left) = channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"}") {
            let mut some = [0; 1024];
            let read = stream.read(&mut some).unwrap();
            bytes.extend_from_slice(&some[..read]);
        }
        if let Some(pause) = answer_after {
            thread::sleep(pause);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").unwrap();
        }
        // Keeps the connection open until the test ends.
        let _ = left.recv();
    });
    (address, leave)
}

/// Calls a peer and blocks the whole runtime shortly after the request was sent.
async fn call_while_blocked(
    answer_after: Option<Duration>,
    blocked_for: Duration,
    lag_monitor: bool,
) -> (Result<Exchange, CallError>, Duration) {
    let (peer, _leave) = peer_on_thread(answer_after);
    let lag_monitor = lag_monitor.then(LagMonitor::start);
    let client = Client::new(ClientSettings { lag_monitor, ..ClientSettings::default() });
    let blocking = async {
        // The request has been sent by then.
        tokio::time::sleep(SHORT / 5).await;
        thread::sleep(blocked_for);
    };
    let started = Instant::now();
    let (result, ()) = tokio::join!(call(&client, &peer, SHORT), blocking);
    (result, started.elapsed())
}

#[tokio::test]
async fn an_answer_that_arrives_while_the_runtime_is_blocked_is_in_time() {
    let (result, _) = call_while_blocked(Some(SHORT / 3), 3 * SHORT, true).await;
    let receipt = result.unwrap().receipt;
    assert_eq!(receipt.limit.as_millis().div_ceil(10), SHORT.as_millis().div_ceil(10));
    assert!(receipt.last_byte.unwrap() > SHORT, "it was seen late: {receipt:?}");
    assert!(receipt.granted >= SHORT && receipt.granted < SECOND, "and the receipt says why: {receipt:?}");
    assert_eq!(receipt.given_up, None);
}

#[tokio::test]
async fn a_peer_has_its_whole_limit_although_the_runtime_was_blocked() {
    // The peer needs more time than was left when the stall began.
    let (result, _) = call_while_blocked(Some(4 * SHORT + SHORT / 2), 4 * SHORT, true).await;
    assert!(result.unwrap().receipt.granted > SHORT);
}

#[tokio::test]
async fn a_silent_peer_still_times_out_when_the_runtime_was_blocked() {
    let (result, took) = call_while_blocked(None, 2 * SHORT, true).await;
    let error = result.unwrap_err();
    assert_eq!(error.kind, Failure::TimedOut);
    assert!(error.receipt.granted > SHORT / 2, "{:?}", error.receipt);
    let given_up = error.receipt.given_up.unwrap();
    assert!(given_up >= SHORT + error.receipt.granted && given_up <= took, "{:?}", error.receipt);
    assert!(took < 2 * SHORT + 2 * SHORT + SECOND, "it took {took:?}");
}

#[tokio::test]
async fn a_runtime_without_lag_grants_no_extra_time() {
    let (peer, _leave) = peer_on_thread(None);
    let client = Client::new(ClientSettings { lag_monitor: Some(LagMonitor::start()), ..ClientSettings::default() });
    let receipt = call(&client, &peer, SECOND).await.unwrap_err().receipt;
    // Machines stall now and then; a grant never exceeds the lost time.
    let over = receipt.given_up.unwrap() - SECOND;
    assert!(receipt.granted <= over && over < SECOND, "{receipt:?}");
}

/// Has no descriptors for the first few tries.
struct ScarceConnector {
    tries: AtomicUsize,
    without: usize,
}

impl Connector for ScarceConnector {
    fn connect<'a>(&'a self, host: &'a str, port: u16) -> Connecting<'a> {
        if self.tries.fetch_add(1, Ordering::Relaxed) < self.without {
            // EMFILE: too many open files.
            return Box::pin(async { Err(std::io::Error::from_raw_os_error(24)) });
        }
        Tcp.connect(host, port)
    }
}

#[tokio::test]
async fn a_call_waits_for_descriptors_and_the_peer_keeps_its_limit() {
    let (peer, _leave) = peer_on_thread(Some(Duration::ZERO));
    // Ten pauses of 20 ms each, more than the limit.
    let connector = Arc::new(ScarceConnector { tries: AtomicUsize::new(0), without: 10 });
    let settings = ClientSettings { connector, lag_monitor: Some(LagMonitor::start()), ..ClientSettings::default() };
    let receipt = call(&Client::new(settings), &peer, SHORT).await.unwrap().receipt;
    assert!(receipt.last_byte.unwrap() > SHORT && receipt.granted > Duration::ZERO, "{receipt:?}");
}

#[tokio::test]
async fn a_client_without_a_lag_monitor_grants_no_extra_time() {
    let (result, _) = call_while_blocked(None, 2 * SHORT, false).await;
    assert_eq!(result.unwrap_err().receipt.granted, Duration::ZERO);
}

#[tokio::test]
async fn a_call_ends_although_the_runtime_always_lags() {
    let (peer, _leave) = peer_on_thread(None);
    let client = Client::new(ClientSettings { lag_monitor: Some(LagMonitor::start()), ..ClientSettings::default() });
    let starving = tokio::spawn(async {
        loop {
            thread::sleep(Duration::from_millis(20));
            tokio::task::yield_now().await;
        }
    });
    let error = tokio::time::timeout(20 * SECOND, call(&client, &peer, SHORT)).await.unwrap().unwrap_err();
    starving.abort();
    assert_eq!(error.kind, Failure::TimedOut);
    assert!(error.receipt.granted > Duration::ZERO);
}
