//! Foreign referees run the matches of our league.

use std::time::Duration;

use league_core::season::Season;
use league_manager::ManagerSettings;
use league_protocol::quirk::Quirk;
use league_protocol::sender::Role;
use league_protocol::table::{Access, TABLE};
use league_test_agents::frame::Frame;
use league_test_agents::player;
use league_test_agents::player::dialect::Speech;
use league_test_agents::referee::{Plan, Work};
use serde_json::json;

use crate::hostile::caller::{Caller, code};
use crate::league::{League, forfeits};

/// All players speak like this, because a foreign referee knows only its own frame.
async fn league_of(speech: Speech, plan: Plan) -> Season {
    let label = format!("{plan:?}");
    let settings = ManagerSettings { referee_check_interval: Duration::from_millis(200), ..ManagerSettings::default() };
    let league = League::of(3, 1, settings).await;
    let referee = plan.join(&league.url).await.unwrap();
    let mut players = Vec::new();
    for name in ["One", "Two", "Three"] {
        players.push(player::Plan::new(name, speech).join(&league.url).await.unwrap());
    }
    let season = league.play().await;
    assert_eq!(forfeits(&season), 0, "{label}");
    assert_eq!(referee.reports().len(), 3, "{label}");
    season
}

async fn league(plan: Plan) -> Season {
    league_of(Speech::Direct, plan).await
}

#[tokio::test]
async fn a_referee_gets_its_matches_in_any_frame() {
    for (frame, speech, letter) in [
        (Frame::Direct, Speech::Direct, 'A'),
        (Frame::Types, Speech::Types, 'B'),
        (Frame::Tools, Speech::Tools, 'C'),
        (Frame::Bare, Speech::Bare, 'D'),
        (Frame::Nested, Speech::Nested, 'E'),
    ] {
        let season = league_of(speech, Plan::new("Whistle", frame)).await;
        assert_eq!(season.referees()[0].dialect.frame().letter(), letter);
    }
}

#[tokio::test]
async fn a_referee_gets_its_matches_by_any_method_name() {
    for work in [Work::Call, Work::CallNamed("run_match"), Work::CallNamed("match_assignment"), Work::Directory] {
        league(Plan::new("Whistle", Frame::Direct).works(work)).await;
    }
}

/// What each announcement said about the referee of the first match.
fn promises(player: &player::Player) -> Vec<Option<bool>> {
    let announced = player.log().of("ROUND_ANNOUNCEMENT");
    announced.iter().map(|request| request.message.pointer("/matches/0/referee_shows_passes")?.as_bool()).collect()
}

#[tokio::test]
async fn a_referee_without_passes_weakens_a_match_only_when_it_gets_it() {
    const LIMIT: Duration = Duration::from_secs(30);
    let settings = ManagerSettings { referee_check_interval: Duration::from_millis(100), ..ManagerSettings::default() };
    let league = League::of(2, 1, settings).await;
    // The referee declares passes and never begins, so the round stays open.
    let idle = Plan::new("Idle", Frame::Direct).works(Work::Polling(Duration::from_secs(3600))).claims_passes();
    let idle = idle.join(&league.url).await.unwrap();
    let players = league.join(&["One", "Two"]).await;
    let [one, two] = &players[..] else { panic!("two players joined") };
    let coming = async {
        assert!(two.log().receives("ROUND_ANNOUNCEMENT", 1, LIMIT).await);
        let other = Plan::new("Whistle", Frame::Direct).join(&league.url).await.unwrap();
        one.register(&league.url).await.unwrap();
        assert!(one.log().receives("ROUND_ANNOUNCEMENT", 2, LIMIT).await);
        assert_eq!(promises(one)[..2], [None, Some(true)]);
        assert_eq!(promises(two), [None], "its match is as safe as before");
        drop(idle);
        assert!(two.log().receives("ROUND_ANNOUNCEMENT", 2, LIMIT).await);
        assert_eq!(promises(two), [None, Some(false)]);
        other
    };
    let (_, _other) = tokio::join!(league.play(), coming);
}

#[tokio::test]
async fn a_referee_may_poll_for_its_matches_in_any_frame() {
    for (frame, speech) in [
        (Frame::Types, Speech::Types),
        (Frame::Tools, Speech::Tools),
        (Frame::Bare, Speech::Bare),
        (Frame::Nested, Speech::Nested),
    ] {
        league_of(speech, Plan::new("Whistle", frame).works(Work::Polling(Duration::from_millis(50)))).await;
    }
}

#[tokio::test]
async fn a_referee_that_knows_no_orders_works_from_announcements_or_polls() {
    for work in [Work::Announcements, Work::Polling(Duration::from_millis(50))] {
        let season = league(Plan::new("Whistle", Frame::Direct).works(work)).await;
        assert!(season.referees()[0].quirks.has(Quirk::TakesNoOrders), "{work:?}");
    }
}

#[tokio::test]
async fn a_referee_of_ours_refuses_every_call_without_the_pass_that_its_row_demands() {
    let league = League::of(2, 1, ManagerSettings::default()).await.with_referee().await;
    let referee = Caller::at(league.season().await.referees()[0].profile.endpoint.clone());
    let seats = json!([{"player_id": "P01", "endpoint": "http://localhost:1"}, {"player_id": "P02", "endpoint": "http://localhost:2"}]);
    for row in TABLE.iter().filter(|row| row.to.contains(&Role::Referee) && row.access == Access::Pass) {
        let fields = match row.name {
            "start_match" => json!({"match_id": "R1M1", "players": seats}),
            "notify_round" => json!({"round_id": 1, "matches": []}),
            "notify_league_completed" => json!({"total_rounds": 1, "total_matches": 1, "final_standings": []}),
            _ => json!({}),
        };
        let answer = referee.call(row.name, "league_manager", Some("pass-please"), fields).await;
        assert_eq!(code(&answer), "E012", "{}: {answer:?}", row.name);
    }
}
