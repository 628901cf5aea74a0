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
    /// A fault of either manager is one of the manager.
    fn of_one_manager(self) -> Self {
        let one = |process: ProcessId| if process.is_manager() { ProcessId::MANAGER } else { process };
        match self {
            Self::Process(process) => Self::Process(one(process)),
            Self::Link(a, b) => Self::Link(one(a), one(b)),
        }
    }

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
    faults: Vec<InjectedFault>,
    /// Processes that are not registered, and since when.
    waiting: Vec<(ProcessId, SimTime)>,
    mismatches: Vec<TokenMismatch>,
}

impl FaultLog {
    pub fn note(&mut self, victim: Victim, from: SimTime, until: SimTime, weight: Weight) {
        self.faults.push(InjectedFault { victim: victim.of_one_manager(), from, until, weight });
    }

    pub fn started(&mut self, process: ProcessId, at: SimTime) {
        self.waiting.retain(|(waiting, _)| *waiting != process);
        self.waiting.push((process, at));
    }

    /// Excuses the time before, if a fault delayed the registration.
    pub fn admitted(&mut self, process: ProcessId, at: SimTime) {
        if let Some((_, since)) = self.waiting.iter().find(|(waiting, _)| *waiting == process).copied()
            && self.was_delayed(process, since, at)
        {
            self.note(Victim::Process(process), since, at, Weight::Everything);
        }
        self.waiting.retain(|(waiting, _)| *waiting != process);
    }

    /// `equal` if the manager and the process have the same token of the process from now on.
    pub fn compare_tokens(&mut self, process: ProcessId, equal: bool, at: SimTime) {
        let mut open = self
            .mismatches
            .iter_mut()
            .filter(|mismatch| mismatch.process == process && mismatch.until == SimTime::NEVER);
        match (open.next(), equal) {
            (Some(open), true) => open.until = at,
            (None, false) => self.mismatches.push(TokenMismatch { process, from: at, until: SimTime::NEVER }),
            (Some(_), false) | (None, true) => {}
        }
    }

    /// Whether manager and player had different tokens for some of this time: a fault between these two, and not the
    /// player's own. The player must have a new token by the end, since it was called meanwhile, unless a fault
    /// prevented that.
    fn had_token_mismatch(&self, player: ProcessId, (from, until): (SimTime, SimTime)) -> bool {
        let kept = self.disturbed(player, ProcessId::MANAGER, (from, until));
        let mut during = self
            .mismatches
            .iter()
            .filter(|mismatch| mismatch.process == player && mismatch.from <= until && mismatch.until >= from);
        during.any(|mismatch| mismatch.until != SimTime::NEVER || kept)
    }

    /// Agents whose token differs from the manager's, and since when.
    pub fn token_mismatches(&self) -> impl Iterator<Item = (ProcessId, SimTime)> + '_ {
        self.mismatches
            .iter()
            .filter(|mismatch| mismatch.until == SimTime::NEVER)
            .map(|mismatch| (mismatch.process, mismatch.from))
    }

    pub fn disturbed(&self, one: ProcessId, other: ProcessId, (from, until): (SimTime, SimTime)) -> bool {
        let mut faults = self.faults.iter().filter(|fault| fault.from <= until && fault.until >= from);
        faults.any(|fault| match fault.victim {
            Victim::Process(process) => process == one || process == other,
            Victim::Link(..) => fault.victim.is_between(one, other),
        })
    }

    fn was_delayed(&self, process: ProcessId, from: SimTime, until: SimTime) -> bool {
        self.faults.iter().filter(|fault| fault.from <= until && fault.until >= from).any(|fault| {
            fault.victim == Victim::Process(process) || fault.victim.is_between(process, ProcessId::MANAGER)
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
        if waiting.is_some_and(|(_, since)| self.was_delayed(player, *since, until)) {
            return true;
        }
        if self.had_token_mismatch(player, (from, until)) {
            return true;
        }
        let mut lost_calls = 0;
        for fault in self.faults.iter().filter(|fault| fault.from <= until && fault.until >= from) {
            if fault.victim != Victim::Process(player) && !fault.victim.is_between(player, referee) {
                continue;
            }
            match fault.weight {
                Weight::OneCall => lost_calls += 1,
                Weight::Everything => return true,
            }
        }
        lost_calls >= calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFEREE: ProcessId = ProcessId(1);
    const PLAYER: ProcessId = ProcessId(2);
    const WHOLE: (SimTime, SimTime) = (SimTime(100), SimTime(200));

    #[test]
    fn each_lost_message_excuses_one_failed_call() {
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
    fn a_player_with_another_token_than_the_manager_is_excused_until_both_agree() {
        for (mended, excused) in [(90, false), (110, true)] {
            let mut fault_log = FaultLog::default();
            fault_log.compare_tokens(PLAYER, false, SimTime(50));
            assert_eq!(fault_log.token_mismatches().count(), 1);
            fault_log.compare_tokens(PLAYER, true, SimTime(mended));
            assert_eq!(fault_log.excuses(PLAYER, REFEREE, 1, WHOLE), excused, "{mended}");
            assert_eq!(fault_log.token_mismatches().count(), 0);
        }
    }
}
