//! Giving matches to referees, and taking them back from those that are gone.

use std::cmp::Reverse;

use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{MatchId, RefereeId, RoundId};
use league_protocol::table::Method;
use league_protocol::time::Timestamp;

use super::agent::RegisteredReferee;
use super::event::Fact;
use super::{CommandOutcome, MatchSlot, NextAction, Season, happened};

/// A match in the hands of a referee.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Assignment {
    pub match_id: MatchId,
    /// The attempt at it, from one.
    pub attempt: u32,
    pub referee: RefereeId,
}

impl Season {
    /// Gives as many matches of the current round to referees as these can run at a time, each to whoever has most room. Matches of
    /// players that have been withdrawn are given to nobody, but decided.
    ///
    /// A match that was given back goes to another referee, if another has room; else it is offered to the same one again,
    /// and how soon is for the caller to say.
    pub fn assign(&self, now: Timestamp) -> CommandOutcome<Vec<Assignment>> {
        let mut ruling = CommandOutcome { events: Vec::new(), reply: Vec::new() };
        let (Some(round), Some(current)) = (self.rounds.last(), self.current_round()) else { return ruling };
        if self.halted || round.completed {
            return ruling;
        }
        let mut room: Vec<u32> = self.referees.iter().map(RegisteredReferee::free).collect();
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
            let Some(place) = roomiest(&room, *refused_by) else { continue };
            room[place] -= 1;
            let referee = self.referees[place].id.clone();
            let fact = Fact::MatchAssigned { match_id: match_id.clone(), attempt, referee: referee.clone() };
            ruling.events.push(happened(now, fact));
            ruling.reply.push(Assignment { match_id, attempt, referee });
        }
        ruling.events.extend(self.endings(awarded, now));
        ruling
    }

    /// A referee did not take a match: somebody else may.
    pub fn give_back(&self, assignment: &Assignment, now: Timestamp) -> Result<CommandOutcome<()>, RequestError> {
        if !self.holds(assignment) {
            let message = format!("{} does not hold {}", assignment.referee, assignment.match_id);
            return Err(RequestError::new(ErrorCode::E007, Method::StartMatch, message));
        }
        let (match_id, attempt) = (assignment.match_id.clone(), assignment.attempt);
        Ok(CommandOutcome { events: vec![happened(now, Fact::MatchReturned { match_id, attempt })], reply: () })
    }

    /// A referee cannot be reached: whatever it runs must be played again, by others.
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

    /// Nobody took the offers of a match: its referee cannot be reached, unless the match is no longer in its hands. Then it has
    /// been back, and offers of before say nothing about it.
    pub fn unheard(&self, assignment: &Assignment, now: Timestamp) -> Result<CommandOutcome<()>, RequestError> {
        if self.holds(assignment) {
            return self.lose_referee(&assignment.referee, now);
        }
        Ok(CommandOutcome { events: Vec::new(), reply: () })
    }

    /// Everything that referees are running, as it stands: after a restart, what they are to be reminded of.
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

    /// Whether nothing is left to do in the current round but to wait for its results.
    pub fn only_awaits_results(&self) -> bool {
        let given = |slot: &MatchSlot| !matches!(slot, MatchSlot::Waiting { .. });
        matches!(self.duty(), NextAction::Play(_))
            && self.rounds.last().is_some_and(|round| round.slots.iter().all(given))
    }

    /// Whether this attempt is the current one, and in these hands.
    pub fn holds(&self, assignment: &Assignment) -> bool {
        let place = self.referee_index.get(&assignment.referee);
        match self.slot(&assignment.match_id) {
            Some(MatchSlot::Held { attempt, referee }) => *attempt == assignment.attempt && Some(referee) == place,
            Some(MatchSlot::Waiting { .. } | MatchSlot::Awarded { .. } | MatchSlot::Done { .. }) | None => false,
        }
    }
}

/// Where there is most room, and among equals the first. Whoever has `refused` comes after all others.
fn roomiest(room: &[u32], refused: Option<u32>) -> Option<usize> {
    let refused = refused.map(|place| place as usize);
    let free = room.iter().copied().enumerate().filter(|(_, free)| *free > 0);
    free.min_by_key(|(place, free)| (refused == Some(*place), Reverse(*free))).map(|(place, _)| place)
}
