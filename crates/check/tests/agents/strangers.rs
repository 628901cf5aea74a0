//! Agents in other dialects, agents of another league, and programs that are no agents.

use league_check::CheckReport;
use league_protocol::frame::Frame;
use league_test_agents::http_server::{HttpReply, HttpServer};
use serde_json::json;

use crate::support::bad_player::{Fault, start};
use crate::support::ours::{free_port, manager, place, player, served};
use crate::support::{at, failed, patient, told};

#[tokio::test]
async fn any_form_plays_and_is_a_quirk() {
    for (fault, frame) in
        [(Fault::OnlyTypes, Frame::Typed), (Fault::OnlyBare, Frame::Bare), (Fault::OnlyNested, Frame::Nested)]
    {
        let player = start(fault);
        let report = league_check::player(&at(&player), &patient()).await;
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
async fn an_agent_that_does_not_listen_is_reported_as_such() {
    let nowhere = format!("http://127.0.0.1:{}/mcp", free_port()).parse().unwrap();
    noted(&league_check::player(&nowhere, &patient()).await, "Nothing listens at 127.0.0.1:");
    noted(&league_check::referee(&nowhere, &patient()).await, "Nothing listens at 127.0.0.1:");
    noted(&league_check::manager(&nowhere, &patient()).await, "No agent answers at http://127.0.0.1:");
}

#[tokio::test]
async fn what_is_no_agent_is_told_from_one() {
    for (status, kind, body, said) in [
        (200, "text/html", "<html>Welcome</html>", "answers with a page"),
        (404, "application/json", "{}", "Is the path right?"),
        (200, "application/json", "{\"status\": \"ok\"}", "in none of the forms"),
    ] {
        let server = HttpServer::stub(move |_| HttpReply {
            headers: vec![("content-type", kind.to_owned())],
            ..HttpReply::text(status, body)
        });
        noted(&league_check::player(&at(&server.unwrap()), &patient()).await, said);
    }
}

#[tokio::test]
async fn where_no_form_is_understood_the_most_specific_answer_is_quoted() {
    let odd = HttpServer::stub(|request| {
        let body = request.json();
        let (code, words) = match body.get("params").and_then(|params| params.get("message")) {
            Some(_) => (-32000, "strategy file plan.py is missing"),
            None => (-32601, "Method not found"),
        };
        let error = json!({"code": code, "message": words});
        HttpReply::json(200, &json!({"jsonrpc": "2.0", "id": body["id"], "error": error}))
    });
    let report = league_check::player(&at(&odd.unwrap()), &patient()).await;
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
