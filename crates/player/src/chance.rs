//! Random choices of a player: from the operating system, or from the seed of a repeatable league.

use std::time::{SystemTime, UNIX_EPOCH};

use league_core::rules::seed::Seed;
use league_protocol::id::{MatchId, PlayerId};

#[derive(Clone, Debug)]
pub enum Chance {
    System,
    /// The same player gets the same choice in the same position of the same match.
    Seeded(Seed),
}

impl Chance {
    /// 0 when `count` is 0.
    pub fn pick(&self, match_id: &MatchId, player: &PlayerId, view: &str, count: usize) -> usize {
        match self {
            Self::System => Seed::pick_by(random_number(), count),
            Self::Seeded(seed) => seed.pick(match_id, player, view, count),
        }
    }
}

fn random_number() -> u64 {
    // Without system randomness the clock decides, because an error would lose the match.
    let by_clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_micros() as u64);
    getrandom::u64().unwrap_or_else(|_| by_clock())
}

#[cfg(test)]
mod tests {
    use super::*;
    use league_protocol::id::RoundId;

    #[test]
    fn the_system_gives_every_option() {
        let (match_id, player) = (MatchId::of(RoundId(1), 1), PlayerId::numbered(1));
        let first = (0..2_000).filter(|_| Chance::System.pick(&match_id, &player, "", 2) == 0).count();
        assert!((800..=1_200).contains(&first), "{first} of 2,000 were the first option");
    }
}
