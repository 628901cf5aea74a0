use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{MatchId, RefereeId, RoundId};
use league_protocol::table::Method;
use league_protocol::time::Timestamp;

use super::agent::RegisteredReferee;
use super::event::Fact;
use super::{CommandOutcome, MatchSlot, NextAction, Season, happened};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Assignment {
    pub match_id: MatchId,
    /// From one.
    pub attempt: u32,
    pub referee: RefereeId,
}

impl Season {
    /// Assigns matches of the current round up to the capacity of the referees, evenly: each to the referee that has had the fewest
    /// of this round. The capacity is the referee's own claim, so it only limits. Awards matches of withdrawn players instead.
    ///
    /// A match that a referee gave back goes to another referee if one is free, else to the same one again. The caller decides
    /// how soon. The same holds for a match of a player on the referee's own machine, except on the manager's.
    pub fn assign(&self, now: Timestamp) -> CommandOutcome<Vec<Assignment>> {
        let mut ruling = CommandOutcome { events: Vec::new(), reply: Vec::new() };
        let (Some(round), Some(current)) = (self.rounds.last(), self.current_round()) else { return ruling };
        if self.halted || round.completed {
            return ruling;
        }
        let share = |referee: &RegisteredReferee| {
            let absent = referee.lost || referee.capacity == 0;
            Share { free: referee.free(), had: 0, absent }
        };
        let mut shares: Vec<Share> = self.referees.iter().map(share).collect();
        for slot in &round.slots {
            if let MatchSlot::Held { referee, .. } | MatchSlot::Done { referee, .. } = slot {
                shares[*referee as usize].had += 1;
            }
        }
        let mut awarded = 0;
        for (slot, number) in round.slots.iter().zip(1..) {
            let MatchSlot::Waiting { refused_by, .. } = slot else { continue };
            let match_id = MatchId::of(current, number);
            if let Some(outcome) = self.walkover(&match_id) {
                ruling.events.push(happened(now, Fact::MatchAwarded { match_id, outcome }));
                awarded += 1;
                continue;
            }
            let Some(attempt) = slot.next_attempt() else { continue };
            let players = self.contestants(&match_id);
            let players = players.map(|players| [&players.a.identity, &players.b.identity]);
            let is_near = |place: usize| {
                let referee = &self.referees[place].identity;
                players.is_some_and(|players| players.iter().any(|player| player.is_beside(referee)))
            };
            let Some(place) = least_busy_referee(&shares, *refused_by, is_near) else { continue };
            shares[place].free -= 1;
            shares[place].had += 1;
            let referee = self.referees[place].id.clone();
            let fact = Fact::MatchAssigned { match_id: match_id.clone(), attempt, referee: referee.clone() };
            ruling.events.push(happened(now, fact));
            ruling.reply.push(Assignment { match_id, attempt, referee });
        }
        ruling.events.extend(self.endings(awarded, now));
        ruling
    }

    /// The referee did not take the match; another one may.
    pub fn give_back(&self, assignment: &Assignment, now: Timestamp) -> Result<CommandOutcome<()>, RequestError> {
        if !self.holds(assignment) {
            let message = format!("{} does not hold {}", assignment.referee, assignment.match_id);
            return Err(RequestError::new(ErrorCode::E007, Method::StartMatch, message));
        }
        let (match_id, attempt) = (assignment.match_id.clone(), assignment.attempt);
        Ok(CommandOutcome { events: vec![happened(now, Fact::MatchReturned { match_id, attempt })], reply: () })
    }

    /// The manager cannot reach the referee. Other referees replay its open matches.
    pub fn lose_referee(&self, referee: &RefereeId, now: Timestamp) -> Result<CommandOutcome<()>, RequestError> {
        match self.referee(referee) {
            None => {
                let message = format!("{referee} is not registered");
                Err(RequestError::new(ErrorCode::E013, Method::StartMatch, message))
            }
            Some(known) if known.lost => Ok(CommandOutcome { events: Vec::new(), reply: () }),
            Some(_) => {
                let fact = Fact::RefereeLost { referee: referee.clone() };
                Ok(CommandOutcome { events: vec![happened(now, fact)], reply: () })
            }
        }
    }

    /// The referee did not answer the offers of a match. The manager counts it as lost only while it still holds that match:
    /// otherwise it has returned since, and old offers prove nothing.
    pub fn lose_unresponsive_referee(
        &self,
        assignment: &Assignment,
        now: Timestamp,
    ) -> Result<CommandOutcome<()>, RequestError> {
        if self.holds(assignment) {
            return self.lose_referee(&assignment.referee, now);
        }
        Ok(CommandOutcome { events: Vec::new(), reply: () })
    }

    /// All matches that referees hold. After a restart the manager reminds the referees of them.
    pub fn assignments(&self) -> Vec<Assignment> {
        let Some(round) = self.rounds.last() else { return Vec::new() };
        let current = self.current_round().unwrap_or(RoundId(1));
        let held = round.slots.iter().zip(1..).filter_map(|(slot, number)| match slot {
            MatchSlot::Held { attempt, referee } => Some(Assignment {
                match_id: MatchId::of(current, number),
                attempt: *attempt,
                referee: self.referees.get(*referee as usize)?.id.clone(),
            }),
            MatchSlot::Waiting { .. } | MatchSlot::Awarded { .. } | MatchSlot::Done { .. } => None,
        });
        held.collect()
    }

    pub fn only_awaits_results(&self) -> bool {
        let given = |slot: &MatchSlot| !matches!(slot, MatchSlot::Waiting { .. });
        matches!(self.next_action(), NextAction::Play(_))
            && self.rounds.last().is_some_and(|round| round.slots.iter().all(given))
    }

    pub fn holds(&self, assignment: &Assignment) -> bool {
        let place = self.referee_index.get(&assignment.referee);
        match self.slot(&assignment.match_id) {
            Some(MatchSlot::Held { attempt, referee }) => *attempt == assignment.attempt && Some(referee) == place,
            Some(MatchSlot::Waiting { .. } | MatchSlot::Awarded { .. } | MatchSlot::Done { .. }) | None => false,
        }
    }
}

/// A referee's part of a round.
struct Share {
    free: u32,
    /// Matches that it holds or has reported.
    had: u32,
    absent: bool,
}

/// The referee that has had the fewest matches, the first among equals. A referee that `refused` comes last. A match waits for a
/// busy referee before it goes to one that `is_near` a player.
fn least_busy_referee(shares: &[Share], refused: Option<u32>, is_near: impl Fn(usize) -> bool) -> Option<usize> {
    let refused = refused.map(|place| place as usize);
    let free = shares.iter().enumerate().filter(|(_, share)| share.free > 0);
    let (best, _) = free.min_by_key(|(place, share)| (refused == Some(*place), is_near(*place), share.had))?;
    let is_other = |(place, share): (usize, &Share)| !share.absent && refused != Some(place) && !is_near(place);
    let waits = is_near(best) && shares.iter().enumerate().any(is_other);
    (!waits).then_some(best)
}
