//! Any text as a time, an id, a secret or a part of a draw.
//!
//! It is refused or kept exactly, and no secret is shown.

#![no_main]
#![forbid(unsafe_code)]

use std::fmt::Display;
use std::str::FromStr;

use league_protocol::draw::{DrawCommitment, DrawNonce, DrawSecret, MAX_NONCE};
use league_protocol::id::{ConversationId, GameType, LeagueId, MatchId, PlayerId, RefereeId};
use league_protocol::time::Timestamp;
use league_protocol::token::{Credential, redacted};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    a_time_is_printed_as_its_second(text);
    an_id_is_kept_as_it_was_written(text);
    a_number_in_an_id_makes_that_id_again(text);
    a_secret_shows_its_owner_at_most(text);
    a_draw_keeps_its_bytes(text);
});

fn a_time_is_printed_as_its_second(text: &str) {
    if let Ok(moment) = text.parse::<Timestamp>() {
        let again: Timestamp = moment.to_string().parse().expect("what we print, we read");
        assert_eq!(again.unix(), moment.unix(), "{text}");
        assert_eq!(again.to_string(), moment.to_string(), "{text}");
    }
}

fn an_id_is_kept_as_it_was_written(text: &str) {
    fn kept<Id: FromStr + Display>(text: &str) {
        if let Ok(id) = text.parse::<Id>() {
            assert_eq!(id.to_string(), text);
        }
    }
    kept::<PlayerId>(text);
    kept::<RefereeId>(text);
    kept::<MatchId>(text);
    kept::<LeagueId>(text);
    kept::<GameType>(text);
    kept::<ConversationId>(text);
}

fn a_number_in_an_id_makes_that_id_again(text: &str) {
    if let Ok(id) = text.parse::<PlayerId>() {
        assert!(id.number().is_none_or(|number| PlayerId::numbered(number) == id), "{id}");
    }
    if let Ok(id) = text.parse::<RefereeId>() {
        assert!(id.number().is_none_or(|number| RefereeId::numbered(number) == id), "{id}");
    }
    if let Ok(id) = text.parse::<MatchId>() {
        assert!(id.parts().is_none_or(|(round, number)| MatchId::of(round, number) == id), "{id}");
    }
}

fn a_secret_shows_its_owner_at_most(text: &str) {
    let shown = redacted(text);
    let beginning = shown.strip_suffix('…').expect("something is always hidden");
    assert!(text.starts_with(beginning) && beginning.len() <= "tok-12345678-".len(), "{shown}");
    assert_eq!(format!("{:?}", Credential::new(text)), shown);
}

fn a_draw_keeps_its_bytes(text: &str) {
    if let Ok(secret) = text.parse::<DrawSecret>() {
        assert_eq!(String::from(secret), text.to_ascii_lowercase());
        assert_ne!(secret.commitment().0, secret.0);
    }
    if let Ok(commitment) = text.parse::<DrawCommitment>() {
        assert_eq!(String::from(commitment), text.to_ascii_lowercase());
    }
    match text.parse::<DrawNonce>() {
        Ok(nonce) => assert_eq!(nonce.as_bytes(), text.as_bytes()),
        Err(_) => assert!(text.len() > MAX_NONCE),
    }
}
