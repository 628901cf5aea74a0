//! Repeatable leagues: one number decides everything random.
//!
//! Each secret, nonce and choice is derived from the seed and its own name. The order of matches and the number of referees
//! change nothing. Repeatable means predictable, so a contest uses no seed.

use std::fmt;

use league_protocol::draw::{DrawNonce, DrawSecret};
use league_protocol::id::{LeagueId, MatchId, PlayerId};
use league_protocol::seal::{digest, seal};
use smol_str::{SmolStr, format_smolstr};

#[derive(Clone)]
pub struct Seed {
    key: [u8; 32],
    league: LeagueId,
}

/// Hides the seed, which decides future draws, from logs.
impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed of {}:…", self.league)
    }
}

impl Seed {
    pub fn new(number: u64, league: LeagueId) -> Self {
        Self { key: digest(&[b"league.v2 seed ".as_slice(), &number.to_be_bytes()].concat()), league }
    }

    fn derive(&self, what: &[u8], match_id: &MatchId, who: &str) -> [u8; 32] {
        let (league, match_id) = (self.league.as_str().as_bytes(), match_id.as_str().as_bytes());
        seal(&self.key, &[what, league, match_id, who.as_bytes()])
    }

    pub fn secret(&self, match_id: &MatchId) -> DrawSecret {
        DrawSecret(self.derive(b"secret", match_id, ""))
    }

    pub fn nonce(&self, match_id: &MatchId, player: &PlayerId) -> DrawNonce {
        DrawNonce::of_bytes(&self.derive(b"nonce", match_id, player.as_str())[..8])
    }

    /// Stands in for the nonce of a player that sends none.
    pub fn manager_nonce(&self, match_id: &MatchId) -> DrawNonce {
        DrawNonce::of_bytes(&self.derive(b"manager nonce", match_id, "")[..8])
    }

    /// What the lots of the league come from.
    pub fn lot_secret(&self) -> [u8; 32] {
        seal(&self.key, &[b"lots", self.league.as_str().as_bytes()])
    }

    /// The index that `player` picks at random in the position `view`; 0 when `count` is 0.
    pub fn pick(&self, match_id: &MatchId, player: &PlayerId, view: &str, count: usize) -> usize {
        let who = if view.is_empty() { SmolStr::new(player.as_str()) } else { format_smolstr!("{player} {view}") };
        let [a, b, c, d, e, f, g, h, ..] = self.derive(b"choice", match_id, &who);
        Self::pick_by(u64::from_le_bytes([a, b, c, d, e, f, g, h]), count)
    }

    /// Maps a random number to one of `count` options. The bias is below `count` in 2^64.
    pub fn pick_by(number: u64, count: usize) -> usize {
        number.checked_rem(count as u64).map_or(0, |picked| picked as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use league_protocol::id::RoundId;

    #[test]
    fn the_same_seed_gives_the_same_and_nothing_else_does() {
        let seed = |number, league: &str| Seed::new(number, league.parse().unwrap());
        let (first, second) = (MatchId::of(RoundId(1), 1), MatchId::of(RoundId(1), 2));
        let secret = seed(7, "a").secret(&first);
        assert_eq!(seed(7, "a").secret(&first), secret);
        for other in [seed(8, "a").secret(&first), seed(7, "b").secret(&first), seed(7, "a").secret(&second)] {
            assert_ne!(other, secret);
        }
        let (one, two) = (PlayerId::numbered(1), PlayerId::numbered(2));
        assert_ne!(seed(7, "a").nonce(&first, &one), seed(7, "a").nonce(&first, &two));
        assert_eq!(seed(7, "a").nonce(&first, &one).as_bytes().len(), 16);
    }

    #[test]
    fn a_seed_is_not_to_be_read_in_a_log() {
        assert_eq!(format!("{:?}", Seed::new(7, "a".parse().unwrap())), "seed of a:…");
    }

    #[test]
    fn chance_is_fair() {
        let seed = Seed::new(1, "fair".parse().unwrap());
        let picked = |number, count| seed.pick(&MatchId::of(RoundId(1), number), &PlayerId::numbered(1), "", count);
        let first = (1..=10_000).filter(|number| picked(*number, 2) == 0).count();
        assert!((4_700..=5_300).contains(&first), "{first} of 10,000 were the first of two");
        assert!((0..3).all(|wanted| (1..50).any(|number| picked(number, 3) == wanted)));
        assert_eq!(picked(1, 0), 0);
    }
}
