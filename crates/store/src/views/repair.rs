//! Writes missing and damaged match files again from the log.
//!
//! A transcript that has the reported hash stays, because only the file has it. In a shared store there is a copy. Referees
//! write files meanwhile, so each file is checked again right before it is written.

use std::io;
use std::path::PathBuf;

use league_core::replay::ReplayError;
use league_core::season::event::Event;
use league_protocol::id::LeagueId;
use league_protocol::message::transcript::TranscriptDigest;
use thiserror::Error;

use super::find_match::find_match;
use super::match_digest::{MatchAgreement, MatchDigest, MatchForm};
use super::match_file::MatchFile;
use super::match_index::{MatchIndex, read_match};
use super::match_replay::{MatchReplay, ReplayedMatch};
use super::replace::{ReplaceSync, replace};
use super::writer::{ViewLimits, add_line, append, document};
use crate::home::Home;

const BATCH: usize = 1024;

#[derive(Debug, Error)]
pub enum RepairError {
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("the match files cannot be written again: {0}")]
    Io(#[from] io::Error),
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RepairReport {
    pub kept: u64,
    pub written: u64,
    /// Files that could not be parsed; they are written again too.
    pub damaged: Vec<PathBuf>,
}

#[derive(Debug)]
pub struct Repair {
    home: Home,
    league: LeagueId,
    large: bool,
    index: MatchIndex,
    replay: MatchReplay,
    missing: Vec<ReplayedMatch>,
    keeps_different: bool,
    kept: u64,
    written: u64,
}

impl Repair {
    /// A damaged file is not an error.
    pub fn new(home: Home, league: LeagueId, matches: u64, limits: ViewLimits) -> io::Result<Self> {
        let large = matches > limits.match_files;
        let (index, replay) = (MatchIndex::of(&home, &league)?, MatchReplay::default());
        Ok(Self {
            home,
            league,
            large,
            index,
            replay,
            missing: Vec::new(),
            keeps_different: false,
            kept: 0,
            written: 0,
        })
    }

    /// Leaves a file that differs from the log as it is, for the operator to look at.
    pub(crate) fn keep_different(&mut self) {
        self.keeps_different = true;
    }

    pub fn apply(&mut self, event: &Event) -> Result<(), RepairError> {
        let Some(replayed) = self.replay.apply(event)? else { return Ok(()) };
        if self.is_stored(&replayed) {
            self.kept += 1;
            return Ok(());
        }
        self.missing.push(replayed);
        if self.missing.len() == BATCH { Ok(self.write()?) } else { Ok(()) }
    }

    pub fn finish(mut self) -> Result<RepairReport, RepairError> {
        self.write()?;
        Ok(RepairReport { kept: self.kept, written: self.written, damaged: self.index.damaged })
    }

    fn is_stored(&self, replayed: &ReplayedMatch) -> bool {
        let path = self.home.match_file(&self.league, &replayed.from_log.match_id);
        match self.index.get(&replayed.from_log.match_id) {
            Some(found) => self.is_kept(found, replayed),
            None => self.keeps_different && self.index.damaged.contains(&path),
        }
    }

    fn is_kept(&self, found: &MatchDigest, replayed: &ReplayedMatch) -> bool {
        match found.compare(replayed) {
            MatchAgreement::Whole | MatchAgreement::WithoutTranscript => true,
            MatchAgreement::OtherBytes | MatchAgreement::BeforeReport => false,
            // A file of an attempt that did not count is no evidence.
            MatchAgreement::OtherFields if replayed.earlier.iter().any(|(attempt, _)| *attempt == found.attempt) => {
                false
            }
            MatchAgreement::OtherFields | MatchAgreement::OtherTranscript => self.keeps_different,
        }
    }

    fn write(&mut self) -> io::Result<()> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let (all, mut lines) = (self.home.match_lines(&self.league), Vec::new());
        if self.large {
            self.index.read_lines(&all)?;
        }
        for replayed in std::mem::take(&mut self.missing) {
            let path = self.home.match_file(&self.league, &replayed.from_log.match_id);
            let is_stored = match self.large {
                true => self.is_stored(&replayed),
                false => read_match(&path).is_some_and(|(file, bytes)| {
                    self.is_kept(&MatchDigest::of(file, &bytes, MatchForm::File), &replayed)
                }),
            };
            if is_stored {
                self.kept += 1;
                continue;
            }
            self.written += 1;
            let file = with_transcript(&self.home, &replayed);
            if self.large {
                add_line(&mut lines, &file)?;
            } else {
                replace(&path, &document(&file)?, ReplaceSync::Later)?;
            }
        }
        if lines.is_empty() { Ok(()) } else { append(&all, &lines) }
    }
}

/// The file that the log gives, with the transcript of the file on the disk if that is the reported one.
fn with_transcript(home: &Home, replayed: &ReplayedMatch) -> MatchFile {
    let expected = &replayed.from_log;
    let text = find_match(home, &expected.league_id, &expected.match_id).ok().flatten();
    let found = text.and_then(|text| serde_json::from_str::<MatchFile>(&text).ok());
    let is_reported = |found: &MatchFile| {
        found.last_entry().is_some()
            && expected.transcript_sha256 == Some(TranscriptDigest::of(&found.transcript_bytes()))
    };
    match found.filter(is_reported).or_else(|| stored_transcript(home, expected)) {
        Some(found) => MatchFile { transcript: found.transcript.clone(), ..replayed.file(found.last_entry()) },
        None => replayed.file(None),
    }
}

/// `expected` with the transcript in the store, where managers on several machines share one.
fn stored_transcript(home: &Home, expected: &MatchFile) -> Option<MatchFile> {
    let (store, digest) = (home.store()?, expected.transcript_sha256?);
    let body = match store.transcript(&expected.league_id, &expected.match_id, digest) {
        Ok(body) => body?,
        Err(error) => {
            tracing::warn!(%error, match_id = %expected.match_id, "the transcript cannot be read from the store");
            return None;
        }
    };
    let transcript = serde_json::from_str(&body);
    let transcript = transcript.inspect_err(|error| {
        tracing::warn!(%error, match_id = %expected.match_id, "the transcript in the store is not one");
    });
    Some(MatchFile { transcript: transcript.ok()?, ..expected.clone() })
}
