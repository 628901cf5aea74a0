//! Checks a league: the hashes, the season, every result and draw, and the files. Read-only, also during play.
//!
//! The first error is a [`VerifyFinding`]. Files may be missing, late, damaged, or of an attempt that did not count; the
//! [`VerifyReport`] counts these. Files are read before the log, so a file that knows more than the log is a finding.
//! Only a reader that kept a [`LogHead`] notices a log that was rewritten as a whole.

mod difference;
mod finding;

use std::path::PathBuf;

use league_core::replay::ReplayError;
use league_core::season::BadEvent;
use league_core::season::event::{Event, Fact};
use league_protocol::id::LeagueId;
use serde::Serialize;

use crate::home::Home;
use crate::log::{LogHead, scan};
use crate::views::match_file::{FileEnding, MatchFile, Transcript};
use crate::views::match_index::MatchIndex;
use crate::views::match_replay::MatchReplay;
use crate::views::standings::StandingsFile;

pub use finding::VerifyFinding;

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct VerifyReport {
    pub league_id: LeagueId,
    pub events: u64,
    pub matches: u64,
    pub draws_proved: u64,
    /// Draws of referees that send no proof.
    pub draws_unproved: u64,
    /// A reader that keeps this head can later prove that no event before it changed.
    pub head: LogHead,
    /// The number of results in `standings.json`; `None` when the file cannot be read.
    pub standings: Option<u32>,
    /// Match files that agree with the log.
    pub files: u64,
    /// Results without a file: it may be on a referee's machine, or not written yet.
    pub files_missing: u64,
    /// Results whose file is of another attempt, or of an unfinished match.
    pub files_stale: u64,
    /// Transcripts that match the hash in the report.
    pub transcripts: u64,
    /// Transcripts that a report promised and that have not arrived.
    pub transcripts_missing: u64,
    /// Files that cannot be read. The manager writes them again when it starts.
    pub damaged: Vec<PathBuf>,
}

/// `expected` is a head that the operator noted before.
pub fn verify(home: &Home, league: &LeagueId, expected: Option<LogHead>) -> Result<VerifyReport, VerifyFinding> {
    home.expect(league)?;
    let mut damaged = Vec::new();
    let path = home.standings(league);
    let standings = StandingsFile::read(&path, league);
    if standings.is_none() && path.exists() {
        damaged.push(path);
    }
    let index = MatchIndex::of(home, league)
        .map_err(|error| VerifyFinding::Io { path: home.matches(league), reason: error.to_string() })?;
    damaged.extend(index.damaged.iter().cloned());
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
        damaged,
    };
    let mut audit = Audit { home, league, expected, standings, index, replay: MatchReplay::default(), report };
    let head = scan(&home.log(league), |head, event| audit.check(&event, head))?;
    let Audit { standings, replay, report, .. } = audit;
    if let Some(expected) = expected.filter(|expected| expected.seq > head.seq) {
        return Err(VerifyFinding::Cut { expected, found: head });
    }
    if replay.season().is_none() {
        return Err(ReplayError { seq: 1, reason: BadEvent::NotOpened }.into());
    }
    if let Some(file) = standings.filter(|file| u64::from(file.version) > report.matches) {
        let (field, found) = (String::from("version"), file.version.to_string());
        let expected = format!("at most {}", report.matches);
        return Err(VerifyFinding::File { path: home.standings(league), field, found, expected });
    }
    Ok(VerifyReport { head, events: head.seq, ..report })
}

struct Audit<'a> {
    home: &'a Home,
    league: &'a LeagueId,
    expected: Option<LogHead>,
    standings: Option<StandingsFile>,
    index: MatchIndex,
    replay: MatchReplay,
    report: VerifyReport,
}

impl Audit<'_> {
    fn check(&mut self, event: &Event, head: LogHead) -> Result<(), VerifyFinding> {
        if let Some(expected) = self.expected.filter(|expected| expected.seq == head.seq && *expected != head) {
            return Err(VerifyFinding::Rewritten { expected, found: head });
        }
        let file = self.replay.apply(event)?;
        let Some(season) = self.replay.season() else { return Ok(()) };
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
            difference::standings(self.home.standings(self.league), standings, &expected)?;
        }
        file.map_or(Ok(()), |file| self.compare(&file))
    }

    fn compare_transcript(&mut self, expected: &MatchFile, found: Transcript) -> Result<(), VerifyFinding> {
        let Some(digest) = expected.transcript_sha256 else { return Ok(()) };
        let found = match found {
            Transcript::Hashed(found) if found == digest => {
                self.report.transcripts += 1;
                return Ok(());
            }
            Transcript::Missing => {
                self.report.transcripts_missing += 1;
                return Ok(());
            }
            Transcript::Hashed(found) => format!("SHA-256 {found}"),
            Transcript::Unsigned => String::from("a transcript without transcript_sha256"),
        };
        let path = self.home.stored_match(self.league, &expected.match_id);
        let (field, expected) = (format!("transcript of {}", expected.match_id), format!("SHA-256 {digest}"));
        Err(VerifyFinding::File { path, field, found, expected })
    }

    fn compare(&mut self, expected: &MatchFile) -> Result<(), VerifyFinding> {
        let ending = FileEnding::of(expected);
        match self.index.ending(&expected.match_id) {
            None => self.report.files_missing += 1,
            Some(found) if found.agrees(&ending) => {
                let found = found.transcript;
                self.report.files += 1;
                return self.compare_transcript(expected, found);
            }
            Some(found) if found.attempt == ending.attempt && found.digest.is_some() => {
                return Err(difference::match_file(self.home, expected));
            }
            Some(_) => self.report.files_stale += 1,
        }
        Ok(())
    }
}
