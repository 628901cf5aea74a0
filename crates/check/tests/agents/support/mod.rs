//! Agents to check, and how to read what came of it.

pub(crate) mod bad_player;
pub(crate) mod http;
pub(crate) mod ours;
pub(crate) mod small_referee;

use std::time::Duration;

use league_check::CheckOptions;
use league_check::report::{CheckReport, CheckVerdict, Finding};

/// The checks that failed, whatever their level, sorted.
pub(crate) fn failed(report: &CheckReport) -> Vec<&'static str> {
    let broken = |finding: &&Finding| matches!(finding.verdict, CheckVerdict::Failed(_));
    let mut ids: Vec<_> = report.findings.iter().filter(broken).map(|finding| finding.rule.id).collect();
    ids.sort_unstable();
    ids
}

/// The checks that were skipped.
pub(crate) fn skipped(report: &CheckReport) -> Vec<&'static str> {
    let skipped = |finding: &&Finding| matches!(finding.verdict, CheckVerdict::Skipped(_));
    report.findings.iter().filter(skipped).map(|finding| finding.rule.id).collect()
}

/// Everything that is said about an agent, for whoever reads why a test failed.
pub(crate) fn told(report: &CheckReport) -> String {
    league_check::text_report::for_people(report)
}

/// As patient as a busy machine needs.
pub(crate) fn patient() -> CheckOptions {
    CheckOptions::default()
}

/// As patient as it takes to see that somebody is late.
pub(crate) fn impatient() -> CheckOptions {
    CheckOptions { patience: Duration::from_secs(3), ..CheckOptions::default() }
}
