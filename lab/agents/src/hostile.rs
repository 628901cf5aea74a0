//! Players that do harm, over real sockets and byte by byte.
//!
//! A [`attack::Attack`] is all that one of them does wrong; apart from that it answers as it should. How many bytes it got rid of is counted: who is
//! called by us must not be able to fill our memory.

pub mod attack;
mod bytes;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::message::{envelope, text, with};
use crate::post::post;
use attack::Attack;
use bytes::Asked;

/// A villain that listens, until it is dropped.
#[derive(Debug)]
pub struct HostileAgent {
    shared: Arc<Shared>,
    work: JoinHandle<()>,
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
    /// One with this attack, on a free port.
    pub async fn open(attack: Attack) -> io::Result<Self> {
        attack.prepare();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let (asked, followed, pushed) = Default::default();
        let shared = Arc::new(Shared { attack, address: listener.local_addr()?, asked, followed, pushed });
        let work = tokio::spawn(listen(listener, Arc::clone(&shared)));
        Ok(Self { shared, work })
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}/mcp", self.shared.address)
    }

    /// Registers with the manager at this URL, under its attack's name; its id.
    pub async fn register(&self, manager: &str) -> io::Result<String> {
        let name = format!("{:?}", self.shared.attack);
        let meta = json!({
            "display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": self.endpoint(),
        });
        let letter = envelope("LEAGUE_REGISTER_REQUEST", &format!("player:{name}"), "conv-reg");
        let params = with(letter, json!({ "player_meta": meta }));
        let request = json!({"jsonrpc": "2.0", "method": "register_player", "params": params, "id": 1});
        let answer = post(manager, &[], &request).await?.json();
        Ok(text(&answer["result"], "player_id").to_owned())
    }

    pub fn asked(&self) -> usize {
        self.shared.asked.load(Ordering::Relaxed)
    }

    /// How many questions came to where it had pointed.
    pub fn followed(&self) -> usize {
        self.shared.followed.load(Ordering::Relaxed)
    }

    /// How many bytes of answers it got rid of.
    pub fn pushed(&self) -> usize {
        self.shared.pushed.load(Ordering::Relaxed)
    }
}

impl Drop for HostileAgent {
    fn drop(&mut self) {
        self.work.abort();
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(converse(stream, Arc::clone(&shared)));
        while connections.try_join_next().is_some() {}
    }
}

async fn converse(mut stream: TcpStream, shared: Arc<Shared>) {
    while let Some(asked) = Asked::read(&mut stream).await {
        let number = shared.asked.fetch_add(1, Ordering::Relaxed);
        if asked.path != "/mcp" {
            shared.followed.fetch_add(1, Ordering::Relaxed);
        }
        if !shared.attack.answer(&mut stream, &shared, &asked, number).await {
            return;
        }
    }
}

pub(crate) fn honest(asked: &Asked) -> Value {
    let params = &asked.body["params"];
    let (message_type, own) = match text(&asked.body, "method") {
        "handle_game_invitation" => ("GAME_JOIN_ACK", json!({"accept": true})),
        "choose_parity" => ("CHOOSE_PARITY_RESPONSE", json!({"parity_choice": "even"})),
        _ => ("ACK", json!({"status": "ok"})),
    };
    let player = text(params, "player_id");
    let letter = envelope(message_type, &format!("player:{player}"), text(params, "conversation_id"));
    let letter = with(letter, json!({"match_id": params["match_id"], "player_id": player}));
    with(letter, own)
}

/// A result in the frame of its question.
pub(crate) fn framed(asked: &Asked, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result})
}
