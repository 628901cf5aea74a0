//! An operator that acts at the same time as the manager.

use std::collections::HashSet;

use league_core::season::{CommandOutcome, NextAction};
use league_manager::{LeagueHandle, ManagerSettings};
use league_test_agents::player::Plan;
use league_test_agents::player::dialect::Speech;

use crate::league::League;

/// Races the manager: starts the league, stops it before each round, and resumes it. Returns the number of commands that
/// succeeded.
async fn hurry(league_handle: LeagueHandle) -> usize {
    let (mut changes, mut stopped, mut counted) = (league_handle.changes(), HashSet::new(), 0);
    while changes.changed().await.is_ok() {
        let before = stopped.clone();
        let acted = league_handle.command(move |season, now| {
            let (outcome, round) = match season.next_action() {
                NextAction::AwaitRegistrations if season.players().len() == 2 => (season.start(now)?, None),
                NextAction::AwaitStart => (season.start(now)?, None),
                NextAction::StartRound(round) if !before.contains(&round) => (season.stop(now)?, Some(round)),
                NextAction::AwaitRegistrations | NextAction::StartRound(_) | NextAction::Play(_) => return nothing(),
                NextAction::Conclude => return Ok(CommandOutcome { events: Vec::new(), reply: None }),
            };
            Ok(CommandOutcome { events: outcome.events, reply: Some((1, round)) })
        });
        let Ok(Some((one, round))) = acted.await else { return counted };
        counted += one;
        stopped.extend(round);
    }
    counted
}

type Acted = Option<(usize, Option<league_protocol::id::RoundId>)>;

fn nothing() -> Result<CommandOutcome<Acted>, league_protocol::error::RequestError> {
    Ok(CommandOutcome { events: Vec::new(), reply: Some((0, None)) })
}

#[tokio::test]
async fn an_operator_that_is_faster_than_the_manager_does_not_end_it() {
    let league = League::of(2, 1, ManagerSettings::default()).await.with_referee().await;
    let operator = tokio::spawn(hurry(league.handle()));
    let playing = league.play();
    let joining = async {
        let one = Plan::new("One", Speech::Direct).join(&league.url).await.unwrap();
        [one, Plan::new("Two", Speech::Direct).join(&league.url).await.unwrap()]
    };
    let (season, _players) = tokio::join!(playing, joining);
    assert_eq!(season.matches_completed(), 1);
    assert!(operator.await.unwrap() >= 1, "the operator acted");
}
