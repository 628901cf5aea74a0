//! `league verify`: checks a league's log, draws, results and files.

use anyhow::{Result, bail};
use league_store::home::Home;
use league_store::verify::{VerifyReport, verify};

use crate::cli::Verify;
use crate::open;
use crate::table::plain;

pub(crate) fn run(options: &Verify) -> Result<()> {
    let home = Home::open(&options.league.home)?;
    let league = open::find_league(&home, options.league.league_id.as_ref())?;
    match verify(&home, &league, options.head) {
        Ok(report) if options.json => println!("{}", serde_json::to_string_pretty(&report)?),
        Ok(report) => {
            let lines = [
                ["Events", "chained", &report.events.to_string()],
                ["Results", "follow from moves and numbers", &report.matches.to_string()],
                ["Draws", "proved", &report.draws_proved.to_string()],
                ["Draws", "by referees who prove nothing", &report.draws_unproved.to_string()],
                ["Match files", "agree with the log", &report.files.to_string()],
                ["Match files", "missing, stale or damaged", &faults(&report).to_string()],
                ["Transcripts", "have the reported hash", &report.transcripts.to_string()],
                ["Transcripts", "not arrived yet", &report.transcripts_missing.to_string()],
            ];
            println!("{}", plain(["What", "Finding", "Number"], lines.map(|line| line.map(String::from)), &[2]));
            eprintln!("{league}: everything is as it should be. The log ends at {}.", report.head);
        }
        Err(finding) => bail!("{league}: {finding}"),
    }
    Ok(())
}

/// Differences between files and the log. Files are views, so they can be written again.
fn faults(report: &VerifyReport) -> u64 {
    report.files_missing + report.files_stale + report.damaged.len() as u64
}
