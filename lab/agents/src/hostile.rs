//! Players that attack, over real sockets and byte by byte.
//!
//! An [`attack::Attack`] is the only fault of such a player; its other answers are correct. It counts the bytes that it
//! could send: a peer must not be able to fill our memory.

pub mod attack;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::http_server::{HttpRequest, HttpServer, ReservedPort, Stream};
use crate::message::{envelope, text, with};
use crate::post::post;
use attack::Attack;

#[derive(Debug)]
pub struct HostileAgent {
    shared: Arc<Shared>,
    _server: HttpServer,
}

#[derive(Debug)]
pub(crate) struct AttackedCall {
    path: String,
    body: Value,
}

#[derive(Debug)]
pub(crate) struct Shared {
    attack: Attack,
    pub(crate) address: SocketAddr,
    asked: AtomicUsize,
    followed: AtomicUsize,
    pub(crate) pushed: AtomicUsize,
}

impl HostileAgent {
    pub fn open(attack: Attack) -> io::Result<Self> {
        attack.prepare();
        let port = ReservedPort::free()?;
        let (asked, followed, pushed) = Default::default();
        let shared = Arc::new(Shared { attack, address: port.address, asked, followed, pushed });
        let attacker = Arc::clone(&shared);
        let server =
            port.connections(Duration::ZERO, false, move |stream, _| converse(stream, Arc::clone(&attacker)))?;
        Ok(Self { shared, _server: server })
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}/mcp", self.shared.address)
    }

    /// Registers under the name of its attack; returns its id.
    pub async fn register(&self, manager: &str) -> io::Result<String> {
        let name = format!("{:?}", self.shared.attack);
        let meta = json!({
            "display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": self.endpoint(),
        });
        let message = envelope("LEAGUE_REGISTER_REQUEST", &format!("player:{name}"), "conv-reg");
        let params = with(message, json!({ "player_meta": meta }));
        let request = json!({"jsonrpc": "2.0", "method": "register_player", "params": params, "id": 1});
        let answer = post(manager, &[], &request).await?.json();
        Ok(text(&answer["result"], "player_id").to_owned())
    }

    pub fn asked(&self) -> usize {
        self.shared.asked.load(Ordering::Relaxed)
    }

    /// Requests that arrived at the target of its redirect.
    pub fn followed(&self) -> usize {
        self.shared.followed.load(Ordering::Relaxed)
    }

    pub fn pushed(&self) -> usize {
        self.shared.pushed.load(Ordering::Relaxed)
    }
}

async fn converse(mut stream: Stream, shared: Arc<Shared>) {
    while let Some(request) = HttpRequest::read(&mut stream).await {
        let call = AttackedCall { body: request.json(), path: request.path };
        let number = shared.asked.fetch_add(1, Ordering::Relaxed);
        if call.path != "/mcp" {
            shared.followed.fetch_add(1, Ordering::Relaxed);
        }
        if !shared.attack.answer(&mut stream, &shared, &call, number).await {
            return;
        }
    }
}

pub(crate) fn honest(call: &AttackedCall) -> Value {
    let params = &call.body["params"];
    let (message_type, own) = match text(&call.body, "method") {
        "handle_game_invitation" => ("GAME_JOIN_ACK", json!({"accept": true})),
        "choose_parity" => ("CHOOSE_PARITY_RESPONSE", json!({"parity_choice": "even"})),
        _ => ("ACK", json!({"status": "ok"})),
    };
    let player = text(params, "player_id");
    let message = envelope(message_type, &format!("player:{player}"), text(params, "conversation_id"));
    let message = with(message, json!({"match_id": params["match_id"], "player_id": player}));
    with(message, own)
}

pub(crate) fn framed(call: &AttackedCall, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": call.body["id"], "result": result})
}
