//! A referee that teaches a false dialect harms no player.

use std::fs;

use league_test_agents::frame::Frame;
use league_test_agents::referee::Plan;
use serde_json::{Value, json};

use crate::support::{Process, Venue, league};

/// Four of our players, a referee of ours and one that teaches `dialect`. All players stay until the end, and all matches are
/// played.
async fn taught(dialect: &Value) -> Venue {
    let venue = Venue::patient();
    let mut manager = venue.manager(4, 2);
    let address = tokio::task::block_in_place(|| manager.address());
    let hostile = Plan::new("Whistle", Frame::Direct).teaches(dialect.clone()).join(&address).await.unwrap();
    let own = ["referee", "--port", "0", "--capacity", "2", "--manager", &address, "--home", venue.home.path()];
    let ours = Process::start(&own);
    let players = ["P01", "P02", "P03", "P04"].map(|id| venue.player(id, "random"));
    tokio::task::block_in_place(|| {
        manager.wait().success();
        let closing = ours.wait().success().stderr;
        assert!(closing.contains("no technical loss"), "{dialect}: {closing}");
        for player in players {
            let ended = player.wait().success();
            assert!(ended.stderr.contains("; no technical loss."), "{dialect}: {}", ended.stderr);
        }
    });
    assert!(!hostile.reports().is_empty());
    assert!(hostile.reports().iter().all(|(_, answer)| answer.is_ok()), "the results count");
    assert!(venue.home.json("standings").as_array().unwrap().iter().all(|row| row["played"] == 3));
    venue
}

fn log(venue: &Venue) -> String {
    let logs = venue.home.files().into_iter().filter(|path| path.ends_with("league.log.jsonl"));
    logs.map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dialect_that_leads_to_another_call_is_refused_and_nobody_is_charged() {
    let shutdown = json!({"name": "shutdown"});
    let unknown = json!({"unknown": true});
    for dialect in [
        json!({"frame": "A", "methods": {"update_standings": shutdown, "notify_round": shutdown}}),
        json!({"frame": "A", "method": "shutdown"}),
        json!({"frame": "E", "posts": true, "path": "/", "methods": {
            "handle_game_invitation": {"name": "ping"}, "choose_parity": {"name": "ping"}, "notify_match_result": shutdown}}),
        json!({"frame": "A", "methods": {"notify_round": unknown, "update_standings": unknown,
            "notify_match_result": unknown, "notify_round_completed": unknown, "notify_league_completed": unknown}}),
    ] {
        let venue = taught(&dialect).await;
        assert!(log(&venue).contains("DIALECT_REFUSED"), "{dialect}");
        let agents = venue.home.json("agents");
        assert!(!agents.to_string().contains("shutdown"), "{agents}");
    }
}

/// Names that belong to no call pass the check. Players are reached all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_dialect_that_fails_is_given_up_before_a_player_is_charged() {
    let nothing = json!({"fields": []});
    let methods = json!({"handle_game_invitation": nothing, "choose_parity": nothing, "notify_match_result": nothing});
    taught(&json!({"frame": "C", "methods": methods})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_resets_what_was_learned() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &[]);
    let address = tokio::task::block_in_place(|| manager.address());
    let _hostile = Plan::new("Whistle", Frame::Direct).teaches(json!({"frame": "D"})).join(&address).await.unwrap();
    let players = ["P01", "P02"].map(|id| venue.player(id, "random"));
    tokio::task::block_in_place(|| {
        players.into_iter().for_each(|player| drop(player.wait().success()));
        manager.wait_for_end_of_league();
        let dialect = || league(&["agents", "--manager", &address, "--json"]).success().json().to_string();
        let before = dialect();
        let told = league(&["forget-dialect", "P01", "--manager", &address]).success().stderr;
        assert!(told.contains("(P01) is forgotten"), "{told}");
        assert_ne!(dialect(), before);
        league(&["forget-dialect", "P09", "--manager", &address]).fails_with(&["P09 is not registered"]);
        // The manager has written its log when it is gone.
        manager.signal("TERM");
        manager.wait().success();
    });
    assert!(log(&venue).contains("DIALECT_FORGOTTEN"));
}
