//! Leagues that admit only players that keep every required rule.

use std::time::Duration;

use league_check::fit_to_register;
use league_manager::{Inspector, ManagerSettings};
use league_wire::client::Client;
use serde_json::{Value, json};

use crate::support::faulty_player::{Fault, start};
use crate::support::house_agents::{Served, free_port, listen, manager, player, start_agent};

async fn inspecting_manager() -> Served {
    let inspector = Inspector::new(|endpoint| {
        Box::pin(async move { fit_to_register(&endpoint, &league_protocol::id::GameType::even_odd()).await })
    });
    let settings = ManagerSettings { inspector: Some(inspector), ..ManagerSettings::default() };
    start_agent(listen().await, manager(settings).await)
}

async fn register(manager: &Served, name: &str, endpoint: &str) -> Value {
    let meta =
        json!({ "display_name": name, "version": "1", "game_types": ["even_odd"], "contact_endpoint": endpoint });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "register_player", "params": { "player_meta": meta } });
    let (client, headers, limit) = (Client::default(), http::HeaderMap::new(), Duration::from_secs(20));
    let posted = client.post(&manager.endpoint, &headers, body.to_string().into(), limit).await.unwrap();
    serde_json::from_slice::<Value>(&posted.body).unwrap()["result"].take()
}

#[tokio::test]
async fn the_house_player_is_admitted_and_admitted_again() {
    let (manager, address) = (inspecting_manager().await, listen().await);
    let agent = player(&address.1, manager.endpoint.clone());
    let _player = start_agent(address, agent.clone());
    let id = agent.register().await.unwrap();
    // The player is registered now and answers only its league, so the manager does not check it again.
    assert_eq!(agent.register().await.unwrap(), id);
}

#[tokio::test]
async fn a_player_that_breaks_a_required_rule_is_rejected_with_advice() {
    let (manager, player) = (inspecting_manager().await, start(Fault::ChoosesInCapitals));
    let answer = register(&manager, "Loud", &player.endpoint()).await;
    assert_eq!(answer["status"], json!("REJECTED"));
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("player.choice.exact") && reason.contains("Change: send `even`"), "{reason}");
    let quirky = start(Fault::NoSender);
    assert_eq!(register(&manager, "Quirky", &quirky.endpoint()).await["status"], json!("ACCEPTED"));
}

#[tokio::test]
async fn a_player_that_does_not_listen_yet_is_rejected_with_advice() {
    let manager = inspecting_manager().await;
    let answer = register(&manager, "Early", &format!("http://127.0.0.1:{}/mcp", free_port())).await;
    assert_eq!(answer["status"], json!("REJECTED"));
    assert!(answer["reason"].as_str().unwrap().contains("listen first, then register"), "{answer}");
}
