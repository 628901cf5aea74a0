//! What events mean: the one place where a season changes.

use league_protocol::id::{MatchId, RefereeId};
use league_protocol::side::Side;
use thiserror::Error;

use super::agent::{AgentId, Player, Referee};
use super::config::Config;
use super::event::{Event, Fact};
use super::flow::Phase;
use super::report::fingerprint_of;
use super::schedule::Schedule;
use super::standings::Table;
use super::{Round, Season, Slot};

/// An event that cannot have happened here: the log is damaged, or belongs to something else.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadEvent {
    /// A log begins with its league.
    #[error("the log does not begin with the opening of a league")]
    NotOpened,
    /// Only the first event opens a league.
    #[error("the league is opened twice")]
    OpenedTwice,
    /// It speaks of somebody or something that is not there.
    #[error("{0} is not known at this point of the log")]
    Unknown(String),
    /// It cannot happen at this point.
    #[error("{0} cannot happen at this point of the log")]
    Untimely(&'static str),
}

impl Season {
    /// The season that these events made.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Self, BadEvent> {
        let mut events = events.into_iter();
        let mut season = match events.next().map(|event| &event.fact) {
            Some(Fact::Opened { config }) => Self::empty(Config::clone(config)),
            Some(_) | None => return Err(BadEvent::NotOpened),
        };
        for event in events {
            season.apply(event)?;
        }
        Ok(season)
    }

    /// Lets `event` happen. An event that cannot have happened changes nothing.
    pub fn apply(&mut self, event: &Event) -> Result<(), BadEvent> {
        match &event.fact {
            Fact::Opened { .. } => return Err(BadEvent::OpenedTwice),
            Fact::PlayerRegistered { player, profile, grant } => {
                if self.player_index.contains_key(player) || self.phase != Phase::WaitingForRegistrations {
                    return Err(BadEvent::Untimely("this registration"));
                }
                self.player_index.insert(player.clone(), place(self.players.len()));
                self.players.push(Player {
                    id: player.clone(),
                    profile: profile.clone(),
                    grant: grant.clone(),
                    forfeits_running: 0,
                });
            }
            Fact::RefereeRegistered { referee, profile, capacity, grant } => {
                if self.referee_index.contains_key(referee) {
                    return Err(BadEvent::Untimely("this registration"));
                }
                self.referee_index.insert(referee.clone(), place(self.referees.len()));
                self.referees.push(Referee {
                    id: referee.clone(),
                    profile: profile.clone(),
                    grant: grant.clone(),
                    capacity: *capacity,
                    running: 0,
                    lost: false,
                });
            }
            Fact::AgentReturned { agent, profile, grant } => match agent {
                AgentId::Player(id) => {
                    let index = self.player_index.get(id).ok_or_else(|| unknown(id))?;
                    let player = &mut self.players[*index as usize];
                    (player.profile, player.grant) = (profile.clone(), grant.clone());
                }
                AgentId::Referee(id) => {
                    let index = self.release(id)?;
                    let referee = &mut self.referees[index as usize];
                    (referee.profile, referee.grant) = (profile.clone(), grant.clone());
                    referee.lost = false;
                }
            },
            Fact::RegistrationClosed => {
                if self.phase != Phase::WaitingForRegistrations {
                    return Err(BadEvent::Untimely("closing the registration"));
                }
                self.phase = Phase::CreatingSchedule;
                self.players.sort_by(|a, b| a.id.cmp(&b.id));
                let places = self.players.iter().enumerate().map(|(index, player)| (player.id.clone(), place(index)));
                self.player_index = places.collect();
                self.schedule = Schedule::new(place(self.players.len()));
                self.table = Table::new(place(self.players.len()), self.config.scoring.clone());
            }
            Fact::RoundStarted { round } => {
                let next = place(self.rounds.len()) + 1;
                let due = matches!(self.phase, Phase::CreatingSchedule | Phase::RunningLeague)
                    && self.rounds.last().is_none_or(|round| round.completed);
                if !due || round.0 != next || next > self.schedule.rounds() {
                    return Err(BadEvent::Untimely("this round"));
                }
                self.phase = Phase::RunningLeague;
                let matches = self.schedule.matches_per_round();
                let slots = vec![Slot::Waiting { attempts: 0 }; matches as usize];
                self.rounds.push(Round { slots, open: matches, completed: false });
            }
            Fact::MatchAssigned { match_id, attempt, referee } => {
                let index = *self.referee_index.get(referee).ok_or_else(|| unknown(referee))?;
                match self.slot_mut(match_id).ok_or_else(|| unknown(match_id))? {
                    slot @ Slot::Waiting { .. } => *slot = Slot::Held { attempt: *attempt, referee: index },
                    Slot::Held { .. } | Slot::Done { .. } => return Err(BadEvent::Untimely("this assignment")),
                }
                self.referees[index as usize].running += 1;
            }
            Fact::MatchReturned { match_id, attempt } => {
                let (index, _) = self.held(match_id, *attempt)?;
                self.set(match_id, Slot::Waiting { attempts: *attempt });
                self.referees[index as usize].running -= 1;
            }
            Fact::RefereeLost { referee } => {
                let index = self.release(referee)?;
                self.referees[index as usize].lost = true;
            }
            Fact::MatchReported { match_id, attempt, record } => {
                let (index, round) = self.held(match_id, *attempt)?;
                let (id, number) = match_id.parts().ok_or_else(|| unknown(match_id))?;
                let pairing = self.schedule.pairing(id.0, number).ok_or_else(|| unknown(match_id))?;
                let (outcome, fingerprint) = (record.outcome, fingerprint_of(record));
                self.set(match_id, Slot::Done { attempt: *attempt, referee: index, outcome, fingerprint });
                self.rounds[round].open -= 1;
                self.referees[index as usize].running -= 1;
                self.table.record(pairing.a, pairing.b, outcome);
                self.matches_completed += 1;
                for side in Side::BOTH {
                    let player = &mut self.players[pairing[side] as usize];
                    player.forfeits_running =
                        if outcome.forfeited(side) { player.forfeits_running.saturating_add(1) } else { 0 };
                }
            }
            Fact::RoundCompleted { round } => {
                let last = place(self.rounds.len());
                match self.rounds.last_mut() {
                    Some(open) if round.0 == last && open.open == 0 && !open.completed => open.completed = true,
                    Some(_) | None => return Err(BadEvent::Untimely("the end of this round")),
                }
            }
            Fact::LeagueCompleted => {
                let all = place(self.rounds.len()) == self.schedule.rounds();
                if !all || self.rounds.last().is_none_or(|round| !round.completed) {
                    return Err(BadEvent::Untimely("the end of the league"));
                }
                self.phase = Phase::LeagueCompleted;
            }
            Fact::Halted => self.halted = true,
            Fact::Resumed => self.halted = false,
        }
        Ok(())
    }

    /// The referee's place and the round's, when a match is held on this attempt.
    fn held(&self, match_id: &MatchId, attempt: u32) -> Result<(u32, usize), BadEvent> {
        let (round, _) = match_id.parts().ok_or_else(|| unknown(match_id))?;
        match self.slot(match_id) {
            Some(Slot::Held { attempt: current, referee }) if *current == attempt => {
                Ok((*referee, round.0 as usize - 1))
            }
            Some(Slot::Held { .. } | Slot::Waiting { .. } | Slot::Done { .. }) => {
                Err(BadEvent::Untimely("this attempt"))
            }
            None => Err(unknown(match_id)),
        }
    }

    fn set(&mut self, match_id: &MatchId, to: Slot) {
        if let Some(slot) = self.slot_mut(match_id) {
            *slot = to;
        }
    }

    /// Takes everything that a referee runs out of its hands.
    fn release(&mut self, referee: &RefereeId) -> Result<u32, BadEvent> {
        let index = *self.referee_index.get(referee).ok_or_else(|| unknown(referee))?;
        for slot in self.rounds.last_mut().into_iter().flat_map(|round| &mut round.slots) {
            if let Slot::Held { attempt, referee } = slot
                && *referee == index
            {
                *slot = Slot::Waiting { attempts: *attempt };
            }
        }
        self.referees[index as usize].running = 0;
        Ok(index)
    }
}

/// A place in a list. Nothing here has four thousand million entries.
fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn unknown(what: impl std::fmt::Display) -> BadEvent {
    BadEvent::Unknown(what.to_string())
}
