//! A manager that always has the next match: lets the referee in, gives it orders, takes its reports.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::id::ConversationId;
use league_protocol::message::start_match::StartMatch;
use league_protocol::sender::Sender;
use league_protocol::table::Call;
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use serde_json::json;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep};

use crate::crowd::name;
use crate::door::{self, Asked, Resident};
use crate::plan::Plan;

pub(crate) const LEAGUE: &str = "load";
/// How long the referee has for an order: it only has to say yes.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause before a referee that has just registered is asked again.
const BREATH: Duration = Duration::from_millis(10);

pub(crate) struct Manager {
    pub(crate) endpoint: String,
    desk: Arc<Desk>,
    client: Client,
    world: Environment,
}

struct Desk {
    /// Where the referee is, once it has registered.
    referee: watch::Sender<Option<String>>,
    /// Who waits for the report of which match.
    waiting: Mutex<HashMap<String, oneshot::Sender<()>>>,
}

impl Desk {
    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<String, oneshot::Sender<()>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resident for Desk {
    async fn answer(&self, asked: Asked) -> Option<String> {
        match asked.method.as_str() {
            "register_referee" => {
                self.referee.send_replace(asked.params.referee_meta.map(|meta| meta.contact_endpoint));
                Some(format!(r#"{{"status":"ACCEPTED","referee_id":"REF01","league_id":"{LEAGUE}"}}"#))
            }
            "report_match_result" => {
                if let Some(waits) = self.waiting().remove(&asked.params.match_id) {
                    // Whoever waited may have given up the whole run.
                    let _ = waits.send(());
                }
                Some(String::from(r#"{"status":"ACCEPTED"}"#))
            }
            _ => Some(String::from(r#"{"status":"ok"}"#)),
        }
    }
}

impl Manager {
    pub(crate) fn open() -> io::Result<Self> {
        let listener = door::listen()?;
        let endpoint = format!("http://{}/mcp", listener.local_addr()?);
        let desk = Arc::new(Desk { referee: watch::Sender::new(None), waiting: Mutex::default() });
        door::open(listener, Arc::clone(&desk))?;
        Ok(Self { endpoint, desk, client: Client::default(), world: Environment::real() })
    }

    /// Waits until the referee is in; says where it is.
    pub(crate) async fn referee(&self) -> Result<Endpoint> {
        let mut there = self.desk.referee.subscribe();
        let found = there.wait_for(Option::is_some).await.context("nobody can register any more")?.clone();
        Ok(found.unwrap_or_default().parse()?)
    }

    /// Has one match played, and waits for its report.
    pub(crate) async fn play(
        &self,
        referee: &Endpoint,
        plan: &Plan,
        number: u64,
        players: [(usize, &str); 2],
    ) -> Result<()> {
        let match_id = format!("R1M{number}");
        let (waits, reported) = oneshot::channel();
        self.desk.waiting().insert(match_id.clone(), waits);
        let limit = plan.limit.as_secs_f64();
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
            timestamp: self.world.now(),
            conversation_id: ConversationId::named("conv-load"),
            auth_token: None,
        };
        let call = Call::StartMatch(order);
        let begun = Instant::now();
        loop {
            let taken = self.client.call(referee, &PeerDialect::default(), &envelope, &call, PATIENCE).await?;
            let said = String::from_utf8_lossy(&taken.body);
            if said.contains("ACCEPTED") {
                break;
            }
            // Until it has read that it is in, it takes no orders; nobody tells when it has.
            if !said.contains("E010") || begun.elapsed() > PATIENCE {
                bail!("the referee does not take {match_id}: {said}");
            }
            sleep(BREATH).await;
        }
        reported.await.context("nobody reports any more")
    }
}
