//! Phases of a league: which command is allowed when, and the next action.

use std::collections::HashSet;

use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{PlayerId, RoundId};
use league_protocol::table::Method;
use league_protocol::time::Timestamp;

use super::agent::{RegisteredPlayer, RegisteredReferee};
use super::apply::place;
use super::event::{Event, Fact};
use super::format::{FormatState, RoundPlan};
use super::{CommandOutcome, Season, happened};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LeaguePhase {
    WaitingForRegistrations,
    CreatingSchedule,
    RunningLeague,
    LeagueCompleted,
}

impl LeaguePhase {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WaitingForRegistrations => "WAITING_FOR_REGISTRATIONS",
            Self::CreatingSchedule => "CREATING_SCHEDULE",
            Self::RunningLeague => "RUNNING_LEAGUE",
            Self::LeagueCompleted => "LEAGUE_COMPLETED",
        }
    }
}

/// Derived from the state alone, so a crash cannot lose it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextAction {
    AwaitRegistrations,
    AwaitStart,
    StartRound(RoundId),
    Play(RoundId),
    Conclude,
}

impl Season {
    pub fn next_action(&self) -> NextAction {
        match self.phase {
            LeaguePhase::WaitingForRegistrations => NextAction::AwaitRegistrations,
            LeaguePhase::CreatingSchedule => NextAction::AwaitStart,
            LeaguePhase::LeagueCompleted => NextAction::Conclude,
            LeaguePhase::RunningLeague => match (self.rounds.last(), self.current_round()) {
                (Some(round), Some(current)) if !round.completed => NextAction::Play(current),
                _ if self.halted => NextAction::AwaitStart,
                (_, current) => NextAction::StartRound(RoundId(current.map_or(1, |round| round.0 + 1))),
            },
        }
    }

    pub fn close_registration(&self, now: Timestamp) -> Result<CommandOutcome<()>, RequestError> {
        const METHOD: Method = Method::CreateSchedule;
        if self.phase != LeaguePhase::WaitingForRegistrations {
            return Err(
                self.untimely("the schedule is made already; start the league, or open the registration again", METHOD)
            );
        }
        let (there, needed) = (self.players.len(), self.min_players());
        if there < needed {
            let message = format!("{there} of at least {needed} players are registered; start more players first");
            return Err(RequestError::new(ErrorCode::E010, METHOD, message));
        }
        if self.referees.iter().all(RegisteredReferee::is_absent) {
            let message = "no referee is there; start at least one first";
            return Err(RequestError::new(ErrorCode::E010, METHOD, message));
        }
        Ok(CommandOutcome { events: vec![happened(now, Fact::RegistrationClosed)], reply: () })
    }

    /// Closes the registration for the `named` players, or for all. Withdraws and returns the others, so that the manager can
    /// tell them.
    pub fn schedule_players(
        &self,
        named: Option<&[PlayerId]>,
        now: Timestamp,
    ) -> Result<CommandOutcome<Vec<RegisteredPlayer>>, RequestError> {
        const METHOD: Method = Method::CreateSchedule;
        let closed = self.close_registration(now)?;
        let Some(named) = named else { return Ok(CommandOutcome { events: closed.events, reply: Vec::new() }) };
        let named: HashSet<&PlayerId> = named.iter().collect();
        if let Some(stranger) = named.iter().find(|id| self.player(id).is_none()) {
            let message = format!("players names {stranger}, which is not registered; name registered players only");
            return Err(RequestError::new(ErrorCode::E005, METHOD, message).about("players"));
        }
        let (count, needed) = (named.len(), self.min_players());
        if count < needed {
            let message =
                format!("players names {count} of at least {needed} players; name more, or leave it out for all");
            return Err(RequestError::new(ErrorCode::E010, METHOD, message).about("players"));
        }
        let out: Vec<RegisteredPlayer> =
            self.players.iter().filter(|player| !named.contains(&player.id)).cloned().collect();
        let withdrawn = out.iter().map(|player| happened(now, Fact::PlayerWithdrawn { player: player.id.clone() }));
        Ok(CommandOutcome { events: withdrawn.chain(closed.events).collect(), reply: out })
    }

    /// Closes an open registration first. Also resumes a stopped league.
    pub fn start(&self, now: Timestamp) -> Result<CommandOutcome<()>, RequestError> {
        const METHOD: Method = Method::StartLeague;
        match self.phase {
            LeaguePhase::WaitingForRegistrations => {
                let mut outcome = self.close_registration(now)?;
                let mut closed = self.clone();
                if outcome.events.iter().try_for_each(|event| closed.apply(event)).is_err() {
                    return Err(self.untimely("the registration cannot be closed", METHOD));
                }
                outcome.events.extend(closed.next_round(now)?);
                Ok(outcome)
            }
            LeaguePhase::CreatingSchedule => Ok(CommandOutcome { events: self.next_round(now)?, reply: () }),
            LeaguePhase::RunningLeague if self.halted => {
                Ok(CommandOutcome { events: vec![happened(now, Fact::Resumed)], reply: () })
            }
            LeaguePhase::RunningLeague => {
                Err(self.untimely("the league is running already; stop it first to change something", METHOD))
            }
            LeaguePhase::LeagueCompleted => Err(self.untimely("the league is over; start another one", METHOD)),
        }
    }

    /// Running matches end; no new match starts.
    pub fn stop(&self, now: Timestamp) -> Result<CommandOutcome<()>, RequestError> {
        const METHOD: Method = Method::StopLeague;
        match (self.phase, self.halted) {
            (LeaguePhase::RunningLeague, false) => {
                Ok(CommandOutcome { events: vec![happened(now, Fact::Halted)], reply: () })
            }
            (LeaguePhase::RunningLeague, true) => {
                Err(self.untimely("the league is stopped already; start it to go on", METHOD))
            }
            (LeaguePhase::WaitingForRegistrations | LeaguePhase::CreatingSchedule, _) => {
                Err(self.untimely("the league has not begun; start it first", METHOD))
            }
            (LeaguePhase::LeagueCompleted, _) => Err(self.untimely("the league is over; start another one", METHOD)),
        }
    }

    /// Drops the schedule. Refused once a match has a result.
    pub fn reopen(&self, now: Timestamp) -> Result<CommandOutcome<()>, RequestError> {
        self.reopening()?;
        let is_open = self.phase == LeaguePhase::WaitingForRegistrations;
        let events = if is_open { Vec::new() } else { vec![happened(now, Fact::RegistrationReopened)] };
        Ok(CommandOutcome { events, reply: () })
    }

    pub(super) fn reopening(&self) -> Result<(), RequestError> {
        const METHOD: Method = Method::ReopenRegistration;
        match self.phase {
            LeaguePhase::WaitingForRegistrations | LeaguePhase::CreatingSchedule => Ok(()),
            LeaguePhase::RunningLeague if self.matches_completed > 0 => {
                let (over, all) = (self.matches_completed, self.total_matches());
                let what = format!(
                    "there are results already ({over} of {all}), so the schedule stands; players can still be withdrawn"
                );
                Err(self.untimely(&what, METHOD))
            }
            LeaguePhase::RunningLeague if !self.halted => {
                Err(self.untimely("the league is running; stop it first", METHOD))
            }
            LeaguePhase::RunningLeague => Ok(()),
            LeaguePhase::LeagueCompleted => Err(self.untimely("the league is over; start another one", METHOD)),
        }
    }

    pub(super) fn min_players(&self) -> usize {
        self.config.min_players.max(2) as usize
    }

    /// The end of the round and of the league, if `settled` more results complete them. Only the current round has open matches.
    pub(super) fn endings(&self, settled: u32, now: Timestamp) -> Vec<Event> {
        let (Some(round), Some(id)) = (self.rounds.last(), self.current_round()) else { return Vec::new() };
        if settled == 0 || round.open != settled {
            return Vec::new();
        }
        let mut events = vec![happened(now, Fact::RoundCompleted { round: id })];
        // The result that ends the round is not applied yet, so the format cannot decide. The league ends here only if the number
        // of rounds is known in advance; otherwise `start_round` ends it.
        if self.config.format.max_rounds(self.entrants()) == Some(id.0) {
            events.push(happened(now, Fact::LeagueCompleted));
        }
        events
    }

    /// Starts the next round after all players know the results of the previous one. Ends the league and returns `None` when the
    /// format has no round left.
    pub fn start_round(&self, now: Timestamp) -> Result<CommandOutcome<Option<RoundId>>, RequestError> {
        match self.next_action() {
            NextAction::StartRound(round) => {
                let events = self.next_round(now)?;
                let is_over = events.iter().any(|event| event.fact == Fact::LeagueCompleted);
                Ok(CommandOutcome { events, reply: (!is_over).then_some(round) })
            }
            NextAction::AwaitRegistrations | NextAction::AwaitStart | NextAction::Play(_) | NextAction::Conclude => {
                Err(self.untimely("no round is due", Method::NotifyRound))
            }
        }
    }

    /// Draws a lot first if the format needs one.
    fn next_round(&self, now: Timestamp) -> Result<Vec<Event>, RequestError> {
        let (mut events, mut lots) = (Vec::new(), self.lots.clone());
        if self.config.format.needs_lot(&self.format_state()) {
            let secret = self.config.lots.as_ref().and_then(|source| source.secret_of(place(lots.len()) + 1));
            let secret =
                secret.ok_or_else(|| self.untimely("the league has no source of lots", Method::NotifyRound))?;
            lots.push(self.lot(&secret));
            events.push(happened(now, Fact::LotDrawn { rounds: self.round_number(), secret }));
        }
        let state = FormatState { lots: &lots, ..self.format_state() };
        let fact = match self.config.format.next_round(&state) {
            Some(plan) => self.round_started(&plan),
            None => Fact::LeagueCompleted,
        };
        events.push(happened(now, fact));
        Ok(events)
    }

    fn round_started(&self, plan: &RoundPlan) -> Fact {
        let ids = |places: &[u32]| -> Vec<PlayerId> {
            places.iter().filter_map(|place| Some(self.players.get(*place as usize)?.id.clone())).collect()
        };
        let pairings = plan.pairings.iter().filter_map(|pairing| ids(&[pairing.a, pairing.b]).try_into().ok());
        let round = RoundId(self.round_number().0 + 1);
        Fact::RoundStarted { round, pairings: pairings.collect(), byes: ids(&plan.byes) }
    }

    pub(super) fn untimely(&self, what: &str, method: Method) -> RequestError {
        RequestError::new(ErrorCode::E010, method, format!("{what} (the league is in {})", self.phase.as_str()))
    }
}
