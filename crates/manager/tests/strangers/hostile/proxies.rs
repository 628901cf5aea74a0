//! Clients behind a proxy, and clients that claim to be behind one.

use league_manager::{ManagerSettings, RateSettings};
use league_wire::rate::Rate;
use serde_json::json;

use super::caller::{Caller, admitted, code, must_wait};
use crate::league::{League, RELAY_KEY};

const PROXIES: [&str; 2] = ["10.0.0.0/8", "127.0.0.2"];
const FOR: &str = "x-forwarded-for";

async fn order(caller: &Caller) -> String {
    code(&caller.call("stop_league", "operator:x", None, json!({})).await)
}

async fn registers(caller: &Caller, name: &str, endpoint: &str) -> bool {
    caller.register("player", name, endpoint, None).await.json()["result"]["status"] == "ACCEPTED"
}

#[tokio::test]
async fn no_header_makes_a_client_the_operator() {
    let league = League::of(2, 1, ManagerSettings::default()).await;
    let [proxy, local_proxy] =
        [league.through("10.0.0.1", &PROXIES).await, league.through("127.0.0.2", &PROXIES).await];
    let (unlisted, near) = (league.through("203.0.113.9", &PROXIES).await, league.through("127.0.0.1", &PROXIES).await);
    for claimed in ["127.0.0.1", "::1", "[::1]:80", "::ffff:127.0.0.1", "203.0.113.7, 127.0.0.1", "localhost", ""] {
        for caller in [&proxy, &local_proxy, &unlisted, &near] {
            assert_eq!(order(&caller.with(FOR, claimed)).await, "E012", "{FOR} {claimed}");
            let forwarded = caller.with("forwarded", format!("for=\"{claimed}\""));
            assert_eq!(order(&forwarded).await, "E012", "forwarded {claimed}");
            assert_eq!(order(&forwarded.with(FOR, claimed)).await, "E012", "both {claimed}");
        }
    }
    assert_eq!(order(&local_proxy).await, "E012", "a proxy on this machine that adds no header");
    assert_eq!(order(&near).await, "E010", "a program on this machine operates, too early here");
}

#[tokio::test]
async fn a_client_behind_a_proxy_registers_at_its_own_address_only() {
    let league = League::of(4, 1, ManagerSettings::default()).await;
    let proxy = league.through("10.0.0.1", &PROXIES).await;
    let client = proxy.with(FOR, "127.0.0.1, 203.0.113.9");
    for endpoint in ["http://127.0.0.1:8101/mcp", "http://10.0.0.1:8101/mcp", "http://203.0.113.8:8101/mcp"] {
        assert!(!registers(&client, "Relay", endpoint).await, "{endpoint}");
    }
    assert!(registers(&client, "Own", "http://203.0.113.9:8101/mcp").await);
    // An address that is not listed gains nothing by the header.
    let stranger = league.through("203.0.113.66", &PROXIES).await.with(FOR, "203.0.113.9");
    assert!(!registers(&stranger, "Thief", "http://203.0.113.9:8102/mcp").await);
    assert!(registers(&stranger, "Stranger", "http://203.0.113.66:8101/mcp").await);
    let unknown = proxy.with(FOR, "unknown");
    for endpoint in ["http://0.0.0.0:8101/mcp", "http://10.0.0.1:8101/mcp", "http://localhost:8101/mcp"] {
        assert!(!registers(&unknown, "Nowhere", endpoint).await, "{endpoint}");
    }
}

#[tokio::test]
async fn clients_behind_one_proxy_have_a_rate_limit_each() {
    let rates = RateSettings { strangers: Rate::new(1, 3), ..RateSettings::default() };
    let league = League::of(2, 1, ManagerSettings { rates, ..ManagerSettings::default() }).await;
    let proxy = league.through("10.0.0.1", &PROXIES).await;
    let ask = async |caller: &Caller| caller.call("get_standings", "player:x", None, json!({})).await;
    // What the client wrote itself, left of its address, does not give it another limit.
    for number in 0..3 {
        assert_eq!(ask(&proxy.with(FOR, format!("198.51.100.{number}, 203.0.113.9"))).await.status, 200);
    }
    assert!(must_wait(&ask(&proxy.with(FOR, "198.51.100.77, 203.0.113.9")).await));
    assert!(must_wait(&ask(&proxy.with("forwarded", "for=203.0.113.9:4711;proto=https")).await), "the other header");
    assert_eq!(ask(&proxy.with(FOR, "203.0.113.10")).await.status, 200, "another client of the same proxy");
    // Headers that cannot be read share one limit.
    for number in 0..3 {
        assert_eq!(ask(&proxy.with(FOR, format!("nonsense {number}"))).await.status, 200);
    }
    assert!(must_wait(&ask(&proxy.with(FOR, "other nonsense")).await));
}

#[tokio::test]
async fn a_program_on_the_managers_machine_is_not_affected_by_a_list_of_proxies() {
    let league = League::of(2, 1, ManagerSettings::default()).await;
    let near = league.through("127.0.0.1", &PROXIES).await;
    admitted(&near.register("player", "Here", "http://127.0.0.1:8101/mcp", None).await);
}

#[tokio::test]
async fn a_call_that_a_standby_forwards_is_local_only_if_client_and_standby_are() {
    let league = League::of(2, 1, ManagerSettings::default()).await;
    let (near, far) = (league.through("127.0.0.1", &[]).await, league.through("203.0.113.9", &[]).await);
    let relayed = |from: &Caller, key: &str, client: &str| from.with("league-relayed", format!("{key} {client}:4000"));
    assert_eq!(
        order(&relayed(&near, RELAY_KEY, "127.0.0.1")).await,
        "E010",
        "a program on this machine, too early here"
    );
    for (from, key, client) in [
        (&near, RELAY_KEY, "203.0.113.7"),
        (&far, RELAY_KEY, "127.0.0.1"),
        (&far, RELAY_KEY, "[::1]"),
        (&far, RELAY_KEY, "[::ffff:127.0.0.1]"),
        (&near, "the-key-of-a-former-leader", "203.0.113.7"),
        (&near, "the-key-of-a-former-leader", "127.0.0.1"),
        (&far, "the-key-of-a-former-leader", "127.0.0.1"),
    ] {
        assert_eq!(order(&relayed(from, key, client)).await, "E012", "{key} {client}");
    }
    // A client on the standby's machine has the address of that machine.
    let beside = relayed(&far, RELAY_KEY, "127.0.0.1");
    assert!(!registers(&beside, "Elsewhere", "http://127.0.0.1:8101/mcp").await);
    assert!(registers(&beside, "Beside", "http://203.0.113.9:8101/mcp").await);
}
