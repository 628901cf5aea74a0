//! Agents to check, and helpers to read their reports.

pub(crate) mod bad_player;
pub(crate) mod ours;
pub(crate) mod small_referee;

use std::sync::Arc;
use std::time::Duration;

use league_check::CheckOptions;
use league_check::report::{CheckReport, CheckVerdict, Finding};
use league_test_agents::http_server::{HttpReply, HttpRequest, HttpServer, ReservedPort, ServerFaults, Then};
use league_wire::endpoint::Endpoint;

pub(crate) enum NoReply {
    Crash,
    Silence,
}

/// The handler may block its thread or panic.
pub(crate) fn serve(
    faults: ServerFaults,
    answer: impl Fn(&HttpRequest) -> Result<HttpReply, NoReply> + Send + Sync + 'static,
) -> HttpServer {
    let answer = Arc::new(answer);
    let handler = move |request| {
        let answer = Arc::clone(&answer);
        async move {
            match tokio::task::spawn_blocking(move || answer(&request)).await {
                Ok(Ok(reply)) => reply,
                Ok(Err(NoReply::Crash)) => HttpReply::default().then(Then::Stop),
                Ok(Err(NoReply::Silence)) => std::future::pending().await,
                // A panic closes the connection.
                Err(_) => HttpReply::default(),
            }
        }
    };
    ReservedPort::free().and_then(|port| port.serve_after(Duration::ZERO, faults, handler)).unwrap()
}

pub(crate) fn at(server: &HttpServer) -> Endpoint {
    server.endpoint().parse().unwrap()
}

/// Failures of any level, sorted.
pub(crate) fn failed(report: &CheckReport) -> Vec<&'static str> {
    let broken = |finding: &&Finding| matches!(finding.verdict, CheckVerdict::Failed(_));
    let mut ids: Vec<_> = report.findings.iter().filter(broken).map(|finding| finding.rule.id).collect();
    ids.sort_unstable();
    ids
}

pub(crate) fn skipped(report: &CheckReport) -> Vec<&'static str> {
    let skipped = |finding: &&Finding| matches!(finding.verdict, CheckVerdict::Skipped(_));
    report.findings.iter().filter(skipped).map(|finding| finding.rule.id).collect()
}

/// The whole report, for the message of a failed test.
pub(crate) fn told(report: &CheckReport) -> String {
    league_check::text_report::for_people(report)
}

/// Time limits for a busy machine.
pub(crate) fn patient() -> CheckOptions {
    CheckOptions::default()
}

/// Time limits short enough to notice a late answer.
pub(crate) fn impatient() -> CheckOptions {
    CheckOptions { patience: Duration::from_secs(3), ..CheckOptions::default() }
}
