//! Whether a player signed all its moves.
//!
//! In a match of one game the report has every signature. In a match of several games it has them combined by XOR. A player that
//! registers again during the match signs with its new key from then on, so the manager looks for the moves at which the key
//! changed.

use std::num::NonZeroU32;

use league_protocol::draw::Signature;
use league_protocol::message::report::PlayerSignatures;
use league_protocol::signature::SignedMove;
use league_protocol::token::TokenDigest;

use super::keys;
use crate::season::agent::RegisteredPlayer;

pub(super) enum MadeSignatures<'a> {
    Single {
        player: &'a RegisteredPlayer,
        made: usize,
        all_signed: bool,
    },
    /// The signatures of all moves by each key, the oldest key first.
    Combined(Vec<(&'a TokenDigest, Vec<Signature>)>),
}

impl<'a> MadeSignatures<'a> {
    pub(super) fn new(player: &'a RegisteredPlayer, games: NonZeroU32) -> Self {
        if games == NonZeroU32::MIN {
            return Self::Single { player, made: 0, all_signed: true };
        }
        let by_age = player.former_keys.iter().chain([&player.grant.digest]);
        Self::Combined(by_age.map(|key| (key, Vec::new())).collect())
    }

    pub(super) fn add(&mut self, signed_move: &SignedMove<'_>, shown: Option<&PlayerSignatures>) {
        match self {
            Self::Single { player, made, all_signed } => {
                let shown = shown.and_then(|signed| signed.moves.get(*made).copied().flatten());
                *all_signed &= shown.is_some_and(|shown| keys(player).any(|key| signed_move.sign(key) == shown));
                *made += 1;
            }
            Self::Combined(by_key) => by_key.iter_mut().for_each(|(key, made)| made.push(signed_move.sign(key))),
        }
    }

    pub(super) fn are_shown(self, shown: Option<&PlayerSignatures>) -> bool {
        match self {
            Self::Single { all_signed, .. } => all_signed,
            Self::Combined(by_key) => {
                let by_key: Vec<Vec<Signature>> = by_key.into_iter().map(|(_, made)| made).collect();
                let is_unmoved = by_key.iter().all(Vec::is_empty);
                is_unmoved || shown.and_then(|shown| shown.combined).is_some_and(|shown| combines(shown, &by_key))
            }
        }
    }
}

/// Whether `shown` combines the signatures of all moves, by one key, or by an older one and then by a newer one. Looking for more
/// changes would take the square of the number of moves.
fn combines(shown: Signature, by_key: &[Vec<Signature>]) -> bool {
    by_key.iter().enumerate().any(|(place, older)| {
        let by_older = Signature::combined(older);
        by_older == shown || by_key[place + 1..].iter().any(|newer| changes_to(shown, by_older, older, newer))
    })
}

/// Whether the newer key signed the last moves.
fn changes_to(shown: Signature, by_older: Signature, older: &[Signature], newer: &[Signature]) -> bool {
    let mut sum = by_older;
    older.iter().zip(newer).rev().any(|(by_older, by_newer)| {
        sum = sum.xor(by_older).xor(by_newer);
        sum == shown
    })
}

#[cfg(test)]
mod tests {
    use league_protocol::seal::digest;

    use super::*;

    fn made(key: u8, moves: u8) -> Vec<Signature> {
        (0..moves).map(|place| Signature(digest(&[key, place]))).collect()
    }

    #[test]
    fn a_key_may_change_once() {
        let keys = [made(1, 9), made(77, 9), made(200, 9), made(150, 9)];
        let signed = |parts: &[(usize, std::ops::Range<usize>)]| {
            let signatures: Vec<_> =
                parts.iter().flat_map(|(key, moves)| &keys[*key][moves.clone()]).copied().collect();
            Signature::combined(&signatures)
        };
        for parts in [vec![(0, 0..9)], vec![(3, 0..9)], vec![(0, 0..1), (1, 1..9)], vec![(1, 0..8), (3, 8..9)]] {
            assert!(combines(signed(&parts), &keys), "{parts:?}");
        }
        assert!(!combines(signed(&[(0, 0..3), (1, 3..5), (2, 5..9)]), &keys));
    }

    #[test]
    fn every_move_must_be_signed_and_an_old_key_does_not_come_back() {
        let keys = [made(1, 9), made(77, 9)];
        let all = Signature::combined(&keys[0]);
        assert!(combines(all, &keys));
        for missing in 0..9 {
            assert!(!combines(all.xor(&keys[0][missing]), &keys), "{missing}");
        }
        assert!(!combines(Signature([0; 32]), &keys));
        let back = Signature::combined(&[&keys[1][..4], &keys[0][4..]].concat());
        assert!(!combines(back, &keys));
    }
}
