use std::collections::HashSet;

use league_protocol::draw::{DrawCommitment, DrawNonce};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::seal::seal;
use league_protocol::table::Method;
use league_protocol::time::Timestamp;

use super::agent::{RegisteredPlayer, RegisteredReferee};
use super::event::Fact;
use super::evidence::{AssignedDraw, ReturnCause};
use super::{CommandOutcome, MatchSlot, NextAction, Season, happened};
use crate::rules::seed::Seed;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Assignment {
    pub match_id: MatchId,
    /// From one.
    pub attempt: u32,
    pub referee: RefereeId,
}

/// What the manager knows about an assignment and the log does not.
#[derive(Clone, Debug, Default)]
pub struct Exceptions {
    /// Referees that take no more matches.
    pub leaving: HashSet<RefereeId>,
    /// Players that post their answers and have waited long enough for a referee that can be reached. One that pulls gets their matches,
    /// and they lose them unless they answer the call itself.
    pub given_up: HashSet<PlayerId>,
}

/// Where the secrets and nonces of new attempts come from.
#[derive(Clone, Copy, Debug)]
pub enum DrawSource<'a> {
    Seed(&'a Seed),
    /// Secrets that the referees deposited, and nonces from these bytes.
    Random(&'a [u8; 32]),
}

impl DrawSource<'_> {
    /// `deposited` is the next commitment of the referee. Without one the referee draws without a proof.
    fn assign(
        self,
        match_id: &MatchId,
        attempt: u32,
        deposited: Option<&DrawCommitment>,
        needs_nonce: bool,
    ) -> Option<Box<AssignedDraw>> {
        let draw = match self {
            Self::Seed(seed) => AssignedDraw {
                commitment: deposited.map(|_| seed.secret(match_id).commitment())?,
                manager_nonce: needs_nonce.then(|| seed.manager_nonce(match_id)),
                seeded: true,
            },
            Self::Random(bytes) => AssignedDraw {
                commitment: *deposited?,
                manager_nonce: needs_nonce.then(|| {
                    let bytes = seal(bytes, &[match_id.as_str().as_bytes(), &attempt.to_be_bytes()]);
                    DrawNonce::of_bytes(&bytes[..16])
                }),
                seeded: false,
            },
        };
        Some(Box::new(draw))
    }
}

impl Season {
    /// Assigns matches of the current round up to the capacity of the referees, evenly: each to the referee that has had the fewest
    /// of this round. The capacity is the referee's own claim, so it only limits. Awards matches of withdrawn players instead.
    ///
    /// A match that a referee gave back goes to another referee if one is free, else to the same one again. The caller decides
    /// how soon. The same holds for a match of a player on the referee's own machine, except on the manager's.
    /// A match of a player that posts its answers waits for a referee that can be reached, unless [`Exceptions`] say that it has waited
    /// long enough.
    pub fn assign(&self, source: DrawSource<'_>, now: Timestamp) -> CommandOutcome<Vec<Assignment>> {
        self.assign_except(source, &Exceptions::default(), now)
    }

    pub fn assign_except(
        &self,
        source: DrawSource<'_>,
        Exceptions { leaving, given_up }: &Exceptions,
        now: Timestamp,
    ) -> CommandOutcome<Vec<Assignment>> {
        let mut ruling = CommandOutcome { events: Vec::new(), reply: Vec::new() };
        let (Some(round), Some(current)) = (self.rounds.last(), self.current_round()) else { return ruling };
        if self.halted || round.completed {
            return ruling;
        }
        let share = |referee: &RegisteredReferee| {
            let is_leaving = leaving.contains(&referee.id);
            let free = if is_leaving { 0 } else { referee.free() };
            Share { free, had: 0, assigned: 0, absent: is_leaving || referee.is_unavailable() }
        };
        let mut shares: Vec<Share> = self.referees.iter().map(share).collect();
        for slot in &round.slots {
            if let MatchSlot::Held { referee, .. } | MatchSlot::Done { referee, .. } = slot {
                shares[*referee as usize].had += 1;
            }
        }
        let has_reachable = self.has_reachable_referee();
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
            let Some(players) = self.contestants(&match_id) else { continue };
            let players = [players.a, players.b];
            let is_near = |place: usize| {
                let referee = &self.referees[place].identity;
                players.iter().any(|player| player.identity.is_beside(referee))
            };
            let barred = self.evidence.get(&match_id).map_or(&[][..], |known| &known.barred);
            let waits = |player: &RegisteredPlayer| player.dialect.posts() && !given_up.contains(&player.id);
            let must_reach = players.iter().any(|player| player.dialect.posts())
                && (has_reachable || players.iter().any(|player| waits(player)));
            let is_reached = |place: usize| !(must_reach && self.referees[place].profile.pulls);
            let Some(place) = least_busy_referee(&shares, *refused_by, barred, is_near, is_reached) else { continue };
            let deposited = self.referees[place].commitments.get(shares[place].assigned);
            shares[place].free -= 1;
            shares[place].had += 1;
            shares[place].assigned += 1;
            let referee = self.referees[place].id.clone();
            let needs_nonce = players.iter().any(|player| !player.profile.signs_moves);
            let draw = source.assign(&match_id, attempt, deposited, needs_nonce);
            let fact = Fact::MatchAssigned { match_id: match_id.clone(), attempt, referee: referee.clone(), draw };
            ruling.events.push(happened(now, fact));
            ruling.reply.push(Assignment { match_id, attempt, referee });
        }
        ruling.events.extend(self.endings(awarded, now));
        ruling
    }

    /// Matches that wait because one of their players posts its answers and every referee that is there pulls.
    pub fn unreachable_matches(&self) -> Vec<(MatchId, Vec<PlayerId>)> {
        let (Some(round), Some(current)) = (self.rounds.last(), self.current_round()) else { return Vec::new() };
        if self.has_reachable_referee() {
            return Vec::new();
        }
        let waiting = round.slots.iter().zip(1..).filter(|(slot, _)| matches!(slot, MatchSlot::Waiting { .. }));
        let posting = waiting.filter_map(|(_, number)| {
            let match_id = MatchId::of(current, number);
            let players = self.contestants(&match_id)?;
            let posting = [players.a, players.b].into_iter().filter(|player| player.dialect.posts());
            let posting: Vec<PlayerId> = posting.map(|player| player.id.clone()).collect();
            (!posting.is_empty()).then_some((match_id, posting))
        });
        posting.collect()
    }

    fn has_reachable_referee(&self) -> bool {
        self.referees.iter().any(|referee| !referee.is_absent() && !referee.profile.pulls)
    }

    /// The referee did not take the match; another one may.
    pub fn give_back(&self, assignment: &Assignment, now: Timestamp) -> Result<CommandOutcome<()>, RequestError> {
        if !self.holds(assignment) {
            let message = format!("{} does not hold {}", assignment.referee, assignment.match_id);
            return Err(RequestError::new(ErrorCode::E007, Method::StartMatch, message));
        }
        let (match_id, attempt) = (assignment.match_id.clone(), assignment.attempt);
        let fact = Fact::MatchReturned { match_id, attempt, cause: ReturnCause::Refused };
        Ok(CommandOutcome { events: vec![happened(now, fact)], reply: () })
    }

    /// The manager cannot reach the referee. Other referees replay its open matches.
    pub fn lose_referee(&self, referee: &RefereeId, now: Timestamp) -> Result<CommandOutcome<()>, RequestError> {
        match self.referee(referee) {
            None => {
                let message = format!("{referee} is not registered");
                Err(RequestError::new(ErrorCode::E013, Method::StartMatch, message))
            }
            Some(known) if known.lost || known.left || known.withdrawn => {
                Ok(CommandOutcome { events: Vec::new(), reply: () })
            }
            Some(_) => {
                let fact = Fact::RefereeLost { referee: referee.clone() };
                Ok(CommandOutcome { events: vec![happened(now, fact)], reply: () })
            }
        }
    }

    /// The referee has ended, and comes back only by registering again.
    pub fn leave_referee(&self, referee: &RefereeId, now: Timestamp) -> Result<CommandOutcome<()>, RequestError> {
        let mut lost = self.lose_referee(referee, now)?;
        for event in &mut lost.events {
            event.fact = Fact::RefereeLeft { referee: referee.clone() };
        }
        Ok(lost)
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
            MatchSlot::Held { attempt, referee, .. } => Some(Assignment {
                match_id: MatchId::of(current, number),
                attempt: *attempt,
                referee: self.referees.get(*referee as usize)?.id.clone(),
            }),
            MatchSlot::Waiting { .. }
            | MatchSlot::Suspended { .. }
            | MatchSlot::Awarded { .. }
            | MatchSlot::Done { .. } => None,
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
            Some(MatchSlot::Held { attempt, referee, .. }) => *attempt == assignment.attempt && Some(referee) == place,
            Some(
                MatchSlot::Waiting { .. }
                | MatchSlot::Suspended { .. }
                | MatchSlot::Awarded { .. }
                | MatchSlot::Done { .. },
            )
            | None => false,
        }
    }
}

/// A referee's part of a round.
struct Share {
    free: u32,
    /// Matches that it holds or has reported.
    had: u32,
    /// Matches that it gets now, and commitments that they use.
    assigned: usize,
    absent: bool,
}

/// The referee that has had the fewest matches, the first among equals, of those that the answers of the players reach
/// (`is_reached`). A referee that `refused` comes last. A match waits for a busy referee before it goes to one that `is_near` a
/// player or is `barred` from the match.
fn least_busy_referee(
    shares: &[Share],
    refused: Option<u32>,
    barred: &[u32],
    is_near: impl Fn(usize) -> bool,
    is_reached: impl Fn(usize) -> bool,
) -> Option<usize> {
    let is_place = |known: &u32, place: usize| *known as usize == place;
    let refused = |place: usize| refused.is_some_and(|known| is_place(&known, place));
    let is_barred = |place: usize| barred.iter().any(|known| is_place(known, place));
    let free = shares.iter().enumerate().filter(|(place, share)| share.free > 0 && is_reached(*place));
    let (best, _) =
        free.min_by_key(|(place, share)| (is_barred(*place), refused(*place), is_near(*place), share.had))?;
    let waits = shares.iter().enumerate().any(|(other, share)| {
        let is_better = (is_near(best) && !refused(other) && !is_near(other)) || is_barred(best);
        !share.absent && is_reached(other) && !is_barred(other) && is_better
    });
    (!waits).then_some(best)
}
