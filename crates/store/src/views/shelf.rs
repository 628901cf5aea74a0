//! What the match files of a league say, all of them: one file each, or one to a line.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use league_protocol::id::{LeagueId, MatchId};

use super::match_file::{Ending, MatchFile};
use crate::home::Home;

/// What the match files of a league say.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    /// By match; where a match has several lines the last one.
    pub(crate) endings: HashMap<MatchId, Ending>,
    /// Files that say nothing that could be understood, or not what their name says.
    pub(crate) damaged: Vec<PathBuf>,
}

impl Shelf {
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
            let Some(match_id) = name.strip_suffix(".json").filter(|name| !name.starts_with('.')) else { continue };
            let file = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<MatchFile>(&bytes).ok());
            match file.filter(|file| file.match_id.as_str() == match_id && file.league_id == *league) {
                Some(file) => shelf.put(&file),
                None => shelf.damaged.push(path),
            }
        }
        shelf.read_lines(home, league)?;
        Ok(shelf)
    }

    fn read_lines(&mut self, home: &Home, league: &LeagueId) -> io::Result<()> {
        let path = home.match_lines(league);
        let Ok(file) = File::open(&path) else { return Ok(()) };
        let mut damaged = false;
        for line in BufReader::new(file).split(b'\n') {
            match serde_json::from_slice::<MatchFile>(&line?) {
                Ok(file) => self.put(&file),
                Err(_) => damaged = true,
            }
        }
        if damaged {
            self.damaged.push(path);
        }
        Ok(())
    }

    fn put(&mut self, file: &MatchFile) {
        self.endings.insert(file.match_id.clone(), Ending::of(file));
    }
}
