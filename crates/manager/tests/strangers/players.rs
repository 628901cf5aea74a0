//! Frames and tools of foreign players, each against two plain players. `crowd` has all other dialects.

use league_core::season::agent::RegisteredPlayer;
use league_manager::ManagerSettings;
use league_test_agents::player::Plan;
use league_test_agents::player::dialect::{PlayerDialect, Speech};

use crate::league::{League, forfeits};

async fn recorded(plan: Plan) -> RegisteredPlayer {
    let label = format!("{plan:?}");
    let league = League::of(3, 1, ManagerSettings::default()).await.with_referee().await;
    let stranger = plan.join(&league.url).await.unwrap();
    let one = Plan::new("One", Speech::Direct).always("odd").join(&league.url).await.unwrap();
    let two = Plan::new("Two", Speech::Direct).join(&league.url).await.unwrap();
    let season = league.play().await;
    assert_eq!(forfeits(&season), 0, "{label}: {:#?}", stranger.log().refused());
    let wasted = stranger.log().wasted();
    assert!(wasted.values().all(|count| *count <= 1), "{label}: {wasted:?}");
    for plain in [one, two] {
        assert!(plain.log().refused().is_empty());
    }
    season.players().iter().find(|player| player.profile.name == stranger.name()).unwrap().clone()
}

fn plan(speech: Speech) -> Plan {
    Plan::new("Stranger", speech)
}

#[tokio::test]
async fn every_frame_is_learned_from_the_registration_or_within_the_match() {
    for (speech, expected) in [
        (Speech::Direct, "A"),
        (Speech::ParityChoose, "A, choose_parity as parity_choose"),
        (Speech::Types, "B"),
        (Speech::Tools, "C"),
        (Speech::Bare, "D"),
        (Speech::Nested, "E"),
        (Speech::Register, "A"),
        (Speech::Session, "C session"),
        (Speech::Stateless, "C 2026-07-28"),
    ] {
        assert_eq!(recorded(plan(speech)).await.dialect.to_string(), expected, "{speech:?}");
    }
}

#[tokio::test]
async fn tools_are_called_as_they_are_listed() {
    for speech in [Speech::Tools, Speech::Session, Speech::Stateless] {
        for dialect in [PlayerDialect::OtherToolNames, PlayerDialect::FieldsOnly, PlayerDialect::UnderOneKey("payload")]
        {
            let known = recorded(plan(speech).dialect(dialect)).await;
            assert_eq!(known.dialect.frame().letter(), 'C');
        }
    }
}
