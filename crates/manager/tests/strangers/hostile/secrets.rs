//! Guessed tokens and keys.

use std::sync::Arc;
use std::time::Duration;

use league_manager::ManagerSettings;
use league_protocol::token::Credential;
use league_wire::failed_secrets::FailedSecrets;
use league_wire::rate::Rate;

use super::caller::{admitted, code, must_wait};
use crate::league::League;

const HERE: &str = "http://127.0.0.1:1/mcp";

fn guessed_at(rate: Rate) -> ManagerSettings {
    let key = Some(Credential::new("sesame"));
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
async fn a_key_is_not_even_looked_at_after_too_many_wrong_ones() {
    let league = League::of(2, 1, guessed_at(Rate::new(5, 3))).await;
    let guesser = league.caller_from("203.0.113.9").await;
    let endpoint = "http://203.0.113.9:1/mcp";
    for guess in ["", "open", "Sesame"] {
        assert_eq!(code(&guesser.register("referee", "Guess", endpoint, Some(guess)).await), "E012");
    }
    let answer = guesser.register("referee", "Guess", endpoint, None).await;
    assert!(must_wait(&answer), "{answer:?}");
    // A correct guess must not be answered either, or every answer would help the guesser.
    let right = guesser.register("referee", "Guess", endpoint, Some("sesame")).await;
    assert!(must_wait(&right), "{right:?}");
    let elsewhere = league.caller_from("203.0.113.10").await;
    admitted(&elsewhere.register("referee", "Honest", "http://203.0.113.10:1/mcp", Some("sesame")).await);
    tokio::time::timeout(Duration::from_secs(10), async {
        while must_wait(&guesser.register("referee", "Guess", endpoint, Some("sesame")).await) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .unwrap();
    assert_eq!(league.season().await.referees().len(), 2);
}

#[tokio::test]
async fn the_key_is_for_whom_it_is_meant() {
    let league = League::of(2, 1, guessed_at(Rate::new(5, 200))).await;
    let caller = league.caller();
    assert_eq!(code(&caller.register("referee", "Whistle", HERE, None).await), "E012");
    admitted(&caller.register("referee", "Whistle", HERE, Some("sesame")).await);
    admitted(&caller.register("player", "Alpha", "http://127.0.0.1:2/mcp", None).await);
    let settings = ManagerSettings { player_key: Some(Credential::new("sesame")), ..ManagerSettings::default() };
    let caller = League::of(2, 1, settings).await.caller();
    assert_eq!(code(&caller.register("player", "Alpha", HERE, Some("wrong")).await), "E012");
    admitted(&caller.register("player", "Alpha", HERE, Some("sesame")).await);
    admitted(&caller.register("referee", "Whistle", HERE, None).await);
}
