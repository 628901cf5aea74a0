//! Transcripts for a manager that has another home.
//!
//! The referee sends the transcript in parts, and then the report, which carries its SHA-256. It repeats both until the
//! manager answers the report, so a result that counts has its transcript.

use std::sync::{Arc, Mutex, PoisonError};

use league_protocol::answer::{ParsedAnswer, ReplyKind};
use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, LeagueId, MatchId};
use league_protocol::message::start_match::StartMatch;
use league_protocol::message::transcript::{MatchTranscript, TranscriptDigest};
use league_protocol::sender::Sender;
use league_protocol::table::Call;
use league_store::mark;
use league_store::views::match_file::MatchFile;
use league_wire::peer_client::{OutgoingCall, Peer};
use smol_str::SmolStr;

use crate::referee::Shared;
use crate::registration::RefereeIdentity;
use crate::report::understood;

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
        }
    }
}

/// The last mark that the referee looked for in its home, and whether it was there.
#[derive(Debug, Default)]
pub(crate) struct LastMark(Mutex<Option<(SmolStr, bool)>>);

impl Shared {
    pub(crate) fn transcript_target(&self, order: &StartMatch) -> TranscriptTarget {
        let (Some(mark), Some(league)) = (&order.home_mark, &order.league_id) else { return TranscriptTarget::Own };
        let Some(home) = &self.settings.home else { return TranscriptTarget::Send };
        let mut last = self.last_mark.0.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Sends all parts once. An error says why it may succeed later; a refusal is none, because the manager refuses the
    /// report for the same reason.
    pub(crate) async fn send_transcript(
        self: &Arc<Self>,
        appointed: &RefereeIdentity,
        owed: &OwedTranscript,
    ) -> Result<(), String> {
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
                ReplyKind::Error(error) => {
                    tracing::warn!(match_id = %owed.match_id, words = error.words, "the transcript is not wanted");
                    return Ok(());
                }
            }
        }
        Err(String::from("the manager does not have every part of the transcript"))
    }
}
