//! Circuit breakers, with a network in memory and a paused clock.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use league_protocol::dialect::PeerDialect;
use league_protocol::error::ErrorCode;
use league_wire::breaker::{Breaker, Breakers, REST};
use league_wire::client::{Client, ClientSettings};
use league_wire::endpoint::Endpoint;
use league_wire::exchange::Failure;
use league_wire::net::{Connecting, Connector, Stream};
use league_wire::peer_client::{OutgoingCall, Peer, PeerClient, is_acknowledged};
use tokio::io::AsyncWriteExt;

use crate::raw::message;
use crate::support::{LONG, envelope, small};

/// Refuses the first connections, then answers.
struct Network {
    refusals: usize,
    tries: AtomicUsize,
}

impl Connector for Network {
    fn connect<'a>(&'a self, _: &'a str, _: u16) -> Connecting<'a> {
        Box::pin(async {
            if self.tries.fetch_add(1, Ordering::Relaxed) < self.refusals {
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

#[tokio::test(start_paused = true)]
async fn a_circuit_opens_after_five_failures_and_closes_with_a_probe() {
    let network = Arc::new(Network { refusals: 5, tries: AtomicUsize::new(0) });
    let client = Client::new(ClientSettings { connector: network.clone(), ..ClientSettings::default() });
    let to: Endpoint = "http://player.example:8101".parse().unwrap();
    let (breakers, from) = (Breakers::default(), envelope("x"));
    let peer_client = PeerClient::new(client);
    let call = async || {
        let (dialect, call, mut tries) = (PeerDialect::default(), small(), Vec::new());
        let message = OutgoingCall { envelope: &from, call: &call, body: None, limit: LONG, notice: true };
        let peer = Peer { endpoint: &to, dialect: &dialect, proven: false };
        peer_client.send_guarded(Some(&breakers), peer, message, &is_acknowledged, &mut tries).await;
        tries.remove(0).result
    };
    for _ in 0..5 {
        assert_eq!(call().await.unwrap_err().kind, Failure::NotListening);
    }
    let refused = call().await.unwrap_err();
    assert_eq!((&refused.kind, refused.code()), (&Failure::Refused, Some(ErrorCode::E009)));
    assert_eq!(network.tries.load(Ordering::Relaxed), 5);
    tokio::time::advance(REST).await;
    assert_eq!(call().await.unwrap().status, 200);
    assert_eq!(breakers.of(&to), Breaker::default());
}
