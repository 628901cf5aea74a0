//! Players: they join, choose and acknowledge as they should, each in its own time, and now and then one is silent.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::door::{self, Asked, Resident};
use crate::plan::Plan;
use crate::tally::Done;

/// All players, on a thread and a runtime of their own; gone when this is dropped.
pub(crate) struct Crowd {
    pub(crate) endpoints: Vec<String>,
    _leave: oneshot::Sender<()>,
}

/// A player's name by its number, counted from one.
pub(crate) fn name(number: usize) -> String {
    format!("P{number:02}")
}

impl Crowd {
    /// Gathers two players for each match that runs at a time.
    pub(crate) fn gather(plan: &Plan, done: &Arc<Done>) -> io::Result<Self> {
        let listeners = (0..2 * plan.matches).map(|_| door::listen()).collect::<io::Result<Vec<_>>>()?;
        let addresses = listeners.iter().map(|listener| Ok(format!("http://{}/mcp", listener.local_addr()?)));
        let endpoints = addresses.collect::<io::Result<Vec<_>>>()?;
        let (leave, left) = oneshot::channel::<()>();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (plan, done) = (plan.clone(), Arc::clone(done));
        thread::Builder::new().name("crowd".into()).spawn(move || {
            runtime.block_on(async move {
                for (listener, number) in listeners.into_iter().zip(1..) {
                    let player = Player::new(number, plan.clone(), Arc::clone(&done));
                    if let Err(error) = door::open(listener, Arc::new(player)) {
                        eprintln!("a player cannot listen: {error}");
                    }
                }
                drop(left.await);
            });
        })?;
        Ok(Self { endpoints, _leave: leave })
    }
}

struct Player {
    name: String,
    plan: Plan,
    done: Arc<Done>,
    dice: AtomicU64,
    /// Whether it was silent when it was asked last: then it answers.
    was_silent: AtomicBool,
}

impl Player {
    fn new(number: usize, plan: Plan, done: Arc<Done>) -> Self {
        let dice = AtomicU64::new((number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Self { name: name(number), plan, done, dice, was_silent: AtomicBool::new(false) }
    }

    /// A number below `end`, another one each time.
    fn throw(&self, end: u64) -> u64 {
        let step = self.dice.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (step ^ (step >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }

    fn is_silent(&self) -> bool {
        !self.was_silent.load(Ordering::Relaxed) && self.throw(1000) < self.plan.silent
    }
}

impl Resident for Player {
    async fn answer(&self, asked: Asked) -> Option<String> {
        let began = Instant::now();
        let (called, own, is_question) = match asked.method.as_str() {
            "handle_game_invitation" => ("GAME_JOIN_ACK", r#""accept":true"#, true),
            "choose_parity" => {
                let even = self.throw(2) == 0;
                let choice = if even { r#""parity_choice":"even""# } else { r#""parity_choice":"odd""# };
                ("CHOOSE_PARITY_RESPONSE", choice, true)
            }
            "notify_match_result" => ("GAME_OVER_ACK", r#""status":"ok""#, false),
            // News of an error, or whatever else: of no interest here, and not counted.
            _ => return Some(String::from(r#"{"status":"ok"}"#)),
        };
        if is_question {
            let silent = self.is_silent();
            self.was_silent.store(silent, Ordering::Relaxed);
            if silent {
                self.done.silent.up();
                return None;
            }
        }
        let longest = u64::try_from(self.plan.longest().as_micros()).unwrap_or(u64::MAX);
        tokio::time::sleep(Duration::from_micros(self.throw(longest))).await;
        self.done.answered.up();
        if began.elapsed() > self.plan.due() {
            self.done.late.up();
        }
        let (name, match_id, conversation) = (&self.name, &asked.params.match_id, &asked.params.conversation_id);
        Some(format!(
            r#"{{"protocol":"league.v2","message_type":"{called}","sender":"player:{name}","timestamp":"2025-01-15T10:30:00Z","conversation_id":"{conversation}","match_id":"{match_id}","player_id":"{name}",{own}}}"#
        ))
    }
}
