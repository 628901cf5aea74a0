//! Any bytes as the answer of a peer: raw if they begin like HTTP, else as a body.
//!
//! The call ends within its limit and after a few tries, and only an answer that was received counts as understood.

#![no_main]
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::time::Duration;

use league_fuzz::memory_net::FixedAnswerPeer;
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::id::ConversationId;
use league_protocol::message::round::ShutdownCommand;
use league_protocol::sender::Sender;
use league_protocol::table::Call;
use league_protocol::time::Timestamp;
use league_wire::client::{Client, ClientSettings};
use league_wire::exchange::Exchange;
use league_wire::peer_client::{OutgoingCall, Peer, PeerClient, is_acknowledged};
use libfuzzer_sys::fuzz_target;
use tokio::runtime::Builder;
use tokio::time::Instant;

const LIMIT: Duration = Duration::from_secs(5);

fuzz_target!(|bytes: &[u8]| {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let sent: Arc<[u8]> = if bytes.starts_with(b"HTTP/1.") { bytes.into() } else { answer(bytes).into() };
        let client =
            Client::new(ClientSettings { connector: Arc::new(FixedAnswerPeer(sent)), ..ClientSettings::default() });
        let client = PeerClient::new(client);
        send(&client, &is_acknowledged).await;
        send(&client, &|_: &Exchange| false).await;
    });
});

fn answer(body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let kind = if body.starts_with(b"data") { "text/event-stream" } else { "application/json" };
    let mut answer =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n").into_bytes();
    answer.extend_from_slice(body);
    answer
}

async fn send(client: &PeerClient, understood: &(impl Fn(&Exchange) -> bool + Sync)) {
    let endpoint = "http://127.0.0.1:8101/mcp".parse().expect("a URL");
    let dialect = PeerDialect::default();
    let envelope = Envelope {
        sender: Sender::manager(),
        timestamp: Timestamp::EPOCH,
        conversation_id: ConversationId::named("fuzz"),
        auth_token: None,
    };
    let call = Call::Shutdown(ShutdownCommand::default());
    let (mut tries, began) = (Vec::new(), Instant::now());
    let message = OutgoingCall { envelope: &envelope, call: &call, body: None, limit: LIMIT, notice: false };
    let peer = Peer { endpoint: &endpoint, dialect: &dialect, proven: false };
    let outcome = client.send(peer, message, understood, &mut tries).await;
    // The end of a stream may be waited for a little.
    assert!(began.elapsed() <= LIMIT + Duration::from_millis(100), "{:?}", began.elapsed());
    assert!(tries.len() <= 32, "{} tries", tries.len());
    assert!(!outcome.understood || tries.iter().any(|one| one.result.is_ok()));
}
