//! A player of no strategy at all: answers what its test tells it to, and notes what it was told.

use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread::spawn;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http;

/// No message takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// What a stand-in does about a message.
pub(crate) enum Reaction {
    /// Answers this.
    Says(Value),
    /// Answers this, and is never seen again.
    SaysAndDies(Value),
}

/// A player in a thread of this process. It leaves when it is told that the league is over.
pub(crate) struct StandIn {
    heard: Receiver<(String, Value)>,
}

impl StandIn {
    /// Registers as `id` with the manager at `manager`, and reacts to invitations like this.
    pub(crate) fn invited(manager: &str, id: &str, mut react: impl FnMut() -> Reaction + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let contact = format!("http://{}/mcp", listener.local_addr().unwrap());
        let meta = json!({
            "display_name": format!("Stand-in {id}"), "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": contact,
        });
        let (note, heard) = channel();
        spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(request) = http::receive(&stream) else { continue };
                let method = request["method"].as_str().unwrap().to_owned();
                let reaction = match method.as_str() {
                    "handle_game_invitation" => react(),
                    "notify_league_completed" => Reaction::SaysAndDies(json!({"status": "ok"})),
                    _ => Reaction::Says(json!({"status": "ok"})),
                };
                // Nobody needs to have asked.
                drop(note.send((method, request["params"].clone())));
                let (Reaction::Says(result) | Reaction::SaysAndDies(result)) = &reaction;
                let answer = json!({"jsonrpc": "2.0", "result": result, "id": request["id"]});
                http::send(&mut stream, "HTTP/1.1 200 OK", &answer);
                if matches!(reaction, Reaction::SaysAndDies(_)) {
                    return;
                }
            }
        });
        let registered = http::call(manager, "register_player", &json!({"player_id": id, "player_meta": meta}));
        assert_eq!(registered["result"]["status"], "ACCEPTED", "{registered}");
        Self { heard }
    }

    /// Waits until it is told something by `method`; gives what.
    pub(crate) fn hears(&self, method: &str) -> Value {
        let until = Instant::now() + LIMIT;
        loop {
            match self.heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((called, told)) if called == method => return told,
                Ok(_) => {}
                Err(why) => panic!("{method} was not called ({why})"),
            }
        }
    }

    /// Everything that it was told, until it left.
    pub(crate) fn told(self) -> Vec<(String, Value)> {
        self.heard.iter().collect()
    }
}
