//! Results that are forged, reported twice, or reported by the wrong agent.

use std::time::Duration;

use league_manager::ManagerSettings;
use league_test_agents::player::Plan;
use league_test_agents::player::dialect::Speech;
use serde_json::{Value, json};

use super::caller::{admitted, code};
use crate::league::League;

fn result(winner: &str, number: u8) -> Value {
    let choices = json!({"P01": "even", "P02": "odd"});
    let score = if winner == "P01" { json!({"P01": 3, "P02": 0}) } else { json!({"P01": 0, "P02": 3}) };
    let details = json!({"drawn_number": number, "choices": choices});
    json!({"league_id": "league", "round_id": 1, "match_id": "R1M1", "game_type": "even_odd",
        "result": {"winner": winner, "score": score, "details": details}})
}

#[tokio::test]
async fn a_result_is_told_once_and_by_its_own_referee() {
    let settings = ManagerSettings { referee_check_interval: Duration::from_secs(60), ..ManagerSettings::default() };
    let league = League::of(2, 2, settings).await;
    let caller = league.caller();
    let mut players = league.join(&["One", "Two"]).await;
    // Referees that work from announcements: they listen, and understand no orders.
    let mut referees = Vec::new();
    for name in ["Whistle", "Other"] {
        let deaf = Plan::new(name, Speech::Direct).serve().unwrap();
        referees.push(admitted(&caller.register("referee", name, &deaf.endpoint(), None).await).1);
        players.push(deaf);
    }
    let playing = league.play();
    let reporting = async {
        assert!(players[0].log().receives("ROUND_ANNOUNCEMENT", 1, Duration::from_secs(10)).await);
        let mut assigned = Vec::new();
        for token in &referees {
            let answer = caller.call("get_assigned_matches", "referee:x", Some(token), json!({})).await.json();
            assigned.push(answer["result"]["matches"].as_array().unwrap().len());
        }
        assert_eq!(assigned.iter().sum::<usize>(), 1);
        let (holder, other) =
            if assigned[0] == 1 { (&referees[0], &referees[1]) } else { (&referees[1], &referees[0]) };
        let report = async |sender: &str, token: Option<&str>, fields: Value| {
            caller.call("report_match_result", sender, token, fields).await
        };
        // The token identifies the sender; another sender is refused.
        for (sender, refusal) in [("referee:REF01", "E012"), ("referee:REF02", "E012"), ("league_manager", "E013")] {
            let (_, token) = admitted(&caller.register("player", "One", &players[0].endpoint(), None).await);
            assert_eq!(code(&report(sender, Some(&token), result("P01", 8)).await), refusal, "{sender}");
            assert_eq!(code(&report(sender, None, result("P01", 8)).await), "E011", "{sender}");
            assert_eq!(code(&report(sender, Some("tok-REF01-x"), result("P01", 8)).await), "E012", "{sender}");
        }
        let stolen = report("referee:x", Some(other), result("P01", 8)).await;
        assert_eq!(code(&stolen), "E007", "{stolen:?}");
        let impossible = report("referee:x", Some(holder), result("P02", 8)).await;
        assert!(impossible.json()["error"].is_object(), "an even number does not make odd win: {impossible:?}");
        assert_eq!(league.season().await.matches_completed(), 0);

        let counted = report("referee:x", Some(holder), result("P01", 8)).await.json();
        assert_eq!(counted["result"]["status"], "ACCEPTED", "{counted}");
        assert_ne!(counted["result"]["duplicate"], true, "{counted}");
        let again = report("referee:x", Some(holder), result("P01", 8)).await.json();
        assert_eq!(again["result"]["duplicate"], true, "{again}");
        let different = report("referee:x", Some(holder), result("P02", 7)).await.json();
        assert_eq!(different["error"]["code"], 5003, "{different}");
    };
    let (season, ()) = tokio::join!(playing, reporting);
    assert_eq!(season.matches_completed(), 1);
    let table = season.standings();
    assert_eq!((table[0].player_id.as_str(), table[0].points, table[1].points), ("P01", 3, 0));
}
