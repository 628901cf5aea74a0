use league_wire::client::Client;
use std::sync::atomic::Ordering;
use tokio::task::JoinSet;

use crate::support::{LONG, call, endpoint, player};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_calls_to_a_hundred_servers_are_all_answered() {
    let mut servers = Vec::new();
    for _ in 0..100 {
        servers.push(player().await);
    }
    let client = Client::default();
    let mut calls = JoinSet::new();
    for number in 0..500 {
        let (client, endpoint) = (client.clone(), endpoint(servers[number % 100].address));
        calls.spawn(async move { call(&client, &endpoint, LONG).await.map(|exchange| exchange.status.as_u16()) });
    }
    let answers = calls.join_all().await;
    assert!(answers.iter().all(|answer| *answer == Ok(200)), "{answers:?}");
    assert!(servers.iter().all(|server| server.agent.heard.load(Ordering::Relaxed) == 5));
}
