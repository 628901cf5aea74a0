//! Leagues that admit only players that keep every required rule.

use std::time::Duration;

use league_check::fit_to_register;
use league_manager::{Inspector, ManagerSettings};
use league_wire::client::Client;
use serde_json::{Value, json};

use crate::support::bad_player::{Fault, start};
use crate::support::ours::{Served, free_port, manager, place, player, served};

async fn choosy() -> Served {
    let inspector = Inspector::new(|endpoint| {
        Box::pin(async move { fit_to_register(&endpoint, &league_protocol::id::GameType::even_odd()).await })
    });
    let settings = ManagerSettings { inspector: Some(inspector), ..ManagerSettings::default() };
    served(place().await, manager(settings).await)
}

async fn register(manager: &Served, name: &str, endpoint: &str) -> Value {
    let meta =
        json!({ "display_name": name, "version": "1", "game_types": ["even_odd"], "contact_endpoint": endpoint });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "register_player", "params": { "player_meta": meta } });
    let headers = http::HeaderMap::new();
    let posted = Client::default()
        .post(&manager.endpoint, &headers, body.to_string().into(), Duration::from_secs(20))
        .await
        .unwrap();
    serde_json::from_slice::<Value>(&posted.body).unwrap()["result"].clone()
}

#[tokio::test]
async fn our_player_is_let_in_and_let_in_again() {
    let (manager, here) = (choosy().await, place().await);
    let agent = player(&here.1, manager.endpoint.clone());
    let _player = served(here, agent.clone());
    let id = agent.register().await.unwrap();
    // The player is registered now and answers only its league, so the manager does not check it again.
    assert_eq!(agent.register().await.unwrap(), id);
}

#[tokio::test]
async fn a_player_that_breaks_a_rule_is_told_which_and_what_to_change() {
    let (manager, player) = (choosy().await, start(Fault::ChoosesInCapitals));
    let answer = register(&manager, "Loud", &player.endpoint()).await;
    assert_eq!(answer["status"], json!("REJECTED"));
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("player.choice.exact") && reason.contains("Change: send `even`"), "{reason}");
    let quirky = start(Fault::NoSender);
    assert_eq!(register(&manager, "Quirky", &quirky.endpoint()).await["status"], json!("ACCEPTED"));
}

#[tokio::test]
async fn who_does_not_listen_yet_is_told_to() {
    let manager = choosy().await;
    let answer = register(&manager, "Early", &format!("http://127.0.0.1:{}/mcp", free_port())).await;
    assert_eq!(answer["status"], json!("REJECTED"));
    assert!(answer["reason"].as_str().unwrap().contains("listen first, then register"), "{answer}");
}
