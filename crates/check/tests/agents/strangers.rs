//! Agents in other dialects, agents of another league, and programs that are no agents.

use league_check::{CheckOptions, CheckReport};
use league_protocol::frame::Frame;
use league_test_agents::http_server::{HttpReply, HttpServer};
use serde_json::json;

use crate::support::faulty_player::{Fault, start};
use crate::support::house_agents::{free_port, listen, manager, player, start_agent};
use crate::support::{at, failed, report_text};

#[tokio::test]
async fn a_player_in_another_frame_is_fit_and_has_a_quirk() {
    for (fault, frame) in
        [(Fault::OnlyTypes, Frame::Typed), (Fault::OnlyBare, Frame::Bare), (Fault::OnlyNested, Frame::Nested)]
    {
        let player = start(fault);
        let report = league_check::player(&at(&player), &CheckOptions::default()).await;
        assert_eq!(report.form, Some(format!("frame {frame}")));
        assert!(report.is_fit(), "{}", report_text(&report));
        let failed = failed(&report);
        assert!(failed.contains(&"player.frame.canonical"), "{}", report_text(&report));
        let about_the_form = |id: &&str| id.starts_with("player.frame.") || id.starts_with("player.mcp.");
        let others: Vec<_> = failed.into_iter().filter(|id| !about_the_form(id)).collect();
        assert!(others.is_empty(), "{fault:?}: {others:?}\n{}", report_text(&report));
    }
}

fn has_note(report: &CheckReport, part: &str) {
    assert!(!report.complete && !report.is_fit());
    assert!(report.notes.iter().any(|note| note.contains(part)), "{}", report_text(report));
    assert_eq!(failed(report).len(), 1, "{}", report_text(report));
}

#[tokio::test]
async fn a_registered_player_is_to_be_checked_before_it_registers() {
    let address = listen().await;
    let manager = start_agent(listen().await, manager(league_manager::ManagerSettings::default()).await);
    let agent = player(&address.1, manager.endpoint.clone());
    let player = start_agent(address, agent.clone());
    agent.register().await.unwrap();
    let report = league_check::player(&player.endpoint, &CheckOptions::default()).await;
    has_note(&report, "Check it before it registers");
}

#[tokio::test]
async fn an_agent_that_does_not_listen_is_reported_as_such() {
    let nowhere = format!("http://127.0.0.1:{}/mcp", free_port()).parse().unwrap();
    has_note(&league_check::player(&nowhere, &CheckOptions::default()).await, "Nothing listens at 127.0.0.1:");
    has_note(&league_check::referee(&nowhere, &CheckOptions::default()).await, "Nothing listens at 127.0.0.1:");
    has_note(&league_check::manager(&nowhere, &CheckOptions::default()).await, "No agent answers at http://127.0.0.1:");
}

#[tokio::test]
async fn a_server_that_is_no_agent_is_described_in_the_notes() {
    for (status, kind, body, said) in [
        (200, "text/html", "<html>Welcome</html>", "answers with a page"),
        (404, "application/json", "{}", "Is the path right?"),
        (200, "application/json", "{\"status\": \"ok\"}", "in none of the forms"),
    ] {
        let server = HttpServer::stub(move |_| HttpReply {
            headers: vec![("content-type", kind.to_owned())],
            ..HttpReply::text(status, body)
        });
        has_note(&league_check::player(&at(&server.unwrap()), &CheckOptions::default()).await, said);
    }
}

#[tokio::test]
async fn the_most_specific_error_is_quoted_if_no_frame_is_understood() {
    let odd = HttpServer::stub(|request| {
        let body = request.json();
        let (code, words) = match body.get("params").and_then(|params| params.get("message")) {
            Some(_) => (-32000, "strategy file plan.py is missing"),
            None => (-32601, "Method not found"),
        };
        let error = json!({"code": code, "message": words});
        HttpReply::json(200, &json!({"jsonrpc": "2.0", "id": body["id"], "error": error}))
    });
    let report = league_check::player(&at(&odd.unwrap()), &CheckOptions::default()).await;
    has_note(&report, "strategy file plan.py is missing");
    assert!(
        report_text(&report).contains("player.invitation.joins (required): it answered with error -32000"),
        "{}",
        report_text(&report)
    );
}

#[tokio::test]
async fn an_unregistered_referee_is_told_where_to_register() {
    let referee = crate::support::house_agents::referee(9).await;
    has_note(&league_check::referee(&referee.endpoint, &CheckOptions::default()).await, "Choose a port for --listen");
}

#[tokio::test]
async fn a_manager_of_any_frame_gets_a_grade() {
    for frame in league_test_agents::frame::Frame::ALL {
        let manager = league_test_agents::manager::Plan::new(frame, 99).serve().unwrap();
        let report = league_check::manager(&manager.endpoint().parse().unwrap(), &CheckOptions::default()).await;
        assert!(report.complete, "{frame:?}: {}", report_text(&report));
    }
}
