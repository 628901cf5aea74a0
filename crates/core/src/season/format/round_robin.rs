//! Round robin by the circle method: every player meets every other player once.
//!
//! An odd number `m` of positions rotates around a fixed one. In round `r` the fixed position meets position `r`, and positions
//! `r + k` and `r - k` (modulo `m`) meet. With an even number of players, player 0 is fixed. With an odd number no player is
//! fixed, and the player at position `r` has the bye: each player once.

use super::{Format, FormatState, Pairing, RoundPlan};

#[derive(Debug)]
pub(super) struct RoundRobin;

impl Format for RoundRobin {
    fn next_round(&self, state: &FormatState<'_>) -> Option<RoundPlan> {
        let players = u32::try_from(state.players.len()).ok()?;
        self.planned_round(players, u32::try_from(state.rounds.len()).ok()? + 1)
    }

    fn max_rounds(&self, players: u32) -> Option<u32> {
        Some(if players < 2 { 0 } else { players - 1 + players % 2 })
    }

    fn planned_round(&self, players: u32, round: u32) -> Option<RoundPlan> {
        let turning = self.max_rounds(players).filter(|rounds| (1..=*rounds).contains(&round))?;
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
        Some(plan)
    }
}

/// Side A is the player that has the other within the half circle ahead, in a circle of all players (plus one if their number
/// is even). So each player is on side A as often as on side B, or once more or less.
fn sides(players: u32, one: u32, other: u32) -> Pairing {
    let circle = players + 1 - players % 2;
    let ahead = (other + circle - one) % circle;
    if ahead <= circle / 2 { Pairing::new(one, other) } else { Pairing::new(other, one) }
}
