//! Our players and our manager with referees of other implementations, which show no passes: the matches are played.

use league_test_agents::frame::Frame;
use league_test_agents::referee::Plan;
use serde_json::json;

use crate::support::{Process, Venue, assert_played, http, wait_for_all};

const MATCHES: u64 = 6;

/// Four of our players, these foreign referees and `ours` of our own. Returns how many draws were proved and how many
/// were not.
async fn league(foreign: &[Frame], ours: usize) -> (u64, u64) {
    let venue = Venue::patient();
    let mut manager = venue.manager(4, foreign.len() + ours);
    let address = tokio::task::block_in_place(|| manager.address());
    let mut referees = Vec::new();
    for (number, frame) in foreign.iter().enumerate() {
        referees.push(Plan::new(&format!("Whistle {number}"), *frame).join(&address).await.unwrap());
    }
    // With the capacity of the foreign referees, so that every referee gets matches.
    let own = ["referee", "--port", "0", "--capacity", "2", "--manager", &address, "--home", venue.home.path()];
    let _ours: Vec<Process> = (0..ours).map(|_| Process::start(&own)).collect();
    let players = ["P01", "P02", "P03", "P04"].map(|id| venue.player(id, "markov"));
    tokio::task::block_in_place(|| {
        manager.wait().success();
        wait_for_all(players);
    });
    venue.home.verify(usize::try_from(MATCHES).unwrap());
    assert_played(&venue.home.json("standings"), 3);
    let run = referees.iter().map(|referee| referee.reports().len()).sum::<usize>();
    for (report, _) in referees.iter().flat_map(|referee| referee.reports()) {
        let choices = report["result"]["details"]["choices"].as_object().unwrap().clone();
        assert!(choices.values().all(|choice| choice == "even" || choice == "odd"), "{report}");
    }
    let report = venue.home.json("verify");
    let count = |name: &str| report[name].as_u64().unwrap();
    assert_eq!(count("draws_unproved"), run as u64, "{report}");
    (count("draws_proved"), count("draws_unproved"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_referee_of_any_frame_runs_matches_whose_draws_are_not_proved() {
    for frame in Frame::ALL {
        assert_eq!(league(&[frame], 0).await, (0, MATCHES), "{frame:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_referees_and_ours_share_the_matches() {
    let (proved, unproved) = league(&[Frame::Bare], 1).await;
    assert!(proved > 0 && unproved > 0 && proved + unproved == MATCHES, "{proved} {unproved}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_referee_without_passes_is_shown_none_and_the_players_say_so() {
    let venue = Venue::patient();
    let mut manager = venue.manager(2, 1);
    let address = tokio::task::block_in_place(|| manager.address());
    let referee = Plan::new("Whistle", Frame::Direct).join(&address).await.unwrap();
    let players = ["P01", "P02"].map(|id| venue.player(id, "random"));
    tokio::task::block_in_place(|| {
        manager.wait().success();
        for player in players {
            let talk = player.wait().success().stderr;
            assert!(talk.contains("R1M1: the referee shows no pass"), "{talk}");
        }
    });
    let shown = referee.shown_credentials();
    assert!(shown.iter().all(|credential| !credential.starts_with("pass-")), "{shown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_referee_without_passes_does_not_weaken_the_matches_of_others() {
    let venue = Venue::patient();
    let mut manager = venue.manager_with(4, 2, &["--stepped"]);
    let address = tokio::task::block_in_place(|| manager.address());
    let _foreign = Plan::new("Whistle", Frame::Direct).join(&address).await.unwrap();
    let own = ["referee", "--port", "0", "--capacity", "2", "--manager", &address, "--home", venue.home.path()];
    let mut referee = Process::start(&own);
    let mut players = ["P01", "P02", "P03", "P04"].map(|id| venue.player(id, "random"));
    tokio::task::block_in_place(|| {
        referee.wait_for_line("REF02 is ready");
        players.iter_mut().for_each(|player| drop(player.wait_for_line(" plays")));
        let agents = venue.home.json("agents");
        let endpoint = |id: &str| {
            let agent = agents.as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap();
            agent["endpoint"].as_str().unwrap().to_owned()
        };
        let held = json!({"match_id": "R1M2"});
        let ours = endpoint("REF02");
        http::until(&ours, "get_match_state", &held, |state| state["result"]["waiting_for"] == "collect_choices");
        let state = http::call(&ours, "get_match_state", &held);
        for side in ["player_A_id", "player_B_id"] {
            let player = state["result"][side].as_str().unwrap();
            let question = json!({"protocol": "league.v2", "message_type": "CHOOSE_PARITY_CALL", "sender": "referee:REF01",
                "timestamp": "2026-01-01T00:00:00Z", "conversation_id": "conv-spy", "match_id": "R1M2",
                "player_id": player, "game_type": "even_odd", "context": {}});
            let told = http::call(&endpoint(player), "choose_parity", &question);
            assert_eq!(told["error"]["data"]["error_code"], "E011", "{told}");
        }
    });
}
