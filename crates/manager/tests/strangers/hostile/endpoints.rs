//! The manager rejects endpoints of other machines and never calls them.

use league_manager::ManagerSettings;

use super::caller::{Caller, admitted};
use crate::league::League;

async fn is_rejected(caller: &Caller, endpoint: &str, reason_part: &str) {
    for (role, number) in [("player", 2003), ("referee", 1002)] {
        let answer = caller.register(role, "Relay", endpoint, None).await.json();
        let result = &answer["result"];
        assert_eq!((result["status"].as_str(), &result["reason_code"]), (Some("REJECTED"), &number.into()), "{answer}");
        let reason = result["reason"].as_str().unwrap();
        assert!(reason.contains(reason_part), "{endpoint}: {reason}");
    }
}

#[tokio::test]
async fn a_player_cannot_make_the_league_call_another_machine() {
    let league = League::of(2, 1, ManagerSettings::default()).await;
    let far = league.caller_from("10.0.0.7").await;
    for host in [
        "169.254.169.254",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "[::ffff:169.254.169.254]",
        "metadata.internal",
        "localhost",
        "127.0.0.1",
        "[::1]",
        "0.0.0.0",
        "10.0.0.8",
        "2852039166",
    ] {
        is_rejected(&far, &format!("http://{host}/latest/meta-data"), "must be at that address").await;
    }
    let near = league.caller();
    for host in ["169.254.169.254", "10.0.0.7", "[fe80::1%25eth0]", "somewhere"] {
        is_rejected(&near, &format!("http://{host}:80/"), "").await;
    }
    admitted(&far.register("player", "Itself", "http://10.0.0.7:8101/mcp", None).await);
    assert_eq!(league.season().await.players().len(), 1);
}

#[tokio::test]
async fn what_is_no_http_is_no_endpoint() {
    let league = League::of(2, 1, ManagerSettings::default()).await;
    let near = league.caller();
    for endpoint in [
        "file:///etc/passwd",
        "file://localhost/etc/passwd",
        "gopher://127.0.0.1:1/",
        "ftp://127.0.0.1/",
        "unix:/run/x",
    ] {
        is_rejected(&near, endpoint, "contact_endpoint").await;
    }
    is_rejected(&near, "http://user:secret@127.0.0.1:1/", "").await;
    assert!(league.season().await.players().is_empty());
}

#[tokio::test]
async fn the_league_does_not_call_itself() {
    let here = "127.0.0.1:8000".parse().unwrap();
    let league = League::of(2, 1, ManagerSettings { here: Some(here), ..ManagerSettings::default() }).await;
    let near = league.caller();
    for host in ["127.0.0.1", "localhost", "[::1]", "127.0.0.2"] {
        is_rejected(&near, &format!("http://{host}:8000/mcp"), "manager's own").await;
    }
    admitted(&near.register("player", "Beside it", "http://127.0.0.1:8001/mcp", None).await);
}

#[tokio::test]
async fn hosts_that_the_operator_allows_may_be_named_from_elsewhere() {
    let allowed_hosts = vec!["players.example".to_owned()];
    let league = League::of(2, 1, ManagerSettings { allowed_hosts, ..ManagerSettings::default() }).await;
    let far = league.caller_from("10.0.0.7").await;
    admitted(&far.register("player", "Hosted", "http://Players.Example:8101/mcp", None).await);
    is_rejected(&far, "http://players.example.evil:8101/mcp", "--allow-host players.example.evil").await;
}

#[tokio::test]
async fn an_agent_cannot_register_for_another_machine() {
    let league = League::of(2, 1, ManagerSettings::default()).await;
    let (owner, thief) = (league.caller_from("10.0.0.7").await, league.caller_from("10.0.0.8").await);
    let endpoint = "http://10.0.0.7:8101/mcp";
    let (_, token) = admitted(&owner.register("player", "Relay", endpoint, None).await);
    is_rejected(&thief, endpoint, "must be at that address").await;
    // The client's own endpoint with the other player's name is rejected too.
    let named = thief.register("player", "Relay", "http://10.0.0.8:8101/mcp", None).await.json();
    assert_eq!(named["result"]["reason_code"], 2002, "{named}");
    assert_eq!(owner.status(&token).await.status, 200, "the token that it has still counts");
}
