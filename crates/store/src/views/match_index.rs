//! What all match files of a league say, whether each match has a file or a line.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use league_protocol::id::{LeagueId, MatchId, RoundId};

use super::find_match::Lines;
use super::match_file::{FileEnding, MatchFile};
use crate::file_name::file_name;
use crate::home::Home;

#[derive(Debug, Default)]
pub(crate) struct MatchIndex {
    /// By round and number; where a match has several lines the last one. Half a million of them take some thirty megabytes.
    endings: BTreeMap<(RoundId, u32), FileEnding>,
    /// Files that cannot be parsed, or are not of the match that their name says.
    pub(crate) damaged: Vec<PathBuf>,
    /// How many bytes of the file with all matches have been read: its complete lines.
    read: u64,
}

impl MatchIndex {
    /// Reads them all.
    pub(crate) fn of(home: &Home, league: &LeagueId) -> io::Result<Self> {
        let mut index = Self::default();
        let directory = match fs::read_dir(home.matches(league)) {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(index),
            Err(error) => return Err(error),
        };
        for entry in directory {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some(stem) = name.strip_suffix(".json").filter(|name| !name.starts_with('.')) else { continue };
            let is_named = |file: &MatchFile| file_name(file.match_id.as_str()) == stem && file.league_id == *league;
            match match_in(&path).filter(is_named) {
                Some(file) => index.put(&file),
                None => index.damaged.push(path),
            }
        }
        index.read_lines(&home.match_lines(league))?;
        Ok(index)
    }

    /// Reads the lines that were added since.
    pub(crate) fn read_lines(&mut self, path: &Path) -> io::Result<()> {
        let (mut lines, mut damaged) = (Lines::open(path, self.read)?, false);
        while let Some(line) = lines.next()? {
            match serde_json::from_slice::<MatchFile>(line.text) {
                Ok(file) => self.put(&file),
                Err(_) => damaged = true,
            }
            if line.is_complete() {
                self.read = line.end;
            }
        }
        if damaged && self.damaged.iter().all(|known| known != path) {
            self.damaged.push(path.to_path_buf());
        }
        Ok(())
    }

    pub(crate) fn ending(&self, match_id: &MatchId) -> Option<&FileEnding> {
        self.endings.get(&match_id.parts()?)
    }

    fn put(&mut self, file: &MatchFile) {
        // A match whose id has another form is in no schedule.
        if let Some(place) = file.match_id.parts() {
            self.endings.insert(place, FileEnding::of(file));
        }
    }
}

/// `None` for a file that cannot be read or parsed.
pub(super) fn match_in(path: &Path) -> Option<MatchFile> {
    fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok())
}
