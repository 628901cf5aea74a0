//! A manager that always has the next match: it registers the referee, orders matches and takes reports.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::id::ConversationId;
use league_protocol::message::start_match::StartMatch;
use league_protocol::sender::Sender;
use league_protocol::table::Call;
use league_test_agents::http_server::{HttpReply, HttpServer, ReservedPort};
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep};

use super::players::name;

pub(crate) const LEAGUE: &str = "load";
const ORDER_LIMIT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(10);

pub(crate) struct Manager {
    server: HttpServer,
    state: Arc<State>,
    client: Client,
}

struct State {
    referee: watch::Sender<Option<String>>,
    awaited: Mutex<HashMap<String, oneshot::Sender<()>>>,
}

impl State {
    fn awaited(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<()>>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, method: &str, params: &Value) -> Value {
        match method {
            "register_referee" => {
                self.referee.send_replace(params["referee_meta"]["contact_endpoint"].as_str().map(str::to_owned));
                json!({"status": "ACCEPTED", "referee_id": "REF01", "league_id": LEAGUE})
            }
            "report_match_result" => {
                if let Some(waiter) = self.awaited().remove(params["match_id"].as_str().unwrap_or_default()) {
                    // The whole run may have ended.
                    let _ = waiter.send(());
                }
                json!({"status": "ACCEPTED"})
            }
            _ => json!({"status": "ok"}),
        }
    }
}

impl Manager {
    pub(crate) fn start() -> io::Result<Self> {
        let state = Arc::new(State { referee: watch::Sender::new(None), awaited: Mutex::default() });
        let answers = Arc::clone(&state);
        let server = ReservedPort::free()?.serve(move |request| {
            let body = request.json();
            let result = answers.answer(body["method"].as_str().unwrap_or_default(), &body["params"]);
            std::future::ready(HttpReply::result(&body, &result))
        })?;
        Ok(Self { server, state, client: Client::default() })
    }

    pub(crate) fn endpoint(&self) -> String {
        self.server.endpoint()
    }

    pub(crate) async fn referee(&self) -> Result<Endpoint> {
        let mut referee = self.state.referee.subscribe();
        let found = referee.wait_for(Option::is_some).await.context("no referee can register any more")?.clone();
        Ok(found.unwrap_or_default().parse()?)
    }

    pub(crate) async fn play(
        &self,
        referee: &Endpoint,
        limit: Duration,
        number: u64,
        players: [(usize, &str); 2],
    ) -> Result<()> {
        let match_id = format!("R1M{number}");
        let (waiter, reported) = oneshot::channel();
        self.state.awaited().insert(match_id.clone(), waiter);
        let limit = limit.as_secs_f64();
        let order: StartMatch = serde_json::from_value(json!({
            "match_id": match_id, "league_id": LEAGUE, "round_id": 1, "game_type": "even_odd",
            "players": players.map(|(number, endpoint)| json!({"player_id": name(number), "endpoint": endpoint})),
            "timeouts": {
                "game_join_ack_timeout_sec": limit, "move_timeout_sec": limit, "game_over_timeout_sec": limit,
                "max_retries": 3, "base_delay_sec": 0.05,
            },
        }))?;
        let envelope = Envelope {
            sender: Sender::manager(),
            timestamp: Environment::real().now(),
            conversation_id: ConversationId::named("conv-load"),
            auth_token: None,
        };
        let (call, begun) = (Call::StartMatch(order), Instant::now());
        loop {
            let taken = self.client.call(referee, &PeerDialect::default(), &envelope, &call, ORDER_LIMIT).await?;
            let answer = String::from_utf8_lossy(&taken.body);
            if answer.contains("ACCEPTED") {
                break;
            }
            // A referee accepts no orders until it has read the answer to its registration.
            if !answer.contains("E010") || begun.elapsed() > ORDER_LIMIT {
                bail!("the referee does not take {match_id}: {answer}");
            }
            sleep(PAUSE).await;
        }
        reported.await.context("the manager has ended")
    }
}
