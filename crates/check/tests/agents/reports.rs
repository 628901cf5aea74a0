//! What a report says, and to whom.

use league_check::accept::Accepted;
use league_check::junit::junit;
use league_check::rule::Level;
use league_check::{Report, Set};
use serde_json::{Value, json};

use crate::support::bad_player::{Fault, start};
use crate::support::{patient, told};

async fn report(fault: Fault) -> Report {
    let player = start(fault);
    league_check::player(&player.endpoint(), &patient()).await
}

#[tokio::test]
async fn people_are_told_the_rule_what_was_said_and_what_to_change() {
    let text = told(&report(Fault::ChoosesInCapitals).await);
    for part in [
        "✗ player.choice.exact (required): the choice is \"EVEN\"",
        "rule:      parity_choice is exactly \"even\" or \"odd\". (PROTOCOL.md, section 7)",
        "\"method\":\"choose_parity\"",
        "\"parity_choice\":\"EVEN\"",
        "change:    send the text even or odd",
        "✓ player.invitation.joins",
        "100 % of recommended",
        "0 quirks",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("100 % of required"), "{text}");
    let quirky = told(&report(Fault::NoSender).await);
    assert!(quirky.contains("~ player.envelope.sender (a quirk)") && quirky.contains("1 quirk"), "{quirky}");
    assert!(quirky.contains("100 % of required"), "{quirky}");
}

#[tokio::test]
async fn programs_are_told_everything() {
    let report = report(Fault::ChoosesInCapitals).await;
    let json: Value = serde_json::to_value(&report).unwrap();
    assert_eq!((&json["set"], &json["role"]), (&json!("league.v2/2026-11"), &json!("player")));
    let findings = json["findings"].as_array().unwrap();
    assert_eq!(findings.len(), Set::newest().for_role(league_protocol::sender::Role::Player).len());
    let bad = findings.iter().find(|finding| finding["id"] == "player.choice.exact").unwrap();
    assert_eq!((&bad["verdict"], &bad["level"], &bad["section"]), (&json!("failed"), &json!("required"), &json!(7)));
    assert!(bad["sent"].as_str().unwrap().contains("choose_parity"));
    assert!(bad["came_back"].as_str().unwrap().contains("EVEN"));
    assert!(!json.to_string().contains("pass-0"), "a pass is shown");
}

#[tokio::test]
async fn test_viewers_are_told_in_xml() {
    let xml = junit(&report(Fault::ChoosesInCapitals).await);
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>"), "{xml}");
    assert_eq!(xml.matches("<testcase ").count(), 83);
    assert_eq!(xml.matches("<failure ").count(), 1);
    assert!(xml.contains("tests=\"83\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{xml}");
    assert!(xml.contains("message=\"the choice is &quot;EVEN&quot;\""), "{xml}");
}

#[tokio::test]
async fn what_is_known_fails_nobody_and_what_holds_is_stale() {
    let mut report = report(Fault::ChoosesInCapitals).await;
    assert!(!report.is_fit());
    let known = "player.choice.exact # since last year\nplayer.rpc.batch\n";
    report.accept(&Accepted::read(known, Set::newest()).unwrap());
    assert!(report.is_fit());
    assert_eq!(report.score(Level::Required).percent(), 100);
    assert_eq!(report.stale, ["player.rpc.batch"]);
    let text = told(&report);
    assert!(text.contains("– player.choice.exact (accepted: "), "{text}");
    assert!(text.contains("player.rpc.batch is accepted as a failure, but it holds"), "{text}");
}
