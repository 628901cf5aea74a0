//! Agents to check, and how to read what came of it.

pub(crate) mod bad_player;
pub(crate) mod http;
pub(crate) mod ours;
pub(crate) mod small_referee;

use std::time::Duration;

use league_check::Options;
use league_check::report::{Finding, Report, Verdict};

/// The checks that failed, whatever their level, sorted.
pub(crate) fn failed(report: &Report) -> Vec<&'static str> {
    let broken = |finding: &&Finding| matches!(finding.verdict, Verdict::Failed(_));
    let mut ids: Vec<_> = report.findings.iter().filter(broken).map(|finding| finding.rule.id).collect();
    ids.sort_unstable();
    ids
}

/// The checks that were skipped.
pub(crate) fn skipped(report: &Report) -> Vec<&'static str> {
    let skipped = |finding: &&Finding| matches!(finding.verdict, Verdict::Skipped(_));
    report.findings.iter().filter(skipped).map(|finding| finding.rule.id).collect()
}

/// Everything that is said about an agent, for whoever reads why a test failed.
pub(crate) fn told(report: &Report) -> String {
    league_check::people::for_people(report)
}

/// As patient as a busy machine needs.
pub(crate) fn patient() -> Options {
    Options::default()
}

/// As patient as it takes to see that somebody is late.
pub(crate) fn impatient() -> Options {
    Options { patience: Duration::from_secs(3), ..Options::default() }
}
