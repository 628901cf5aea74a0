//! Knockout: a bracket of stages in which two players meet until one of them goes through.
//!
//! A tie is a series of up to `best_of` matches, one per round, with swapped sides in turn. If both have won equally often after
//! that, they play up to [`EXTRA`] more matches, and the first win decides. If all of these are drawn, a lot decides. A withdrawn
//! player stays in the bracket and forfeits its matches, so results alone decide who goes through.

use std::sync::Arc;

use league_protocol::side::Side;

use super::{Allowed, Format, FormatEntry, FormatState, Pairing, Parameter, RoundPlan};

/// Each player has each side once more.
const EXTRA: u32 = 2;

pub(super) const ENTRY: FormatEntry = FormatEntry {
    name: "knockout",
    about: "the loser of a tie is out",
    parameters: &[
        Parameter {
            name: "best_of",
            about: "the matches of a tie; one if left out",
            allowed: Allowed::OddNumber { most: 99 },
        },
        Parameter {
            name: "seeding",
            about: "the order of the bracket: by registration, or drawn by lot; registration if left out",
            allowed: Allowed::OneOf(&["registration", "draw"]),
        },
    ],
    make: |values| {
        let best_of = values.number("best_of").unwrap_or(1);
        Arc::new(Knockout { best_of, is_drawn: values.word("seeding") == Some("draw") })
    },
};

#[derive(Debug)]
struct Knockout {
    best_of: u32,
    is_drawn: bool,
}

/// Two places of the bracket. Only the first stage has empty ones.
#[derive(Clone, Debug)]
struct Tie {
    players: [Option<u32>; 2],
    wins: [u32; 2],
    played: u32,
    last: Option<Pairing>,
}

impl Tie {
    fn both(&self) -> Option<[u32; 2]> {
        Some([self.players[0]?, self.players[1]?])
    }

    fn record(&mut self, pairing: Pairing, winner: Option<u32>) {
        for (player, wins) in self.players.iter().zip(&mut self.wins) {
            *wins += u32::from(player.is_some() && *player == winner);
        }
        self.played += 1;
        self.last = Some(pairing);
    }

    /// The index of the player that goes through, unless a match or a lot must decide.
    fn leader(&self, best_of: u32) -> Option<usize> {
        match (self.players, self.wins) {
            ([Some(_), None], _) => Some(0),
            ([None, Some(_)], _) => Some(1),
            (_, [one, other]) => {
                let left = best_of.saturating_sub(self.played);
                let (ahead, lead) = if one > other { (0, one - other) } else { (1, other - one) };
                (lead > left).then_some(ahead)
            }
        }
    }
}

/// The current stage, or the last one.
struct Stage {
    ties: Vec<Tie>,
    /// The stages that each player has won.
    won: Vec<u32>,
    /// Every tie has a winner, or only a lot can give it one.
    needs_lot: bool,
    over: bool,
}

impl Knockout {
    fn is_open(&self, tie: &Tie) -> bool {
        tie.leader(self.best_of).is_none() && tie.played < self.best_of + EXTRA
    }

    /// Follows the bracket through all rounds. `None` if the order of the bracket is yet to be drawn.
    fn stage(&self, state: &FormatState<'_>) -> Option<Stage> {
        let mut survivors = self.bracket(state)?;
        let (mut won, mut rounds) = (vec![0; state.players.len()], state.rounds.iter());
        let mut completed = 0;
        loop {
            let ties = survivors.chunks(2).map(|pair| {
                let players = [pair[0], pair.get(1).copied().flatten()];
                Tie { players, wins: [0; 2], played: 0, last: None }
            });
            let mut ties: Vec<Tie> = ties.collect();
            while ties.iter().any(|tie| self.is_open(tie)) {
                let Some(round) = rounds.next() else {
                    return Some(Stage { ties, won, needs_lot: false, over: false });
                };
                completed += 1;
                let mut results = round.plan().pairings.iter().zip(round.outcomes());
                for tie in ties.iter_mut().filter(|tie| self.is_open(tie)) {
                    // A round has exactly the open ties, in the order of the bracket.
                    let Some((pairing, outcome)) = results.next() else { break };
                    let winner = outcome.and_then(|outcome| outcome.winner()).map(|side| pairing[side]);
                    tie.record(*pairing, winner);
                }
            }
            let lot = state.lots.iter().find(|lot| lot.rounds == completed && completed > 0);
            let mut through = Vec::with_capacity(ties.len());
            for (tie, number) in ties.iter().zip(0..) {
                let ahead = tie.leader(self.best_of).or_else(|| lot.map(|lot| usize::from(lot.coin(number))));
                let Some(ahead) = ahead else {
                    return Some(Stage { ties, won, needs_lot: true, over: false });
                };
                through.push(tie.players[ahead]);
            }
            for player in through.iter().flatten() {
                won[*player as usize] += 1;
            }
            if through.len() < 2 {
                return Some(Stage { ties, won, needs_lot: false, over: true });
            }
            survivors = through;
        }
    }

    /// The places of the first stage. The first players of the order have the byes and meet each other last.
    fn bracket(&self, state: &FormatState<'_>) -> Option<Vec<Option<u32>>> {
        let mut order: Vec<u32> = (0..state.entrants).collect();
        if self.is_drawn {
            state.lots.iter().find(|lot| lot.rounds == 0)?.shuffle(&mut order);
        } else {
            order.sort_by_key(|place| state.players.get(*place as usize).map(|player| player.registered));
        }
        let mut seeds = vec![0];
        while seeds.len() < order.len() {
            let last = seeds.len() * 2 - 1;
            seeds = seeds.into_iter().flat_map(|seed| [seed, last - seed]).collect();
        }
        Some(seeds.into_iter().map(|seed| order.get(seed).copied()).collect())
    }
}

impl Format for Knockout {
    fn next_round(&self, state: &FormatState<'_>) -> Option<RoundPlan> {
        let Stage { ties, over, .. } = self.stage(state)?;
        if over {
            return None;
        }
        let balances = balances(state);
        let open = ties.iter().filter(|tie| self.is_open(tie));
        let pairings = open.filter_map(|tie| {
            let [one, other] = tie.both()?;
            let is_swapped = balances[one as usize] > balances[other as usize];
            Some(match tie.last {
                Some(last) => Pairing::new(last.b, last.a),
                None if is_swapped => Pairing::new(other, one),
                None => Pairing::new(one, other),
            })
        });
        let is_first = state.rounds.is_empty();
        let byes = ties.iter().filter(|tie| is_first && tie.both().is_none());
        Some(RoundPlan { pairings: pairings.collect(), byes: byes.flat_map(|tie| tie.players).flatten().collect() })
    }

    /// Drawn matches lengthen a stage.
    fn max_rounds(&self, _players: u32) -> Option<u32> {
        None
    }

    fn draws_lots(&self) -> bool {
        true
    }

    fn needs_lot(&self, state: &FormatState<'_>) -> bool {
        self.stage(state).is_none_or(|stage| stage.needs_lot)
    }

    fn stages_won(&self, state: &FormatState<'_>) -> Option<Vec<u32>> {
        Some(self.stage(state).map_or_else(|| vec![0; state.players.len()], |stage| stage.won))
    }
}

/// How much more often each player was on side A than on side B.
fn balances(state: &FormatState<'_>) -> Vec<i32> {
    let mut balances = vec![0; state.players.len()];
    for pairing in state.rounds.iter().flat_map(|round| &round.plan().pairings) {
        for side in Side::BOTH {
            balances[pairing[side] as usize] += if side == Side::A { 1 } else { -1 };
        }
    }
    balances
}
