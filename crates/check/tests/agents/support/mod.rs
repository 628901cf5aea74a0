//! Agents to check, and how to read what came of it.

pub(crate) mod bad_player;
pub(crate) mod ours;
pub(crate) mod small_referee;

use std::sync::Arc;
use std::time::Duration;

use league_check::CheckOptions;
use league_check::report::{CheckReport, CheckVerdict, Finding};
use league_test_agents::http_server::{HttpReply, HttpRequest, HttpServer, ReservedPort, ServerFaults, Then};
use league_wire::endpoint::Endpoint;

/// What a handler does in place of a reply.
pub(crate) enum NoReply {
    /// The agent crashes: its server ends.
    Crash,
    /// The agent never answers.
    Silence,
}

/// A handler that may block its thread, or panic, at a free port.
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
