//! A manager as somebody else wrote it: it understands registrations in its own frame, and speaks it to everybody.

mod table;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::diary::Diary;
use crate::door::{Arrived, Door, Place, Resident, Said};
use crate::frame::{Asked, Frame};
use crate::letter::{envelope, text, with};
use crate::mouth::Mouth;
use crate::names::Names;

/// The league of every manager here.
const LEAGUE: &str = "league_of_others";

/// How long a round may take.
const ROUND: Duration = Duration::from_secs(60);

/// A manager that is not there yet.
#[derive(Clone, Debug)]
pub struct Plan {
    frame: Frame,
    players: usize,
    accepts: &'static str,
}

impl Plan {
    /// A manager that speaks like this, and begins once so many players and one referee are there.
    pub fn new(frame: Frame, players: usize) -> Self {
        Self { frame, players, accepts: "REGISTERED" }
    }

    /// The same, with another word for a registration that it accepts.
    pub fn accepts(self, word: &'static str) -> Self {
        Self { accepts: word, ..self }
    }

    /// The manager.
    pub fn serve(self) -> io::Result<Manager> {
        let place = Place::free()?;
        let endpoint = format!("http://{}/mcp", place.address);
        let (leave, leaving) = watch::channel(false);
        let kinds = ["LEAGUE_REGISTER_REQUEST", "REFEREE_REGISTER_REQUEST", "MATCH_RESULT_REPORT", "LEAGUE_QUERY"];
        let shared = Arc::new(Shared {
            names: Names::usual_for(&kinds),
            mouth: Mouth::new(self.frame),
            plan: self,
            diary: Diary::default(),
            state: Mutex::default(),
            changes: watch::Sender::new(0),
            _leave: leave,
        });
        let door = Door::open(place, None, Arc::clone(&shared), leaving)?;
        let conductor = tokio::spawn(Arc::clone(&shared).conduct());
        Ok(Manager { shared, endpoint, conductor, _door: door })
    }
}

/// A manager that is there, until it is dropped.
#[derive(Debug)]
pub struct Manager {
    shared: Arc<Shared>,
    endpoint: String,
    conductor: JoinHandle<()>,
    _door: Door,
}

impl Drop for Manager {
    fn drop(&mut self) {
        self.conductor.abort();
    }
}

impl Manager {
    /// Its endpoint.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// What it heard.
    pub fn diary(&self) -> &Diary {
        &self.shared.diary
    }

    /// The reports that it counted.
    pub fn reports(&self) -> Vec<Value> {
        self.shared.state().reports.clone()
    }

    /// What it was told when it called somebody: the kind of the call, who was called, and the answer.
    pub fn answers(&self) -> Vec<(String, String, Result<Value, String>)> {
        self.shared.state().answers.clone()
    }

    /// Waits until the league is over, for `limit` at most; the final standings, best first.
    pub async fn finished(&self, limit: Duration) -> Option<Value> {
        let over = self.shared.until(|state| state.over.is_some());
        tokio::time::timeout(limit, over).await.ok()?;
        self.shared.state().over.clone()
    }
}

#[derive(Debug, Default)]
struct State {
    /// Ids and endpoints, in the order of registration.
    players: Vec<(String, String)>,
    referees: Vec<(String, String)>,
    reports: Vec<Value>,
    answers: Vec<(String, String, Result<Value, String>)>,
    over: Option<Value>,
}

#[derive(Debug)]
struct Shared {
    plan: Plan,
    names: Names,
    mouth: Mouth,
    diary: Diary,
    state: Mutex<State>,
    /// Counts what has happened.
    changes: watch::Sender<usize>,
    /// Held so that the door stays open.
    _leave: watch::Sender<bool>,
}

impl Resident for Shared {
    fn diary(&self) -> &Diary {
        &self.diary
    }

    async fn answer(&self, arrived: Arrived) -> Said {
        let (frame, body) = (self.plan.frame, &arrived.body);
        match frame.read(body, &self.names) {
            Ok(asked) => {
                let answer = frame.answer(&asked.id, &self.taken(&asked));
                self.changes.send_modify(|changes| *changes += 1);
                Said::json(200, &answer).about(&asked.kind, &asked.message)
            }
            Err(refusal) => {
                let (status, answer) = frame.refuse(&body.get("id").cloned().unwrap_or_default(), &refusal);
                Said::json(status, &answer).refusing(refusal.text)
            }
        }
    }
}

/// The same endpoint is the same agent; a new one gets the next number.
fn place(agents: &mut Vec<(String, String)>, prefix: &str, endpoint: &str) -> String {
    if let Some((id, _)) = agents.iter().find(|(_, known)| known == endpoint) {
        return id.clone();
    }
    let id = format!("{prefix}{:02}", agents.len() + 1);
    agents.push((id.clone(), endpoint.to_owned()));
    id
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the state is like this.
    async fn until(&self, enough: impl Fn(&State) -> bool) {
        let mut changes = self.changes.subscribe();
        while !enough(&self.state()) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    fn letter(kind: &str, conversation: &str) -> Value {
        with(envelope(kind, "league_manager", conversation), json!({ "league_id": LEAGUE }))
    }

    fn taken(&self, Asked { kind, message, .. }: &Asked) -> Value {
        let mut state = self.state();
        let conversation = text(message, "conversation_id");
        let admit = |answer: &str, field: &str, id: &str| {
            let own =
                json!({"status": self.plan.accepts, field: id, "auth_token": format!("tok-{id}-x"), "reason": null});
            with(Self::letter(answer, conversation), own)
        };
        match kind.as_str() {
            "LEAGUE_REGISTER_REQUEST" => {
                let id = place(&mut state.players, "P", text(&message["player_meta"], "contact_endpoint"));
                admit("LEAGUE_REGISTER_RESPONSE", "player_id", &id)
            }
            "REFEREE_REGISTER_REQUEST" => {
                let id = place(&mut state.referees, "REF", text(&message["referee_meta"], "contact_endpoint"));
                admit("REFEREE_REGISTER_RESPONSE", "referee_id", &id)
            }
            "MATCH_RESULT_REPORT" => {
                let known = state.reports.iter().any(|report| text(report, "match_id") == text(message, "match_id"));
                if !known {
                    state.reports.push(message.clone());
                }
                json!({"status": "ok"})
            }
            _ => {
                let standings = table::standings(&state.players, &state.reports);
                let own = json!({"query_type": message.get("query_type"), "success": true, "standings": standings});
                with(Self::letter("LEAGUE_QUERY_RESPONSE", conversation), own)
            }
        }
    }

    /// Calls somebody and keeps what came back.
    async fn tell(&self, (id, endpoint): &(String, String), kind: &str, own: Value) {
        let message = with(Self::letter(kind, &format!("conv-{}", kind.to_lowercase())), own);
        let answer = self.mouth.call(endpoint, kind, &message).await;
        self.state().answers.push((kind.to_owned(), id.clone(), answer));
    }

    /// The league, from the first registration to the last word.
    async fn conduct(self: Arc<Self>) {
        let wanted = self.plan.players;
        self.until(|state| state.players.len() >= wanted && !state.referees.is_empty()).await;
        let (players, referees) = {
            let state = self.state();
            (state.players.clone(), state.referees.clone())
        };
        let standings = || table::standings(&players, &self.state().reports);
        let mut played = 0;
        for (round, pairs) in (1..).zip(table::rounds(players.len())) {
            let matches: Vec<Value> = (1..)
                .zip(&pairs)
                .map(|(number, (a, b))| {
                    let (a, b) = (&players[*a], &players[*b]);
                    json!({"match_id": format!("R{round}M{number}"), "game_type": "even_odd", "player_A_id": a.0,
                        "player_B_id": b.0, "player_A_endpoint": a.1, "player_B_endpoint": b.1,
                        "referee_endpoint": referees[0].1})
                })
                .collect();
            for agent in players.iter().chain(&referees) {
                self.tell(agent, "ROUND_ANNOUNCEMENT", json!({"round_id": round, "matches": matches})).await;
            }
            for game in &matches {
                self.tell(&referees[0], "START_MATCH", with(game.clone(), json!({ "round_id": round }))).await;
            }
            played += matches.len();
            let all = self.until(|state| state.reports.len() >= played);
            if tokio::time::timeout(ROUND, all).await.is_err() {
                return;
            }
            for player in &players {
                self.tell(player, "LEAGUE_STANDINGS_UPDATE", json!({"round_id": round, "standings": standings()}))
                    .await;
                self.tell(player, "ROUND_COMPLETED", json!({"round_id": round, "matches_played": pairs.len()})).await;
            }
        }
        let end = standings();
        for agent in players.iter().chain(&referees) {
            let champion = json!({"player_id": end[0]["player_id"], "points": end[0]["points"]});
            self.tell(agent, "LEAGUE_COMPLETED", json!({"champion": champion, "final_standings": end})).await;
        }
        self.state().over = Some(end);
        self.changes.send_modify(|changes| *changes += 1);
    }
}
