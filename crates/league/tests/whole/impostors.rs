//! An agent that runs cannot be replaced by another that registers in its name.

use serde_json::{Value, json};

use crate::support::{Venue, http};

#[test]
fn a_registration_in_the_name_of_a_running_agent_is_refused() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(3, 2, &[]);
    manager.address();
    let mut referee = venue.referee("REF01");
    referee.wait_for_line("is ready");
    let mut player = venue.player("P01", "random");
    player.wait_for_line("P01 plays");
    let agents = venue.home.json("agents");
    let register = |agent: &Value| {
        let meta = json!({"display_name": agent["name"], "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": agent["endpoint"], "max_concurrent_matches": 64});
        let role = agent["role"].as_str().unwrap();
        let name = format!("{role}_meta");
        http::call(&venue.address, &format!("register_{role}"), &json!({ name: meta }))["result"].clone()
    };
    for agent in agents.as_array().unwrap() {
        let told = register(agent);
        assert_eq!(told["status"], "REJECTED", "{told}");
        assert!(told["reason"].as_str().unwrap().contains("holds its token"), "{told}");
        assert!(told.get("auth_token").is_none_or(Value::is_null), "{told}");
    }
    // An agent that is gone can be replaced from its address: a restarted agent has no token.
    player.kill_and_restart();
    player.wait_for_line("P01 plays");
}

#[test]
fn a_lost_referee_that_still_runs_comes_back_by_its_token() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 2, &[]);
    manager.address();
    let mut referee = venue.referee("REF01");
    referee.wait_for_line("is ready");
    let endpoint = venue.home.json("agents")[0]["endpoint"].as_str().unwrap().to_owned();
    let told = http::call(&endpoint, "register_to_league", &json!({}));
    assert_eq!(
        (&told["result"]["status"], &told["result"]["referee_id"]),
        (&json!("ACCEPTED"), &json!("REF01")),
        "{told}"
    );
}
