//! One match, found again: in a file of its own, or on a line of the file that a large league keeps them all in.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind};

use league_protocol::id::{LeagueId, MatchId};
use serde::Deserialize;

use crate::home::Home;

/// Everything that was kept of a match, as it is; nothing when there is nothing.
pub fn kept(home: &Home, league: &LeagueId, match_id: &MatchId) -> io::Result<Option<String>> {
    match fs::read_to_string(home.match_file(league, match_id)) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        read => return read.map(Some),
    }
    let lines = match File::open(home.match_lines(league)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => BufReader::new(opened?).lines(),
    };
    // The last line of a match counts. One that is cut short by a crash names nobody.
    let mut last = None;
    for line in lines {
        let line = line?;
        if serde_json::from_str::<Named>(&line).is_ok_and(|named| named.match_id == *match_id) {
            last = Some(line);
        }
    }
    Ok(last)
}

/// As much of a match as tells which one it is.
#[derive(Deserialize)]
struct Named {
    match_id: MatchId,
}
