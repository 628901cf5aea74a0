//! A good agent gets no finding.

use std::time::Instant;

use league_check::rule::RuleLevel;
use league_check::{CheckOptions, CheckReport};

use crate::support::bad_player::{Fault, start};
use crate::support::ours::{free_port, manager, place, player, referee, served};
use crate::support::{at, failed, patient, skipped, told};

fn spotless(report: &CheckReport) {
    assert!(report.complete && report.is_fit() && failed(report).is_empty(), "{}", told(report));
    assert!(skipped(report).is_empty(), "{}", told(report));
    assert_eq!(report.score(RuleLevel::Required).percent(), 100);
    assert_eq!(report.score(RuleLevel::Recommended).percent(), 100);
}

#[tokio::test]
async fn our_player_is_spotless_and_graded_at_once() {
    let here = place().await;
    let player = player(&here.1, "http://127.0.0.1:9/mcp".parse().unwrap());
    let player = served(here, player);
    let began = Instant::now();
    spotless(&league_check::player(&player.endpoint, &patient()).await);
    assert!(began.elapsed().as_secs() < 15);
}

#[tokio::test]
async fn a_player_written_by_hand_is_spotless() {
    let player = start(Fault::None);
    spotless(&league_check::player(&at(&player), &patient()).await);
}

#[tokio::test]
async fn our_referee_is_spotless() {
    let port = free_port();
    let referee = referee(port).await;
    let options = CheckOptions { listen: ([127, 0, 0, 1], port).into(), ..patient() };
    let began = Instant::now();
    spotless(&league_check::referee(&referee.endpoint, &options).await);
    assert!(began.elapsed().as_secs() < 15);
}

#[tokio::test]
async fn our_manager_is_spotless() {
    let manager = served(place().await, manager(league_manager::ManagerSettings::default()).await);
    let report = league_check::manager(&manager.endpoint, &patient()).await;
    spotless(&report);
    assert!(report.notes.iter().any(|note| note.contains("stay registered")), "{:?}", report.notes);
}

#[tokio::test]
async fn our_agents_are_recognised() {
    use league_protocol::sender::Role;
    let here = place().await;
    let player = player(&here.1, "http://127.0.0.1:9/mcp".parse().unwrap());
    let player = served(here, player);
    let manager = served(place().await, manager(league_manager::ManagerSettings::default()).await);
    let referee = referee(9).await;
    for (endpoint, role) in
        [(&player.endpoint, Role::Player), (&manager.endpoint, Role::Manager), (&referee.endpoint, Role::Referee)]
    {
        assert_eq!(league_check::role(endpoint).await.role, role);
    }
    let by_hand = start(Fault::None);
    let guess = league_check::role(&at(&by_hand)).await;
    assert_eq!((guess.role, guess.because.as_str()), (Role::Player, "its tools say so"));
}
