//! Transcripts that a referee owes to a manager with another home.
//!
//! The referee creates an empty file for each match before its report, and removes it when the manager has the
//! transcript. The transcript itself is in the referee's match file, so a restarted referee can still send it.

use std::{fs, io};

use league_protocol::id::{LeagueId, MatchId};

use super::views::find_match::find_match;
use super::views::match_file::MatchFile;
use crate::home::Home;
use crate::private;

/// Bounds the transcripts that are sent after a restart.
const MAX_SENT: usize = 1024;

pub fn add(home: &Home, league: &LeagueId, match_id: &MatchId) -> io::Result<()> {
    let outbox = home.outbox(league);
    private::create_dir_all(&outbox)?;
    fs::write(outbox.join(match_id.as_str()), b"")
}

/// Called when the manager has the transcript or does not want it.
pub fn remove(home: &Home, league: &LeagueId, match_id: &MatchId) -> io::Result<()> {
    match fs::remove_file(home.outbox(league).join(match_id.as_str())) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Skips match files that cannot be read.
pub fn unsent(home: &Home, league: &LeagueId) -> Vec<MatchFile> {
    let Ok(entries) = fs::read_dir(home.outbox(league)) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<MatchId>().ok());
    let mut matches: Vec<MatchId> = names.take(MAX_SENT).collect();
    matches.sort();
    let file = |match_id: &MatchId| serde_json::from_str(&find_match(home, league, match_id).ok()??).ok();
    matches.iter().filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_stays_in_the_outbox_until_it_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let (home, league) = (Home::at(directory.path()), "cup".parse().unwrap());
        let match_id: MatchId = "R1M1".parse().unwrap();
        remove(&home, &league, &match_id).unwrap();
        add(&home, &league, &match_id).unwrap();
        assert!(unsent(&home, &league).is_empty(), "there is no match file to send");
        assert!(home.outbox(&league).join("R1M1").exists());
        remove(&home, &league, &match_id).unwrap();
        assert!(!home.outbox(&league).join("R1M1").exists());
    }
}
