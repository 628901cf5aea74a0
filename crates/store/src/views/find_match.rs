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
    let mut lines = match File::open(home.match_lines(league)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => BufReader::with_capacity(1 << 18, opened?),
    };
    let id = format!("\"{match_id}\"");
    let names = |line: &str| serde_json::from_str::<Named>(line).is_ok_and(|named| named.match_id == *match_id);
    // The last line of a match counts. One that is cut short by a crash names nobody.
    let (mut line, mut last) = (Vec::new(), None);
    while lines.read_until(b'\n', &mut line)? > 0 {
        // Few of half a million lines are worth understanding.
        if let Ok(text) = str::from_utf8(line.trim_ascii_end())
            && text.contains(&id)
            && names(text)
        {
            last = Some(text.to_owned());
        }
        line.clear();
    }
    Ok(last)
}

/// As much of a match as tells which one it is.
#[derive(Deserialize)]
struct Named {
    match_id: MatchId,
}
