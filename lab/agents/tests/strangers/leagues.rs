//! Strangers among themselves: a manager, a referee and players of one frame play a league to its end.

use std::time::Duration;

use league_test_agents::frame::Frame;
use league_test_agents::manager;
use league_test_agents::player;
use league_test_agents::referee::{self, Work};
use serde_json::{Value, json};

use crate::players::speech;

const LIMIT: Duration = Duration::from_secs(20);

async fn league(frame: Frame, work: Work) -> Value {
    let manager = manager::Plan::new(frame, 3).serve().unwrap();
    let referee = referee::Plan::new("Whistle", frame).works(work).join(manager.endpoint()).await.unwrap();
    let mut players = Vec::new();
    for (name, choice) in [("Ada", "even"), ("Ben", "odd"), ("Cleo", "odd")] {
        let plan = player::Plan::new(name, speech(frame)).always(choice);
        players.push(plan.join(manager.endpoint()).await.unwrap());
    }
    let standings = manager.finished(LIMIT).await.unwrap();
    assert_eq!((manager.reports().len(), referee.reports().len()), (3, 3));
    assert!(referee.reports().iter().all(|(_, answer)| *answer == Ok(json!({"status": "ok"}))));
    for player in players {
        assert_eq!(player.log().of("CHOOSE_PARITY_CALL").len(), 2, "{frame:?}");
        assert_eq!(player.log().of("GAME_OVER").len(), 2);
        assert_eq!(player.log().of("LEAGUE_COMPLETED").len(), 1);
        assert!(player.log().refused().is_empty(), "{:?}", player.log().refused());
    }
    standings
}

#[tokio::test]
async fn a_league_is_played_in_every_frame() {
    for frame in Frame::ALL {
        let standings = league(frame, Work::Call).await;
        let points: u64 = standings.as_array().unwrap().iter().map(|row| row["points"].as_u64().unwrap()).sum();
        assert!((6..=9).contains(&points), "{standings}");
        assert!(standings.as_array().unwrap().iter().all(|row| row["played"] == 2), "{standings}");
    }
}

#[tokio::test]
async fn a_referee_may_work_from_announcements_alone() {
    league(Frame::Direct, Work::Announcements).await;
}

#[tokio::test]
async fn a_manager_takes_registrations_in_its_own_frame_only() {
    for own in Frame::ALL {
        for other in Frame::ALL.into_iter().filter(|other| *other != own) {
            let manager = manager::Plan::new(own, 2).serve().unwrap();
            let registered = player::Plan::new("Ada", speech(other)).join(manager.endpoint()).await;
            assert!(registered.is_err(), "{own:?} {other:?}");
        }
        let manager = manager::Plan::new(own, 2).serve().unwrap();
        let player = player::Plan::new("Ada", speech(own)).join(manager.endpoint()).await.unwrap();
        assert_eq!(player.id(), "P01");
    }
}
