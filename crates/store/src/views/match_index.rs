//! The endings in all match files of a league, whether each match has a file or a line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use league_protocol::id::{LeagueId, MatchId, RoundId};

use super::find_match::Lines;
use super::match_file::{FileEnding, MatchFile};
use crate::file_name::file_name;
use crate::home::Home;

#[derive(Debug, Default)]
pub(crate) struct MatchIndex {
    /// By round and number; the last line of a match counts. Half a million entries take about 30 MB.
    endings: BTreeMap<(RoundId, u32), FileEnding>,
    /// Files that cannot be parsed, or whose name is not that of their match.
    pub(crate) damaged: Vec<PathBuf>,
    /// Bytes of `matches.jsonl` that were read, up to the last complete line.
    read: u64,
}

impl MatchIndex {
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

    pub(crate) fn read_lines(&mut self, path: &Path) -> io::Result<()> {
        let (mut lines, mut damaged) = (Lines::open(path, self.read)?, false);
        while let Some(line) = lines.next()? {
            match serde_json::from_slice::<MatchFile>(line.text) {
                Ok(file) => self.put(&file),
                Err(_) => damaged = true,
            }
            if line.is_complete {
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

pub(super) fn match_in(path: &Path) -> Option<MatchFile> {
    fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok())
}
