//! Whether a league holds together, for anybody to ask at any time, also while it is being played.
//!
//! Read-only. The chain of hashes is followed, the season replayed, every result and every draw checked, and the tables and
//! files compared with what the events make of them. The first thing that is wrong is a [`VerifyFinding`]. What views may rightly
//! be (missing, late, of an attempt that did not count, damaged) is counted in the [`VerifyReport`].
//!
//! Files are read before the log: what is in a file was in the log before, so a file that knows more than the log is a finding.
//! A log that was rewritten as a whole holds together; only somebody who has kept a [`LogHead`] can tell.

mod difference;
mod finding;

use std::path::PathBuf;

use league_core::season::event::{Event, Fact};
use league_protocol::id::LeagueId;
use rusqlite::Connection;
use serde::Serialize;

use crate::home::Home;
use crate::log::chain::LogHead;
use crate::log::read::read;
use crate::log::{projection, schema, sqlite};
use crate::views::match_file::{FileEnding, MatchFile, Transcript};
use crate::views::match_index::MatchIndex;
use crate::views::match_replay::MatchReplay;
use crate::views::standings::StandingsFile;

pub use finding::VerifyFinding;

/// What was looked at, and found to be right.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct VerifyReport {
    pub league_id: LeagueId,
    pub events: u64,
    pub matches: u64,
    /// Numbers that were drawn and proved.
    pub draws_proved: u64,
    /// Numbers that were drawn by referees who prove nothing.
    pub draws_unproved: u64,
    /// The end of the log: who keeps it can tell later that nothing before it was changed.
    pub head: LogHead,
    /// How many results `standings.json` counts; none when there is none that can be read.
    pub standings: Option<u32>,
    /// Match files that say what the log says.
    pub files: u64,
    /// Results without a file: it may be on a referee's machine, or not written yet.
    pub files_missing: u64,
    /// Results whose file tells of another attempt, or of a match that goes on.
    pub files_stale: u64,
    /// Transcripts whose hash is the one that their referee reported.
    pub transcripts: u64,
    /// Transcripts that a report promised and that have not arrived.
    pub transcripts_missing: u64,
    /// Files that cannot be read. A manager writes them again when it starts.
    pub damaged: Vec<PathBuf>,
}

/// Checks everything that is kept of a league. `expected` is a head that was noted before.
pub fn verify(home: &Home, league: &LeagueId, expected: Option<LogHead>) -> Result<VerifyReport, VerifyFinding> {
    home.expect(league)?;
    let mut damaged = Vec::new();
    let standings = read_standings(home, league, &mut damaged);
    let shelf = MatchIndex::of(home, league).map_err(|error| VerifyFinding::io(home.matches(league), &error))?;
    damaged.extend(shelf.damaged.iter().cloned());

    let path = home.database(league);
    let connection = schema::open_to_read(&path)?;
    let failed = |error: rusqlite::Error| VerifyFinding::from(schema::refused(&path, &error));
    // One transaction, so that events and tables are of the same moment while a manager writes.
    let moment = connection.unchecked_transaction().map_err(failed)?;
    let mut audit = Audit::new(home, league, standings, shelf, expected).map_err(failed)?;
    let head =
        read(&moment, |event, head| audit.see(&event, head)).map_err(|unread| sqlite::unreadable(&path, unread))?;
    if let Some(finding) = audit.finding {
        return Err(finding);
    }
    if let Some(expected) = expected.filter(|expected| expected.seq > head.seq) {
        return Err(VerifyFinding::Cut { expected, found: head });
    }
    if audit.retelling.season().is_none() {
        return Err(VerifyFinding::Story { seq: 1, reason: league_core::season::BadEvent::NotOpened });
    }
    if let Some(file) = audit.standings.as_ref().filter(|file| u64::from(file.version) > audit.report.matches) {
        let (found, expected) = (file.version.to_string(), format!("at most {}", audit.report.matches));
        return Err(VerifyFinding::file(home.standings(league), "version", found, expected));
    }
    if projection::is_whole(&moment).map_err(failed)?
        && let Some(what) = projection::difference(&moment, &audit.tables).map_err(failed)?
    {
        return Err(VerifyFinding::Table { path, what });
    }
    Ok(VerifyReport { head, events: head.seq, damaged, ..audit.report })
}

/// The table, when there is one that can be read.
fn read_standings(home: &Home, league: &LeagueId, damaged: &mut Vec<PathBuf>) -> Option<StandingsFile> {
    let path = home.standings(league);
    let bytes = std::fs::read(&path).ok()?;
    let file = serde_json::from_slice::<StandingsFile>(&bytes).ok().filter(|file| file.league_id == *league);
    if file.is_none() {
        damaged.push(path);
    }
    file
}

/// A walk through the log, with everything that it is compared with.
struct Audit<'a> {
    home: &'a Home,
    league: &'a LeagueId,
    expected: Option<LogHead>,
    standings: Option<StandingsFile>,
    shelf: MatchIndex,
    retelling: MatchReplay,
    /// The tables as the events make them.
    tables: Connection,
    report: VerifyReport,
    /// The first thing that was wrong; from then on nothing is looked at.
    finding: Option<VerifyFinding>,
}

impl<'a> Audit<'a> {
    fn new(
        home: &'a Home,
        league: &'a LeagueId,
        standings: Option<StandingsFile>,
        shelf: MatchIndex,
        expected: Option<LogHead>,
    ) -> rusqlite::Result<Self> {
        let tables = Connection::open_in_memory()?;
        projection::create(&tables)?;
        let report = VerifyReport {
            league_id: league.clone(),
            events: 0,
            matches: 0,
            draws_proved: 0,
            draws_unproved: 0,
            head: LogHead::GENESIS,
            standings: standings.as_ref().map(|file| file.version),
            files: 0,
            files_missing: 0,
            files_stale: 0,
            transcripts: 0,
            transcripts_missing: 0,
            damaged: Vec::new(),
        };
        let retelling = MatchReplay::default();
        Ok(Self { home, league, expected, standings, shelf, retelling, tables, report, finding: None })
    }

    fn see(&mut self, event: &Event, head: LogHead) {
        if self.finding.is_none() {
            self.finding = self.check(event, head).err();
        }
    }

    fn check(&mut self, event: &Event, head: LogHead) -> Result<(), VerifyFinding> {
        if let Some(expected) = self.expected.filter(|expected| expected.seq == head.seq && *expected != head) {
            return Err(VerifyFinding::Rewritten { expected, found: head });
        }
        let file = self.retelling.tell(event).map_err(|reason| VerifyFinding::Story { seq: head.seq, reason })?;
        projection::apply(&self.tables, event)
            .map_err(|error| VerifyFinding::from(schema::refused(&self.home.database(self.league), &error)))?;
        let Some(season) = self.retelling.season() else { return Ok(()) };
        if let Fact::Opened { config } = &event.fact
            && config.league_id != *self.league
        {
            return Err(VerifyFinding::OtherLeague { expected: self.league.clone(), found: config.league_id.clone() });
        }
        if let Fact::MatchReported { match_id, attempt, record } = &event.fact {
            record.check(&season.config().game_type, match_id, *attempt).map_err(|reason| VerifyFinding::Record {
                seq: head.seq,
                match_id: match_id.clone(),
                reason,
            })?;
            match (record.drawn, &record.proof) {
                (Some(_), Some(_)) => self.report.draws_proved += 1,
                (Some(_), None) => self.report.draws_unproved += 1,
                (None, _) => {}
            }
        }
        let results = u64::from(season.matches_completed());
        if results == self.report.matches {
            return Ok(());
        }
        self.report.matches = results;
        if let Some(standings) = self.standings.as_ref().filter(|file| file.version == season.matches_completed()) {
            let expected = StandingsFile::of(season, standings.last_updated);
            difference::standings(standings, &expected)
                .map_err(|different| different.in_file(self.home.standings(self.league)))?;
        }
        file.map_or(Ok(()), |file| self.compare(&file))
    }

    /// Compares the transcript in a file with the digest that its referee reported.
    fn compare_transcript(&mut self, expected: &MatchFile, found: Transcript) -> Result<(), VerifyFinding> {
        let Some(digest) = expected.transcript_sha256 else { return Ok(()) };
        let wrong = |found: String| {
            let path = self.home.match_file(self.league, &expected.match_id);
            let path = if path.exists() { path } else { self.home.match_lines(self.league) };
            Err(VerifyFinding::file(
                path,
                format!("transcript of {}", expected.match_id),
                found,
                format!("SHA-256 {digest}"),
            ))
        };
        match found {
            Transcript::Hashed(found) if found == digest => {
                self.report.transcripts += 1;
                Ok(())
            }
            Transcript::Hashed(found) => wrong(format!("SHA-256 {found}")),
            Transcript::Unsigned => wrong(String::from("a transcript without transcript_sha256")),
            // It may be on its way.
            Transcript::Missing => {
                self.report.transcripts_missing += 1;
                Ok(())
            }
        }
    }

    /// Compares a result with what its file says.
    fn compare(&mut self, expected: &MatchFile) -> Result<(), VerifyFinding> {
        let ending = FileEnding::of(expected);
        match self.shelf.ending(&expected.match_id) {
            None => self.report.files_missing += 1,
            Some(found) if found.agrees(&ending) => {
                let found = found.transcript();
                self.report.files += 1;
                return self.compare_transcript(expected, found);
            }
            Some(found) if found.attempt == ending.attempt && found.is_told() => {
                return Err(difference::match_file(self.home, expected));
            }
            Some(_) => self.report.files_stale += 1,
        }
        Ok(())
    }
}
