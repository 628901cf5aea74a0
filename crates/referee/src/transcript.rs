//! Transcripts for a manager that has another home.
//!
//! The report carries the SHA-256 of the transcript. The transcript follows in parts after the manager has accepted the
//! report; the referee keeps trying while the manager is unreachable. Undelivered transcripts are in the outbox of its
//! home, and are sent after its next registration.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use league_protocol::answer::{ParsedAnswer, ReplyKind};
use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, LeagueId, MatchId};
use league_protocol::message::start_match::StartMatch;
use league_protocol::message::transcript::{MAX_TRANSCRIPT, MatchTranscript, TranscriptDigest};
use league_protocol::sender::Sender;
use league_protocol::table::Call;
use league_store::views::match_file::MatchFile;
use league_store::{mark, outbox};
use league_wire::peer_client::{OutgoingCall, Peer};
use smol_str::SmolStr;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{sleep, timeout};

use crate::referee::Shared;
use crate::registration::RefereeIdentity;
use crate::report::understood;
use crate::settings::RefereeSettings;

/// The most bytes of transcripts in memory. The referee sends the others from the outbox later.
const MAX_WAITING: usize = 16 * MAX_TRANSCRIPT;

const AT_ONCE: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TranscriptTarget {
    /// The match file is in the manager's home as well.
    InManagersHome,
    /// The manager has another home.
    Send,
    /// The manager accepts no transcripts: only the referee's match file has it.
    Own,
}

#[derive(Clone, Debug)]
pub(crate) struct OwedTranscript {
    league: LeagueId,
    match_id: MatchId,
    attempt: u32,
    pub(crate) digest: TranscriptDigest,
    bytes: Vec<u8>,
    /// Whether it is counted among the transcripts that wait in memory.
    counted: bool,
}

impl OwedTranscript {
    pub(crate) fn of(file: &MatchFile) -> Self {
        let bytes = file.transcript_bytes();
        Self {
            league: file.league_id.clone(),
            match_id: file.match_id.clone(),
            attempt: file.attempt,
            digest: TranscriptDigest::of(&bytes),
            bytes,
            counted: false,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Transcripts {
    waiting: Mutex<Waiting>,
    settled: Notify,
    turns: Semaphore,
    /// The last mark that the referee looked for in the home, and whether it was there.
    mark: Mutex<Option<(SmolStr, bool)>>,
}

impl Default for Transcripts {
    fn default() -> Self {
        let turns = Semaphore::new(AT_ONCE);
        Self { waiting: Mutex::default(), settled: Notify::new(), turns, mark: Mutex::default() }
    }
}

#[derive(Debug, Default)]
struct Waiting {
    count: usize,
    bytes: usize,
    /// Whether the outbox holds transcripts that did not fit into memory.
    more: bool,
}

impl Transcripts {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns false if there is no room.
    fn take_room(&self, bytes: usize) -> bool {
        let mut waiting = self.waiting();
        if waiting.bytes.saturating_add(bytes) > MAX_WAITING {
            waiting.more = true;
            return false;
        }
        (waiting.count, waiting.bytes) = (waiting.count + 1, waiting.bytes + bytes);
        true
    }

    /// Returns true if the outbox has to be read again.
    fn give_room(&self, bytes: usize) -> bool {
        let mut waiting = self.waiting();
        (waiting.count, waiting.bytes) = (waiting.count - 1, waiting.bytes - bytes);
        self.settled.notify_waiters();
        waiting.count == 0 && std::mem::take(&mut waiting.more)
    }

    pub(crate) async fn settled(&self, patience: Duration) {
        let all = async {
            loop {
                let settled = self.settled.notified();
                tokio::pin!(settled);
                settled.as_mut().enable();
                if self.waiting().count == 0 {
                    return;
                }
                settled.await;
            }
        };
        if timeout(patience, all).await.is_err() {
            tracing::warn!("the manager does not have every transcript yet");
        }
    }
}

impl Shared {
    pub(crate) fn transcript_target(&self, order: &StartMatch) -> TranscriptTarget {
        let (Some(mark), Some(league)) = (&order.home_mark, &order.league_id) else { return TranscriptTarget::Own };
        let Some(home) = &self.settings.home else { return TranscriptTarget::Send };
        let mut last = self.transcripts.mark.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = match &*last {
            Some((known, shared)) if known == mark => *shared,
            Some(_) | None => {
                let shared = self.views.is_some() && mark::is_in(home, league, mark);
                *last = Some((mark.clone(), shared));
                shared
            }
        };
        if shared { TranscriptTarget::InManagersHome } else { TranscriptTarget::Send }
    }

    /// Writes the transcript to the outbox before the match is reported. It counts as waiting from here on, because the
    /// manager may end the league before the referee reads the answer to its report.
    pub(crate) async fn owe(&self, owed: &mut OwedTranscript) {
        owed.counted = self.transcripts.take_room(owed.bytes.len());
        let Some(home) = self.settings.home.clone() else { return };
        let (league, match_id) = (owed.league.clone(), owed.match_id.clone());
        let noted = tokio::task::spawn_blocking(move || outbox::add(&home, &league, &match_id)).await;
        if let Ok(Err(error)) = noted {
            tracing::warn!(%error, match_id = %owed.match_id, "a transcript cannot be noted in the outbox");
        }
    }

    async fn settle(&self, owed: &OwedTranscript) {
        let Some(home) = self.settings.home.clone() else { return };
        let (league, match_id) = (owed.league.clone(), owed.match_id.clone());
        let settled = tokio::task::spawn_blocking(move || outbox::remove(&home, &league, &match_id)).await;
        if let Ok(Err(error)) = settled {
            tracing::warn!(%error, match_id = %owed.match_id, "the outbox cannot be cleared");
        }
    }

    /// Delivers the transcript in its own task if the report was accepted.
    pub(crate) async fn deliver_in_background(
        self: &Arc<Self>,
        appointed: RefereeIdentity,
        owed: OwedTranscript,
        reported: bool,
    ) {
        let length = owed.bytes.len();
        if !reported {
            self.settle(&owed).await;
            if owed.counted && self.transcripts.give_room(length) {
                self.send_outbox();
            }
            return;
        }
        if !owed.counted && !self.transcripts.take_room(length) {
            tracing::warn!(match_id = %owed.match_id, "too many transcripts are waiting; this one is sent from the outbox later");
            return;
        }
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            // The semaphore is never closed.
            if let Ok(_turn) = shared.transcripts.turns.acquire().await {
                shared.deliver(&appointed, &owed).await;
            }
            shared.settle(&owed).await;
            if shared.transcripts.give_room(length) {
                shared.send_outbox();
            }
        });
    }

    /// Sends the outbox: after a registration, and when memory is free again.
    pub(crate) fn send_outbox(self: &Arc<Self>) {
        let (Some(home), Some(identity)) = (self.settings.home.clone(), self.identity()) else { return };
        let Some(league) = identity.league.clone() else { return };
        if !home.outbox(&league).exists() {
            return;
        }
        let shared = Arc::clone(self);
        // Counts as waiting, so that the referee does not leave before it has read the outbox.
        let counted = self.transcripts.take_room(0);
        tokio::spawn(async move {
            let files = tokio::task::spawn_blocking(move || outbox::unsent(&home, &league)).await.unwrap_or_default();
            for file in files.into_iter().filter(|file| file.referee_id == identity.id) {
                shared.deliver_in_background(identity.clone(), OwedTranscript::of(&file), true).await;
            }
            if counted && shared.transcripts.give_room(0) {
                shared.send_outbox();
            }
        });
    }

    /// Repeats until the manager accepts or refuses the transcript.
    async fn deliver(self: &Arc<Self>, appointed: &RefereeIdentity, owed: &OwedTranscript) {
        let mut pause = self.settings.pause;
        while let Err(problem) = self.send(appointed, owed).await {
            tracing::info!(match_id = %owed.match_id, trouble = problem, "the transcript is not delivered yet; trying again");
            sleep(pause).await;
            pause = (pause * 2).min(RefereeSettings::MAX_PAUSE.max(self.settings.pause));
        }
    }

    /// Sends all parts once; the caller may retry after an error.
    async fn send(self: &Arc<Self>, appointed: &RefereeIdentity, owed: &OwedTranscript) -> Result<(), String> {
        let lower = owed.match_id.as_str().to_ascii_lowercase();
        let conversation = ConversationId::named(format_args!("conv-{lower}-transcript"));
        for part in MatchTranscript::parts_of(Some(&owed.league), &owed.match_id, owed.attempt, &owed.bytes) {
            let RefereeIdentity { id, token, manager, dialect, .. } = self.identity_since(appointed);
            let sender = Sender::referee(&id);
            let envelope = Envelope { sender, ..self.envelope(Some(conversation.clone()), token.map(Into::into)) };
            let call = Call::StoreTranscript(part);
            let limit = self.settings.answer_limit;
            let message = OutgoingCall { envelope: &envelope, call: &call, body: None, limit, notice: false };
            let peer = Peer { endpoint: &manager, dialect: &dialect, proven: true };
            let mut tries = Vec::new();
            self.peer_client.send(peer, message, &understood, &mut tries).await;
            let last = tries.pop().ok_or_else(|| String::from("there was no time"))?;
            let exchange = last.result.map_err(|error| error.to_string())?;
            let layers = ParsedAnswer::parse(&exchange.body).map_err(|unreadable| unreadable.to_string())?;
            match layers.reply_kind() {
                ReplyKind::NoError if layers.is_complete() => return Ok(()),
                ReplyKind::NoError => {}
                ReplyKind::Error(error) if error.code.as_deref() == Some("E015") || error.is_rate_limit() => {
                    return Err(error.words);
                }
                ReplyKind::Error(error) if error.code.as_deref() == Some("E012") => {
                    self.recheck_token().await;
                    return Err(error.words);
                }
                ReplyKind::Error(error) => {
                    tracing::warn!(match_id = %owed.match_id, words = error.words, "the transcript is not wanted");
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
