//! Checks a league: the hashes, the season, every result and draw, and the files. Read-only, also while the league is played.
//!
//! The first thing that is wrong is a [`VerifyFinding`]. Files are views, so they may be missing, late, damaged, or of an attempt
//! that did not count; the [`VerifyReport`] counts these. Files are read before the log: what is in a file was in the log before,
//! so a file that knows more than the log is a finding. A log that was rewritten as a whole has no error in itself. Only a
//! reader who has kept a [`LogHead`] notices.

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

/// What was checked and found right.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct VerifyReport {
    pub league_id: LeagueId,
    pub events: u64,
    pub matches: u64,
    /// Numbers that were drawn and proved.
    pub draws_proved: u64,
    /// Numbers that were drawn by referees that prove nothing.
    pub draws_unproved: u64,
    /// The end of the log. A reader who keeps it can tell later that nothing before it was changed.
    pub head: LogHead,
    /// How many results `standings.json` counts; none when there is none that can be read.
    pub standings: Option<u32>,
    /// Match files that say what the log says.
    pub files: u64,
    /// Results without a file: it may be on a referee's machine, or not written yet.
    pub files_missing: u64,
    /// Results whose file is of another attempt, or of a match that is not over.
    pub files_stale: u64,
    /// Transcripts whose hash is the one that their referee reported.
    pub transcripts: u64,
    /// Transcripts that a report promised and that have not arrived.
    pub transcripts_missing: u64,
    /// Files that cannot be read. A manager writes them again when it starts.
    pub damaged: Vec<PathBuf>,
}

/// Checks everything that a home keeps of a league. `expected` is a head that was noted before.
pub fn verify(home: &Home, league: &LeagueId, expected: Option<LogHead>) -> Result<VerifyReport, VerifyFinding> {
    home.expect(league)?;
    let mut damaged = Vec::new();
    let standings = read_standings(home, league, &mut damaged);
    let index = MatchIndex::of(home, league).map_err(|error| VerifyFinding::io(home.matches(league), &error))?;
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
        let (found, expected) = (file.version.to_string(), format!("at most {}", report.matches));
        return Err(VerifyFinding::file(home.standings(league), "version", found, expected));
    }
    Ok(VerifyReport { head, events: head.seq, ..report })
}

fn read_standings(home: &Home, league: &LeagueId, damaged: &mut Vec<PathBuf>) -> Option<StandingsFile> {
    let path = home.standings(league);
    let bytes = std::fs::read(&path).ok()?;
    let file = serde_json::from_slice::<StandingsFile>(&bytes).ok().filter(|file| file.league_id == *league);
    if file.is_none() {
        damaged.push(path);
    }
    file
}

/// The state of a check, and everything that the log is compared with.
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
            Transcript::Missing => {
                self.report.transcripts_missing += 1;
                Ok(())
            }
        }
    }

    /// Compares a result with what its file says.
    fn compare(&mut self, expected: &MatchFile) -> Result<(), VerifyFinding> {
        let ending = FileEnding::of(expected);
        match self.index.ending(&expected.match_id) {
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
