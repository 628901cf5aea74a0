//! The Swiss system: in each round players with equal or similar scores meet, and no two meet twice while that is avoidable.
//!
//! The number of rounds is fixed at the start, `ceil(log2 n)` if it is not given. Players may join and leave between rounds.
//! [`matching`] decides who meets whom; this file reads the history of the players and decides the sides.

mod matching;

use std::sync::Arc;

use league_protocol::side::Side;

use super::{Allowed, Format, FormatEntry, FormatState, Pairing, Parameter, RoundPlan};
use crate::season::standings::TieBreak;
use matching::Contender;

pub(super) const ENTRY: FormatEntry = FormatEntry {
    name: "swiss",
    about: "players with similar scores meet, never twice while avoidable",
    parameters: &[Parameter {
        name: "rounds",
        about: "the number of rounds; the binary logarithm of the number of players, rounded up, if left out",
        allowed: Allowed::Number { least: 1, most: 1000 },
    }],
    make: |values| Arc::new(Swiss { rounds: values.number("rounds") }),
};

#[derive(Debug)]
struct Swiss {
    rounds: Option<u32>,
}

impl Format for Swiss {
    fn next_round(&self, state: &FormatState<'_>) -> Option<RoundPlan> {
        let played = u32::try_from(state.rounds.len()).ok()?;
        if self.max_rounds(state.entrants).is_some_and(|rounds| played >= rounds) {
            return None;
        }
        let histories = histories(state);
        let mut present: Vec<u32> =
            (0..).zip(state.players).filter(|(_, player)| !player.withdrawn).map(|(place, _)| place).collect();
        let points = |place: &u32| state.table.row(*place).points;
        // Stable: players with equal points stay in the order of the list.
        present.sort_by_key(|place| std::cmp::Reverse(points(place)));
        let mut contenders: Vec<Contender<'_>> = Vec::with_capacity(present.len());
        for equals in present.chunk_by(|one, other| points(one) == points(other)) {
            let group = contenders.last().map_or(0, |last| last.group + 1);
            contenders.extend(equals.iter().map(|place| histories[*place as usize].contender(*place, group, played)));
        }
        let (pairs, bye) = matching::pair(&contenders);
        let pairings = (0_u32..).zip(&pairs).map(|(board, (upper, lower))| {
            let [upper, lower] = [upper, lower].map(|index| contenders[*index].place);
            let takes_a = histories[upper as usize].is_due_for_a(&histories[lower as usize]).unwrap_or(board % 2 == 0);
            if takes_a { Pairing::new(upper, lower) } else { Pairing::new(lower, upper) }
        });
        let byes = bye.map(|index| contenders[index].place).into_iter().collect();
        Some(RoundPlan { pairings: pairings.collect(), byes }).filter(|plan| !plan.pairings.is_empty())
    }

    fn max_rounds(&self, players: u32) -> Option<u32> {
        let usual = players.max(2).next_power_of_two().trailing_zeros();
        Some(if players < 2 { 0 } else { self.rounds.unwrap_or(usual) })
    }

    fn takes_late_players(&self) -> bool {
        true
    }

    fn scores_byes(&self) -> bool {
        true
    }

    fn tiebreakers(&self) -> Vec<TieBreak> {
        vec![TieBreak::Buchholz, TieBreak::SonnebornBerger, TieBreak::HeadToHead, TieBreak::Wins]
    }
}

/// What the pairing of the next round needs to know about a player.
#[derive(Clone, Debug, Default)]
struct History {
    points: u32,
    opponents: Vec<u32>,
    sides: Vec<Side>,
    byes: u32,
    /// The last round with an opponent of a lower score, or a bye.
    down: u32,
    /// The last round with an opponent of a higher score.
    up: u32,
}

fn histories(state: &FormatState<'_>) -> Vec<History> {
    let mut histories = vec![History::default(); state.players.len()];
    let worth = state.table.scoring().match_points();
    for (round, number) in state.rounds.iter().zip(1..) {
        for (pairing, outcome) in round.plan().pairings.iter().zip(round.outcomes()) {
            let before = pairing.map(|place| histories[place as usize].points);
            let points = outcome.map(|outcome| outcome.points(&worth)).unwrap_or_default();
            for side in Side::BOTH {
                let history = &mut histories[pairing[side] as usize];
                history.opponents.push(pairing[side.other()]);
                history.sides.push(side);
                history.points = history.points.saturating_add(points[side]);
                match before[side].cmp(&before[side.other()]) {
                    std::cmp::Ordering::Greater => history.down = number,
                    std::cmp::Ordering::Less => history.up = number,
                    std::cmp::Ordering::Equal => {}
                }
            }
        }
        for place in &round.plan().byes {
            let history = &mut histories[*place as usize];
            history.points = history.points.saturating_add(worth.win_points);
            history.byes += 1;
            history.down = number;
        }
    }
    histories
}

impl History {
    fn contender(&self, place: u32, group: u32, played: u32) -> Contender<'_> {
        let has_just = |round: u32| played > 0 && round == played;
        Contender {
            place,
            group,
            opponents: &self.opponents,
            byes: self.byes,
            balance: self.balance(),
            floated_down: has_just(self.down),
            floated_up: has_just(self.up),
        }
    }

    /// How much more often the player was on side A than on side B.
    fn balance(&self) -> i32 {
        self.sides.iter().map(|side| if *side == Side::A { 1 } else { -1 }).sum()
    }

    /// Decided by the balance, then by the last round in which the two had different sides.
    fn is_due_for_a(&self, other: &Self) -> Option<bool> {
        if self.balance() != other.balance() {
            return Some(self.balance() < other.balance());
        }
        let last_different = self.sides.iter().rev().zip(other.sides.iter().rev()).find(|(own, its)| own != its);
        last_different.map(|(own, _)| *own == Side::B)
    }
}
