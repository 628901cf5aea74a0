//! A client that knows several managers, and the relay of a standby.

use std::sync::Arc;
use std::time::Instant;

use league_protocol::sender::Role;
use league_protocol::token::Credential;
use league_wire::client::{Client, ClientSettings};
use league_wire::endpoint::Endpoint;
use league_wire::relay::{Leader, Relay};
use league_wire::settings::ServerSettings;
use serde_json::json;

use crate::stub_peer::{StubAnswer, StubPeer};
use crate::support::{EchoAgent, LONG, SECOND, call, endpoint, peer, serve_agent};

const STANDBY: &str = "league-managers";

fn client(managers: &[&Endpoint]) -> Client {
    let managers = managers.iter().map(|endpoint| (*endpoint).clone()).collect();
    Client::new(ClientSettings { managers, ..ClientSettings::default() })
}

async fn leader() -> StubPeer {
    StubPeer::new(|request| request.result(&json!({"led": true}))).await
}

async fn standby_of(leader: &Endpoint) -> StubPeer {
    let location = format!("location: {leader}");
    StubPeer::new(move |_| StubAnswer::json(307, &json!({"error": "a standby"})).with(&location)).await
}

#[tokio::test]
async fn a_client_follows_a_standby_to_a_leader_that_it_was_given() {
    let leader = leader().await;
    let standby = standby_of(&leader.endpoint).await;
    let client = client(&[&standby.endpoint, &leader.endpoint]);
    for _ in 0..3 {
        let exchange = call(&client, &standby.endpoint, LONG).await.unwrap();
        assert!(String::from_utf8_lossy(&exchange.body).contains("led"));
    }
    assert_eq!((standby.methods().len(), leader.methods().len()), (1, 3), "the leader is remembered");
    assert_eq!(standby.last().header(STANDBY), Some("2"));
}

#[tokio::test]
async fn a_client_does_not_follow_to_a_url_that_it_was_not_given() {
    let (stranger, other) = (leader().await, leader().await);
    let standby = standby_of(&stranger.endpoint).await;
    let client = client(&[&standby.endpoint, &other.endpoint]);
    call(&client, &standby.endpoint, LONG).await.unwrap();
    assert_eq!((stranger.methods().len(), other.methods().len()), (0, 1));
    let alone = Client::default();
    let answer = call(&alone, &standby.endpoint, LONG).await.unwrap();
    assert_eq!((answer.status.as_u16(), stranger.methods().len()), (307, 0));
    assert_eq!(standby.last().header(STANDBY), None, "it knows one manager");
}

#[tokio::test]
async fn a_client_asks_another_manager_if_one_is_gone_or_silent() {
    let leader = leader().await;
    let gone: Endpoint = "http://127.0.0.1:1/mcp".parse().unwrap();
    call(&client(&[&gone, &leader.endpoint]), &gone, LONG).await.unwrap();
    let silent = peer(|stream, _| async move {
        stream.readable().await.unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    let (client, began) = (client(&[&silent, &leader.endpoint]), Instant::now());
    call(&client, &silent, LONG).await.unwrap();
    assert!(began.elapsed() < 3 * SECOND, "{:?}", began.elapsed());
    let again = Instant::now();
    call(&client, &silent, LONG).await.unwrap();
    assert!(again.elapsed() < SECOND, "the leader is remembered");
}

/// A report must not be given up, because the database of all managers is away.
#[tokio::test]
async fn standbys_without_a_leader_are_no_answer() {
    let standby = || StubPeer::new(|_| StubAnswer::json(503, &json!({"error": "a standby"})));
    let (first, second) = (standby().await, standby().await);
    let client = client(&[&first.endpoint, &second.endpoint]);
    let error = call(&client, &first.endpoint, SECOND).await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("no manager leads"), "{error}");
    assert!(first.methods().len() > 1 && second.methods().len() > 1, "they are asked again");
}

#[tokio::test]
async fn a_standby_that_names_a_leader_that_is_gone_does_not_hide_the_next_one() {
    let gone: Endpoint = "http://127.0.0.1:1/mcp".parse().unwrap();
    let (cut_off, leader) = (standby_of(&gone).await, leader().await);
    let client = client(&[&gone, &cut_off.endpoint, &leader.endpoint]);
    let exchange = call(&client, &gone, LONG).await.unwrap();
    assert!(String::from_utf8_lossy(&exchange.body).contains("led"));
    assert_eq!(cut_off.methods().len(), 1);
}

#[tokio::test]
async fn a_slow_leader_is_not_given_up_for_a_standby() {
    let slow = peer(|mut stream, _| async move {
        while let Some((_, body)) = crate::raw::message(&mut stream).await {
            tokio::time::sleep(5 * SECOND / 2).await;
            let id = serde_json::from_slice::<serde_json::Value>(&body).unwrap()["id"].clone();
            let body = json!({"jsonrpc": "2.0", "id": id, "result": {"led": true}}).to_string();
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
            let answered = tokio::io::AsyncWriteExt::write_all(&mut stream, format!("{head}{body}").as_bytes()).await;
            drop(answered);
        }
    })
    .await;
    let standby = standby_of(&slow).await;
    let exchange = call(&client(&[&slow, &standby.endpoint]), &slow, LONG).await.unwrap();
    assert!(String::from_utf8_lossy(&exchange.body).contains("led"));
    assert!(!standby.methods().is_empty(), "the standby was asked who leads");
}

#[tokio::test]
async fn a_standby_forwards_the_calls_of_other_clients_with_their_address() {
    let key = Credential::new("the-key-of-the-managers");
    let stub = leader().await;
    let relay = Arc::new(Relay::new(Client::default()));
    let settings = || ServerSettings { relay: Some(Arc::clone(&relay)), ..ServerSettings::default() };
    let standby = serve_agent(EchoAgent::new(Role::Manager), settings()).await;
    let client = Client::default();
    let own = call(&client, &endpoint(standby.address), LONG).await.unwrap();
    assert!(!String::from_utf8_lossy(&own.body).contains("led"), "without a leader it answers itself");
    relay.set_leader(Some(Leader { endpoint: stub.endpoint.clone(), relay_key: Some(key) }));
    let forwarded = call(&client, &endpoint(standby.address), LONG).await.unwrap();
    assert!(String::from_utf8_lossy(&forwarded.body).contains("led"));
    let shown = stub.last().header("league-relayed").unwrap().to_owned();
    assert!(shown.starts_with("the-key-of-the-managers 127.0.0.1:"), "{shown}");
}
