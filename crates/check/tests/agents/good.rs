//! A good agent gets no finding.

use std::time::Instant;

use league_check::rule::RuleLevel;
use league_check::{CheckOptions, CheckReport};
use league_protocol::sender::Role;

use crate::support::faulty_player::{Fault, start};
use crate::support::house_agents::{Served, free_port, listen, manager, player, referee, start_agent};
use crate::support::{at, failed, report_text, skipped};

fn assert_spotless(report: &CheckReport) {
    assert!(report.complete && report.is_fit() && failed(report).is_empty(), "{}", report_text(report));
    assert!(skipped(report).is_empty(), "{}", report_text(report));
    assert_eq!(report.score(RuleLevel::Required).percent(), 100);
    assert_eq!(report.score(RuleLevel::Recommended).percent(), 100);
}

async fn house_player() -> Served {
    let address = listen().await;
    let player = player(&address.1, "http://127.0.0.1:9/mcp".parse().unwrap());
    start_agent(address, player)
}

#[tokio::test]
async fn the_house_player_passes_every_check_within_fifteen_seconds() {
    let player = house_player().await;
    let began = Instant::now();
    assert_spotless(&league_check::player(&player.endpoint, &CheckOptions::default()).await);
    assert!(began.elapsed().as_secs() < 15);
}

#[tokio::test]
async fn a_handwritten_player_passes_every_check() {
    assert_spotless(&league_check::player(&at(&start(Fault::None)), &CheckOptions::default()).await);
}

#[tokio::test]
async fn the_house_referee_passes_every_check() {
    let port = free_port();
    let referee = referee(port).await;
    let options = CheckOptions { listen: ([127, 0, 0, 1], port).into(), ..CheckOptions::default() };
    let began = Instant::now();
    assert_spotless(&league_check::referee(&referee.endpoint, &options).await);
    assert!(began.elapsed().as_secs() < 15);
}

#[tokio::test]
async fn the_house_manager_passes_every_check() {
    let manager = start_agent(listen().await, manager(league_manager::ManagerSettings::default()).await);
    let report = league_check::manager(&manager.endpoint, &CheckOptions::default()).await;
    assert_spotless(&report);
    assert!(report.notes.iter().any(|note| note.contains("stay registered")), "{:?}", report.notes);
}

#[tokio::test]
async fn the_checker_recognises_the_role_of_an_agent() {
    let player = house_player().await;
    let manager = start_agent(listen().await, manager(league_manager::ManagerSettings::default()).await);
    let referee = referee(9).await;
    for (agent, role) in [(&player, Role::Player), (&manager, Role::Manager), (&referee, Role::Referee)] {
        assert_eq!(league_check::role(&agent.endpoint).await.role, role);
    }
    let guess = league_check::role(&at(&start(Fault::None))).await;
    assert_eq!((guess.role, guess.because.as_str()), (Role::Player, "its tools say so"));
}
