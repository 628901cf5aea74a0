//! Waiting for an answer that may come on two ways: as the answer to the call, or as a post of the player's own.

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

/// The longest wait for a post after a bare acknowledgement, before the question is put in another form.
const LONGEST_HOLD: Duration = Duration::from_secs(1);

/// How long a call goes on whose answer has been posted: its player is about to say so.
const GRACE: Duration = Duration::from_millis(250);

/// How long a doubtful answer waits, once its call has ended, for one that goes before it or contradicts it.
const SETTLING: Duration = Duration::from_millis(250);

/// What was posted while a call is open.
#[derive(Debug, Default)]
pub(crate) struct PostedAnswers {
    /// Whether an answer was posted that counts.
    is: AtomicBool,
    now: Notify,
    held: Mutex<HeldAnswers>,
    granted: AtomicU64,
}

impl PostedAnswers {
    /// An answer that counts was posted.
    pub(crate) fn set(&self) {
        self.is.store(true, Ordering::Release);
        self.now.notify_waiters();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.is.load(Ordering::Acquire)
    }

    /// The answers without a right token.
    pub(crate) fn held(&self) -> MutexGuard<'_, HeldAnswers> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds an answer without a right token.
    pub(crate) fn hold(&self, posted: PostedAnswer, echoes: bool) -> HoldOutcome {
        let hold = self.held().hold(posted, echoes);
        self.now.notify_waiters();
        hold
    }

    /// Waits until an answer was posted that counts, or one without a right token that counts where the call has none.
    async fn wait(&self) {
        loop {
            let now = self.now.notified();
            tokio::pin!(now);
            // Whoever posts between the look and the wait must not be missed.
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

    /// Waits until the call need not go on.
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

    /// Waits for a post as long as there is time.
    pub(crate) async fn within(&self, mut time: Deadline) {
        let (_, granted) = time.within(pin!(self.wait())).await;
        self.granted.fetch_max(u64::try_from(granted.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// How much longer than allowed it was waited for, because the referee itself was late.
    pub(crate) fn granted(&self) -> Duration {
        Duration::from_micros(self.granted.load(Ordering::Relaxed))
    }
}

/// Waits for the answer to one question.
pub(crate) struct AnswerWaiter<'a> {
    pub(crate) asked: AskedQuestion<'a>,
    pub(crate) posted: &'a PostedAnswers,
    /// Whether the player is known to post its answers.
    pub(crate) posts: bool,
    pub(crate) limit: Duration,
    /// The time for the answer, whether it comes with the call or as a post.
    pub(crate) time: Deadline,
}

impl AnswerWaiter<'_> {
    /// Whether the player understood the question, so that no other form is tried. After a bare acknowledgement it waits for a
    /// post first.
    pub(crate) async fn is_understood(&self, read: &AnswerReading) -> bool {
        let is_heard = matches!(read, AnswerReading::Heard);
        if is_heard && !self.posted.is_set() {
            let hold = (self.limit / 4).min(LONGEST_HOLD).min(self.time.left());
            let time = if self.posts { self.time.clone() } else { Deadline::new(hold, None) };
            self.posted.within(time).await;
        }
        // A player that posts has understood, also where what it posted does not count.
        matches!(read, AnswerReading::Said { .. })
            || self.posted.is_set()
            || (is_heard && self.posted.held().shows_understanding())
    }

    /// What the match machine is told of a question, and what was posted meanwhile without a right token. Nothing is told
    /// where a posted answer counts, since the match machine knows that already.
    pub(crate) async fn outcome(
        &self,
        said: SendOutcome,
        read: Option<AnswerReading>,
        tries: &[SendAttempt],
    ) -> (Option<Input>, SendFinding, Vec<TranscriptEntry>) {
        let Self { asked, posted, .. } = *self;
        let (side, call) = (asked.side, asked.call);
        let mut found = SendFinding::from(said);
        let failed = |fault| Input::Failed { side, call, fault };
        let mut words = Vec::new();
        let input = match tries.iter().rfind(|one| !one.is_probe).map(|last| &last.came) {
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
                // The answer may still be posted; the bout then no longer waits for this call.
                AnswerReading::Heard => {
                    posted.within(self.time.clone()).await;
                    (!posted.is_set()).then(|| failed(CallFailure::TimedOut))
                }
            },
        };
        let mut held = posted.held();
        let input = match input {
            // Without an answer on the call itself, one that was posted without a right token counts.
            Some(Input::Failed { fault: fault @ (CallFailure::TimedOut | CallFailure::Unreachable), .. }) => {
                Some(match (held.settle(), held.refused()) {
                    (Some(SettledAnswer::Answer(answer)), _) => {
                        found.quirks = found.quirks.and(answer.quirks);
                        words.push(answer.said);
                        answer.answer.input(side, Some(call))
                    }
                    (Some(SettledAnswer::Contradiction), _) => failed(CallFailure::Refused(PostRefusal::Contradiction)),
                    (None, Some(refusal)) if fault == CallFailure::TimedOut => failed(CallFailure::Refused(refusal)),
                    (None, Some(_) | None) => failed(fault),
                })
            }
            other => other,
        };
        words.extend(held.left_over());
        (input, found, words)
    }
}
