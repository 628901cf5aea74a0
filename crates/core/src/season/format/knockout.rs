//! Knockout: a bracket of stages in which two players meet until one of them goes through.
//!
//! A tie is a series of up to `best_of` matches, one per round, with swapped sides in turn. If both have won equally often after
//! that, they play up to [`EXTRA`] more matches, and the first win decides. If all of these are drawn, a lot decides. A withdrawn
//! player stays in the bracket and forfeits its matches, so results alone decide who goes through.

use std::sync::Arc;

use league_protocol::id::{MatchId, RoundId};
use league_protocol::side::Side;

use super::{Allowed, BracketTie, Format, FormatEntry, FormatState, Pairing, Parameter, RoundPlan};
use crate::season::lots::Lot;

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
    matches: Vec<MatchId>,
    last: Option<Pairing>,
}

impl Tie {
    fn both(&self) -> Option<[u32; 2]> {
        Some([self.players[0]?, self.players[1]?])
    }

    fn played(&self) -> u32 {
        u32::try_from(self.matches.len()).unwrap_or(u32::MAX)
    }

    fn record(&mut self, match_id: MatchId, pairing: Pairing, winner: Option<u32>) {
        for (player, wins) in self.players.iter().zip(&mut self.wins) {
            *wins += u32::from(player.is_some() && *player == winner);
        }
        self.matches.push(match_id);
        self.last = Some(pairing);
    }

    /// The index of the player that goes through, unless a match or a lot must decide.
    fn leader(&self, best_of: u32) -> Option<usize> {
        match (self.players, self.wins) {
            ([Some(_), None], _) => Some(0),
            ([None, Some(_)], _) => Some(1),
            (_, [one, other]) => {
                let left = best_of.saturating_sub(self.played());
                let (ahead, lead) = if one > other { (0, one - other) } else { (1, other - one) };
                (lead > left).then_some(ahead)
            }
        }
    }
}

/// All stages up to the current one.
struct Bracket {
    /// With the lot of the stage, if one was drawn.
    before: Vec<(Vec<Tie>, Option<Lot>)>,
    ties: Vec<Tie>,
    /// The stages that each player has won.
    won: Vec<u32>,
    /// Every tie has a winner, or only a lot can give it one.
    needs_lot: bool,
    over: bool,
}

impl Knockout {
    fn is_open(&self, tie: &Tie) -> bool {
        tie.leader(self.best_of).is_none() && tie.played() < self.best_of + EXTRA
    }

    /// Follows the bracket through all rounds. `None` if the order of the bracket is yet to be drawn.
    fn follow(&self, state: &FormatState<'_>) -> Option<Bracket> {
        let mut survivors = self.first_stage(state)?;
        let (mut won, mut rounds) = (vec![0; state.players.len()], state.rounds.iter());
        let (mut completed, mut before) = (0, Vec::new());
        loop {
            let ties = survivors.chunks(2).map(|pair| {
                let players = [pair[0], pair.get(1).copied().flatten()];
                Tie { players, wins: [0; 2], matches: Vec::new(), last: None }
            });
            let mut ties: Vec<Tie> = ties.collect();
            while ties.iter().any(|tie| self.is_open(tie)) {
                let Some(round) = rounds.next() else {
                    return Some(Bracket { before, ties, won, needs_lot: false, over: false });
                };
                completed += 1;
                let mut results = round.plan().pairings.iter().zip(round.outcomes()).zip(1..);
                for tie in ties.iter_mut().filter(|tie| self.is_open(tie)) {
                    // A round has exactly the open ties, in the order of the bracket.
                    let Some(((pairing, outcome), number)) = results.next() else { break };
                    let winner = outcome.and_then(|outcome| outcome.winner()).map(|side| pairing[side]);
                    tie.record(MatchId::of(RoundId(completed), number), *pairing, winner);
                }
            }
            let lot = state.lots.iter().find(|lot| lot.rounds == completed && completed > 0).copied();
            let mut through = Vec::with_capacity(ties.len());
            for (tie, number) in ties.iter().zip(0..) {
                let Some(ahead) = self.winner(tie, number, lot) else {
                    return Some(Bracket { before, ties, won, needs_lot: true, over: false });
                };
                through.push(tie.players[ahead]);
            }
            for player in through.iter().flatten() {
                won[*player as usize] += 1;
            }
            if through.len() < 2 {
                return Some(Bracket { before, ties, won, needs_lot: false, over: true });
            }
            before.push((ties, lot));
            survivors = through;
        }
    }

    fn winner(&self, tie: &Tie, number: u32, lot: Option<Lot>) -> Option<usize> {
        tie.leader(self.best_of).or_else(|| lot.map(|lot| usize::from(lot.coin(number))))
    }

    /// The places of the bracket. The first players of the order have the byes and meet each other last.
    fn first_stage(&self, state: &FormatState<'_>) -> Option<Vec<Option<u32>>> {
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
        let Bracket { ties, over, .. } = self.follow(state)?;
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
        self.follow(state).is_none_or(|bracket| bracket.needs_lot)
    }

    fn stages_won(&self, state: &FormatState<'_>) -> Option<Vec<u32>> {
        Some(self.follow(state).map_or_else(|| vec![0; state.players.len()], |bracket| bracket.won))
    }

    fn bracket(&self, state: &FormatState<'_>) -> Option<Vec<Vec<BracketTie>>> {
        let Bracket { mut before, ties, .. } = self.follow(state)?;
        let rounds = u32::try_from(state.rounds.len()).ok()?;
        before.push((ties, state.lots.iter().find(|lot| lot.rounds == rounds && rounds > 0).copied()));
        let shown = |(tie, number, lot): (Tie, u32, Option<Lot>)| {
            let is_open = self.is_open(&tie);
            let winner = self.winner(&tie, number, lot.filter(|_| !is_open)).and_then(|ahead| tie.players[ahead]);
            let by_lot = winner.is_some() && tie.leader(self.best_of).is_none();
            BracketTie { players: tie.players, wins: tie.wins, matches: tie.matches, winner, by_lot }
        };
        let stage = |(ties, lot): (Vec<Tie>, Option<Lot>)| {
            ties.into_iter().zip(0..).map(|(tie, number)| shown((tie, number, lot))).collect()
        };
        Some(before.into_iter().map(stage).collect())
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
