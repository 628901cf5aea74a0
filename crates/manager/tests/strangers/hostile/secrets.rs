//! Guessed tokens and keys.

use std::sync::Arc;

use league_manager::ManagerSettings;
use league_protocol::token::Credential;
use league_wire::failed_secrets::FailedSecrets;
use league_wire::rate::Rate;

use super::caller::{admitted, code, must_wait};
use crate::league::League;

const HERE: &str = "http://127.0.0.1:1/mcp";

fn guessed_at(rate: Rate) -> ManagerSettings {
    let key = Some(Credential::new("sesame").digest());
    ManagerSettings { strikes: Arc::new(FailedSecrets::new(rate)), referee_key: key, ..ManagerSettings::default() }
}

#[tokio::test]
async fn guesses_at_tokens_are_slowed_down_and_the_right_token_is_not() {
    let league = League::of(2, 1, guessed_at(Rate::new(1, 5))).await;
    let caller = league.caller();
    let (id, token) = admitted(&caller.register("player", "Honest", HERE, None).await);
    let almost = [&token[..token.len() - 1], &token.to_uppercase(), &format!("{token}A"), &format!("{token} "), "tok"];
    for wrong in almost {
        assert_eq!(code(&caller.status(wrong).await), "E012", "{wrong:?} for {token}");
    }
    for _ in 0..20 {
        assert!(must_wait(&caller.status(&format!("tok-{id}-guess")).await));
        assert_eq!(caller.status(&token).await.status, 200);
    }
}

#[tokio::test]
async fn a_right_key_works_after_any_number_of_wrong_ones_from_its_address() {
    let league = League::of(2, 1, guessed_at(Rate::new(5, 3))).await;
    let caller = league.caller_from("203.0.113.9").await;
    let endpoint = "http://203.0.113.9:1/mcp";
    for guess in ["", "open", "Sesame"] {
        assert_eq!(code(&caller.register("referee", "Guess", endpoint, Some(guess)).await), "E012");
    }
    let answer = caller.register("referee", "Guess", endpoint, None).await;
    assert!(must_wait(&answer), "{answer:?}");
    admitted(&caller.register("referee", "Honest", endpoint, Some("sesame")).await);
}

#[tokio::test]
async fn each_key_admits_agents_of_its_role_only() {
    let league = League::of(2, 1, guessed_at(Rate::new(5, 200))).await;
    let caller = league.caller();
    assert_eq!(code(&caller.register("referee", "Whistle", HERE, None).await), "E012");
    admitted(&caller.register("referee", "Whistle", HERE, Some("sesame")).await);
    admitted(&caller.register("player", "Alpha", "http://127.0.0.1:2/mcp", None).await);
    let settings =
        ManagerSettings { player_key: Some(Credential::new("sesame").digest()), ..ManagerSettings::default() };
    let caller = League::of(2, 1, settings).await.caller();
    assert_eq!(code(&caller.register("player", "Alpha", HERE, Some("wrong")).await), "E012");
    admitted(&caller.register("player", "Alpha", HERE, Some("sesame")).await);
    admitted(&caller.register("referee", "Whistle", HERE, None).await);
}
