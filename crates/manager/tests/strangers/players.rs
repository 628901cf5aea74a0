//! Every kind of player meets two others in a league of ours.

use std::time::Duration;

use league_core::season::Season;
use league_core::season::agent::Player;
use league_manager::Settings;
use league_protocol::quirk::Quirk;
use league_strangers::player::Plan;
use league_strangers::player::habit::{Habit, Speech};

use crate::league::{League, forfeits};

/// A league of the stranger and two plain players; gives the stranger as it is known at the end.
async fn league(plan: Plan) -> (Player, Season) {
    let shown = format!("{plan:?}");
    let league = League::of(3, 1, Settings::default()).await.with_referee().await;
    let stranger = plan.join(&league.url).await.unwrap();
    let one = Plan::new("One", Speech::Direct).always("odd").join(&league.url).await.unwrap();
    let two = Plan::new("Two", Speech::Direct).join(&league.url).await.unwrap();
    let season = league.play().await;
    assert_eq!(forfeits(&season), 0, "{shown}: {:#?}", stranger.diary().refused());
    let wasted = stranger.diary().wasted();
    assert!(wasted.values().all(|count| *count <= 1), "{shown}: {wasted:?}");
    for plain in [one, two] {
        assert!(plain.diary().refused().is_empty());
    }
    let known = season.players().iter().find(|player| player.profile.name == stranger.name()).unwrap().clone();
    (known, season)
}

async fn manner_of(plan: Plan) -> String {
    league(plan).await.0.manner.to_string()
}

fn plan(speech: Speech) -> Plan {
    Plan::new("Stranger", speech)
}

#[tokio::test]
async fn every_frame_is_learned_from_the_registration_or_within_the_match() {
    for (speech, manner) in [
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
        assert_eq!(manner_of(plan(speech)).await, manner, "{speech:?}");
    }
}

#[tokio::test]
async fn tools_are_called_as_they_are_listed() {
    for speech in [Speech::Tools, Speech::Session, Speech::Stateless] {
        for habit in [Habit::OtherToolNames, Habit::FieldsOnly, Habit::UnderOneKey("payload")] {
            let (known, _) = league(plan(speech).habit(habit)).await;
            assert_eq!(known.manner.frame().letter(), 'C');
        }
    }
}

#[tokio::test]
async fn particular_players_find_nothing_to_complain_of() {
    for habit in [
        Habit::IntegerIds,
        Habit::NoExtraKeys,
        Habit::WholeSeconds,
        Habit::WantsToken,
        Habit::WantsColon,
        Habit::ReadsNested,
        Habit::WantsGameId,
        Habit::WantsTheEnd,
        Habit::BusyAtFirst,
        Habit::NoPath,
        Habit::Localhost,
        Habit::KeepsId("P07"),
        Habit::ClosesConnections,
        Habit::Status400,
    ] {
        league(plan(Speech::Direct).habit(habit)).await;
    }
}

#[tokio::test]
async fn odd_answers_are_quirks_that_the_agent_is_known_by() {
    for (habit, quirk) in [
        (Habit::PostsAfterwards, Quirk::PostsAnswers),
        (Habit::PostsBefore, Quirk::PostsAnswers),
        (Habit::PlaceholderToken, Quirk::OddToken),
        (Habit::EchoesToken, Quirk::OddToken),
        (Habit::NoEnvelope, Quirk::NoMessageType),
        (Habit::OffsetTime, Quirk::OffsetTime),
        (Habit::AnswersInParams, Quirk::AnswerInParams),
        (Habit::AnswersBare, Quirk::BareAnswer),
        (Habit::ParityChoiceForm, Quirk::ParityChoiceForm),
        (Habit::NullError, Quirk::NullError),
        (Habit::RegistersOften(3), Quirk::RegistersOften),
        (Habit::ListensLater(Duration::from_millis(700)), Quirk::ListensLate),
        (Habit::RateLimit(Duration::from_millis(60)), Quirk::RateLimits),
        (Habit::HangsUpAtTheEnd, Quirk::LeavesAtTheEnd),
    ] {
        let (known, _) = league(plan(Speech::Direct).habit(habit.clone())).await;
        assert!(known.quirks.has(quirk), "{habit:?}: {:?}", known.quirks);
    }
}
