//! Where a player's luck comes from: the operating system, or the seed of a league that is to be repeatable.

use std::time::{SystemTime, UNIX_EPOCH};

use league_core::rules::seed::Seed;
use league_protocol::id::{MatchId, PlayerId};
use league_protocol::parity::Parity;

/// Where a player's luck comes from.
#[derive(Clone, Debug)]
pub enum Chance {
    /// The operating system: nobody can predict it.
    System,
    /// A seed: the same match and player always get the same.
    Seeded(Seed),
}

impl Chance {
    /// A toss of the coin for `player` in `match_id`.
    pub fn toss(&self, match_id: &MatchId, player: &PlayerId) -> Parity {
        match self {
            Self::System => Parity::of(random_byte()),
            Self::Seeded(seed) => seed.choice(match_id, player),
        }
    }
}

fn random_byte() -> u8 {
    let mut byte = [0];
    match getrandom::fill(&mut byte) {
        Ok(()) => byte[0],
        // A system without randomness still has a clock, and a match is not worth losing over it.
        Err(_) => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| (age.as_micros() & 0xff) as u8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use league_protocol::id::RoundId;

    #[test]
    fn the_system_gives_both_sides_of_the_coin() {
        let (match_id, player) = (MatchId::of(RoundId(1), 1), PlayerId::numbered(1));
        let even = (0..2_000).filter(|_| Chance::System.toss(&match_id, &player) == Parity::Even).count();
        assert!((800..=1_200).contains(&even), "{even} of 2,000 were even");
    }

    #[test]
    fn a_seed_gives_the_same_match_and_player_the_same_toss() {
        let chance = Chance::Seeded(Seed::new(5, "league".parse().unwrap()));
        let player = PlayerId::numbered(3);
        for number in 1..=50 {
            let match_id = MatchId::of(RoundId(2), number);
            assert_eq!(chance.toss(&match_id, &player), chance.toss(&match_id, &player));
        }
    }
}
