//! The findings of the checks, some of which run concurrently. The first failure of a rule stands. A rule that was not
//! checked is skipped, never passed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use league_protocol::problem::Problem;

use crate::report::{CheckVerdict, Finding};
use crate::response::Response;
use crate::rule::Rule;

#[derive(Debug, Default)]
pub(crate) struct CheckLog {
    found: Mutex<HashMap<&'static str, Finding>>,
}

pub(crate) type Judgement = Result<(), String>;

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
        Self { seen: problem.sentence_about("it"), fix: Some(problem.fix()) }
    }
}

pub(crate) fn ensure(holds: bool, otherwise: impl Into<String>) -> Judgement {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

impl CheckLog {
    pub(crate) fn judge(&self, rule: &'static Rule, response: &Response, judgement: Judgement) {
        self.explain(rule, response, judgement.map_err(RuleViolation::from));
    }

    /// Like `judge`, with specific advice.
    pub(crate) fn explain(&self, rule: &'static Rule, response: &Response, judgement: Result<(), RuleViolation>) {
        let fix = judgement.as_ref().err().and_then(|violation| violation.fix.clone());
        let verdict =
            judgement.map_or_else(|violation| CheckVerdict::Failed(violation.seen), |()| CheckVerdict::Passed);
        let (sent, received) = (Some(response.request_text()), Some(response.result_text()));
        self.note(Finding { rule, verdict, sent, received, took: response.took(), accepted: false, fix });
    }

    pub(crate) fn skip(&self, rule: &'static Rule, why: &str) {
        self.note(Finding::without_exchange(rule, CheckVerdict::Skipped(why.to_owned())));
    }

    /// For a finding that no single exchange shows.
    pub(crate) fn observe(&self, rule: &'static Rule, received: String, judgement: Judgement) {
        let verdict = judgement.map_or_else(CheckVerdict::Failed, |()| CheckVerdict::Passed);
        self.note(Finding { received: Some(received), ..Finding::without_exchange(rule, verdict) });
    }

    fn note(&self, finding: Finding) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let before = found.get(finding.rule.id).map(|known| &known.verdict);
        let stands = match (before, &finding.verdict) {
            (Some(CheckVerdict::Failed(_)), _) | (Some(_), CheckVerdict::Skipped(_)) => true,
            (None | Some(CheckVerdict::Passed | CheckVerdict::Skipped(_)), _) => false,
        };
        if !stands {
            found.insert(finding.rule.id, finding);
        }
    }

    pub(crate) fn close(self, rules: &[&'static Rule], unreached: &str) -> Vec<Finding> {
        let mut found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let skipped =
            |rule: &'static Rule| Finding::without_exchange(rule, CheckVerdict::Skipped(unreached.to_owned()));
        rules.iter().map(|rule| found.remove(rule.id).unwrap_or_else(|| skipped(rule))).collect()
    }
}
