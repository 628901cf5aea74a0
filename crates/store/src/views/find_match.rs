//! Finds one match: in its own file, or on a line of the file that a large league uses.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use league_protocol::id::{LeagueId, MatchId, RoundId};
use serde::Deserialize;

use crate::home::Home;

/// Longer lines are skipped; the longest transcript takes half of this.
const MAX_LINE: u64 = 8 * 1024 * 1024;
/// Small, because the allocator keeps the buffers of each thread: with 256 KB a manager with 128 threads needed 650 MB.
const BUFFER: usize = 16 * 1024;

/// The offset of each match in `matches.jsonl`. Later searches read only the lines appended since.
#[derive(Debug, Default)]
pub struct MatchFinder {
    read: u64,
    /// By round and number: a large league has half a million matches. The last line of a match counts.
    offsets: HashMap<(RoundId, u32), u64>,
}

impl MatchFinder {
    pub fn find(&mut self, home: &Home, league: &LeagueId, match_id: &MatchId) -> io::Result<Option<String>> {
        match fs::read_to_string(home.match_file(league, match_id)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            read => return read.map(Some),
        }
        let path = home.match_lines(league);
        let mut lines = Lines::open(&path, self.read)?;
        while let Some(line) = lines.next()?.filter(|line| line.is_complete) {
            self.read = line.end;
            if let Some(place) = match_of(line.text).and_then(|named| named.parts()) {
                self.offsets.insert(place, line.start);
            }
        }
        let Some(offset) = match_id.parts().and_then(|place| self.offsets.get(&place)) else { return Ok(None) };
        let mut lines = Lines::open(&path, *offset)?;
        Ok(lines.next()?.and_then(|line| String::from_utf8(line.text.trim_ascii_end().to_vec()).ok()))
    }
}

pub fn find_match(home: &Home, league: &LeagueId, match_id: &MatchId) -> io::Result<Option<String>> {
    MatchFinder::default().find(home, league, match_id)
}

/// The id is within the first bytes of a line, unless another program wrote the line.
fn match_of(line: &[u8]) -> Option<MatchId> {
    #[derive(Deserialize)]
    struct Named {
        match_id: MatchId,
    }
    const KEY: &[u8] = b"\"match_id\":\"";
    let beginning = &line[..line.len().min(512)];
    let Some(start) = beginning.windows(KEY.len()).position(|window| window == KEY) else {
        return serde_json::from_slice::<Named>(line).ok().map(|named| named.match_id);
    };
    let name = &beginning[start + KEY.len()..];
    let end = name.iter().position(|byte| *byte == b'"')?;
    str::from_utf8(&name[..end]).ok()?.parse().ok()
}

/// The text is empty when the line is too long.
pub(crate) struct Line<'a> {
    start: u64,
    pub(crate) end: u64,
    pub(crate) text: &'a [u8],
    /// An incomplete line is the last one; a process may still be writing it.
    pub(crate) is_complete: bool,
}

pub(crate) struct Lines {
    file: Option<BufReader<File>>,
    offset: u64,
    line: Vec<u8>,
}

impl Lines {
    /// A missing file has no lines.
    pub(crate) fn open(path: &Path, offset: u64) -> io::Result<Self> {
        let file = match File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            opened => {
                let mut file = opened?;
                file.seek(SeekFrom::Start(offset))?;
                Some(BufReader::with_capacity(BUFFER, file))
            }
        };
        Ok(Self { file, offset, line: Vec::new() })
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let Some(file) = &mut self.file else { return Ok(None) };
        let start = self.offset;
        self.line.clear();
        self.offset += file.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.line)? as u64;
        let mut is_complete = self.line.ends_with(b"\n");
        if self.line.len() as u64 == MAX_LINE && !is_complete {
            self.offset += file.skip_until(b'\n')? as u64;
            self.line.clear();
            is_complete = true;
        }
        let line = Line { start, end: self.offset, text: &self.line, is_complete };
        Ok((line.end > start).then_some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_does_not_hide_the_matches_after_it() {
        let directory = tempfile::tempdir().unwrap();
        let (home, league): (_, LeagueId) = (Home::at(directory.path()), "cup".parse().unwrap());
        fs::create_dir_all(home.matches(&league)).unwrap();
        let line = |id: &str, text: &str| format!("{{\"match_id\":\"{id}\",\"text\":\"{text}\"}}\n");
        let long = "x".repeat(usize::try_from(MAX_LINE).unwrap() + 1);
        let lines = [line("R1M1", "a"), line("R1M2", &long), line("R1M3", "b"), line("R1M1", "c")].concat();
        let path = home.match_lines(&league);
        fs::write(&path, &lines).unwrap();
        let mut finder = MatchFinder::default();
        let mut found = |id: &str| finder.find(&home, &league, &id.parse().unwrap()).unwrap();
        assert_eq!(found("R1M3").as_deref(), Some(line("R1M3", "b").trim_end()));
        assert_eq!(found("R1M1").as_deref(), Some(line("R1M1", "c").trim_end()), "the last line of a match counts");
        assert_eq!(found("R1M2"), None);
        // A line that arrives in two parts.
        let more = "{\"text\":\"d\",\"match_id\":\"R2M1\"}\n";
        fs::write(&path, format!("{lines}{}", &more[..9])).unwrap();
        assert_eq!(found("R2M1"), None);
        fs::write(&path, format!("{lines}{more}")).unwrap();
        assert_eq!(found("R2M1").as_deref(), Some(more.trim_end()));
    }
}
