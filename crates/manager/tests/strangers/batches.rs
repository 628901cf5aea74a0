//! Notices that are due together travel as one batch to players that accept batches, and singly to all others.

use league_manager::ManagerSettings;
use league_test_agents::player::dialect::{PlayerDialect, Speech};
use league_test_agents::player::{Plan, Player};
use serde_json::Value;

use crate::league::{League, forfeits};

async fn played(speech: Speech, dialect: PlayerDialect) -> Player {
    let plan = Plan::new("Batched", speech).dialect(dialect);
    let league = League::of(3, 1, ManagerSettings::default()).await.with_referee().await;
    let player = plan.join(&league.url).await.unwrap();
    let _others = league.join(&["One", "Two"]).await;
    assert_eq!(forfeits(&league.play().await), 0);
    player
}

fn batches(player: &Player) -> Vec<Vec<String>> {
    let kind = |part: &Value| part["params"]["message_type"].as_str().unwrap_or_default().to_owned();
    let kinds = |batch: &Value| batch.as_array().unwrap().iter().map(kind).collect();
    player.log().of("batch").iter().map(|request| kinds(&request.message)).collect()
}

#[tokio::test]
async fn the_end_of_a_round_and_the_next_round_reach_a_player_with_batches_in_one_request() {
    let player = played(Speech::Direct, PlayerDialect::AcceptsBatches).await;
    let next = ["LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "ROUND_ANNOUNCEMENT"];
    let end = ["LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED"];
    assert_eq!(batches(&player), [next, next, end]);
    assert_eq!(player.log().of("ROUND_ANNOUNCEMENT").len(), 1, "the first one comes alone");
    assert!(player.log().of("ROUND_COMPLETED").is_empty());
}

#[tokio::test]
async fn a_player_that_fails_a_batch_gets_single_requests_from_then_on() {
    let player = played(Speech::Direct, PlayerDialect::RefusesBatches).await;
    assert_eq!(player.log().refused().len(), 1, "one batch is tried");
    let kinds = ["ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED"];
    assert_eq!(kinds.map(|kind| player.log().of(kind).len()), [3, 3, 3, 1]);
}

#[tokio::test]
async fn a_player_with_a_dialect_of_its_own_gets_no_batch_whatever_it_declares() {
    for speech in [Speech::Tools, Speech::Types, Speech::Bare] {
        let player = played(speech, PlayerDialect::AcceptsBatches).await;
        assert_eq!(batches(&player).len(), 0, "{speech:?}");
        assert!(!player.log().of("ROUND_COMPLETED").is_empty(), "{speech:?}");
    }
}
