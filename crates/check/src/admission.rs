//! The check before admission, for leagues that admit only players that keep every required rule.

use std::time::Duration;

use league_protocol::id::GameType;
use league_wire::endpoint::Endpoint;
use tokio::time::timeout;

use crate::options::CheckOptions;
use crate::player::player;
use crate::report::{CheckReport, CheckVerdict, Finding};
use crate::rule::RuleLevel;
use crate::rules::player as rules;

/// A player waits at most ten seconds for the answer to its registration.
const LIMIT: Duration = Duration::from_secs(8);

const MAX_REASON: usize = 1_500;

/// Fails with the broken rules and what to change.
pub async fn fit_to_register(endpoint: &Endpoint, game: &GameType) -> Result<(), String> {
    let options = CheckOptions { game: game.clone(), max_wait: LIMIT, to_the_end: false, ..CheckOptions::default() };
    match timeout(LIMIT, player(endpoint, &options)).await {
        Err(_) => {
            Err(format!("this league checks players before it lets them in, and the check took more than {LIMIT:?}"))
        }
        Ok(report) if report.is_fit() => Ok(()),
        Ok(report) => Err(reason(&report).chars().take(MAX_REASON).collect()),
    }
}

fn reason(report: &CheckReport) -> String {
    let broken: Vec<&Finding> = report.broken(RuleLevel::Required).collect();
    if broken.iter().any(|finding| finding.rule.id == rules::REACHABLE.id) {
        return format!(
            "this league checks players before it lets them in, and no agent answers at {}: listen first, then register",
            report.endpoint
        );
    }
    let each = broken.iter().map(|finding| {
        let seen = match &finding.verdict {
            CheckVerdict::Failed(why) => why.as_str(),
            CheckVerdict::Passed | CheckVerdict::Skipped(_) => "",
        };
        let rule = finding.rule;
        format!("{}: {} Seen: {seen}. Change: {}", rule.id, rule.text, finding.hint())
    });
    let list: Vec<String> = each.collect();
    format!("the player breaks required rules of the protocol; `league check` tells more. {}", list.join("; "))
}
