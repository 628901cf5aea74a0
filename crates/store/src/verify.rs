//! Checks a league: the hashes, the season, every result and draw, and every file of the home but `logs/`. Read-only, also
//! during play.
//!
//! The first error in the log is a [`VerifyFinding`]; without a log nothing else can be checked. What is wrong with files
//! is in the [`VerifyReport`]: a [`FileDifference`] is explained by no state of the log, a [`StaleFile`] by an earlier one.
//! Files are read before the log, so a file that knows more than the log is a difference. Only a reader that kept a
//! [`LogHead`] notices a log that was rewritten as a whole.
//!
//! - `table`, `matches`, `register`: the views, which the log gives again
//! - `history`, `home_files`: what the log does not give, and how much of it can be checked

mod difference;
mod finding;
mod history;
mod home_files;
mod matches;
mod register;
mod repair;
mod table;

use std::collections::HashMap;
use std::io;
use std::path::Path;

use league_core::replay::ReplayError;
use league_core::season::BadEvent;
use league_core::season::event::{Event, Fact};
use league_protocol::draw::DrawCommitment;
use league_protocol::id::{LeagueId, MatchId};
use serde::Serialize;

use crate::home::Home;
use crate::lock;
use crate::log::{EventLog, LogHead, scan};
use crate::views::MATCH_FILES;
use crate::views::match_replay::MatchReplay;
use crate::views::rounds::RoundsFile;
use crate::views::standings::StandingsFile;
use crate::views::writer::document;

pub use difference::{FileDifference, StaleFile};
pub use finding::VerifyFinding;
pub use repair::repair;

use difference::Findings;
use matches::MatchCheck;
use register::RegisterCheck;
use table::TableCheck;

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct VerifyReport {
    pub league_id: LeagueId,
    pub events: u64,
    pub matches: u64,
    /// Draws whose commitment was in the log before the match.
    pub draws_proved: u64,
    /// Draws that follow from a commitment which came with the report.
    pub draws_consistent: u64,
    /// Draws of referees that send no proof.
    pub draws_unproved: u64,
    /// A reader that keeps this head can later prove that no event before it changed.
    pub head: LogHead,
    /// Match files that agree with the log.
    pub files: u64,
    /// Transcripts that match the hash in the report.
    pub transcripts: u64,
    /// Transcripts that a report promised and that are not there.
    pub transcripts_missing: u64,
    /// The number of findings in files that no state of the log explains.
    pub files_different: u64,
    /// The first of them.
    pub differences: Vec<FileDifference>,
    /// The number of files that show an earlier state of the log.
    pub files_stale: u64,
    /// The first of them.
    pub stale: Vec<StaleFile>,
}

/// `expected` is a head that the operator noted before.
pub fn verify(home: &Home, league: &LeagueId, expected: Option<LogHead>) -> Result<VerifyReport, VerifyFinding> {
    home.expect(league)?;
    let log = home.log(league);
    log.audit()?;
    let in_play = lock::is_held(&home.lock(league));
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |error: io::Error| VerifyFinding::Io { path, reason: error.to_string() }
    };
    let (standings, rounds) = (home.standings(league), home.rounds(league));
    let mut audit = Audit {
        league,
        expected,
        replay: MatchReplay::default(),
        draws: DrawCounts::default(),
        assigned: HashMap::new(),
        standings: TableCheck::read(standings.clone(), |season| document(&StandingsFile::of(season)))
            .map_err(unreadable(&standings))?,
        rounds: TableCheck::read(rounds.clone(), |season| document(&RoundsFile::of(season, MATCH_FILES)))
            .map_err(unreadable(&rounds))?,
        register: RegisterCheck::read(home, league).map_err(unreadable(&home.agents_config()))?,
        matches: MatchCheck::read(home, league, in_play).map_err(unreadable(&home.matches(league)))?,
        findings: Findings::default(),
    };
    let head = scan(&log, |head, event| audit.check(&event, head))?;
    if let Some(expected) = expected.filter(|expected| expected.seq > head.seq) {
        return Err(VerifyFinding::Cut { expected, found: head });
    }
    let Audit { replay, draws, standings: table, rounds: schedule, register, matches, mut findings, .. } = audit;
    let Some(season) = replay.season() else {
        return Err(ReplayError { seq: 1, reason: BadEvent::NotOpened }.into());
    };
    table.finish(season, in_play, &mut findings).map_err(unreadable(&standings))?;
    schedule.finish(season, in_play, &mut findings).map_err(unreadable(&rounds))?;
    register.finish(season, in_play, &mut findings);
    matches.finish(&replay, season, &mut findings);
    home_files::check(home, league, (season, &matches), &mut findings).map_err(unreadable(home.root()))?;
    Ok(VerifyReport {
        league_id: league.clone(),
        events: head.seq,
        matches: u64::from(season.matches_completed()),
        draws_proved: draws.proved,
        draws_consistent: draws.consistent,
        draws_unproved: draws.unproved,
        head,
        files: matches.agreeing,
        transcripts: matches.transcripts,
        transcripts_missing: matches.transcripts_missing,
        files_different: findings.different,
        differences: findings.differences,
        files_stale: findings.outdated,
        stale: findings.stale,
    })
}

#[derive(Default)]
struct DrawCounts {
    /// The commitment was in the log before the match.
    proved: u64,
    /// The number follows from a commitment that came with the report.
    consistent: u64,
    unproved: u64,
}

struct Audit<'a> {
    league: &'a LeagueId,
    expected: Option<LogHead>,
    replay: MatchReplay,
    draws: DrawCounts,
    /// The commitments of attempts that have no result yet.
    assigned: HashMap<MatchId, DrawCommitment>,
    standings: TableCheck,
    rounds: TableCheck,
    register: RegisterCheck,
    matches: MatchCheck<'a>,
    findings: Findings,
}

impl Audit<'_> {
    fn check(&mut self, event: &Event, head: LogHead) -> Result<(), VerifyFinding> {
        if let Some(expected) = self.expected.filter(|expected| expected.seq == head.seq && *expected != head) {
            return Err(VerifyFinding::Rewritten { expected, found: head });
        }
        let ended = self.replay.apply(event)?;
        let Some(season) = self.replay.season() else { return Ok(()) };
        if let Fact::Opened { config } = &event.fact
            && config.league_id != *self.league
        {
            return Err(VerifyFinding::OtherLeague { expected: self.league.clone(), found: config.league_id.clone() });
        }
        if let Fact::MatchReported { match_id, attempt, record, .. } = &event.fact {
            record.check(&season.config().game_type, match_id, *attempt).map_err(|reason| VerifyFinding::Record {
                seq: head.seq,
                match_id: match_id.clone(),
                reason,
            })?;
            let assigned = self.assigned.remove(match_id);
            // Cards have a proof and no number.
            match (record.drawn, &record.proof) {
                (_, Some(proof)) if assigned == Some(proof.commitment) => self.draws.proved += 1,
                (_, Some(_)) => self.draws.consistent += 1,
                (Some(_), None) => self.draws.unproved += 1,
                (None, None) => {}
            }
        } else if let Fact::MatchAssigned { match_id, draw, .. } = &event.fact {
            self.assigned.remove(match_id);
            self.assigned.extend(draw.as_ref().map(|draw| (match_id.clone(), draw.commitment)));
        }
        for table in [&mut self.standings, &mut self.rounds] {
            table.see(season).map_err(|error| VerifyFinding::Io { path: table.path(), reason: error.to_string() })?;
        }
        self.register.see(season);
        if let Some(replayed) = ended {
            self.matches.see(&replayed, &mut self.findings);
        }
        Ok(())
    }
}
