//! Agents to check, and helpers to read their reports.

pub(crate) mod faulty_player;
pub(crate) mod faulty_referee;
pub(crate) mod house_agents;

use std::sync::Arc;
use std::time::Duration;

use league_check::report::{CheckReport, CheckVerdict, Finding};
use league_check::text_report::Colours;
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
pub(crate) fn report_text(report: &CheckReport) -> String {
    league_check::text_report::render(report, Colours::None)
}

/// Declares the faults of a test agent, each with exactly the checks that must find it.
macro_rules! faults {
    ($($fault:ident $(: $($check:literal),+)?;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Fault {
            $($fault),*
        }

        impl Fault {
            pub(crate) const PLANTED: &'static [(Self, &'static [&'static str])] = &[$($((Self::$fault, &[$($check),+]),)?)*];
        }
    };
}
pub(crate) use faults;

/// Runs `check` with every fault concurrently; exactly the named checks must fail.
pub(crate) async fn each_fault<'a, F: Copy + std::fmt::Debug + 'a>(
    planted: impl Iterator<Item = &'a (F, &'a [&'a str])>,
    check: impl AsyncFn(F) -> CheckReport,
) {
    let check = &check;
    let checks = planted.map(async |(fault, expected)| {
        let report = check(*fault).await;
        (failed(&report) != *expected).then(|| format!("{fault:?} should fail {expected:?}:\n{}", report_text(&report)))
    });
    let wrong: Vec<String> = futures_util::future::join_all(checks).await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
