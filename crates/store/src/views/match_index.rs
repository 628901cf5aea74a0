//! What the match files of a league say, all of them: one file each, or one to a line.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use league_protocol::id::{LeagueId, MatchId, RoundId};

use super::match_file::{FileEnding, MatchFile};
use crate::file_name::file_name;
use crate::home::Home;

/// What the match files of a league say.
#[derive(Debug, Default)]
pub(crate) struct MatchIndex {
    /// By round and number; where a match has several lines the last one. Half a million of them take some thirty megabytes.
    endings: BTreeMap<(RoundId, u32), FileEnding>,
    /// Files that say nothing that could be understood, or not what their name says.
    pub(crate) damaged: Vec<PathBuf>,
    /// How much of the file with all matches has been read: its lines that have an end.
    read: u64,
}

impl MatchIndex {
    /// Reads them. A league without any has an empty shelf.
    pub(crate) fn of(home: &Home, league: &LeagueId) -> io::Result<Self> {
        let mut shelf = Self::default();
        let directory = match fs::read_dir(home.matches(league)) {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(shelf),
            Err(error) => return Err(error),
        };
        for entry in directory {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some(stem) = name.strip_suffix(".json").filter(|name| !name.starts_with('.')) else { continue };
            let is_named = |file: &MatchFile| file_name(file.match_id.as_str()) == stem && file.league_id == *league;
            match match_in(&path).filter(is_named) {
                Some(file) => shelf.put(&file),
                None => shelf.damaged.push(path),
            }
        }
        shelf.read_lines(&home.match_lines(league))?;
        Ok(shelf)
    }

    /// Reads the lines that others have added since.
    pub(crate) fn read_lines(&mut self, path: &Path) -> io::Result<()> {
        let Ok(mut file) = File::open(path) else { return Ok(()) };
        file.seek(SeekFrom::Start(self.read))?;
        let mut lines = BufReader::with_capacity(1 << 18, file);
        let (mut line, mut damaged) = (Vec::new(), false);
        while lines.read_until(b'\n', &mut line)? > 0 {
            match serde_json::from_slice::<MatchFile>(&line) {
                Ok(file) => self.put(&file),
                Err(_) => damaged = true,
            }
            // What has no end yet may still be on its way.
            if line.ends_with(b"\n") {
                self.read += line.len() as u64;
            }
            line.clear();
        }
        if damaged && self.damaged.iter().all(|known| known != path) {
            self.damaged.push(path.to_path_buf());
        }
        Ok(())
    }

    /// What is said of a match.
    pub(crate) fn ending(&self, match_id: &MatchId) -> Option<&FileEnding> {
        self.endings.get(&match_id.parts()?)
    }

    fn put(&mut self, file: &MatchFile) {
        // A match of another form is in no schedule.
        if let Some(place) = file.match_id.parts() {
            self.endings.insert(place, FileEnding::of(file));
        }
    }
}

/// The match that a file tells of; none when it cannot be understood.
pub(super) fn match_in(path: &Path) -> Option<MatchFile> {
    fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok())
}
