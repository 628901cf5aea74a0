//! Lots: chance for formats that must decide between equal players.
//!
//! The first event commits the manager to a chain of secrets: each secret is the SHA-256 of the next one. A lot reveals the next
//! secret and mixes it with all results so far. The manager cannot choose a lot, because results follow its commitment. A player
//! cannot foresee one, because it does not know the secret.

use league_protocol::draw::{DrawCommitment, DrawSecret};
use league_protocol::id::{LeagueId, MatchId, RoundId};
use league_protocol::seal::{digest, seal};
use league_protocol::side::Side;
use serde::{Deserialize, Serialize};

use super::agent::RegisteredPlayer;
use crate::record::MatchRecord;
use crate::rules::outcome::Outcome;

/// A knockout draws one lot per stage at most, and one for the bracket.
const LOTS: u32 = 64;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LotSource {
    pub commitment: DrawCommitment,
    /// The last secret of the chain. Only the log holds it.
    pub secret: DrawSecret,
}

impl LotSource {
    pub fn new(random: [u8; 32]) -> Self {
        Self { commitment: DrawCommitment(hashed(random, LOTS)), secret: DrawSecret(random) }
    }

    /// The secret of lot `number`, from one.
    pub(super) fn secret_of(&self, number: u32) -> Option<DrawSecret> {
        Some(DrawSecret(hashed(self.secret.0, LOTS.checked_sub(number)?)))
    }

    /// Whether `secret` is the one of lot `number`, by the commitment alone.
    pub(super) fn reveals(&self, secret: &DrawSecret, number: u32) -> bool {
        hashed(secret.0, number) == self.commitment.0
    }
}

fn hashed(bytes: [u8; 32], times: u32) -> [u8; 32] {
    (0..times).fold(bytes, |bytes, _| digest(&bytes))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lot {
    /// The rounds that were completed when it was drawn.
    pub rounds: u32,
    value: [u8; 32],
}

impl Lot {
    pub(super) fn new(
        secret: &DrawSecret,
        league: &LeagueId,
        rounds: RoundId,
        players: &[RegisteredPlayer],
        results: &Results,
    ) -> Self {
        let rounds = rounds.0;
        let names = players.iter().flat_map(|player| [player.id.as_str().as_bytes(), player.profile.name.as_bytes()]);
        let roster = seal(&[0; 32], &names.collect::<Vec<_>>());
        let fields: [&[u8]; 5] =
            [b"league.v2 lot", league.as_str().as_bytes(), &rounds.to_be_bytes(), &roster, &results.0];
        Self { rounds, value: seal(&secret.0, &fields) }
    }

    fn number(&self, index: u32) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = seal(&self.value, &[&index.to_be_bytes()]);
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// A coin for the tie with this number in its stage.
    pub fn coin(&self, tie: u32) -> bool {
        self.number(tie) % 2 == 1
    }

    /// Every order has the same chance, up to a bias below the number of players in 2^64.
    pub fn shuffle(&self, players: &mut [u32]) {
        for (last, index) in (1..players.len()).rev().zip(0..) {
            let picked = self.number(index) % (last as u64 + 1);
            players.swap(last, usize::try_from(picked).unwrap_or(last));
        }
    }
}

/// All results so far as one value. Their order does not matter, so any number of referees gives the same value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Results([u8; 32]);

impl Results {
    pub(super) fn add_report(&mut self, match_id: &MatchId, record: &MatchRecord) {
        let mut fields: Vec<&[u8]> = Vec::new();
        for (side, text) in record.played() {
            fields.extend([letter(side), text.as_bytes()]);
        }
        let drawn = record.drawn.unwrap_or_default();
        let secret = record.proof.as_ref().map_or([0; 32], |proof| proof.secret.0);
        fields.extend([std::slice::from_ref(&drawn), &secret]);
        self.add(match_id, record.outcome, &fields);
    }

    pub(super) fn add_award(&mut self, match_id: &MatchId, outcome: Outcome) {
        self.add(match_id, outcome, &[]);
    }

    fn add(&mut self, match_id: &MatchId, outcome: Outcome, more: &[&[u8]]) {
        let winner = outcome.winner().map_or(&b""[..], letter);
        let fields = [match_id.as_str().as_bytes(), outcome.as_str().as_bytes(), winner];
        let added = seal(&[0; 32], &[&fields, more].concat());
        self.0.iter_mut().zip(added).for_each(|(byte, added)| *byte ^= added);
    }
}

fn letter(side: Side) -> &'static [u8] {
    match side {
        Side::A => b"A",
        Side::B => b"B",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lot_reveals_the_next_secret_of_the_chain_and_no_later_one() {
        let source = LotSource::new([7; 32]);
        for number in 1..=LOTS {
            let secret = source.secret_of(number).unwrap();
            assert!(source.reveals(&secret, number));
            assert!(!source.reveals(&secret, number + 1));
        }
        assert_eq!(source.secret_of(LOTS).unwrap(), source.secret);
        assert_eq!(source.secret_of(LOTS + 1), None);
    }

    #[test]
    fn coins_are_fair_and_a_shuffle_keeps_every_player() {
        let lot = Lot { rounds: 1, value: [3; 32] };
        let heads = (0..10_000).filter(|tie| lot.coin(*tie)).count();
        assert!((4_700..=5_300).contains(&heads), "{heads} of 10,000");
        let mut players: Vec<u32> = (0..100).collect();
        lot.shuffle(&mut players);
        assert_ne!(players, (0..100).collect::<Vec<_>>());
        players.sort_unstable();
        assert_eq!(players, (0..100).collect::<Vec<_>>());
    }
}
