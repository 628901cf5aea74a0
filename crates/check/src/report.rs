use std::time::Duration;

use league_protocol::sender::Role;
use league_wire::endpoint::Endpoint;
use serde::{Serialize, Serializer};

use crate::accept::Accepted;
use crate::rule::{Rule, RuleLevel};
use crate::rules::player;
use crate::set::RuleSet;

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "verdict", content = "why", rename_all = "lowercase")]
pub enum CheckVerdict {
    Passed,
    Failed(String),
    Skipped(String),
}

#[derive(Clone, Debug)]
pub struct Finding {
    pub rule: &'static Rule,
    pub verdict: CheckVerdict,
    /// Shortened and without secrets, as is `received`.
    pub sent: Option<String>,
    pub received: Option<String>,
    pub took: Option<Duration>,
    pub accepted: bool,
    pub fix: Option<String>,
}

impl Finding {
    pub(crate) fn without_exchange(rule: &'static Rule, verdict: CheckVerdict) -> Self {
        Self { rule, verdict, sent: None, received: None, took: None, accepted: false, fix: None }
    }

    pub fn hint(&self) -> &str {
        self.fix.as_deref().unwrap_or(self.rule.hint)
    }

    /// False for a known failure.
    pub fn is_failure(&self) -> bool {
        matches!(self.verdict, CheckVerdict::Failed(_)) && !self.accepted
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            id: &'static str,
            level: RuleLevel,
            section: u8,
            rule: &'static str,
            #[serde(flatten)]
            verdict: &'a CheckVerdict,
            accepted: bool,
            hint: &'a str,
            sent: Option<&'a str>,
            came_back: Option<&'a str>,
            took_ms: Option<u128>,
        }
        let Rule { id, level, section, text: rule, .. } = *self.rule;
        let Self { verdict, accepted, .. } = self;
        let (sent, came_back) = (self.sent.as_deref(), self.received.as_deref());
        let (hint, took_ms, accepted) = (self.hint(), self.took.map(|took| took.as_millis()), *accepted);
        Written { id, level, section, rule, verdict, accepted, hint, sent, came_back, took_ms }.serialize(serializer)
    }
}

/// Skipped checks do not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Score {
    pub passed: usize,
    pub checked: usize,
}

impl Score {
    /// Rounded down: 100 means all.
    pub fn percent(self) -> usize {
        (self.passed * 100).checked_div(self.checked).unwrap_or(100)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    Ready,
    NotReady,
    NotChecked,
}

/// An agent that breaks one of these loses every match.
static DECISIVE: [&Rule; 6] = [
    &player::REACHABLE,
    &player::JOINS,
    &player::JOIN_TIME,
    &player::CHOOSES,
    &player::CHOICE_EXACT,
    &player::CHOICE_TIME,
];

#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    pub set: &'static str,
    pub endpoint: String,
    pub role: Role,
    pub role_because: String,
    pub form: Option<String>,
    /// What the author should know first.
    pub notes: Vec<String>,
    pub complete: bool,
    pub findings: Vec<Finding>,
    pub stale: Vec<String>,
}

impl CheckReport {
    pub(crate) fn new(role: Role, endpoint: &Endpoint, set: &RuleSet) -> Self {
        Self {
            set: set.name,
            endpoint: endpoint.to_string(),
            role,
            role_because: String::from("as you say"),
            form: None,
            notes: Vec::new(),
            complete: false,
            findings: Vec::new(),
            stale: Vec::new(),
        }
    }

    pub fn score(&self, level: RuleLevel) -> Score {
        let of_level = self.findings.iter().filter(|finding| finding.rule.level == level);
        of_level.fold(Score::default(), |score, finding| match (&finding.verdict, finding.accepted) {
            (CheckVerdict::Passed, _) | (CheckVerdict::Failed(_), true) => {
                Score { passed: score.passed + 1, checked: score.checked + 1 }
            }
            (CheckVerdict::Failed(_), false) => Score { checked: score.checked + 1, ..score },
            (CheckVerdict::Skipped(_), _) => score,
        })
    }

    /// Rules that could not be checked do not count.
    pub fn readiness(&self) -> Readiness {
        if self.is_fit() {
            Readiness::Ready
        } else if self.complete || self.broken(RuleLevel::Required).next().is_some() {
            Readiness::NotReady
        } else {
            Readiness::NotChecked
        }
    }

    pub fn loses_every_match(&self) -> Option<&Finding> {
        self.broken(RuleLevel::Required).find(|finding| DECISIVE.iter().any(|rule| rule.id == finding.rule.id))
    }

    pub fn with_verdict(&self) -> impl Serialize + '_ {
        #[derive(Serialize)]
        struct Totals {
            required: Score,
            recommended: Score,
            quirks: usize,
            skipped: usize,
        }
        #[derive(Serialize)]
        struct Graded<'a> {
            verdict: Readiness,
            grade: String,
            totals: Totals,
            failures: Vec<&'static str>,
            #[serde(flatten)]
            report: &'a CheckReport,
        }
        let skipped = |finding: &&Finding| matches!(finding.verdict, CheckVerdict::Skipped(_));
        let failures =
            self.findings.iter().filter(|finding| finding.is_failure()).map(|finding| finding.rule.id).collect();
        Graded {
            verdict: self.readiness(),
            grade: self.grade(),
            totals: Totals {
                required: self.score(RuleLevel::Required),
                recommended: self.score(RuleLevel::Recommended),
                quirks: self.broken(RuleLevel::Quirk).count(),
                skipped: self.findings.iter().filter(skipped).count(),
            },
            failures,
            report: self,
        }
    }

    /// Whether the check is complete and every required rule that was checked holds.
    pub fn is_fit(&self) -> bool {
        self.complete && self.broken(RuleLevel::Required).next().is_none()
    }

    pub fn broken(&self, level: RuleLevel) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.rule.level == level && finding.is_failure())
    }

    pub fn accept(&mut self, accepted: &Accepted) {
        for finding in &mut self.findings {
            finding.accepted = matches!(finding.verdict, CheckVerdict::Failed(_)) && accepted.has(finding.rule.id);
        }
        let passes = |id: &str| {
            self.findings.iter().any(|finding| finding.rule.id == id && finding.verdict == CheckVerdict::Passed)
        };
        self.stale = accepted.ids().filter(|id| passes(id)).map(str::to_owned).collect();
    }

    pub fn grade(&self) -> String {
        let parts = |level| {
            let score = self.score(level);
            format!("{} % of {level} ({}/{})", score.percent(), score.passed, score.checked)
        };
        let recommended = parts(RuleLevel::Recommended);
        if let Some(decisive) = self.loses_every_match() {
            return format!("0 % of required, because it loses every match ({}), {recommended}", decisive.rule.id);
        }
        if !self.complete {
            return String::from("none, because the agent could not be checked");
        }
        let quirks = self.broken(RuleLevel::Quirk).count();
        let (required, plural) = (parts(RuleLevel::Required), if quirks == 1 { "" } else { "s" });
        format!("{required}, {recommended}, {quirks} quirk{plural}")
    }
}
