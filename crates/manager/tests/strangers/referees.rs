//! Referees of other make run the matches of a league of ours.

use std::time::Duration;

use league_core::season::Season;
use league_manager::Settings;
use league_protocol::quirk::Quirk;
use league_strangers::frame::Frame;
use league_strangers::player;
use league_strangers::player::habit::Speech;
use league_strangers::referee::{Plan, Work};

use crate::league::{League, forfeits};

/// A league whose players speak like this: a referee of other make knows only its own frame.
async fn league_of(speech: Speech, plan: Plan) -> Season {
    let shown = format!("{plan:?}");
    let settings = Settings { watch: Duration::from_millis(200), ..Settings::default() };
    let league = League::of(3, 1, settings).await;
    let referee = plan.join(&league.url).await.unwrap();
    let mut players = Vec::new();
    for name in ["One", "Two", "Three"] {
        players.push(player::Plan::new(name, speech).join(&league.url).await.unwrap());
    }
    let season = league.play().await;
    assert_eq!(forfeits(&season), 0, "{shown}");
    assert_eq!(referee.reports().len(), 3, "{shown}");
    season
}

async fn league(plan: Plan) -> Season {
    league_of(Speech::Direct, plan).await
}

#[tokio::test]
async fn a_referee_is_given_its_matches_in_any_frame() {
    for (frame, speech, letter) in [
        (Frame::Direct, Speech::Direct, 'A'),
        (Frame::Types, Speech::Types, 'B'),
        (Frame::Tools, Speech::Tools, 'C'),
        (Frame::Bare, Speech::Bare, 'D'),
        (Frame::Nested, Speech::Nested, 'E'),
    ] {
        let season = league_of(speech, Plan::new("Whistle", frame)).await;
        assert_eq!(season.referees()[0].manner.frame().letter(), letter);
    }
}

#[tokio::test]
async fn a_referee_is_given_its_matches_by_any_name() {
    for work in [Work::Call, Work::CallNamed("run_match"), Work::CallNamed("match_assignment"), Work::Directory] {
        league(Plan::new("Whistle", Frame::Direct).works(work)).await;
    }
}

#[tokio::test]
async fn a_referee_that_knows_no_orders_works_from_announcements_or_asks() {
    for work in [Work::Announcements, Work::Polling(Duration::from_millis(50))] {
        let season = league(Plan::new("Whistle", Frame::Direct).works(work)).await;
        assert!(season.referees()[0].quirks.has(Quirk::TakesNoOrders), "{work:?}");
    }
}
