//! Referees with planted faults.

use std::time::Duration;

use league_check::CheckOptions;

use crate::support::ours::free_port;
use crate::support::small_referee::{Wrong, start};
use crate::support::{at, failed, patient, told};

const PLANTED: &[(Wrong, &[&str])] = &[
    (Wrong::Nothing, &[]),
    (Wrong::AnswersAtTheEnd, &["referee.start.at-once"]),
    (Wrong::PlaysTwice, &["referee.start.again"]),
    (Wrong::TakesNobody, &["referee.start.malformed"]),
    (Wrong::InvitesOneAfterTheOther, &["referee.invitation.together"]),
    (Wrong::SwapsSides, &["referee.invitation.sides"]),
    (Wrong::NamesNoOpponent, &["referee.invitation.fields"]),
    (Wrong::NoCommitment, &["referee.draw.provable", "referee.invitation.commitment"]),
    (Wrong::ManyConversations, &["referee.conversation.one"]),
    (Wrong::ShowsNoPass, &["referee.pass.shown"]),
    (Wrong::AsksOneAfterTheOther, &["referee.choice.together"]),
    (Wrong::TellsTheOther, &["referee.choice.hidden"]),
    (Wrong::DrawsEleven, &["referee.draw.number", "referee.draw.provable"]),
    (Wrong::DrawsAsItLikes, &["referee.draw.provable"]),
    (Wrong::FavoursB, &["referee.result.winner"]),
    (Wrong::TellsTwoThings, &["referee.over.alike"]),
    (Wrong::ReportsSomethingElse, &["referee.report.agrees"]),
    (Wrong::CountsTwoPoints, &["referee.report.score"]),
    (Wrong::SaysNothingOfErrors, &["referee.retry.told"]),
    (Wrong::AsksTwice, &["referee.retry.three"]),
    (Wrong::ForgivesForfeits, &["referee.decline.loss", "referee.retry.loss"]),
    (Wrong::GivesUpOnSilence, &["referee.timeout.retried"]),
    (Wrong::AsksWhoDeclined, &["referee.decline.loss"]),
    (Wrong::KnowsEveryMatch, &["referee.state.unknown-match"]),
    (Wrong::KnowsEveryMethod, &["referee.rpc.unknown-method"]),
    (Wrong::TellsOneOnly, &["referee.decline.loss", "referee.over.both", "referee.retry.loss"]),
];

/// Faults that the checker finds only after its time limit.
const SILENT: &[(Wrong, &[&str])] =
    &[(Wrong::NeverReports, &["referee.decline.loss", "referee.report.sent", "referee.retry.loss"])];

async fn each(planted: &'static [(Wrong, &'static [&'static str])], patience: Duration) {
    let checks = planted.iter().map(|(wrong, expected)| async move {
        let port = free_port();
        let referee = start(*wrong, port);
        let listen = ([127, 0, 0, 1], port).into();
        let options = CheckOptions { listen, patience, registration: Duration::ZERO, ..patient() };
        let report = league_check::referee(&at(&referee), &options).await;
        (failed(&report) != *expected).then(|| format!("{wrong:?} should fail {expected:?}:\n{}", told(&report)))
    });
    let wrong: Vec<String> = futures_util::future::join_all(checks).await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_planted_fault_is_found_and_nothing_else() {
    each(PLANTED, Duration::from_secs(10)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_never_reports_is_found_out() {
    each(SILENT, Duration::from_secs(2)).await;
}
