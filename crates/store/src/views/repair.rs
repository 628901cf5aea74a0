//! Writes missing and damaged match files again from the log.
//!
//! A file that agrees with the log stays, because only the file has the transcript. Referees write files meanwhile, so
//! each file is checked again right before it is written.

use std::io;
use std::path::PathBuf;

use league_core::replay::ReplayError;
use league_core::season::event::Event;
use league_protocol::id::LeagueId;
use thiserror::Error;

use super::match_file::{FileEnding, MatchFile};
use super::match_index::{MatchIndex, match_in};
use super::match_replay::MatchReplay;
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
    missing: Vec<MatchFile>,
    kept: u64,
    written: u64,
}

impl Repair {
    /// A damaged file is not an error.
    pub fn new(home: Home, league: LeagueId, matches: u64, limits: ViewLimits) -> io::Result<Self> {
        let large = matches > limits.match_files;
        let (index, replay) = (MatchIndex::of(&home, &league)?, MatchReplay::default());
        Ok(Self { home, league, large, index, replay, missing: Vec::new(), kept: 0, written: 0 })
    }

    pub fn apply(&mut self, event: &Event) -> Result<(), RepairError> {
        let Some(file) = self.replay.apply(event)? else { return Ok(()) };
        if self.is_stored(&file) {
            self.kept += 1;
            return Ok(());
        }
        self.missing.push(file);
        if self.missing.len() == BATCH { Ok(self.write()?) } else { Ok(()) }
    }

    pub fn finish(mut self) -> Result<RepairReport, RepairError> {
        self.write()?;
        Ok(RepairReport { kept: self.kept, written: self.written, damaged: self.index.damaged })
    }

    fn is_stored(&self, file: &MatchFile) -> bool {
        self.index.ending(&file.match_id).is_some_and(|found| found.agrees(&FileEnding::of(file)))
    }

    fn write(&mut self) -> io::Result<()> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let (all, mut lines) = (self.home.match_lines(&self.league), Vec::new());
        if self.large {
            self.index.read_lines(&all)?;
        }
        for file in std::mem::take(&mut self.missing) {
            let path = self.home.match_file(&self.league, &file.match_id);
            let is_stored = match self.large {
                true => self.is_stored(&file),
                false => match_in(&path).is_some_and(|found| FileEnding::of(&found).agrees(&FileEnding::of(&file))),
            };
            if is_stored {
                self.kept += 1;
                continue;
            }
            self.written += 1;
            if self.large {
                add_line(&mut lines, &file)?;
            } else {
                replace(&path, &document(&file)?, ReplaceSync::Later)?;
            }
        }
        if lines.is_empty() { Ok(()) } else { append(&all, &lines) }
    }
}
