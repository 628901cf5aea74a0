//! What hostile players do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use serde_json::{Value, json};

use crate::hostile::referee::text;
use crate::hostile::tamper::{Adversary, Fate};
use crate::process_id::ProcessId;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PlayerTrick {
    /// Deposits its move and does not answer the referee.
    DepositOnly,
    /// Does not answer the referee, and says that it was not called.
    DenyCalls,
    /// Disputes every attempt with every reason.
    DisputeAll,
    /// Does not answer the referee, and deposits its move after the deadline.
    DepositLate,
    /// Not hostile: a player that does not sign, to show what the signatures are for.
    SignsNothing,
}

impl PlayerTrick {
    pub const ALL: &[Self] = &[Self::DepositOnly, Self::DenyCalls, Self::DisputeAll, Self::DepositLate];
}

/// The pause between two rounds of unasked messages.
const PAUSE: Duration = Duration::from_millis(700);
/// A late deposit waits for so many pauses.
const LATE: u32 = 4;
const LIMIT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct HostilePlayer {
    trick: PlayerTrick,
    token: String,
    id: String,
    /// Attempts that it was invited to.
    seen: Vec<(String, Value)>,
    /// Deposits that it keeps for later, and their age.
    kept: Vec<(Value, u32)>,
    /// The final results that referees told it, by match: the winners.
    pub told: BTreeMap<String, Vec<Option<String>>>,
}

impl HostilePlayer {
    pub fn new(trick: PlayerTrick) -> Self {
        let (token, id, seen, kept) = (String::new(), String::new(), Vec::new(), Vec::new());
        Self { trick, token, id, seen, kept, told: BTreeMap::new() }
    }

    /// Does not answer the calls of referees for moves.
    fn is_silent(&self) -> bool {
        matches!(self.trick, PlayerTrick::DepositOnly | PlayerTrick::DenyCalls | PlayerTrick::DepositLate)
    }

    /// What it tells the manager now, unasked.
    fn unasked(&mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        for (deposit, age) in &mut self.kept {
            *age += 1;
            messages.extend((*age >= LATE).then(|| deposit.clone()));
        }
        if self.trick == PlayerTrick::DisputeAll {
            for (match_id, attempt) in &self.seen {
                for reason in ["other_commitment", "broken_draw", "other_move"] {
                    messages.push(json!({"jsonrpc": "2.0", "id": 1, "method": "dispute_match", "params": {
                        "protocol": "league.v2", "message_type": "MATCH_DISPUTE", "sender": format!("player:{}", self.id),
                        "timestamp": "2026-01-01T00:00:00Z", "conversation_id": "conv-dispute",
                        "auth_token": self.token, "match_id": match_id, "attempt": attempt, "reason": reason}}));
                }
            }
        }
        messages
    }
}

impl Adversary for HostilePlayer {
    fn sends(&mut self, _: ProcessId, request: &mut Value) -> Fate {
        match (text(request, "method").as_str(), self.trick) {
            ("register_player", PlayerTrick::SignsNothing) => {
                request["params"]["player_meta"]["signs_moves"] = json!(false);
                Fate::Pass
            }
            ("deposit_move", PlayerTrick::DepositLate) => {
                self.kept.push((request.clone(), 0));
                Fate::Lose
            }
            ("deposit_move", PlayerTrick::DenyCalls) => Fate::Lose,
            _ => Fate::Pass,
        }
    }

    fn hears(&mut self, from: ProcessId, request: &Value, answer: &mut Value) -> Fate {
        if from == ProcessId::MANAGER && text(request, "method") == "register_player" {
            let result = &answer["result"];
            (self.token, self.id) = (text(result, "auth_token"), text(result, "player_id"));
        }
        Fate::Pass
    }

    fn receives(&mut self, _: ProcessId, request: &mut Value) -> Fate {
        let params = &request["params"];
        match text(request, "method").as_str() {
            "handle_game_invitation" => {
                let about = (text(params, "match_id"), params["attempt"].clone());
                if !self.seen.contains(&about) {
                    self.seen.push(about);
                }
            }
            "notify_match_result" if params["provisional"] != json!(true) => {
                let winner = params["game_result"]["winner_player_id"].as_str().map(str::to_owned);
                self.told.entry(text(params, "match_id")).or_default().push(winner);
            }
            _ => {}
        }
        Fate::Pass
    }

    fn answers(&mut self, _: ProcessId, request: &Value, answer: &mut Value) -> Fate {
        match text(request, "method").as_str() {
            "choose_parity" | "make_move" if self.is_silent() => Fate::Lose,
            "confirm_match" if self.trick == PlayerTrick::DenyCalls => {
                let said = &mut answer["result"];
                (said["called"], said["joined"], said["moves"]) = (json!(false), json!(false), json!(0));
                said["revealed"] = json!(false);
                Fate::Pass
            }
            _ => Fate::Pass,
        }
    }
}

/// Sends what the player has to say unasked, for ever.
pub async fn pester(player: Arc<Mutex<HostilePlayer>>, client: Client, manager: Endpoint) {
    loop {
        tokio::time::sleep(PAUSE).await;
        let messages = player.lock().unwrap_or_else(PoisonError::into_inner).unasked();
        for message in messages {
            // A refusal does not matter.
            drop(client.post(&manager, &HeaderMap::new(), message.to_string().into(), LIMIT).await);
        }
    }
}
