//! Hostile agents: the real programs behind a connector that changes their messages.
//!
//! - [`tamper`]: the connector, and what an adversary may do to a message
//! - [`lies`]: reports that look right
//! - [`referee`], [`player`]: what hostile referees and players do
//! - [`league`]: leagues with hostile agents, compared with the same leagues without

pub mod league;
pub mod lies;
pub mod player;
pub mod referee;
pub mod tamper;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::process_id::ProcessId;
use crate::scenario::Scenario;
use player::{HostilePlayer, PlayerTrick};
use referee::{HostileReferee, RefereeLie};
use tamper::SharedAdversary;

/// Which agents of a scenario are hostile.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hostility {
    /// What the first referee does. It gets the first match of each round.
    pub referee: Option<RefereeLie>,
    /// What these players do.
    pub players: Vec<(u32, PlayerTrick)>,
}

impl Hostility {
    pub const REFEREE: ProcessId = ProcessId(1);

    pub fn is_hostile_referee(&self, process: ProcessId) -> bool {
        self.referee.is_some() && process == Self::REFEREE
    }

    pub fn is_hostile_player(&self, number: u32) -> bool {
        self.players.iter().any(|(hostile, trick)| *hostile == number && *trick != PlayerTrick::SignsNothing)
    }
}

/// A hostile agent of a run. It keeps its state when its process is restarted.
#[derive(Clone)]
pub struct Adversaries {
    all: BTreeMap<ProcessId, SharedAdversary>,
    pub players: BTreeMap<ProcessId, Arc<Mutex<HostilePlayer>>>,
    /// The hostile referee starts its program again.
    pub restart: Arc<Notify>,
}

impl fmt::Debug for Adversaries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.all.keys()).finish()
    }
}

impl Adversaries {
    pub fn of(scenario: &Scenario) -> Self {
        let restart = Arc::new(Notify::new());
        let (mut all, mut players) = (BTreeMap::new(), BTreeMap::new());
        if let Some(lie) = scenario.hostility.referee {
            let referee = HostileReferee::new(scenario, lie, Arc::clone(&restart));
            all.insert(Hostility::REFEREE, SharedAdversary::new(Arc::new(Mutex::new(referee))));
        }
        for (number, trick) in &scenario.hostility.players {
            if let Some(process) = scenario.player(*number) {
                let player = Arc::new(Mutex::new(HostilePlayer::new(*trick)));
                all.insert(process, SharedAdversary::new(Arc::clone(&player) as _));
                players.insert(process, player);
            }
        }
        Self { all, players, restart }
    }

    /// The winners that hostile players were told, by match.
    pub fn told(&self) -> BTreeMap<String, Vec<Option<String>>> {
        let mut all: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
        for player in self.players.values() {
            for (match_id, winners) in &player.lock().unwrap_or_else(PoisonError::into_inner).told {
                all.entry(match_id.clone()).or_default().extend(winners.iter().cloned());
            }
        }
        all
    }

    /// How many messages did not arrive as they were sent.
    pub fn changed(&self) -> u64 {
        self.all.values().map(SharedAdversary::changed).sum()
    }

    pub fn of_process(&self, process: ProcessId) -> Option<SharedAdversary> {
        self.all.get(&process).cloned()
    }
}
