//! A report for people: one line for each check, and everything about those that failed.

use std::fmt::Write;

use crate::report::{Finding, Report, Verdict};
use crate::rule::Level;

/// Writes `report` for people.
pub fn for_people(report: &Report) -> String {
    let mut out = String::new();
    // Writing into a text cannot fail.
    write(report, &mut out).unwrap_or_default();
    out
}

fn write(report: &Report, out: &mut String) -> std::fmt::Result {
    writeln!(out, "{} at {} ({}), by {}", report.role, report.endpoint, report.role_because, report.set)?;
    if let Some(form) = &report.form {
        writeln!(out, "spoken to in {form}")?;
    }
    for note in &report.notes {
        writeln!(out, "\n{note}")?;
    }
    let mut group = "";
    let mut skipped: Vec<&Finding> = Vec::new();
    for finding in &report.findings {
        if matches!(finding.verdict, Verdict::Skipped(_)) {
            skipped.push(finding);
            // When checking was given up, a list of all that was not done helps nobody.
            if !report.complete {
                continue;
            }
        }
        if finding.rule.group() != group {
            group = finding.rule.group();
            writeln!(out, "\n{group}")?;
        }
        check(finding, out)?;
    }
    if !report.complete {
        writeln!(out, "\n{} checks could not be made.", skipped.len())?;
    }
    for id in &report.stale {
        writeln!(out, "\n{id} is accepted as a failure, but it holds: take it off the list")?;
    }
    writeln!(out, "\ngrade: {}", report.grade())
}

fn check(finding: &Finding, out: &mut String) -> std::fmt::Result {
    let rule = finding.rule;
    match &finding.verdict {
        Verdict::Passed => writeln!(out, "  ✓ {}", rule.id),
        Verdict::Skipped(why) => writeln!(out, "  – {} (skipped: {why})", rule.id),
        Verdict::Failed(why) if finding.accepted => writeln!(out, "  – {} (accepted: {why})", rule.id),
        Verdict::Failed(why) => {
            let (mark, level) = match rule.level {
                Level::Required => ("✗", "required"),
                Level::Recommended => ("✗", "recommended"),
                Level::Quirk => ("~", "a quirk"),
            };
            writeln!(out, "  {mark} {} ({level}): {why}", rule.id)?;
            writeln!(out, "      rule:      {} (PROTOCOL.md, section {})", rule.text, rule.section)?;
            for (what, shown) in [("sent:", &finding.sent), ("came back:", &finding.came)] {
                if let Some(shown) = shown {
                    writeln!(out, "      {what:10} {shown}")?;
                }
            }
            writeln!(out, "      change:    {}", rule.hint)
        }
    }
}
