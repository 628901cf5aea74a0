//! Transcripts of referees with another home: received in parts, checked against their hash, then written.
//!
//! A referee sends the transcript before its report, and the manager writes it into a match file without a result. The
//! report completes this file before it is answered. So a result that counts has its transcript, also if the referee or
//! the manager is killed in between. Referees of earlier versions send the transcript after the report.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use league_core::season::TranscriptDue;
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{MatchId, RefereeId};
use league_protocol::message::transcript::{
    MAX_PARTS, MAX_TRANSCRIPT, MatchTranscript, TranscriptAck, TranscriptDigest,
};
use league_protocol::table::Method;
use league_store::views::find_match::MatchFinder;
use league_store::views::match_file::{MatchContext, MatchFile, TranscriptEntry};
use league_store::views::writer::{ViewError, ViewUpdate};
use smol_str::SmolStr;

use crate::access::ShownToken;
use crate::manager::Shared;

const METHOD: Method = Method::StoreTranscript;

/// Bytes of incomplete transcripts; the oldest are dropped first.
const MAX_WAITING: usize = 8 * MAX_TRANSCRIPT;

/// Complete transcripts of one attempt before its report. A referee needs one: it repeats the same transcript.
const MAX_TRANSCRIPTS: usize = 3;

/// Match files that wait in memory for their transcript.
const MAX_REMEMBERED: usize = 4096;

#[derive(Debug, Default)]
pub(crate) struct Transcripts {
    state: Mutex<State>,
    finder: Arc<Mutex<MatchFinder>>,
}

#[derive(Debug, Default)]
struct State {
    reported: HashMap<MatchId, MatchFile>,
    partial: HashMap<(RefereeId, MatchId), Partial>,
    /// The transcripts that came before the report, of the newest attempt of each match.
    unreported: HashMap<MatchId, (u32, Vec<TranscriptDigest>)>,
    /// Numbers the transcripts, so that the oldest is known.
    begun: u64,
}

#[derive(Debug)]
struct Partial {
    begun: u64,
    parts: u32,
    received: u32,
    bytes: Vec<u8>,
}

impl Transcripts {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn remember(&self, file: &MatchFile) {
        let mut state = self.state();
        state.unreported.remove(&file.match_id);
        let is_owed = file.transcript_sha256.is_some() && file.transcript.is_empty();
        if is_owed && state.reported.len() < MAX_REMEMBERED {
            state.reported.insert(file.match_id.clone(), file.clone());
        }
    }
}

impl State {
    /// Returns the whole transcript after its last part, otherwise the number of parts received.
    fn add(&mut self, referee: RefereeId, part: &MatchTranscript, bytes: &[u8]) -> Result<Vec<u8>, u32> {
        let key = (referee, part.match_id.clone());
        if part.part == 1 {
            self.begun += 1;
            let begun = self.begun;
            self.partial.insert(key.clone(), Partial { begun, parts: part.parts, received: 0, bytes: Vec::new() });
        }
        let Some(partial) = self.partial.get_mut(&key) else { return Err(0) };
        if partial.parts != part.parts || partial.received + 1 != part.part {
            return Err(partial.received);
        }
        partial.received += 1;
        partial.bytes.extend_from_slice(bytes);
        let received = partial.received;
        if received == part.parts {
            return Ok(self.partial.remove(&key).map(|partial| partial.bytes).unwrap_or_default());
        }
        self.make_room(&key);
        Err(received)
    }

    /// Returns false if the attempt has too many others.
    fn admit(&mut self, match_id: &MatchId, attempt: u32, digest: TranscriptDigest) -> bool {
        let known = self.unreported.entry(match_id.clone()).or_default();
        if known.0 != attempt {
            *known = (attempt, Vec::new());
        }
        if !known.1.contains(&digest) {
            if known.1.len() >= MAX_TRANSCRIPTS {
                return false;
            }
            known.1.push(digest);
        }
        true
    }

    fn make_room(&mut self, kept: &(RefereeId, MatchId)) {
        while self.partial.values().map(|partial| partial.bytes.len()).sum::<usize>() > MAX_WAITING {
            let others = self.partial.iter().filter(|(key, _)| *key != kept);
            let Some(oldest) = others.min_by_key(|(_, partial)| partial.begun).map(|(key, _)| key.clone()) else {
                return;
            };
            self.partial.remove(&oldest);
        }
    }
}

impl Shared {
    pub(crate) async fn store_transcript(
        &self,
        head: &ReceivedEnvelope,
        part: MatchTranscript,
    ) -> Result<TranscriptAck, RequestError> {
        let (shown, match_id) = (ShownToken::of(head, METHOD)?, part.match_id.clone());
        let due = self.league_handle.read(move |season, now| {
            let (referee, _) = shown.referee(season, now)?;
            let due = season.transcript_due(&referee, &match_id)?;
            let context = match due {
                TranscriptDue::BeforeReport { attempt } => MatchContext::of(season, &referee, (&match_id, attempt)),
                TranscriptDue::Reported { .. } => None,
            };
            Ok((referee, due, context))
        });
        let (referee, due, context) = due.await??;
        let (attempt, digest) = match due {
            TranscriptDue::BeforeReport { attempt } => (attempt, part.sha256),
            TranscriptDue::Reported { attempt, digest } => (attempt, digest),
        };
        let refused = |message: String, field: &str| RequestError::new(ErrorCode::E002, METHOD, message).about(field);
        if part.attempt != attempt {
            return Err(refused(format!("attempt {attempt} counts; send its transcript"), "attempt"));
        }
        if part.sha256 != digest {
            return Err(refused(format!("the report named {digest}; send the transcript with that hash"), "sha256"));
        }
        if part.part == 0 || part.part > part.parts || part.parts > MAX_PARTS {
            return Err(refused(format!("parts are numbered from 1 to `parts`, at most {MAX_PARTS}"), "part"));
        }
        let bytes = part.bytes().ok_or_else(|| {
            refused(String::from("data is not Base64, or too long; send 46080 bytes at most in each part"), "data")
        })?;
        let acknowledged = |received, complete| TranscriptAck {
            status: SmolStr::new_static("ACCEPTED"),
            match_id: part.match_id.clone(),
            received,
            complete,
        };
        if part.part == 1 && self.has_transcript(&part.match_id, digest).await {
            return Ok(acknowledged(part.parts, true));
        }
        let added = self.transcripts.state().add(referee, &part, &bytes);
        let whole = match added {
            Ok(whole) => whole,
            Err(received) => return Ok(acknowledged(received, false)),
        };
        if TranscriptDigest::of(&whole) != digest {
            return Err(refused(format!("the parts do not have the hash {digest}; begin again with part 1"), "sha256"));
        }
        let transcript: Vec<TranscriptEntry> = serde_json::from_slice(&whole).map_err(|error| {
            refused(format!("the parts are not the transcript of a match file: {error}; send that list"), "data")
        })?;
        if context.is_some() && !self.transcripts.state().admit(&part.match_id, attempt, digest) {
            let message = format!(
                "attempt {attempt} at {} has {MAX_TRANSCRIPTS} transcripts already; report it with the hash of one of them",
                part.match_id
            );
            return Err(RequestError::new(ErrorCode::E010, METHOD, message).about("sha256"));
        }
        self.share(&part.match_id, digest, whole).await?;
        match context {
            Some(context) => self.write_unreported(MatchFile::unreported(context, transcript), digest).await?,
            None => self.write_transcript(&part.match_id, digest, transcript).await?,
        }
        Ok(acknowledged(part.parts, true))
    }

    /// Where managers on several machines share a store, a successor needs the transcript, too.
    async fn share(&self, match_id: &MatchId, digest: TranscriptDigest, bytes: Vec<u8>) -> Result<(), RequestError> {
        let Some(lease) = self.settings.lease.clone() else { return Ok(()) };
        let failed = |error: String| RequestError::new(ErrorCode::E015, METHOD, error);
        let body = String::from_utf8(bytes).map_err(|error| failed(error.to_string()))?;
        let match_id = match_id.clone();
        let kept = tokio::task::spawn_blocking(move || lease.keep_transcript(&match_id, digest, body)).await;
        kept.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))
    }

    /// Visible to every reader afterwards, also to a successor of this process. The report makes it durable.
    async fn write_unreported(&self, file: MatchFile, digest: TranscriptDigest) -> Result<(), RequestError> {
        if file.transcript_sha256 != Some(digest) {
            let message = "the parts are not JSON without blanks; send the list as a match file has it";
            return Err(RequestError::new(ErrorCode::E002, METHOD, message).about("data"));
        }
        let message = "this manager keeps no match files";
        let views = self.views.as_ref().ok_or_else(|| RequestError::new(ErrorCode::E015, METHOD, message))?;
        views.write(ViewUpdate::Match(Box::new(file))).await;
        Ok(())
    }

    /// The transcript that came before the report with this `digest`.
    pub(crate) async fn transcript_before(
        &self,
        match_id: &MatchId,
        digest: Option<TranscriptDigest>,
    ) -> Option<Vec<TranscriptEntry>> {
        let digest = digest?;
        let is_promised = |file: &MatchFile| TranscriptDigest::of(&file.transcript_bytes()) == digest;
        match self.file_on_disk(match_id).await.filter(is_promised) {
            Some(file) => Some(file.transcript).filter(|transcript| !transcript.is_empty()),
            None => self.shared_transcript(match_id, digest).await,
        }
    }

    /// The referee may have sent it to the manager that led before.
    async fn shared_transcript(&self, match_id: &MatchId, digest: TranscriptDigest) -> Option<Vec<TranscriptEntry>> {
        let (store, league) = (self.settings.home.as_ref()?.store()?.clone(), self.league.clone());
        let wanted = match_id.clone();
        let read = tokio::task::spawn_blocking(move || store.transcript(&league, &wanted, digest)).await.ok()?;
        let read = read.inspect_err(|error| {
            tracing::warn!(%error, %match_id, "the transcript cannot be read from the store");
        });
        serde_json::from_str(&read.ok()??).ok()
    }

    /// A match that was reported lately still waits for its transcript.
    async fn has_transcript(&self, match_id: &MatchId, digest: TranscriptDigest) -> bool {
        if self.transcripts.state().reported.contains_key(match_id) {
            return false;
        }
        let file = self.file_on_disk(match_id).await;
        file.is_some_and(|file| !file.transcript.is_empty() && TranscriptDigest::of(&file.transcript_bytes()) == digest)
    }

    async fn file_on_disk(&self, match_id: &MatchId) -> Option<MatchFile> {
        let (home, league, wanted) = (self.settings.home.clone()?, self.league.clone(), match_id.clone());
        let finder = Arc::clone(&self.transcripts.finder);
        let find = move || finder.lock().unwrap_or_else(PoisonError::into_inner).find(&home, &league, &wanted);
        let read = tokio::task::spawn_blocking(find).await;
        serde_json::from_str(&read.ok()?.ok()??).ok()
    }

    async fn write_transcript(
        &self,
        match_id: &MatchId,
        digest: TranscriptDigest,
        transcript: Vec<TranscriptEntry>,
    ) -> Result<(), RequestError> {
        let failed = |message: String| RequestError::new(ErrorCode::E015, METHOD, message);
        let views = self.views.as_ref().ok_or_else(|| failed(String::from("this manager keeps no match files")))?;
        let remembered = self.transcripts.state().reported.get(match_id).cloned();
        let file = match remembered {
            Some(file) => Some(file),
            None => self.file_on_disk(match_id).await,
        };
        // After a restart the file must first be written from the log.
        let mut file = file.ok_or_else(|| failed(format!("there is no file of {match_id} yet; try again")))?;
        (file.transcript, file.transcript_sha256) = (transcript, Some(digest));
        views.put(ViewUpdate::Match(Box::new(file))).await;
        views.flush().await.map_err(|error| failed(error.to_string()))?;
        self.transcripts.state().reported.remove(match_id);
        Ok(())
    }

    /// Waits for the disk if the file has a transcript, because only the file has it.
    pub(crate) async fn keep_match(&self, file: MatchFile) -> Result<(), ViewError> {
        let Some(views) = &self.views else { return Ok(()) };
        self.transcripts.remember(&file);
        let has_transcript = !file.transcript.is_empty();
        views.put(ViewUpdate::Match(Box::new(file))).await;
        if has_transcript { views.flush().await } else { Ok(()) }
    }
}
