//! From registration to the last round: what may happen when, and what is to be done next.

use std::collections::HashSet;

use league_protocol::error::{ErrorCode, Fault};
use league_protocol::id::{PlayerId, RoundId};
use league_protocol::table::Method;
use league_protocol::time::Timestamp;

use super::agent::Player;
use super::event::{Event, Fact};
use super::{Ruling, Season, happened};

/// Where a league stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// Anybody may come.
    WaitingForRegistrations,
    /// Everybody is there, and paired with everybody.
    CreatingSchedule,
    /// Rounds are played.
    RunningLeague,
    /// There is a champion.
    LeagueCompleted,
}

impl Phase {
    /// As the protocol writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WaitingForRegistrations => "WAITING_FOR_REGISTRATIONS",
            Self::CreatingSchedule => "CREATING_SCHEDULE",
            Self::RunningLeague => "RUNNING_LEAGUE",
            Self::LeagueCompleted => "LEAGUE_COMPLETED",
        }
    }
}

/// What is to be done next. Derived from the state alone, so a crash loses none of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Duty {
    /// Wait for agents, or for the operator.
    AwaitRegistrations,
    /// Wait for the operator to start, or to let it go on.
    AwaitStart,
    /// Start this round.
    StartRound(RoundId),
    /// Give away the matches of this round, announce it, and wait for its results.
    Play(RoundId),
    /// Tell everybody that the league is over.
    Conclude,
}

impl Season {
    /// What is to be done next.
    pub fn duty(&self) -> Duty {
        match self.phase {
            Phase::WaitingForRegistrations => Duty::AwaitRegistrations,
            Phase::CreatingSchedule => Duty::AwaitStart,
            Phase::LeagueCompleted => Duty::Conclude,
            Phase::RunningLeague => match (self.rounds.last(), self.current_round()) {
                (Some(round), Some(current)) if !round.completed => Duty::Play(current),
                (_, Some(last)) if last.0 >= self.schedule.rounds() => Duty::Conclude,
                _ if self.halted => Duty::AwaitStart,
                (_, current) => Duty::StartRound(RoundId(current.map_or(1, |round| round.0 + 1))),
            },
        }
    }

    /// Closes the registration and pairs everybody with everybody.
    pub fn close_registration(&self, now: Timestamp) -> Result<Ruling<()>, Fault> {
        const METHOD: Method = Method::CreateSchedule;
        if self.phase != Phase::WaitingForRegistrations {
            return Err(
                self.untimely("the schedule is made already; start the league, or open the registration again", METHOD)
            );
        }
        let (there, needed) = (self.players.len(), self.fewest());
        if there < needed {
            let message = format!("{there} of at least {needed} players are registered; start more players first");
            return Err(Fault::new(ErrorCode::E010, METHOD, message));
        }
        if self.referees.iter().all(|referee| referee.lost) {
            let message = "no referee is there; start at least one first";
            return Err(Fault::new(ErrorCode::E010, METHOD, message));
        }
        Ok(Ruling { events: vec![happened(now, Fact::RegistrationClosed)], reply: () })
    }

    /// Closes the registration and pairs the `named` players, or all of them, with each other. The others are withdrawn and
    /// returned, so that the manager can tell them.
    pub fn schedule_players(&self, named: Option<&[PlayerId]>, now: Timestamp) -> Result<Ruling<Vec<Player>>, Fault> {
        const METHOD: Method = Method::CreateSchedule;
        let closed = self.close_registration(now)?;
        let Some(named) = named else { return Ok(Ruling { events: closed.events, reply: Vec::new() }) };
        let named: HashSet<&PlayerId> = named.iter().collect();
        if let Some(stranger) = named.iter().find(|id| self.player(id).is_none()) {
            let message = format!("players names {stranger}, which is not registered; name registered players only");
            return Err(Fault::new(ErrorCode::E005, METHOD, message).about("players"));
        }
        let (count, needed) = (named.len(), self.fewest());
        if count < needed {
            let message =
                format!("players names {count} of at least {needed} players; name more, or leave it out for all");
            return Err(Fault::new(ErrorCode::E010, METHOD, message).about("players"));
        }
        let out: Vec<Player> = self.players.iter().filter(|player| !named.contains(&player.id)).cloned().collect();
        let withdrawn = out.iter().map(|player| happened(now, Fact::PlayerWithdrawn { player: player.id.clone() }));
        Ok(Ruling { events: withdrawn.chain(closed.events).collect(), reply: out })
    }

    /// Starts the league, closing the registration where that is still to be done; lets a stopped one go on.
    pub fn start(&self, now: Timestamp) -> Result<Ruling<()>, Fault> {
        const METHOD: Method = Method::StartLeague;
        match self.phase {
            Phase::WaitingForRegistrations => {
                let mut ruling = self.close_registration(now)?;
                ruling.events.push(happened(now, Fact::RoundStarted { round: RoundId(1) }));
                Ok(ruling)
            }
            Phase::CreatingSchedule => {
                let fact = Fact::RoundStarted { round: RoundId(1) };
                Ok(Ruling { events: vec![happened(now, fact)], reply: () })
            }
            Phase::RunningLeague if self.halted => Ok(Ruling { events: vec![happened(now, Fact::Resumed)], reply: () }),
            Phase::RunningLeague => {
                Err(self.untimely("the league is running already; stop it first to change something", METHOD))
            }
            Phase::LeagueCompleted => Err(self.untimely("the league is over; start another one", METHOD)),
        }
    }

    /// Stops the league: what is running ends, nothing new begins.
    pub fn stop(&self, now: Timestamp) -> Result<Ruling<()>, Fault> {
        const METHOD: Method = Method::StopLeague;
        match (self.phase, self.halted) {
            (Phase::RunningLeague, false) => Ok(Ruling { events: vec![happened(now, Fact::Halted)], reply: () }),
            (Phase::RunningLeague, true) => {
                Err(self.untimely("the league is stopped already; start it to go on", METHOD))
            }
            (Phase::WaitingForRegistrations | Phase::CreatingSchedule, _) => {
                Err(self.untimely("the league has not begun; start it first", METHOD))
            }
            (Phase::LeagueCompleted, _) => Err(self.untimely("the league is over; start another one", METHOD)),
        }
    }

    /// Opens the registration again, and throws the schedule away: as long as it has not been played by.
    pub fn reopen(&self, now: Timestamp) -> Result<Ruling<()>, Fault> {
        self.reopening()?;
        let is_open = self.phase == Phase::WaitingForRegistrations;
        let events = if is_open { Vec::new() } else { vec![happened(now, Fact::RegistrationReopened)] };
        Ok(Ruling { events, reply: () })
    }

    /// Whether the registration may be opened again, or is open.
    pub(super) fn reopening(&self) -> Result<(), Fault> {
        const METHOD: Method = Method::ReopenRegistration;
        match self.phase {
            Phase::WaitingForRegistrations | Phase::CreatingSchedule => Ok(()),
            Phase::RunningLeague if self.matches_completed > 0 => {
                let (over, all) = (self.matches_completed, self.schedule.total_matches());
                let what = format!(
                    "there are results already ({over} of {all}), so the schedule stands; players can still be withdrawn"
                );
                Err(self.untimely(&what, METHOD))
            }
            Phase::RunningLeague if !self.halted => Err(self.untimely("the league is running; stop it first", METHOD)),
            Phase::RunningLeague => Ok(()),
            Phase::LeagueCompleted => Err(self.untimely("the league is over; start another one", METHOD)),
        }
    }

    /// Fewer players make no schedule.
    pub(super) fn fewest(&self) -> usize {
        self.config.min_players.max(2) as usize
    }

    /// What follows when `settled` more matches of the current round have their result: its end, and that of the league. Only the
    /// current round has open matches, since the one before is completed before the next begins.
    pub(super) fn endings(&self, settled: u32, now: Timestamp) -> Vec<Event> {
        let (Some(round), Some(id)) = (self.rounds.last(), self.current_round()) else { return Vec::new() };
        if settled == 0 || round.open != settled {
            return Vec::new();
        }
        let mut events = vec![happened(now, Fact::RoundCompleted { round: id })];
        if id == RoundId(self.schedule.rounds()) {
            events.push(happened(now, Fact::LeagueCompleted));
        }
        events
    }

    /// Starts the round that is due, once everybody has been told of the one before.
    pub fn start_round(&self, now: Timestamp) -> Result<Ruling<RoundId>, Fault> {
        match self.duty() {
            Duty::StartRound(round) => {
                Ok(Ruling { events: vec![happened(now, Fact::RoundStarted { round })], reply: round })
            }
            Duty::AwaitRegistrations | Duty::AwaitStart | Duty::Play(_) | Duty::Conclude => {
                Err(self.untimely("no round is due", Method::NotifyRound))
            }
        }
    }

    pub(super) fn untimely(&self, what: &str, method: Method) -> Fault {
        Fault::new(ErrorCode::E010, method, format!("{what} (the league is in {})", self.phase.as_str()))
    }
}
