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

/// The most changes of the key in one match of several games. Each one multiplies the work by the number of moves.
const MAX_CHANGES: usize = 2;

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

/// Whether `shown` combines the signatures of all moves, by one key or by several in turn.
fn combines(shown: Signature, by_key: &[Vec<Signature>]) -> bool {
    // What all moves from each one on give with one key.
    let from: Vec<Vec<Signature>> = by_key
        .iter()
        .map(|made| {
            let mut sums: Vec<Signature> = made
                .iter()
                .rev()
                .scan(Signature([0; 32]), |sum, signature| {
                    *sum = sum.xor(signature);
                    Some(*sum)
                })
                .collect();
            sums.reverse();
            sums.push(Signature([0; 32]));
            sums
        })
        .collect();
    is_sum(shown, &from, 0, MAX_CHANGES)
}

/// Whether the moves from `start` on give `rest`, beginning with any of these keys.
fn is_sum(rest: Signature, from: &[Vec<Signature>], start: usize, changes: usize) -> bool {
    from.iter().enumerate().any(|(key, sums)| {
        let is_last = sums.get(start) == Some(&rest);
        let changed = || {
            let later = &from[key + 1..];
            let places = sums.iter().enumerate().skip(start + 1);
            !later.is_empty()
                && places
                    .map(|(place, sum)| (place, rest.xor(&sums[start]).xor(sum)))
                    .any(|(place, rest)| is_sum(rest, later, place, changes - 1))
        };
        is_last || (changes > 0 && start < sums.len() && changed())
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
    fn a_key_may_change_twice() {
        let keys = [made(1, 9), made(77, 9), made(200, 9), made(150, 9)];
        let signed = |parts: &[(usize, std::ops::Range<usize>)]| {
            let signatures: Vec<_> =
                parts.iter().flat_map(|(key, moves)| &keys[*key][moves.clone()]).copied().collect();
            Signature::combined(&signatures)
        };
        for parts in [
            vec![(0, 0..9)],
            vec![(3, 0..9)],
            vec![(0, 0..1), (1, 1..9)],
            vec![(1, 0..8), (3, 8..9)],
            vec![(0, 0..3), (1, 3..5), (2, 5..9)],
            vec![(0, 0..3), (2, 3..8), (3, 8..9)],
        ] {
            assert!(combines(signed(&parts), &keys), "{parts:?}");
        }
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
