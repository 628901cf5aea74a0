//! All match files of a league as digests, whether each match has a file or a line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use league_protocol::id::{LeagueId, MatchId, RoundId};

use super::find_match::Lines;
use super::match_digest::{MatchDigest, MatchForm};
use super::match_file::MatchFile;
use crate::file_name::file_name;
use crate::home::Home;

#[derive(Debug, Default)]
pub(crate) struct MatchIndex {
    /// By round and number; the last line of a match counts. Half a million entries take about 30 MB.
    matches: BTreeMap<(RoundId, u32), MatchDigest>,
    /// Files that cannot be parsed, or whose name is not that of their match. Files that are no match files.
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
            // A file that begins with a dot is on its way to another name, or was left by a process that was killed.
            if name.starts_with('.') || path == home.match_lines(league) {
                continue;
            }
            let stem = name.strip_suffix(".json").unwrap_or_default();
            let is_named =
                |(file, _): &(MatchFile, _)| file_name(file.match_id.as_str()) == stem && file.league_id == *league;
            let is_match = read_match(&path)
                .filter(is_named)
                .is_some_and(|(file, bytes)| index.put(file, &bytes, MatchForm::File));
            if !is_match {
                index.damaged.push(path);
            }
        }
        index.read_lines(&home.match_lines(league))?;
        Ok(index)
    }

    pub(crate) fn read_lines(&mut self, path: &Path) -> io::Result<()> {
        let (mut lines, mut damaged) = (Lines::open(path, self.read)?, false);
        while let Some(line) = lines.next()? {
            match serde_json::from_slice::<MatchFile>(line.text) {
                Ok(file) => damaged |= !self.put(file, line.text, MatchForm::Line),
                // The last line may still be on its way.
                Err(_) => damaged |= line.is_complete,
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

    pub(crate) fn get(&self, match_id: &MatchId) -> Option<&MatchDigest> {
        self.matches.get(&match_id.parts()?)
    }

    /// Takes the match out, so that the matches without a result remain.
    pub(crate) fn take(&mut self, match_id: &MatchId) -> Option<MatchDigest> {
        self.matches.remove(&match_id.parts()?)
    }

    pub(crate) fn remaining(&self) -> impl Iterator<Item = (MatchId, &MatchDigest)> {
        self.matches.iter().map(|((round, number), digest)| (MatchId::of(*round, *number), digest))
    }

    /// Returns false for a match whose id is in no schedule, and for a line that contradicts an earlier one: a match gets
    /// a second line when its transcript arrives, and for another attempt.
    fn put(&mut self, file: MatchFile, bytes: &[u8], form: MatchForm) -> bool {
        let Some(place) = file.match_id.parts() else { return false };
        let digest = MatchDigest::of(file, bytes, form);
        let before = self.matches.insert(place, digest);
        form == MatchForm::File || before.is_none_or(|before| before.precedes(&digest))
    }
}

/// The match in a file of its own, and the bytes of the file.
pub(super) fn read_match(path: &Path) -> Option<(MatchFile, Vec<u8>)> {
    let bytes = fs::read(path).ok()?;
    Some((serde_json::from_slice(&bytes).ok()?, bytes))
}
