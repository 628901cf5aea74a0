//! Round robin by the circle method: every player meets every other player once, or `times` times.
//!
//! An odd number `m` of positions rotates around a fixed one. In round `r` the fixed position meets position `r`, and positions
//! `r + k` and `r - k` (modulo `m`) meet. With an even number of players, player 0 is fixed. With an odd number no player is
//! fixed, and the player at position `r` has the bye: each player once.

use std::sync::Arc;

use super::{Allowed, Format, FormatEntry, FormatState, Pairing, Parameter, RoundPlan};

pub(super) const ENTRY: FormatEntry = FormatEntry {
    name: "round_robin",
    about: "every player meets every other player",
    parameters: &[Parameter {
        name: "times",
        about: "how often two players meet, with swapped sides in turn; once if left out",
        allowed: Allowed::Number { least: 1, most: 1000 },
    }],
    make: |values| Arc::new(RoundRobin { times: values.number("times").unwrap_or(1) }),
};

#[derive(Debug)]
struct RoundRobin {
    times: u32,
}

impl Format for RoundRobin {
    fn next_round(&self, state: &FormatState<'_>) -> Option<RoundPlan> {
        let players = u32::try_from(state.players.len()).ok()?;
        self.planned_round(players, u32::try_from(state.rounds.len()).ok()? + 1)
    }

    fn max_rounds(&self, players: u32) -> Option<u32> {
        Some(cycle(players).saturating_mul(self.times))
    }

    fn planned_round(&self, players: u32, round: u32) -> Option<RoundPlan> {
        let turning =
            self.max_rounds(players).filter(|rounds| (1..=*rounds).contains(&round)).map(|_| cycle(players))?;
        let (cycles_before, round) = ((round - 1) / turning, (round - 1) % turning + 1);
        let is_odd = players % 2;
        // Positions count from one to `turning`; `round` and `k` are at most that.
        let on_chair = |chair: u32| (chair - 1) % turning + 1 - is_odd;
        let mut plan = RoundPlan::default();
        match is_odd {
            0 => plan.pairings.push(sides(players, on_chair(round), 0)),
            _ => plan.byes.push(on_chair(round)),
        }
        let others = (1..=turning / 2).map(|k| sides(players, on_chair(round + k), on_chair(round + turning - k)));
        plan.pairings.extend(others);
        if cycles_before % 2 == 1 {
            plan.pairings.iter_mut().for_each(|pairing| *pairing = Pairing::new(pairing.b, pairing.a));
        }
        Some(plan)
    }
}

/// The rounds in which every player meets every other once.
fn cycle(players: u32) -> u32 {
    if players < 2 { 0 } else { players - 1 + players % 2 }
}

/// Side A is the player that has the other within the half circle ahead, in a circle of all players (plus one if their number
/// is even). So each player is on side A as often as on side B, or once more or less.
fn sides(players: u32, one: u32, other: u32) -> Pairing {
    let circle = players + 1 - players % 2;
    let ahead = (other + circle - one) % circle;
    if ahead <= circle / 2 { Pairing::new(one, other) } else { Pairing::new(other, one) }
}
