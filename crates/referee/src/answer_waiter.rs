//! Waits for an answer that arrives in one of two ways: as the answer to the call, or in a post by the player.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use league_core::game_match::input::{CallFailure, Input};
use league_core::game_match::refusal::PostRefusal;
use league_store::views::match_file::TranscriptEntry;
use league_wire::peer_client::{SendAttempt, SendOutcome};
use league_wire::runtime_lag::Deadline;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::answer::{AnswerReading, AskedQuestion};
use crate::held_answers::{HeldAnswers, HoldOutcome, SettledAnswer};
use crate::match_runner::SendFinding;
use crate::posted_answer::PostedAnswer;

/// The longest wait for a post after a bare acknowledgement; then the referee asks in another frame.
const LONGEST_HOLD: Duration = Duration::from_secs(1);

/// How long a call continues after its answer was posted: the player is about to finish it.
const GRACE: Duration = Duration::from_millis(250);

/// How long a doubtful answer waits after its call has ended, for one that outranks or contradicts it.
const SETTLING: Duration = Duration::from_millis(250);

#[derive(Debug, Default)]
pub(crate) struct PostedAnswers {
    is: AtomicBool,
    now: Notify,
    held: Mutex<HeldAnswers>,
    granted: AtomicU64,
    /// Whether the player has merely acknowledged the question, in any frame.
    acknowledged: AtomicBool,
}

impl PostedAnswers {
    pub(crate) fn set(&self) {
        self.is.store(true, Ordering::Release);
        self.now.notify_waiters();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.is.load(Ordering::Acquire)
    }

    /// The answers without a valid token.
    pub(crate) fn held(&self) -> MutexGuard<'_, HeldAnswers> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn hold(&self, posted: PostedAnswer, echoes: bool) -> HoldOutcome {
        let hold = self.held().hold(posted, echoes);
        self.now.notify_waiters();
        hold
    }

    /// Waits for a post that counts, or for one without a valid token that counts if the call has no answer.
    async fn wait(&self) {
        loop {
            let now = self.now.notified();
            tokio::pin!(now);
            // Registers before the check below, so that a post between check and wait is not missed.
            now.as_mut().enable();
            let (has_echoing, has_any) = {
                let held = self.held();
                (held.has_echoing(), held.has_any())
            };
            if self.is_set() || has_echoing {
                return;
            }
            if has_any {
                tokio::select! {
                    () = now => {}
                    () = sleep(SETTLING) => return,
                }
            } else {
                now.await;
            }
        }
    }

    pub(crate) async fn over(&self) {
        loop {
            let now = self.now.notified();
            tokio::pin!(now);
            now.as_mut().enable();
            if self.is_set() {
                break;
            }
            now.await;
        }
        sleep(GRACE).await;
    }

    pub(crate) async fn within(&self, mut time: Deadline) {
        let (_, granted) = time.within(pin!(self.wait())).await;
        self.granted.fetch_max(u64::try_from(granted.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// The extra time that the player got because the referee itself was late.
    pub(crate) fn granted(&self) -> Duration {
        Duration::from_micros(self.granted.load(Ordering::Relaxed))
    }
}

pub(crate) struct AnswerWaiter<'a> {
    pub(crate) asked: AskedQuestion<'a>,
    pub(crate) posted: &'a PostedAnswers,
    pub(crate) posts: bool,
    /// Whether a post can arrive here.
    pub(crate) is_reached: bool,
    pub(crate) limit: Duration,
    /// Covers both ways of answering.
    pub(crate) time: Deadline,
}

impl AnswerWaiter<'_> {
    /// Whether the player understood the question, so that the referee tries no other frame. After a bare
    /// acknowledgement it first waits for a post.
    pub(crate) async fn is_understood(&self, read: &AnswerReading) -> bool {
        let is_heard = matches!(read, AnswerReading::Heard);
        self.posted.acknowledged.fetch_or(is_heard, Ordering::Relaxed);
        if is_heard && self.is_reached && !self.posted.is_set() {
            let hold = (self.limit / 4).min(LONGEST_HOLD).min(self.time.left());
            let time = if self.posts { self.time.clone() } else { Deadline::new(hold, None) };
            self.posted.within(time).await;
        }
        // A player that posts has understood the question, even if the post does not count.
        matches!(read, AnswerReading::Said { .. })
            || self.posted.is_set()
            || (is_heard && self.posted.held().shows_understanding())
    }

    /// The input for the match machine, and the posts without a valid token. There is no input if a posted answer
    /// counts: the match machine already has it.
    pub(crate) async fn outcome(
        &self,
        sent: SendOutcome,
        read: Option<AnswerReading>,
        tries: &[SendAttempt],
    ) -> (Option<Input>, SendFinding, Vec<TranscriptEntry>) {
        let Self { asked, posted, .. } = *self;
        let (side, call) = (asked.side, asked.call);
        let mut found = SendFinding::from(sent);
        let failed = |fault| Input::Failed { side, call, fault };
        let mut entries = Vec::new();
        let input = match tries.iter().rfind(|attempt| !attempt.is_probe).map(|last| &last.result) {
            _ if posted.is_set() => None,
            None => Some(failed(CallFailure::TimedOut)),
            Some(Err(error)) => Some(asked.failed(error)),
            Some(Ok(exchange)) => match read.unwrap_or_else(|| asked.understand(exchange)) {
                AnswerReading::Said { input, quirks, shows_token } => {
                    (found.proven, found.shows_token) = (true, shows_token);
                    found.quirks = found.quirks.and(quirks);
                    Some(input)
                }
                AnswerReading::Unclear => Some(failed(CallFailure::Unreadable)),
                AnswerReading::Heard if !self.is_reached => Some(failed(CallFailure::TimedOut)),
                // The answer may still be posted; the match machine then no longer waits for this call.
                AnswerReading::Heard => {
                    posted.within(self.time.clone()).await;
                    (!posted.is_set()).then(|| failed(CallFailure::TimedOut))
                }
            },
        };
        found.post_cannot_arrive = !self.is_reached
            && matches!(input, Some(Input::Failed { .. }))
            && posted.acknowledged.load(Ordering::Relaxed);
        let mut held = posted.held();
        let input = match input {
            // If the call brings no answer, a post without a valid token counts.
            Some(Input::Failed { fault: fault @ (CallFailure::TimedOut | CallFailure::Unreachable), .. }) => {
                Some(match (held.settle(), held.refused()) {
                    (Some(SettledAnswer::Answer(answer)), _) => {
                        found.quirks = found.quirks.and(answer.quirks);
                        let (input, said) = answer.split(Some(call));
                        entries.push(said);
                        input
                    }
                    (Some(SettledAnswer::Contradiction), _) => failed(CallFailure::Refused(PostRefusal::Contradiction)),
                    (None, Some(refusal)) if fault == CallFailure::TimedOut => failed(CallFailure::Refused(refusal)),
                    (None, Some(_) | None) => failed(fault),
                })
            }
            other => other,
        };
        entries.extend(held.left_over());
        (input, found, entries)
    }
}
