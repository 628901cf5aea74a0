//! A format of one round in which neighbours in the list of players meet.

use std::sync::Arc;

use super::{Format, FormatEntry, FormatState, Pairing, RoundPlan};

pub(super) const ENTRY: FormatEntry = FormatEntry {
    name: "single_round",
    about: "one round of neighbours",
    parameters: &[],
    make: |_| Arc::new(SingleRound),
};

#[derive(Debug)]
struct SingleRound;

impl Format for SingleRound {
    fn next_round(&self, state: &FormatState<'_>) -> Option<RoundPlan> {
        self.planned_round(u32::try_from(state.players.len()).ok()?, u32::try_from(state.rounds.len()).ok()? + 1)
    }

    fn max_rounds(&self, _: u32) -> Option<u32> {
        Some(1)
    }

    fn planned_round(&self, players: u32, round: u32) -> Option<RoundPlan> {
        let pairings = (0..players / 2).map(|pair| Pairing::new(2 * pair, 2 * pair + 1)).collect();
        let byes = if players % 2 == 1 { vec![players - 1] } else { Vec::new() };
        (round == 1).then_some(RoundPlan { pairings, byes })
    }
}

#[cfg(test)]
mod tests {
    use league_protocol::time::Timestamp;
    use smol_str::SmolStr;

    use crate::in_memory::InMemoryLeague;
    use crate::rules::seed::Seed;
    use crate::season::config::LeagueConfig;

    #[test]
    fn five_players_play_two_matches() {
        let league_id = "league".parse().unwrap();
        let config = LeagueConfig { format: "single_round".parse().unwrap(), ..LeagueConfig::even_odd(league_id) };
        let seed = Seed::new(7, config.league_id.clone());
        let names = ["A", "B", "C", "D", "E"].map(SmolStr::new_static);
        let mut league = InMemoryLeague::new(config, &names, seed, Timestamp::EPOCH).unwrap();
        while league.play_round().unwrap() {}
        assert_eq!(league.season().matches_completed(), 2);
    }
}
