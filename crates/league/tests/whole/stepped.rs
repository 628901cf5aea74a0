//! `league manager --stepped`: matches that wait until the operator leads them step by step.

use serde_json::json;

use crate::support::{Venue, assert_contains, assert_played, http};

#[test]
fn a_stepped_league_is_led_to_its_end_over_http() {
    let venue = Venue::new();
    let manager = venue.manager_with(3, 1, &["--stepped", "--exit-when-done", "--json"]);
    let mut referee = venue.referee("REF01");
    referee.wait_for_line("is ready");
    let _players = ["P01", "P02", "P03"].map(|id| venue.player(id, "random"));
    let endpoint = venue.home.referee_endpoint();
    for match_id in ["R1M1", "R2M1", "R3M1"] {
        http::until_match(&endpoint, match_id, "waiting_for", "collect_choices");
        let early = http::call(&endpoint, "draw_number", &json!({"match_id": match_id}));
        assert_eq!(early["error"]["data"]["error_code"], "E010", "{early}");
        assert_contains(early["error"]["message"].as_str().unwrap(), &["waits for collect_choices"]);
        http::lead(&endpoint, match_id);
    }
    manager.wait().success();
    venue.home.verify(3);
    assert_played(&venue.home.json("standings"), 2);
}
