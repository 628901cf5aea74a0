//! A player that answers what its test says, and reports every call to it.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use league_test_agents::http_server::{HttpReply, HttpServer, Then};
use serde_json::{Value, json};

use super::http;

const LIMIT: Duration = Duration::from_secs(60);
const LAST: &str = "notify_league_completed";

pub(crate) enum Reaction {
    Says(Value),
    SaysAndDies(Value),
}

pub(crate) struct StandIn {
    _server: HttpServer,
    heard: Receiver<(String, Value)>,
}

impl StandIn {
    pub(crate) fn invited(manager: &str, id: &str, react: impl FnMut() -> Reaction + Send + 'static) -> Self {
        let (note, heard) = channel();
        let react = Mutex::new(react);
        let server = HttpServer::stub(move |request| {
            let request = request.json();
            let method = request["method"].as_str().unwrap().to_owned();
            let reaction = match method.as_str() {
                "handle_game_invitation" => react.lock().unwrap()(),
                LAST => Reaction::SaysAndDies(json!({"status": "ok"})),
                _ => Reaction::Says(json!({"status": "ok"})),
            };
            // The test may have stopped listening.
            drop(note.send((method, request["params"].clone())));
            match reaction {
                Reaction::Says(result) => HttpReply::result(&request, &result),
                Reaction::SaysAndDies(result) => HttpReply::result(&request, &result).then(Then::Stop),
            }
        });
        let server = server.unwrap();
        let meta = json!({
            "display_name": format!("Stand-in {id}"), "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": server.endpoint(),
        });
        let registered = http::call(manager, "register_player", &json!({"player_id": id, "player_meta": meta}));
        assert_eq!(registered["result"]["status"], "ACCEPTED", "{registered}");
        Self { _server: server, heard }
    }

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

    /// Every call so far; after the end of a league, all of them.
    pub(crate) fn told(self) -> Vec<(String, Value)> {
        self.heard.try_iter().collect()
    }
}
