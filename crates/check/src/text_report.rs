//! A report as text: one line per check, the details of failures, and the verdict last.

use std::fmt::{self, Write};

use crate::report::{CheckReport, CheckVerdict, Finding, Readiness};
use crate::rule::RuleLevel;

/// Colours never carry information that the text lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colours {
    Ansi,
    None,
}

#[derive(Clone, Copy)]
enum Tone {
    Good,
    Bad,
    Odd,
    Faint,
}

impl Colours {
    fn paint(self, tone: Tone, text: impl fmt::Display) -> String {
        let code = match tone {
            Tone::Good => 32,
            Tone::Bad => 31,
            Tone::Odd => 33,
            Tone::Faint => 2,
        };
        match self {
            Self::Ansi => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Self::None => text.to_string(),
        }
    }
}

pub fn render(report: &CheckReport, colours: Colours) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    write(report, colours, &mut out).unwrap_or_default();
    out
}

fn write(report: &CheckReport, colours: Colours, out: &mut String) -> fmt::Result {
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
        if matches!(finding.verdict, CheckVerdict::Skipped(_)) {
            skipped.push(finding);
            // An incomplete check needs no list of the missing parts.
            if !report.complete {
                continue;
            }
        }
        if finding.rule.group() != group {
            group = finding.rule.group();
            writeln!(out, "\n{group}")?;
        }
        check(finding, colours, out)?;
    }
    if !report.complete {
        writeln!(out, "\n{} checks could not be made.", skipped.len())?;
    }
    for id in &report.stale {
        writeln!(out, "\n{id} is accepted as a failure, but it holds: take it off the list")?;
    }
    failures(report, colours, out)?;
    writeln!(out, "\ngrade: {}", report.grade())?;
    verdict(report, colours, out)
}

fn check(finding: &Finding, colours: Colours, out: &mut String) -> fmt::Result {
    let rule = finding.rule;
    match &finding.verdict {
        CheckVerdict::Passed => writeln!(out, "  {} {}", colours.paint(Tone::Good, "✓"), rule.id),
        CheckVerdict::Skipped(why) => {
            writeln!(out, "  {}", colours.paint(Tone::Faint, format!("– {} (skipped: {why})", rule.id)))
        }
        CheckVerdict::Failed(why) if finding.accepted => writeln!(out, "  – {} (accepted: {why})", rule.id),
        CheckVerdict::Failed(why) => {
            let (mark, level) = match rule.level {
                RuleLevel::Required => (colours.paint(Tone::Bad, "✗"), "required"),
                RuleLevel::Recommended => (colours.paint(Tone::Odd, "✗"), "recommended"),
                RuleLevel::Quirk => (colours.paint(Tone::Odd, "~"), "a quirk"),
            };
            writeln!(out, "  {mark} {} ({level}): {why}", rule.id)?;
            writeln!(out, "      rule:      {} (PROTOCOL.md, section {})", rule.text, rule.section)?;
            for (what, shown) in [("sent:", &finding.sent), ("came back:", &finding.received)] {
                if let Some(shown) = shown {
                    writeln!(out, "      {what:10} {shown}")?;
                }
            }
            writeln!(out, "      change:    {}", finding.hint())
        }
    }
}

fn failures(report: &CheckReport, colours: Colours, out: &mut String) -> fmt::Result {
    for (level, title, tone) in
        [(RuleLevel::Required, "To be changed", Tone::Bad), (RuleLevel::Recommended, "Better changed", Tone::Odd)]
    {
        let broken: Vec<&Finding> = report.broken(level).collect();
        if !broken.is_empty() {
            writeln!(out, "\n{} ({level}):", colours.paint(tone, title))?;
        }
        for finding in broken {
            writeln!(out, "  {}: {}", finding.rule.id, finding.hint())?;
        }
    }
    Ok(())
}

fn verdict(report: &CheckReport, colours: Colours, out: &mut String) -> fmt::Result {
    let broken = report.broken(RuleLevel::Required).count();
    match report.readiness() {
        Readiness::Ready => writeln!(out, "verdict: {}", colours.paint(Tone::Good, "ready for a league")),
        Readiness::NotReady => {
            let rules = if broken == 1 { "rule is" } else { "rules are" };
            let words = format!("not ready: {broken} required {rules} broken");
            writeln!(out, "verdict: {}", colours.paint(Tone::Bad, words))
        }
        Readiness::NotChecked => {
            writeln!(out, "verdict: {}", colours.paint(Tone::Bad, "not ready: it could not be checked"))
        }
    }
}
