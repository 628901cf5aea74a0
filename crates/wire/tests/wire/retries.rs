//! Tries, pauses and circuits, with time that is ours: the network is replaced, and the clock is paused.

use std::io;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use league_protocol::dialect::PeerDialect;
use league_protocol::error::ErrorCode;
use league_wire::breaker::{Breaker, Breakers, REST};
use league_wire::client::{Client, ClientSettings};
use league_wire::endpoint::Endpoint;
use league_wire::exchange::Failure;
use league_wire::net::{Connecting, Connector, Stream};
use league_wire::peer_client::{OutgoingCall, Peer, PeerClient, heard};
use league_wire::retry::RetryPolicy;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use crate::raw::message;
use crate::support::{LONG, SECOND, envelope, small};

/// A network in memory: refuses the first calls, then answers.
struct Network {
    refusals: usize,
    tries: Mutex<Vec<Instant>>,
}

impl Network {
    fn refusing(refusals: usize) -> (Arc<Self>, Client) {
        let network = Arc::new(Self { refusals, tries: Mutex::default() });
        let connector: Arc<dyn Connector> = Arc::<Self>::clone(&network);
        (network, Client::new(ClientSettings { connector, ..ClientSettings::default() }))
    }

    /// When it was tried, in whole seconds from the first time on.
    fn seconds(&self) -> Vec<u64> {
        let tries = self.tries.lock().unwrap();
        tries.iter().map(|at| (*at - tries[0]).as_secs()).collect()
    }
}

impl Connector for Network {
    fn connect<'a>(&'a self, _: &'a str, _: u16) -> Connecting<'a> {
        Box::pin(async {
            let tries = {
                let mut tries = self.tries.lock().unwrap();
                tries.push(Instant::now());
                tries.len()
            };
            if tries <= self.refusals {
                return Err(io::Error::from(io::ErrorKind::ConnectionRefused));
            }
            let (ours, mut theirs) = tokio::io::duplex(4096);
            tokio::spawn(async move {
                message(&mut theirs).await;
                theirs.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}").await
            });
            Ok(Box::new(ours) as Box<dyn Stream>)
        })
    }
}

fn somewhere() -> Endpoint {
    "http://player.example:8101".parse().unwrap()
}

fn policy(tries: u32, overall: Duration) -> RetryPolicy {
    RetryPolicy { tries, base_delay: 2 * SECOND, overall }
}

#[tokio::test(start_paused = true)]
async fn the_pauses_double() {
    let (network, client) = Network::refusing(3);
    let (to, manner, from) = (somewhere(), PeerDialect::default(), envelope("x"));
    let exchange = client.call_with_retries(policy(5, 60 * SECOND), &to, &manner, &from, &small(), LONG).await.unwrap();
    assert_eq!(&exchange.body[..], b"{}");
    assert_eq!(network.seconds(), [0, 2, 6, 14]);
}

#[tokio::test(start_paused = true)]
async fn the_tries_are_counted_and_the_last_error_is_told() {
    let (network, client) = Network::refusing(usize::MAX);
    let (to, manner, from) = (somewhere(), PeerDialect::default(), envelope("x"));
    let error =
        client.call_with_retries(policy(3, 60 * SECOND), &to, &manner, &from, &small(), LONG).await.unwrap_err();
    assert_eq!((error.code(), network.seconds()), (Some(ErrorCode::E009), vec![0, 2, 6]));
}

#[tokio::test(start_paused = true)]
async fn no_try_begins_after_the_overall_limit() {
    let (network, client) = Network::refusing(usize::MAX);
    let (to, manner, from) = (somewhere(), PeerDialect::default(), envelope("x"));
    let outcome = client.call_with_retries(policy(9, 10 * SECOND), &to, &manner, &from, &small(), LONG).await;
    assert!(outcome.is_err());
    assert_eq!(network.seconds(), [0, 2, 6]);
}

#[tokio::test(start_paused = true)]
async fn a_circuit_opens_after_five_failures_and_closes_with_a_probe() {
    let (network, client) = Network::refusing(5);
    let (breakers, to, from) = (Breakers::default(), somewhere(), envelope("x"));
    let speaker = PeerClient::new(client);
    let call = async || {
        let (manner, call, mut tries) = (PeerDialect::default(), small(), Vec::new());
        let message = OutgoingCall { envelope: &from, call: &call, body: None, limit: LONG, notice: true };
        let peer = Peer { endpoint: &to, manner: &manner, proven: false };
        speaker.say_guarded(Some(&breakers), peer, message, &heard, &mut tries).await;
        tries.remove(0).came
    };
    for _ in 0..5 {
        assert_eq!(call().await.unwrap_err().kind, Failure::NotListening);
    }
    let refused = call().await.unwrap_err();
    assert_eq!((&refused.kind, refused.code()), (&Failure::Refused, Some(ErrorCode::E009)));
    assert_eq!(network.seconds().len(), 5);
    tokio::time::advance(REST).await;
    assert_eq!(call().await.unwrap().status, 200);
    assert_eq!(breakers.of(&to), Breaker::default());
}
