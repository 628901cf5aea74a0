//! Which faults really struck, whom and when: what the judge needs to know before anybody is blamed.

use crate::moment::Moment;
use crate::place::Place;

/// Who had trouble.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Victim {
    /// A process, with everything it does.
    Process(Place),
    /// What two processes have to say to each other.
    Link(Place, Place),
}

impl Victim {
    /// Whether this is the link between these two, in whichever order.
    pub fn is_between(self, one: Place, other: Place) -> bool {
        match self {
            Self::Process(_) => false,
            Self::Link(a, b) => (a, b) == (one, other) || (b, a) == (one, other),
        }
    }
}

/// How much a fault can spoil.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// One call at most.
    OneCall,
    /// Whatever is tried while it lasts.
    Everything,
}

/// A fault that struck.
#[derive(Clone, Copy, Debug)]
pub struct Trouble {
    /// Whom.
    pub victim: Victim,
    /// Since when.
    pub from: Moment,
    /// Until when.
    pub until: Moment,
    /// How hard.
    pub weight: Weight,
}

/// A time in which the manager knew a process by another token than the process itself had: a registration reached the
/// manager out of turn.
#[derive(Clone, Copy, Debug)]
struct Estrangement {
    process: Place,
    from: Moment,
    until: Moment,
}

/// All faults that struck.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    troubles: Vec<Trouble>,
    /// Since when each process has been without a place in the league, for those that are.
    waiting: Vec<(Place, Moment)>,
    /// When the manager knew a process by another token than the process itself had.
    estranged: Vec<Estrangement>,
}

impl Ledger {
    /// A fault strikes.
    pub fn note(&mut self, victim: Victim, from: Moment, until: Moment, weight: Weight) {
        self.troubles.push(Trouble { victim, from, until, weight });
    }

    /// A process starts, and has to find its place in the league.
    pub fn started(&mut self, process: Place, at: Moment) {
        self.waiting.retain(|(waiting, _)| *waiting != process);
        self.waiting.push((process, at));
    }

    /// A process has its place in the league. It was not to blame before, where a fault kept it from there.
    pub fn admitted(&mut self, process: Place, at: Moment) {
        if let Some((_, since)) = self.waiting.iter().find(|(waiting, _)| *waiting == process).copied()
            && self.was_held_up(process, since, at)
        {
            self.note(Victim::Process(process), since, at, Weight::Everything);
        }
        self.waiting.retain(|(waiting, _)| *waiting != process);
    }

    /// Whether the manager and a process agree about the token of the process, from now on.
    pub fn agree(&mut self, process: Place, agree: bool, at: Moment) {
        let mut open = self.estranged.iter_mut().filter(|it| it.process == process && it.until == Moment::NEVER);
        match (open.next(), agree) {
            (Some(open), true) => open.until = at,
            (None, false) => self.estranged.push(Estrangement { process, from: at, until: Moment::NEVER }),
            (Some(_), false) | (None, true) => {}
        }
    }

    /// Whether a player was estranged from the manager for some of this time: a fault between these two, and not the player's own.
    /// It has to be mended by the end, since the player was spoken to meanwhile, unless something kept it from that.
    fn was_estranged(&self, player: Place, (from, until): (Moment, Moment)) -> bool {
        let kept = self.disturbed(player, Place::MANAGER, (from, until));
        let mut during =
            self.estranged.iter().filter(|it| it.process == player && it.from <= until && it.until >= from);
        during.any(|it| it.until != Moment::NEVER || kept)
    }

    /// Since when somebody has been estranged from the manager, for each who is.
    pub fn estrangements(&self) -> impl Iterator<Item = (Place, Moment)> + '_ {
        self.estranged.iter().filter(|it| it.until == Moment::NEVER).map(|it| (it.process, it.from))
    }

    /// A process was ended, and its token with it.
    pub fn ended(&mut self, process: Place, at: Moment) {
        self.agree(process, true, at);
    }

    /// Whether anything disturbed what these two had to say to each other.
    pub fn disturbed(&self, one: Place, other: Place, (from, until): (Moment, Moment)) -> bool {
        let mut troubles = self.troubles.iter().filter(|trouble| trouble.from <= until && trouble.until >= from);
        troubles.any(|trouble| match trouble.victim {
            Victim::Process(place) => place == one || place == other,
            Victim::Link(..) => trouble.victim.is_between(one, other),
        })
    }

    fn was_held_up(&self, process: Place, from: Moment, until: Moment) -> bool {
        self.troubles.iter().filter(|trouble| trouble.from <= until && trouble.until >= from).any(|trouble| {
            trouble.victim == Victim::Process(process) || trouble.victim.is_between(process, Place::MANAGER)
        })
    }

    /// Whether faults of `player` itself, or between it and `referee`, can have spoiled so many `calls` between these moments.
    pub fn excuses(&self, player: Place, referee: Place, calls: usize, (from, until): (Moment, Moment)) -> bool {
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

    const REFEREE: Place = Place(1);
    const PLAYER: Place = Place(2);
    const WHOLE: (Moment, Moment) = (Moment(100), Moment(200));

    #[test]
    fn as_many_calls_are_excused_as_faults_struck() {
        let mut ledger = Ledger::default();
        for at in [90, 110, 120] {
            ledger.note(Victim::Link(REFEREE, PLAYER), Moment(at), Moment(at), Weight::OneCall);
        }
        assert!(ledger.excuses(PLAYER, REFEREE, 2, WHOLE));
        assert!(!ledger.excuses(PLAYER, REFEREE, 3, WHOLE));
        assert!(!ledger.excuses(Place(3), REFEREE, 1, WHOLE));
    }

    #[test]
    fn a_manager_that_was_away_excuses_nobody() {
        let mut ledger = Ledger::default();
        ledger.started(PLAYER, Moment(50));
        ledger.note(Victim::Process(Place::MANAGER), Moment(60), Moment(300), Weight::Everything);
        assert!(!ledger.excuses(PLAYER, REFEREE, 1, WHOLE));
        ledger.note(Victim::Link(PLAYER, Place::MANAGER), Moment(60), Moment(60), Weight::OneCall);
        assert!(ledger.excuses(PLAYER, REFEREE, 1, WHOLE));
    }

    #[test]
    fn who_was_known_by_another_token_is_excused_until_that_is_mended() {
        for (mended, excused) in [(90, false), (110, true)] {
            let mut ledger = Ledger::default();
            ledger.agree(PLAYER, false, Moment(50));
            assert_eq!(ledger.estrangements().count(), 1);
            ledger.agree(PLAYER, true, Moment(mended));
            assert_eq!(ledger.excuses(PLAYER, REFEREE, 1, WHOLE), excused, "{mended}");
            assert_eq!(ledger.estrangements().count(), 0);
        }
    }
}
