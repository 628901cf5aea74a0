//! Every kind of foreign player against two plain players.

use std::time::Duration;

use league_core::season::Season;
use league_core::season::agent::RegisteredPlayer;
use league_manager::ManagerSettings;
use league_protocol::quirk::Quirk;
use league_test_agents::player::Plan;
use league_test_agents::player::dialect::{PlayerDialect, Speech};

use crate::league::{League, forfeits};

async fn league(plan: Plan) -> (RegisteredPlayer, Season) {
    let shown = format!("{plan:?}");
    let league = League::of(3, 1, ManagerSettings::default()).await.with_referee().await;
    let stranger = plan.join(&league.url).await.unwrap();
    let one = Plan::new("One", Speech::Direct).always("odd").join(&league.url).await.unwrap();
    let two = Plan::new("Two", Speech::Direct).join(&league.url).await.unwrap();
    let season = league.play().await;
    assert_eq!(forfeits(&season), 0, "{shown}: {:#?}", stranger.log().refused());
    let wasted = stranger.log().wasted();
    assert!(wasted.values().all(|count| *count <= 1), "{shown}: {wasted:?}");
    for plain in [one, two] {
        assert!(plain.log().refused().is_empty());
    }
    let known = season.players().iter().find(|player| player.profile.name == stranger.name()).unwrap().clone();
    (known, season)
}

async fn dialect_of(plan: Plan) -> String {
    league(plan).await.0.dialect.to_string()
}

fn plan(speech: Speech) -> Plan {
    Plan::new("Stranger", speech)
}

#[tokio::test]
async fn every_frame_is_learned_from_the_registration_or_within_the_match() {
    for (speech, dialect) in [
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
        assert_eq!(dialect_of(plan(speech)).await, dialect, "{speech:?}");
    }
}

#[tokio::test]
async fn tools_are_called_as_they_are_listed() {
    for speech in [Speech::Tools, Speech::Session, Speech::Stateless] {
        for habit in [PlayerDialect::OtherToolNames, PlayerDialect::FieldsOnly, PlayerDialect::UnderOneKey("payload")] {
            let (known, _) = league(plan(speech).dialect(habit)).await;
            assert_eq!(known.dialect.frame().letter(), 'C');
        }
    }
}

#[tokio::test]
async fn particular_players_find_nothing_to_complain_of() {
    for habit in [
        PlayerDialect::IntegerIds,
        PlayerDialect::NoExtraKeys,
        PlayerDialect::WholeSeconds,
        PlayerDialect::WantsToken,
        PlayerDialect::WantsColon,
        PlayerDialect::ReadsNested,
        PlayerDialect::WantsGameId,
        PlayerDialect::WantsTheEnd,
        PlayerDialect::BusyAtFirst,
        PlayerDialect::NoPath,
        PlayerDialect::Localhost,
        PlayerDialect::KeepsId("P07"),
        PlayerDialect::ClosesConnections,
        PlayerDialect::Status400,
    ] {
        league(plan(Speech::Direct).dialect(habit)).await;
    }
}

#[tokio::test]
async fn odd_answers_are_quirks_that_the_agent_is_known_by() {
    for (habit, quirk) in [
        (PlayerDialect::PostsAfterwards, Quirk::PostsAnswers),
        (PlayerDialect::PostsBefore, Quirk::PostsAnswers),
        (PlayerDialect::PlaceholderToken, Quirk::OddToken),
        (PlayerDialect::EchoesToken, Quirk::OddToken),
        (PlayerDialect::NoEnvelope, Quirk::NoMessageType),
        (PlayerDialect::OffsetTime, Quirk::OffsetTime),
        (PlayerDialect::AnswersInParams, Quirk::AnswerInParams),
        (PlayerDialect::AnswersBare, Quirk::BareAnswer),
        (PlayerDialect::ParityChoiceForm, Quirk::ParityChoiceForm),
        (PlayerDialect::NullError, Quirk::NullError),
        (PlayerDialect::RegistersOften(3), Quirk::RegistersOften),
        (PlayerDialect::ListensLater(Duration::from_millis(700)), Quirk::ListensLate),
        (PlayerDialect::RateLimit(Duration::from_millis(60)), Quirk::RateLimits),
        (PlayerDialect::HangsUpAtTheEnd, Quirk::LeavesAtTheEnd),
    ] {
        let (known, _) = league(plan(Speech::Direct).dialect(habit.clone())).await;
        assert!(known.quirks.has(quirk), "{habit:?}: {:?}", known.quirks);
    }
}
