//! Where findings are noted while checks run, some of them at the same time.
//!
//! A rule may be looked at several times; the first failure stands. A rule that nobody got to is skipped, never passed.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use league_protocol::problem::Problem;

use crate::report::{CheckVerdict, Finding};
use crate::response::Response;
use crate::rule::Rule;

/// What has been found so far.
#[derive(Debug, Default)]
pub(crate) struct CheckLog {
    found: Mutex<HashMap<&'static str, Finding>>,
}

/// Holds, or what was seen instead.
pub(crate) type Judgement = Result<(), String>;

/// What was seen in place of what a rule asks for, and how to mend it, where more is known than the rule says.
#[derive(Clone, Debug)]
pub(crate) struct RuleViolation {
    seen: String,
    fix: Option<String>,
}

impl From<String> for RuleViolation {
    fn from(seen: String) -> Self {
        Self { seen, fix: None }
    }
}

impl From<Problem> for RuleViolation {
    fn from(problem: Problem) -> Self {
        Self { seen: problem.told_of("it"), fix: Some(problem.fix()) }
    }
}

/// Passes when `holds`, and says `otherwise` if not.
pub(crate) fn ensure(holds: bool, otherwise: impl Into<String>) -> Judgement {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

impl CheckLog {
    fn found(&self) -> MutexGuard<'_, HashMap<&'static str, Finding>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether `rule` holds, by what was `heard`.
    pub(crate) fn judge(&self, rule: &'static Rule, heard: &Response, judgement: Judgement) {
        self.explain(rule, heard, judgement.map_err(RuleViolation::from));
    }

    /// The same, with advice that fits what was seen.
    pub(crate) fn explain(&self, rule: &'static Rule, heard: &Response, judgement: Result<(), RuleViolation>) {
        let fix = judgement.as_ref().err().and_then(|broken| broken.fix.clone());
        let verdict = judgement.map_or_else(|broken| CheckVerdict::Failed(broken.seen), |()| CheckVerdict::Passed);
        let (sent, came) = (Some(heard.sent_text()), Some(heard.came_text()));
        self.note(Finding { rule, verdict, sent, came, took: heard.took(), accepted: false, fix });
    }

    /// Notes that `rule` cannot be checked.
    pub(crate) fn skip(&self, rule: &'static Rule, why: &str) {
        let verdict = CheckVerdict::Skipped(why.to_owned());
        self.note(Finding { rule, verdict, sent: None, came: None, took: None, accepted: false, fix: None });
    }

    /// Notes what was seen without a single exchange to show for it.
    pub(crate) fn observe(&self, rule: &'static Rule, seen: Option<String>, judgement: Judgement) {
        let verdict = judgement.map_or_else(CheckVerdict::Failed, |()| CheckVerdict::Passed);
        self.note(Finding { rule, verdict, sent: None, came: seen, took: None, accepted: false, fix: None });
    }

    fn note(&self, finding: Finding) {
        let mut found = self.found();
        let before = found.get(finding.rule.id).map(|known| &known.verdict);
        let stands = match (before, &finding.verdict) {
            (Some(CheckVerdict::Failed(_)), _) | (Some(_), CheckVerdict::Skipped(_)) => true,
            (None | Some(CheckVerdict::Passed | CheckVerdict::Skipped(_)), _) => false,
        };
        if !stands {
            found.insert(finding.rule.id, finding);
        }
    }

    /// All findings, in the order of `rules`.
    pub(crate) fn close(self, rules: &[&'static Rule], unreached: &str) -> Vec<Finding> {
        let mut found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let skipped = |rule: &'static Rule| Finding {
            rule,
            verdict: CheckVerdict::Skipped(unreached.to_owned()),
            sent: None,
            came: None,
            took: None,
            accepted: false,
            fix: None,
        };
        rules.iter().map(|rule| found.remove(rule.id).unwrap_or_else(|| skipped(rule))).collect()
    }
}
