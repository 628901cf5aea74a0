//! A match file reduced to digests, so that half a million fit into memory.

use league_protocol::message::transcript::TranscriptDigest;
use league_protocol::time::Timestamp;
use sha2::{Digest, Sha256};

use super::match_file::MatchFile;
use super::match_replay::ReplayedMatch;
use super::writer::{add_line, document};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MatchForm {
    File,
    /// In `matches.jsonl`.
    Line,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchDigest {
    pub(crate) attempt: u32,
    /// Of everything but the transcript.
    body: [u8; 16],
    /// The digest of the transcript and the time of its last message; `None` without a transcript.
    transcript: Option<(TranscriptDigest, Timestamp)>,
    /// Whether the file has no result.
    is_open: bool,
    /// Whether these are the bytes that this program writes, without other whitespace or unknown fields.
    is_exact: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MatchAgreement {
    Whole,
    /// All but the transcript, which is missing.
    WithoutTranscript,
    /// The known fields agree; the bytes are not those that this program writes.
    OtherBytes,
    OtherTranscript,
    /// The reported transcript, in the file that the manager wrote before the report.
    BeforeReport,
    OtherFields,
}

impl MatchDigest {
    /// `bytes` are the file or line that `file` was parsed from.
    pub(crate) fn of(mut file: MatchFile, bytes: &[u8], form: MatchForm) -> Self {
        let is_exact = rendered(&file, form).is_some_and(|rendered| rendered == bytes);
        let transcript = file.last_entry().map(|last| (TranscriptDigest::of(&file.transcript_bytes()), last));
        file.transcript = Vec::new();
        Self { attempt: file.attempt, body: digest(&file), transcript, is_open: file.result.is_none(), is_exact }
    }

    /// Whether `later` may be another line of the same match.
    pub(crate) fn precedes(&self, later: &Self) -> bool {
        self.attempt != later.attempt || self.is_exact && (self.body == later.body || self.is_open)
    }

    /// The time of the last message in the transcript.
    pub(crate) fn last_entry(&self) -> Option<Timestamp> {
        self.transcript.map(|(_, last)| last)
    }

    pub(crate) fn transcript_digest(&self) -> Option<TranscriptDigest> {
        self.transcript.map(|(digest, _)| digest)
    }

    pub(crate) fn compare(&self, replayed: &ReplayedMatch) -> MatchAgreement {
        let expected = replayed.file(self.last_entry());
        if self.body != digest(&expected) {
            let before = replayed.from_log.before_report(self.last_entry());
            let is_reported = self.transcript_digest() == before.transcript_sha256;
            let is_before = self.is_open && self.is_exact && is_reported && self.body == digest(&before);
            return if is_before { MatchAgreement::BeforeReport } else { MatchAgreement::OtherFields };
        }
        match (expected.transcript_sha256, self.transcript) {
            (Some(reported), Some((found, _))) if reported != found => MatchAgreement::OtherTranscript,
            (None, Some(_)) => MatchAgreement::OtherTranscript,
            _ if !self.is_exact => MatchAgreement::OtherBytes,
            (Some(_), None) => MatchAgreement::WithoutTranscript,
            (Some(_), Some(_)) | (None, None) => MatchAgreement::Whole,
        }
    }
}

fn rendered(file: &MatchFile, form: MatchForm) -> Option<Vec<u8>> {
    match form {
        MatchForm::File => document(file).ok(),
        MatchForm::Line => {
            let mut line = Vec::new();
            add_line(&mut line, file).ok().map(|()| line)
        }
    }
}

fn digest(file: &MatchFile) -> [u8; 16] {
    // Ids, numbers and strings always serialize.
    let digest: [u8; 32] = Sha256::digest(serde_json::to_vec(file).unwrap_or_default()).into();
    std::array::from_fn(|place| digest[place])
}
