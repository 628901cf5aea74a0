//! `league manager --stepped`: matches that wait until the operator leads them step by step.

use serde_json::{Value, json};

use crate::support::{Venue, http};

fn ask(endpoint: &str, method: &str, match_id: &str) -> Value {
    http::call(endpoint, method, &json!({"match_id": match_id}))
}

fn awaits(endpoint: &str, match_id: &str, step: &str) {
    http::until(endpoint, "get_match_state", &json!({"match_id": match_id}), |state| {
        state["result"]["waiting_for"] == step
    });
}

#[test]
fn a_stepped_league_is_led_to_its_end_over_http() {
    let venue = Venue::new();
    let manager = venue.manager_with(3, 1, &["--stepped", "--exit-when-done", "--json"]);
    let mut referee = venue.referee("REF01");
    referee.says("is ready");
    let _players = ["P01", "P02", "P03"].map(|id| venue.player(id, "random"));
    let agents = venue.home.tells("agents");
    let endpoint = agents[0]["endpoint"].as_str().unwrap();
    assert_eq!(agents[0]["id"], "REF01", "{agents}");
    for round in 1..=3 {
        let game = format!("R{round}M1");
        awaits(endpoint, &game, "collect_choices");
        let early = ask(endpoint, "draw_number", &game);
        assert_eq!(early["error"]["data"]["error_code"], "E010", "{early}");
        assert!(early["error"]["message"].as_str().unwrap().contains("waits for collect_choices"), "{early}");
        for step in ["collect_choices", "draw_number", "finalize_match"] {
            awaits(endpoint, &game, step);
            let stepped = ask(endpoint, step, &game);
            assert_eq!(stepped["result"]["match_id"], game.as_str(), "{stepped}");
        }
    }
    manager.ended().well();
    venue.home.verify(3);
    let rows = venue.home.tells("standings");
    assert!(rows.as_array().unwrap().iter().all(|row| row["played"] == 2), "{rows}");
}
