//! Which faults hit which agents and when: what the checker must know before it blames an agent.

use crate::process_id::ProcessId;
use crate::sim_time::SimTime;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Victim {
    /// A process, with everything it does.
    Process(ProcessId),
    /// What two processes have to say to each other.
    Link(ProcessId, ProcessId),
}

impl Victim {
    /// Whether this is the link between these two, in whichever order.
    pub fn is_between(self, one: ProcessId, other: ProcessId) -> bool {
        match self {
            Self::Process(_) => false,
            Self::Link(a, b) => (a, b) == (one, other) || (b, a) == (one, other),
        }
    }
}

/// How much a fault can spoil.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    OneCall,
    /// Whatever is tried while it lasts.
    Everything,
}

#[derive(Clone, Copy, Debug)]
pub struct InjectedFault {
    pub victim: Victim,
    pub from: SimTime,
    pub until: SimTime,
    pub weight: Weight,
}

/// A time in which the manager knew a process by another token than the process itself had: a registration reached the
/// manager out of turn.
#[derive(Clone, Copy, Debug)]
struct TokenMismatch {
    process: ProcessId,
    from: SimTime,
    until: SimTime,
}

#[derive(Clone, Debug, Default)]
pub struct FaultLog {
    troubles: Vec<InjectedFault>,
    /// Since when each process has been without a place in the league, for those that are.
    waiting: Vec<(ProcessId, SimTime)>,
    /// When the manager knew a process by another token than the process itself had.
    estranged: Vec<TokenMismatch>,
}

impl FaultLog {
    pub fn note(&mut self, victim: Victim, from: SimTime, until: SimTime, weight: Weight) {
        self.troubles.push(InjectedFault { victim, from, until, weight });
    }

    /// A process starts, and has to find its place in the league.
    pub fn started(&mut self, process: ProcessId, at: SimTime) {
        self.waiting.retain(|(waiting, _)| *waiting != process);
        self.waiting.push((process, at));
    }

    /// A process has its place in the league. It was not to blame before, where a fault kept it from there.
    pub fn admitted(&mut self, process: ProcessId, at: SimTime) {
        if let Some((_, since)) = self.waiting.iter().find(|(waiting, _)| *waiting == process).copied()
            && self.was_held_up(process, since, at)
        {
            self.note(Victim::Process(process), since, at, Weight::Everything);
        }
        self.waiting.retain(|(waiting, _)| *waiting != process);
    }

    /// Whether the manager and a process agree about the token of the process, from now on.
    pub fn agree(&mut self, process: ProcessId, agree: bool, at: SimTime) {
        let mut open = self.estranged.iter_mut().filter(|it| it.process == process && it.until == SimTime::NEVER);
        match (open.next(), agree) {
            (Some(open), true) => open.until = at,
            (None, false) => self.estranged.push(TokenMismatch { process, from: at, until: SimTime::NEVER }),
            (Some(_), false) | (None, true) => {}
        }
    }

    /// Whether a player was estranged from the manager for some of this time: a fault between these two, and not the player's own.
    /// It has to be mended by the end, since the player was spoken to meanwhile, unless something kept it from that.
    fn was_estranged(&self, player: ProcessId, (from, until): (SimTime, SimTime)) -> bool {
        let kept = self.disturbed(player, ProcessId::MANAGER, (from, until));
        let mut during =
            self.estranged.iter().filter(|it| it.process == player && it.from <= until && it.until >= from);
        during.any(|it| it.until != SimTime::NEVER || kept)
    }

    /// Since when an agent's token does not match the manager's, for each such agent.
    pub fn estrangements(&self) -> impl Iterator<Item = (ProcessId, SimTime)> + '_ {
        self.estranged.iter().filter(|it| it.until == SimTime::NEVER).map(|it| (it.process, it.from))
    }

    /// A process was ended, and its token with it.
    pub fn ended(&mut self, process: ProcessId, at: SimTime) {
        self.agree(process, true, at);
    }

    /// Whether anything disturbed what these two had to say to each other.
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

    /// Whether faults of `player` itself, or between it and `referee`, can have spoiled so many `calls` between these moments.
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
