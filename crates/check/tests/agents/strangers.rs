//! Agents of other forms, agents of another league, and what is no agent at all.

use league_check::CheckReport;
use league_protocol::frame::Frame;

use crate::support::bad_player::{Fault, start};
use crate::support::http::{Manners, Reply, Server};
use crate::support::ours::{free_port, manager, place, player, served};
use crate::support::{failed, patient, told};

#[tokio::test]
async fn any_form_plays_and_is_a_quirk() {
    for (fault, frame) in
        [(Fault::OnlyTypes, Frame::Typed), (Fault::OnlyBare, Frame::Bare), (Fault::OnlyNested, Frame::Nested)]
    {
        let player = start(fault);
        let report = league_check::player(&player.endpoint(), &patient()).await;
        assert_eq!(report.form, Some(format!("frame {frame}")));
        assert!(report.is_fit(), "{}", told(&report));
        let failed = failed(&report);
        assert!(failed.contains(&"player.frame.canonical"), "{}", told(&report));
        let about_the_form = |id: &&str| id.starts_with("player.frame.") || id.starts_with("player.mcp.");
        let others: Vec<_> = failed.into_iter().filter(|id| !about_the_form(id)).collect();
        assert!(others.is_empty(), "{fault:?}: {others:?}\n{}", told(&report));
    }
}

fn noted(report: &CheckReport, part: &str) {
    assert!(!report.complete && !report.is_fit());
    assert!(report.notes.iter().any(|note| note.contains(part)), "{}", told(report));
    assert_eq!(failed(report).len(), 1, "{}", told(report));
}

#[tokio::test]
async fn a_player_of_another_league_is_to_be_checked_before_it_registers() {
    let here = place().await;
    let manager = served(place().await, manager(league_manager::ManagerSettings::default()).await);
    let agent = player(&here.1, manager.endpoint.clone());
    let player = served(here, agent.clone());
    agent.register().await.unwrap();
    let report = league_check::player(&player.endpoint, &patient()).await;
    noted(&report, "Check it before it registers");
}

#[tokio::test]
async fn where_nobody_listens_that_is_what_is_said() {
    let nowhere = format!("http://127.0.0.1:{}/mcp", free_port()).parse().unwrap();
    noted(&league_check::player(&nowhere, &patient()).await, "Nothing listens at 127.0.0.1:");
    noted(&league_check::referee(&nowhere, &patient()).await, "Nothing listens at 127.0.0.1:");
    noted(&league_check::manager(&nowhere, &patient()).await, "Nobody answers at http://127.0.0.1:");
}

#[tokio::test]
async fn what_is_no_agent_is_told_from_one() {
    let page = Server::start(Manners::default(), |_| {
        Some(Reply { content_type: "text/html", ..Reply::json(200, String::from("<html>Welcome</html>")) })
    });
    noted(&league_check::player(&page.endpoint(), &patient()).await, "answers with a page");
    let empty = Server::start(Manners::default(), |_| Some(Reply::json(404, String::from("{}"))));
    noted(&league_check::player(&empty.endpoint(), &patient()).await, "Is the path right?");
    let other = Server::start(Manners::default(), |_| Some(Reply::json(200, String::from("{\"status\": \"ok\"}"))));
    noted(&league_check::player(&other.endpoint(), &patient()).await, "in none of the forms");
}

#[tokio::test]
async fn where_no_form_is_understood_the_most_specific_answer_is_quoted() {
    let odd = Server::start(Manners::default(), |request| {
        let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let (code, words) = match body.get("params").and_then(|params| params.get("message")) {
            Some(_) => (-32000, "strategy file plan.py is missing"),
            None => (-32601, "Method not found"),
        };
        let error = serde_json::json!({"code": code, "message": words});
        Some(Reply::json(200, serde_json::json!({"jsonrpc": "2.0", "id": body["id"], "error": error}).to_string()))
    });
    let report = league_check::player(&odd.endpoint(), &patient()).await;
    noted(&report, "strategy file plan.py is missing");
    assert!(
        told(&report).contains("player.invitation.joins (required): it answered with error -32000"),
        "{}",
        told(&report)
    );
}

#[tokio::test]
async fn a_referee_that_is_in_no_league_is_told_where_to_register() {
    let referee = crate::support::ours::referee(9).await;
    noted(&league_check::referee(&referee.endpoint, &patient()).await, "Choose a port for --listen");
}

#[tokio::test]
async fn managers_of_every_frame_get_a_grade() {
    for frame in league_test_agents::frame::Frame::ALL {
        let manager = league_test_agents::manager::Plan::new(frame, 99).serve().unwrap();
        let report = league_check::manager(&manager.endpoint().parse().unwrap(), &patient()).await;
        assert!(report.complete, "{frame:?}: {}", told(&report));
    }
}
