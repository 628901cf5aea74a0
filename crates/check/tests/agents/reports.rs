//! The contents of reports.

use league_check::accept::Accepted;
use league_check::junit::junit;
use league_check::rule::RuleLevel;
use league_check::text_report::{Colours, render};
use league_check::{CheckOptions, CheckReport, RuleSet};
use serde_json::{Value, json};

use crate::support::faulty_player::{Fault, start};
use crate::support::{at, report_text};

async fn report(fault: Fault) -> CheckReport {
    league_check::player(&at(&start(fault)), &CheckOptions::default()).await
}

#[tokio::test]
async fn a_text_report_shows_the_rule_the_exchange_and_the_advice() {
    let text = report_text(&report(Fault::ChoosesInCapitals).await);
    for part in [
        "✗ player.choice.exact (required): it sent `EVEN`",
        "rule:      parity_choice is exactly \"even\" or \"odd\". (PROTOCOL.md, section 7)",
        "\"method\":\"choose_parity\"",
        "\"parity_choice\":\"EVEN\"",
        "change:    send `even`",
        "To be changed (required):\n  player.choice.exact: send `even`\n",
        "grade: 0 % of required, because it loses every match (player.choice.exact)",
        "verdict: not ready: 1 required rule is broken",
        "✓ player.invitation.joins",
        "100 % of recommended",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("100 % of required") && text.ends_with("broken\n"), "{text}");
    let quirky = report_text(&report(Fault::NoSender).await);
    assert!(quirky.contains("~ player.envelope.sender (a quirk)") && quirky.contains("1 quirk"), "{quirky}");
    assert!(quirky.contains("100 % of required") && quirky.ends_with("verdict: ready for a league\n"), "{quirky}");
}

#[tokio::test]
async fn a_json_report_has_every_finding_the_verdict_and_the_totals() {
    let json: Value = serde_json::to_value(report(Fault::ChoosesInCapitals).await.with_verdict()).unwrap();
    assert_eq!((&json["set"], &json["role"]), (&json!("league.v2/2026-11"), &json!("player")));
    let findings = json["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 83);
    let bad = findings.iter().find(|finding| finding["id"] == "player.choice.exact").unwrap();
    assert_eq!((&bad["verdict"], &bad["level"], &bad["section"]), (&json!("failed"), &json!("required"), &json!(7)));
    assert!(bad["sent"].as_str().unwrap().contains("choose_parity"));
    assert!(bad["came_back"].as_str().unwrap().contains("EVEN"));
    assert!(!json.to_string().contains("pass-0"), "a pass is shown");
    assert_eq!((&json["verdict"], &json["failures"]), (&json!("not_ready"), &json!(["player.choice.exact"])));
    let required = &json["totals"]["required"];
    assert_eq!(required["checked"].as_u64().unwrap(), required["passed"].as_u64().unwrap() + 1, "{required}");
    assert!(json["grade"].as_str().unwrap().starts_with("0 % of required"), "{}", json["grade"]);
    let fine: Value = serde_json::to_value(report(Fault::NoSender).await.with_verdict()).unwrap();
    assert_eq!((&fine["verdict"], &fine["totals"]["quirks"]), (&json!("ready"), &json!(1)));
}

#[tokio::test]
async fn a_coloured_report_has_the_same_text() {
    let report = report(Fault::ChoosesInCapitals).await;
    let coloured = render(&report, Colours::Ansi);
    assert!(coloured.contains("\u{1b}[31mnot ready: 1 required rule is broken\u{1b}[0m"), "{coloured}");
    let codes = ["\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[2m", "\u{1b}[0m"];
    assert_eq!(codes.iter().fold(coloured, |text, code| text.replace(code, "")), report_text(&report));
}

#[tokio::test]
async fn a_player_that_hangs_up_is_advised_to_look_for_an_exception() {
    let text = report_text(&report(Fault::ThrowsAtAChoice).await);
    assert!(text.contains("player.choice.answers (required): it hung up while answering"), "{text}");
    assert!(text.contains("change:    look for an exception in your console"), "{text}");
    assert!(text.ends_with("verdict: not ready: 1 required rule is broken\n"), "{text}");
}

#[tokio::test]
async fn a_junit_report_counts_tests_failures_and_skipped_ones() {
    let xml = junit(&report(Fault::ChoosesInCapitals).await);
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>"), "{xml}");
    assert_eq!(xml.matches("<testcase ").count(), 83);
    assert_eq!(xml.matches("<failure ").count(), 1);
    assert!(xml.contains("tests=\"83\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{xml}");
    assert!(xml.contains("message=\"it sent `EVEN`\""), "{xml}");
}

#[tokio::test]
async fn accepted_failures_do_not_fail_and_passed_ones_are_stale() {
    let mut report = report(Fault::ChoosesInCapitals).await;
    assert!(!report.is_fit());
    let known = "player.choice.exact # since last year\nplayer.rpc.batch\n";
    report.accept(&Accepted::read(known, RuleSet::newest()).unwrap());
    assert!(report.is_fit());
    assert_eq!(report.score(RuleLevel::Required).percent(), 100);
    assert_eq!(report.stale, ["player.rpc.batch"]);
    let text = report_text(&report);
    assert!(text.contains("– player.choice.exact (accepted: "), "{text}");
    assert!(text.contains("player.rpc.batch is accepted as a failure, but it holds"), "{text}");
}
