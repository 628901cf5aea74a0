//! The ranks of all players after each of the last rounds, with the tie-breaks of the standings.

use std::collections::VecDeque;

use league_core::season::Season;

/// The rounds whose ranks are kept: 4 bytes per player and round.
pub(crate) const ROUNDS: usize = 40;

#[derive(Clone, Debug, Default)]
pub(crate) struct RankHistory {
    /// By round, the number of the event that completed it.
    ends: Vec<u64>,
    /// Of the last rounds, the latest one last; by the place of a player.
    ranks: VecDeque<Vec<u32>>,
}

impl RankHistory {
    /// `season` is the state after event `seq`, which completed a round.
    pub(crate) fn complete(&mut self, seq: u64, season: &Season) {
        let mut ranks = vec![0; season.players().len()];
        for standing in season.places() {
            if let Some(rank) = ranks.get_mut(standing.player as usize) {
                *rank = standing.rank;
            }
        }
        if self.ranks.len() == ROUNDS {
            self.ranks.pop_front();
        }
        self.ends.push(seq);
        self.ranks.push_back(ranks);
    }

    /// The event that completed the round.
    pub(crate) fn end_of(&self, round: u32) -> Option<u64> {
        self.ends.get((round as usize).checked_sub(1)?).copied()
    }

    /// `None` for a round that is not complete or too long ago, and for a player that came later.
    pub(crate) fn rank(&self, place: u32, round: u32) -> Option<u32> {
        let since = self.ends.len().checked_sub(round as usize)?;
        let ranks = self.ranks.get(self.ranks.len().checked_sub(since + 1)?)?;
        ranks.get(place as usize).copied().filter(|_| round > 0)
    }
}

#[cfg(test)]
mod tests {
    use league_core::in_memory::InMemoryLeague;
    use league_core::rules::seed::Seed;
    use league_core::season::config::LeagueConfig;
    use league_protocol::time::Timestamp;
    use smol_str::SmolStr;

    use super::*;
    use crate::league_snapshot::LeagueSnapshot;

    #[test]
    fn only_the_last_rounds_have_ranks_and_every_round_its_end() {
        let config = LeagueConfig::even_odd("autumn".parse().unwrap());
        let seed = Seed::new(7, config.league_id.clone());
        let names = ["Ada", "Bob"].map(SmolStr::new_static);
        let mut league = InMemoryLeague::kept(config, &names, seed, Timestamp::EPOCH).unwrap();
        while league.play_round().unwrap() {}
        let events = league.take_events();
        let mut snapshot = LeagueSnapshot::begin(&events[0]).unwrap();
        events[1..].iter().for_each(|event| snapshot.apply(event).unwrap());
        let mut history = RankHistory::default();
        (1..=50).for_each(|round| history.complete(round * 10, snapshot.season()));
        assert_eq!((history.end_of(0), history.end_of(1), history.end_of(50)), (None, Some(10), Some(500)));
        for standing in snapshot.season().places() {
            let rank = Some(standing.rank);
            let ranks = [0, 10, 11, 50, 51].map(|round| history.rank(standing.player, round));
            assert_eq!(ranks, [None, None, rank, rank, None]);
        }
        assert_eq!(history.rank(2, 50), None, "a player that came later");
    }
}
