//! Which faults hit which agents and when. The checker asks it before it blames an agent.

use crate::process_id::ProcessId;
use crate::sim_time::SimTime;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Victim {
    /// Everything that the process does.
    Process(ProcessId),
    /// The messages between two processes.
    Link(ProcessId, ProcessId),
}

impl Victim {
    pub fn is_between(self, one: ProcessId, other: ProcessId) -> bool {
        match self {
            Self::Process(_) => false,
            Self::Link(a, b) => (a, b) == (one, other) || (b, a) == (one, other),
        }
    }
}

/// How much a fault can affect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    OneCall,
    /// Every call while it lasts.
    Everything,
}

#[derive(Clone, Copy, Debug)]
pub struct InjectedFault {
    pub victim: Victim,
    pub from: SimTime,
    pub until: SimTime,
    pub weight: Weight,
}

/// The manager knew a process by another token than the process had: a registration reached the manager out of order.
#[derive(Clone, Copy, Debug)]
struct TokenMismatch {
    process: ProcessId,
    from: SimTime,
    until: SimTime,
}

#[derive(Clone, Debug, Default)]
pub struct FaultLog {
    troubles: Vec<InjectedFault>,
    /// Processes that are not registered, and since when.
    waiting: Vec<(ProcessId, SimTime)>,
    estranged: Vec<TokenMismatch>,
}

impl FaultLog {
    pub fn note(&mut self, victim: Victim, from: SimTime, until: SimTime, weight: Weight) {
        self.troubles.push(InjectedFault { victim, from, until, weight });
    }

    pub fn started(&mut self, process: ProcessId, at: SimTime) {
        self.waiting.retain(|(waiting, _)| *waiting != process);
        self.waiting.push((process, at));
    }

    /// Excuses the time before, if a fault delayed the registration.
    pub fn admitted(&mut self, process: ProcessId, at: SimTime) {
        if let Some((_, since)) = self.waiting.iter().find(|(waiting, _)| *waiting == process).copied()
            && self.was_held_up(process, since, at)
        {
            self.note(Victim::Process(process), since, at, Weight::Everything);
        }
        self.waiting.retain(|(waiting, _)| *waiting != process);
    }

    /// Whether the manager and a process have the same token of the process from now on.
    pub fn agree(&mut self, process: ProcessId, agree: bool, at: SimTime) {
        let mut open = self.estranged.iter_mut().filter(|it| it.process == process && it.until == SimTime::NEVER);
        match (open.next(), agree) {
            (Some(open), true) => open.until = at,
            (None, false) => self.estranged.push(TokenMismatch { process, from: at, until: SimTime::NEVER }),
            (Some(_), false) | (None, true) => {}
        }
    }

    /// Whether manager and player had different tokens for some of this time: a fault between these two, and not the
    /// player's own. The player must have a new token by the end, since it was called meanwhile, unless a fault
    /// prevented that.
    fn was_estranged(&self, player: ProcessId, (from, until): (SimTime, SimTime)) -> bool {
        let kept = self.disturbed(player, ProcessId::MANAGER, (from, until));
        let mut during =
            self.estranged.iter().filter(|it| it.process == player && it.from <= until && it.until >= from);
        during.any(|it| it.until != SimTime::NEVER || kept)
    }

    /// Agents whose token differs from the manager's, and since when.
    pub fn estrangements(&self) -> impl Iterator<Item = (ProcessId, SimTime)> + '_ {
        self.estranged.iter().filter(|it| it.until == SimTime::NEVER).map(|it| (it.process, it.from))
    }

    /// The process loses its token.
    pub fn ended(&mut self, process: ProcessId, at: SimTime) {
        self.agree(process, true, at);
    }

    pub fn disturbed(&self, one: ProcessId, other: ProcessId, (from, until): (SimTime, SimTime)) -> bool {
        let mut troubles = self.troubles.iter().filter(|trouble| trouble.from <= until && trouble.until >= from);
        troubles.any(|trouble| match trouble.victim {
            Victim::Process(place) => place == one || place == other,
            Victim::Link(..) => trouble.victim.is_between(one, other),
        })
    }

    fn was_held_up(&self, process: ProcessId, from: SimTime, until: SimTime) -> bool {
        self.troubles.iter().filter(|trouble| trouble.from <= until && trouble.until >= from).any(|trouble| {
            trouble.victim == Victim::Process(process) || trouble.victim.is_between(process, ProcessId::MANAGER)
        })
    }

    /// Whether faults of `player`, or between it and `referee`, can explain this many failed `calls` in this time.
    pub fn excuses(
        &self,
        player: ProcessId,
        referee: ProcessId,
        calls: usize,
        (from, until): (SimTime, SimTime),
    ) -> bool {
        let waiting = self.waiting.iter().find(|(waiting, since)| *waiting == player && *since <= until);
        if waiting.is_some_and(|(_, since)| self.was_held_up(player, *since, until)) {
            return true;
        }
        if self.was_estranged(player, (from, until)) {
            return true;
        }
        let mut spoiled = 0;
        for trouble in self.troubles.iter().filter(|trouble| trouble.from <= until && trouble.until >= from) {
            if trouble.victim != Victim::Process(player) && !trouble.victim.is_between(player, referee) {
                continue;
            }
            match trouble.weight {
                Weight::OneCall => spoiled += 1,
                Weight::Everything => return true,
            }
        }
        spoiled >= calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFEREE: ProcessId = ProcessId(1);
    const PLAYER: ProcessId = ProcessId(2);
    const WHOLE: (SimTime, SimTime) = (SimTime(100), SimTime(200));

    #[test]
    fn as_many_calls_are_excused_as_faults_struck() {
        let mut fault_log = FaultLog::default();
        for at in [90, 110, 120] {
            fault_log.note(Victim::Link(REFEREE, PLAYER), SimTime(at), SimTime(at), Weight::OneCall);
        }
        assert!(fault_log.excuses(PLAYER, REFEREE, 2, WHOLE));
        assert!(!fault_log.excuses(PLAYER, REFEREE, 3, WHOLE));
        assert!(!fault_log.excuses(ProcessId(3), REFEREE, 1, WHOLE));
    }

    #[test]
    fn an_absent_manager_excuses_no_player() {
        let mut fault_log = FaultLog::default();
        fault_log.started(PLAYER, SimTime(50));
        fault_log.note(Victim::Process(ProcessId::MANAGER), SimTime(60), SimTime(300), Weight::Everything);
        assert!(!fault_log.excuses(PLAYER, REFEREE, 1, WHOLE));
        fault_log.note(Victim::Link(PLAYER, ProcessId::MANAGER), SimTime(60), SimTime(60), Weight::OneCall);
        assert!(fault_log.excuses(PLAYER, REFEREE, 1, WHOLE));
    }

    #[test]
    fn who_was_known_by_another_token_is_excused_until_that_is_mended() {
        for (mended, excused) in [(90, false), (110, true)] {
            let mut fault_log = FaultLog::default();
            fault_log.agree(PLAYER, false, SimTime(50));
            assert_eq!(fault_log.estrangements().count(), 1);
            fault_log.agree(PLAYER, true, SimTime(mended));
            assert_eq!(fault_log.excuses(PLAYER, REFEREE, 1, WHOLE), excused, "{mended}");
            assert_eq!(fault_log.estrangements().count(), 0);
        }
    }
}
