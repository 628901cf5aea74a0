//! An operator that acts at the same time as the manager.

use std::collections::HashSet;

use league_core::season::{CommandOutcome, NextAction};
use league_manager::{LeagueHandle, ManagerSettings};

use crate::league::League;

/// Races the manager: starts the league, stops it before each round, and resumes it. Returns the number of commands that
/// succeeded.
async fn hurry(league_handle: LeagueHandle) -> usize {
    let (mut changes, mut stopped, mut succeeded) = (league_handle.changes(), HashSet::new(), 0);
    while changes.changed().await.is_ok() {
        let before = stopped.clone();
        let command = league_handle.command(move |season, now| {
            let (events, reply) = match season.next_action() {
                NextAction::AwaitRegistrations if season.players().len() < 2 => (Vec::new(), None),
                NextAction::AwaitRegistrations | NextAction::AwaitStart => (season.start(now)?.events, Some(None)),
                NextAction::StartRound(round) if !before.contains(&round) => {
                    (season.stop(now)?.events, Some(Some(round)))
                }
                NextAction::StartRound(_) | NextAction::Play(_) | NextAction::Conclude => (Vec::new(), None),
            };
            Ok(CommandOutcome { events, reply: (reply, season.next_action() == NextAction::Conclude) })
        });
        let Ok((reply, is_over)) = command.await else { return succeeded };
        succeeded += usize::from(reply.is_some());
        stopped.extend(reply.flatten());
        if is_over {
            break;
        }
    }
    succeeded
}

#[tokio::test]
async fn an_operator_that_is_faster_than_the_manager_does_not_end_it() {
    let league = League::of(2, 1, ManagerSettings::default()).await.with_referee().await;
    let operator = tokio::spawn(hurry(league.handle()));
    let playing = league.play();
    let (season, _players) = tokio::join!(playing, league.join(&["One", "Two"]));
    assert_eq!(season.matches_completed(), 1);
    assert!(operator.await.unwrap() >= 1, "the operator acted");
}
