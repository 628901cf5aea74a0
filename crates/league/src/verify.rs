//! `league verify`: checks a league's log, draws, results and files.

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use league_protocol::id::LeagueId;
use league_store::home::Home;
use league_store::lock::Lock;
use league_store::verify::{VerifyReport, repair, verify};
use league_wire::environment::Environment;

use crate::cli::Verify;
use crate::open;
use crate::table::plain;

/// The exit code when files show an earlier state of the log.
const STALE: u8 = 3;

pub(crate) fn run(options: &Verify) -> Result<ExitCode> {
    let home = options.league.open()?;
    let league = open::find_league(&home, options.league.league_id.as_ref())?;
    let check = || verify(&home, &league, options.head).map_err(|finding| anyhow!("{league}: {finding}"));
    if options.repair {
        // Refused also when there is nothing to repair at this moment.
        drop(lock(&home, &league)?);
    }
    let mut report = check()?;
    if options.repair && (report.files_stale > 0 || report.files_different > 0) {
        report = repaired(&home, &league, &report, check)?;
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print(&report);
    }
    Ok(match (report.files_different, report.files_stale) {
        (0, 0) => ExitCode::SUCCESS,
        (0, _) => ExitCode::from(STALE),
        _ => ExitCode::FAILURE,
    })
}

/// A running manager writes its own files, so a repair needs its lock. `verify` looks whether a manager holds it.
fn lock(home: &Home, league: &LeagueId) -> Result<Lock> {
    Ok(Lock::take(home.lock(league), Environment::real().now())?)
}

fn repaired(
    home: &Home,
    league: &LeagueId,
    before: &VerifyReport,
    check: impl Fn() -> Result<VerifyReport>,
) -> Result<VerifyReport> {
    let lock = lock(home, league)?;
    repair(home, league, before)?;
    drop(lock);
    let after = check()?;
    let findings = |report: &VerifyReport| report.files_different + report.files_stale;
    eprintln!(
        "{league}: {} files written again from the log. {} are as before.",
        findings(before).saturating_sub(findings(&after)),
        findings(&after)
    );
    Ok(after)
}

fn print(report: &VerifyReport) {
    let lines = [
        ["Events", "chained", &report.events.to_string()],
        ["Results", "follow from moves and numbers", &report.matches.to_string()],
        ["Draws", "proved: committed before the match", &report.draws_proved.to_string()],
        ["Draws", "consistent with a commitment of the report", &report.draws_consistent.to_string()],
        ["Draws", "without a proof", &report.draws_unproved.to_string()],
        ["Match files", "agree with the log", &report.files.to_string()],
        ["Transcripts", "have the reported hash", &report.transcripts.to_string()],
        ["Transcripts", "missing", &report.transcripts_missing.to_string()],
        ["Files", "show an earlier state of the log", &report.files_stale.to_string()],
        ["Files", "do not agree with the log", &report.files_different.to_string()],
    ];
    println!("{}", plain(["What", "Finding", "Number"], lines.map(|line| line.map(String::from)), &[2]));
    let (league, head) = (&report.league_id, report.head);
    report.differences.iter().for_each(|difference| eprintln!("{difference}"));
    report.stale.iter().for_each(|stale| eprintln!("{stale}"));
    let listed = (report.differences.len() + report.stale.len()) as u64;
    let left_out = report.files_different + report.files_stale - listed;
    if left_out > 0 {
        eprintln!("{left_out} more findings about files are not listed.");
    }
    match (report.files_different, report.files_stale) {
        (0, 0) => eprintln!("{league}: no damage was found. The log ends at {head}."),
        (0, _) => eprintln!(
            "{league}: the log is whole and ends at {head}, but files are stale. The manager writes them again when it runs; \
             `league verify --repair` does it now."
        ),
        _ => eprintln!(
            "{league}: the log is whole and ends at {head}, but files were changed, damaged or deleted. Keep them as evidence, or move \
             them away; `league verify --repair` writes missing files again from the log."
        ),
    }
}
