//! Every kind of player that is in use gets a grade.

use std::time::Duration;

use league_check::CheckOptions;
use league_test_agents::player_kinds::{PlayerKind, kinds};
use league_wire::endpoint::Endpoint;
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::support::report_text;

/// `None` if the report is right.
async fn wrong_grade(PlayerKind { plan, form, .. }: PlayerKind) -> Option<String> {
    let player = plan.serve().unwrap();
    let endpoint: Endpoint = player.endpoint().parse().unwrap();
    while TcpStream::connect((endpoint.host(), endpoint.port())).await.is_err() {
        sleep(Duration::from_millis(20)).await;
    }
    let report = league_check::player(&endpoint, &CheckOptions::default()).await;
    let spoken = report.form.clone().unwrap_or_default();
    // A manager learns the names of notices by sending them; the checker sends only the usual names.
    let frame = format!("frame {}", form.split(',').next().unwrap_or(form));
    (!report.complete || !spoken.starts_with(&frame))
        .then(|| format!("{} ({form}) has no grade:\n{}", player.name(), report_text(&report)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_player_gets_a_grade() {
    let all = kinds();
    assert!(all.len() >= 18, "{} kinds", all.len());
    let wrong: Vec<String> =
        futures_util::future::join_all(all.into_iter().map(wrong_grade)).await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
