//! Players that join, choose and acknowledge after random times; now and then one is silent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{io, thread};

use league_test_agents::http_server::{HttpReply, HttpRequest, ReservedPort};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Options;

#[derive(Debug, Default)]
pub(crate) struct Answers {
    late: AtomicU64,
    silent: AtomicU64,
}

impl Answers {
    /// Calls for which this program was late: they prove nothing.
    pub(crate) fn late(&self) -> u64 {
        self.late.load(Ordering::Relaxed)
    }

    pub(crate) fn silent(&self) -> u64 {
        self.silent.load(Ordering::Relaxed)
    }
}

/// On a separate thread; stops when dropped.
pub(crate) struct Players {
    pub(crate) endpoints: Vec<String>,
    _end: oneshot::Sender<()>,
}

pub(crate) fn name(number: usize) -> String {
    format!("P{number:02}")
}

impl Players {
    pub(crate) fn start(options: &Options, answers: &Arc<Answers>) -> io::Result<Self> {
        let ports = (0..2 * options.matches).map(|_| ReservedPort::free()).collect::<io::Result<Vec<_>>>()?;
        let endpoints = ports.iter().map(|port| format!("http://{}/mcp", port.address)).collect();
        let (end, ended) = oneshot::channel::<()>();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (limit, silent, answers) = (options.limit(), options.silent, Arc::clone(answers));
        thread::Builder::new().name("players".into()).spawn(move || {
            runtime.block_on(async move {
                let serve = |(port, number): (ReservedPort, usize)| {
                    let player = Arc::new(Player::new(number, limit, silent, Arc::clone(&answers)));
                    port.serve(move |request| {
                        let player = Arc::clone(&player);
                        async move { player.answer(&request).await }
                    })
                };
                let servers: io::Result<Vec<_>> = ports.into_iter().zip(1..).map(serve).collect();
                if let Err(error) = &servers {
                    eprintln!("a player cannot listen: {error}");
                }
                drop(ended.await);
            });
        })?;
        Ok(Self { endpoints, _end: end })
    }
}

struct Player {
    name: String,
    limit: Duration,
    /// Per thousand questions.
    silent: u64,
    answers: Arc<Answers>,
    random: AtomicU64,
    /// A player that was silent answers the next question.
    was_silent: AtomicBool,
}

impl Player {
    fn new(number: usize, limit: Duration, silent: u64, answers: Arc<Answers>) -> Self {
        let random = AtomicU64::new((number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Self { name: name(number), limit, silent, answers, random, was_silent: AtomicBool::new(false) }
    }

    fn random(&self, end: u64) -> u64 {
        let step = self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (step ^ (step >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }

    async fn answer(&self, request: &HttpRequest) -> HttpReply {
        let began = Instant::now();
        let body = request.json();
        let (message_type, own, is_question) = match body["method"].as_str().unwrap_or_default() {
            "handle_game_invitation" => ("GAME_JOIN_ACK", json!({"accept": true}), true),
            "choose_parity" => {
                let choice = if self.random(2) == 0 { "even" } else { "odd" };
                ("CHOOSE_PARITY_RESPONSE", json!({"parity_choice": choice}), true)
            }
            "notify_match_result" => ("GAME_OVER_ACK", json!({"status": "ok"}), false),
            _ => return HttpReply::result(&body, &json!({"status": "ok"})),
        };
        if is_question {
            let silent = !self.was_silent.load(Ordering::Relaxed) && self.random(1000) < self.silent;
            self.was_silent.store(silent, Ordering::Relaxed);
            if silent {
                self.answers.silent.fetch_add(1, Ordering::Relaxed);
                return std::future::pending().await;
            }
        }
        let longest = u64::try_from((self.limit * 3 / 4).as_micros()).unwrap_or(u64::MAX);
        tokio::time::sleep(Duration::from_micros(self.random(longest))).await;
        if began.elapsed() > self.limit * 4 / 5 {
            self.answers.late.fetch_add(1, Ordering::Relaxed);
        }
        HttpReply::result(&body, &self.message(message_type, &body["params"], own))
    }

    fn message(&self, message_type: &str, asked: &Value, own: Value) -> Value {
        let mut message = json!({
            "protocol": "league.v2", "message_type": message_type, "sender": format!("player:{}", self.name),
            "timestamp": "2025-01-15T10:30:00Z", "conversation_id": asked["conversation_id"],
            "match_id": asked["match_id"], "player_id": self.name,
        });
        if let (Some(fields), Value::Object(own)) = (message.as_object_mut(), own) {
            fields.extend(own);
        }
        message
    }
}
