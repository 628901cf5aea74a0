//! A referee that pulls: it asks its manager for matches, because the manager cannot call it.
//!
//! Each poll says which matches the referee has. Whatever else the manager has assigned to it comes again, so a lost answer loses
//! nothing. The manager takes the referee's matches away when the polls stay away.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use league_protocol::answer::{ParsedAnswer, ReplyKind};
use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, PlayerId};
use league_protocol::message::next_match::{Attempts, NextMatch, NextMatchAnswer, NextStep};
use league_protocol::message::start_match::StartMatch;
use league_protocol::sender::Sender;
use league_protocol::table::Call;
use league_store::journal::JournalLevel;
use serde::Deserialize;
use tokio::sync::{Notify, oneshot};
use tokio::time::{sleep, timeout};

use crate::match_runner::MatchInput;
use crate::orders::MatchPurpose;
use crate::referee::Shared;
use crate::registration::RefereeIdentity;

/// The manager answers after ten seconds at most; the network may take the rest.
const POLL_LIMIT: Duration = Duration::from_secs(15);

/// The manager takes the matches away after six seconds without a poll.
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// How long a referee that has to exit waits for the answer to its last polls.
const LEAVE_LIMIT: Duration = Duration::from_secs(1);

/// Moves that are on their way arrive within this time. A match that goes back after a player has moved is an alert.
const LAST_MOVES: Duration = Duration::from_millis(250);

/// Matches that go back to the manager with the next poll.
#[derive(Debug, Default)]
pub(crate) struct PulledMatches {
    returned: Mutex<Returned>,
    /// Notified when a match is to be given back: the open poll ends, and the next one says so.
    changed: Notify,
}

#[derive(Clone, Debug, Default)]
struct Returned {
    attempts: Attempts,
    /// Players that would post their answers.
    posting: Vec<PlayerId>,
}

impl PulledMatches {
    fn returned(&self) -> MutexGuard<'_, Returned> {
        self.returned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `posting` is the player that cannot post its answers to this referee.
    pub(crate) fn give_back(&self, order: &StartMatch, posting: Option<PlayerId>) {
        let mut returned = self.returned();
        returned.attempts.insert(order.match_id.clone(), order.attempt);
        returned.posting.extend(posting);
        drop(returned);
        self.changed.notify_one();
    }

    /// The manager has taken these back.
    fn settle(&self, taken: &Returned) {
        let mut returned = self.returned();
        returned.attempts.retain(|match_id, attempt| taken.attempts.get(match_id) != Some(attempt));
        returned.posting.retain(|player| !taken.posting.contains(player));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PollKind {
    Next,
    /// Takes no more matches, and ends those that it has.
    Closing,
    /// The referee ends.
    Gone,
}

enum PollError {
    /// The manager does not know this referee any more, or has given its matches to others.
    Unregistered(String),
    Unanswered(String),
}

#[derive(Deserialize)]
struct Answer {
    result: NextMatchAnswer,
}

#[derive(Deserialize)]
struct ReportAnswer {
    result: NextOfReport,
}

#[derive(Deserialize)]
struct NextOfReport {
    #[serde(default)]
    next_match: Option<Box<StartMatch>>,
}

impl Shared {
    /// Takes matches until the league is over, or the manager rejects the referee.
    pub(crate) async fn pull(self: &Arc<Self>) {
        let mut pause = self.settings.pause;
        loop {
            // The next poll says all that was to be given back before, so an earlier notification must not end it.
            let _earlier = self.pulled.changed.notified().now_or_never();
            let polled = tokio::select! {
                biased;
                polled = self.poll(PollKind::Next, POLL_LIMIT) => polled,
                () = self.pulled.changed.notified() => continue,
            };
            match polled {
                Ok(NextMatchAnswer { status: NextStep::Over, .. }) => break,
                Ok(NextMatchAnswer { start_match, .. }) => {
                    pause = self.settings.pause;
                    if let Some(order) = start_match {
                        self.take(&order);
                    }
                }
                Err(PollError::Unregistered(words)) => {
                    tracing::warn!(words, "the manager gave the matches of this referee to others; it registers again");
                    let Some(identity) = self.identity() else { return };
                    if let Err(rejected) = self.register(&identity.manager).await {
                        tracing::warn!(%rejected, "the manager does not accept this referee again");
                        self.note(JournalLevel::Error, "REGISTRATION_REJECTED", || rejected.to_string());
                        return;
                    }
                }
                Err(PollError::Unanswered(problem)) => {
                    tracing::info!(problem, "the manager does not answer the poll; trying again");
                    self.note(JournalLevel::Warn, "POLL_RETRIED", || format!("asked for a match again: {problem}"));
                    sleep(pause).await;
                    pause = (pause * 2).min(MAX_PAUSE.max(self.settings.pause));
                }
            }
        }
        // The manager waits until this referee leaves.
        self.leave_manager().await;
    }

    /// The answer to a report may bring the next match.
    pub(crate) fn take_from_report(self: &Arc<Self>, body: &[u8]) {
        if !self.settings.pulls {
            return;
        }
        if let Ok(ReportAnswer { result: NextOfReport { next_match: Some(order) } }) = serde_json::from_slice(body) {
            self.take(&order);
        }
    }

    /// Plays the match, or gives it back with the next poll.
    fn take(self: &Arc<Self>, order: &StartMatch) {
        let (match_id, attempt) = (order.match_id.clone(), order.attempt);
        let problem = match self.start(order.clone(), MatchPurpose::League) {
            // An attempt that has ended here without a result that counts cannot be played again.
            Ok(answer) if answer.status == "ACCEPTED" && self.holding().get(&match_id) == Some(&attempt) => return,
            Ok(answer) => answer.reason.map_or_else(|| String::from("it was played here"), String::from),
            Err(fault) => fault.to_string(),
        };
        tracing::info!(%match_id, problem, "the match goes back to the manager");
        self.pulled.give_back(order, None);
    }

    /// The attempts of the league that this referee has.
    fn holding(&self) -> Attempts {
        let matches = self.matches();
        let of_league = matches.running.iter().filter(|(_, running)| running.purpose == MatchPurpose::League);
        of_league.map(|(match_id, running)| (match_id.clone(), running.attempt)).collect()
    }

    async fn poll(self: &Arc<Self>, kind: PollKind, limit: Duration) -> Result<NextMatchAnswer, PollError> {
        let Some(RefereeIdentity { id, token, manager, dialect, league, .. }) = self.identity() else {
            return Err(PollError::Unregistered(String::from("this referee is not registered")));
        };
        let returned = self.pulled.returned().clone();
        let sender = Sender::referee(&id);
        let conversation = ConversationId::named("conv-next-match");
        let envelope = Envelope { sender, ..self.envelope(Some(conversation), token.map(Into::into)) };
        let call = Call::NextMatch(NextMatch {
            league_id: league,
            holding: if kind == PollKind::Gone { Attempts::new() } else { self.holding() },
            returned: returned.attempts.clone(),
            posting: returned.posting.clone(),
            leaving: kind != PollKind::Next,
        });
        let client = self.peer_client.client();
        let asked = client.call(&manager, &dialect, &envelope, &call, limit).await;
        let exchange = asked.map_err(|error| PollError::Unanswered(error.to_string()))?;
        let error = match ParsedAnswer::parse(&exchange.body).map(|layers| layers.reply_kind()) {
            Ok(ReplyKind::NoError) => None,
            Ok(ReplyKind::Error(error)) => Some(error),
            Err(unreadable) => return Err(PollError::Unanswered(unreadable.to_string())),
        };
        if let Some(error) = error {
            return Err(match error.code.as_deref() {
                Some("E012" | "E013") => PollError::Unregistered(error.words),
                _ => PollError::Unanswered(error.words),
            });
        }
        let answer = serde_json::from_slice::<Answer>(&exchange.body);
        let answer = answer.map_err(|unreadable| PollError::Unanswered(unreadable.to_string()))?;
        self.pulled.settle(&returned);
        Ok(answer.result)
    }

    /// Gives back the matches in which no player has moved; the others may end. Returns how many.
    pub(crate) async fn give_back_unmoved(self: &Arc<Self>) -> usize {
        if !self.holding().is_empty() {
            sleep(LAST_MOVES).await;
        }
        let running: Vec<_> = {
            let matches = self.matches();
            let open = matches.running.values().filter(|running| !running.is_decided);
            let of_league = open.filter(|running| running.purpose == MatchPurpose::League);
            of_league.map(|running| (running.posts.clone(), Arc::clone(&running.order))).collect()
        };
        let mut given_back = 0;
        for (posts, order) in running {
            let (reply, given) = oneshot::channel();
            // A match that takes no message has just ended.
            if posts.send(MatchInput::GiveBack(reply)).await.is_ok() && given.await.unwrap_or(false) {
                self.pulled.give_back(&order, None);
                given_back += 1;
            }
        }
        let mut over = self.over.subscribe();
        let is_left = |order: &Attempts| self.holding().iter().any(|(id, attempt)| order.get(id) == Some(attempt));
        let returned = self.pulled.returned().attempts.clone();
        // Their tasks end at once.
        drop(timeout(LEAVE_LIMIT, over.wait_for(|_| !is_left(&returned))).await);
        self.announce_leaving(PollKind::Closing).await;
        given_back
    }

    /// Tells the manager that this referee ends; its matches go to others.
    pub(crate) async fn leave_manager(self: &Arc<Self>) {
        self.announce_leaving(PollKind::Gone).await;
    }

    async fn announce_leaving(self: &Arc<Self>, kind: PollKind) {
        if let Err(PollError::Unanswered(problem) | PollError::Unregistered(problem)) =
            self.poll(kind, LEAVE_LIMIT).await
        {
            tracing::info!(problem, "the manager does not hear that this referee leaves");
        }
    }
}
