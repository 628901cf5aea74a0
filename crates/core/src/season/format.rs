//! Formats decide the pairings of the next round from the state alone.
//!
//! The decision becomes the event that starts the round, and all other code reads that event. A new format is one file and one
//! line in `FORMATS`.

mod round_robin;

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use league_protocol::side::Pair;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::RoundState;
use super::agent::RegisteredPlayer;
use super::standings::Table;

const FORMATS: [KnownFormat; 1] = [KnownFormat { name: "round_robin", format: &round_robin::RoundRobin }];

const NAMES: [&str; FORMATS.len()] = {
    let mut names = [""; FORMATS.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = FORMATS[index].name;
        index += 1;
    }
    names
};

/// Two players by their indices in the list of players.
pub type Pairing = Pair<u32>;

/// Match numbers follow the order of the pairings, from one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RoundPlan {
    pub pairings: Vec<Pairing>,
    /// Players of the league without a match in this round.
    pub byes: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub struct FormatState<'a> {
    /// In the order of the schedule; withdrawn players keep their indices.
    pub players: &'a [RegisteredPlayer],
    pub table: &'a Table,
    /// All completed.
    pub rounds: &'a [Arc<RoundState>],
}

/// Two players may meet in several rounds, but no player plays twice in one round.
pub trait Format: Sync {
    /// `None` when the league is over.
    fn next_round(&self, state: &FormatState<'_>) -> Option<RoundPlan>;

    /// `None` when the number of rounds is not known in advance.
    fn max_rounds(&self, players: u32) -> Option<u32>;

    fn max_matches(&self, players: u32) -> Option<u64> {
        Some(u64::from(self.max_rounds(players)?) * u64::from(players / 2))
    }

    /// Round `round`, from one, if no result can change it; `None` if the format decides round by round.
    fn planned_round(&self, _players: u32, _round: u32) -> Option<RoundPlan> {
        None
    }
}

#[derive(Clone, Copy)]
pub struct KnownFormat {
    name: &'static str,
    format: &'static dyn Format,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("unknown format {found:?}: expected {}", NAMES.join(" or "))]
pub struct UnknownFormat {
    found: String,
}

impl Default for KnownFormat {
    fn default() -> Self {
        FORMATS[0]
    }
}

impl FromStr for KnownFormat {
    type Err = UnknownFormat;
    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let known = FORMATS.into_iter().find(|known| known.name == name);
        known.ok_or_else(|| UnknownFormat { found: name.to_owned() })
    }
}

impl Serialize for KnownFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de> Deserialize<'de> for KnownFormat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(|_: UnknownFormat| D::Error::unknown_variant(&name, &NAMES))
    }
}

impl Deref for KnownFormat {
    type Target = dyn Format;
    fn deref(&self) -> &Self::Target {
        self.format
    }
}

impl PartialEq for KnownFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for KnownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use league_protocol::id::RoundId;
    use league_protocol::side::Side;

    use super::*;
    use crate::record::MatchRecord;
    use crate::rules::outcome::Outcome;
    use crate::season::config::LeagueConfig;
    use crate::season::tests::{League, config};
    use crate::season::{NextAction, Season};

    struct Challenge;

    impl Format for Challenge {
        fn next_round(&self, state: &FormatState<'_>) -> Option<RoundPlan> {
            let leader = state.table.places().first()?.player;
            if state.table.row(leader).points >= 10 {
                return None;
            }
            let others: Vec<u32> = (0..state.players.len() as u32).filter(|player| *player != leader).collect();
            let challenger = others[state.rounds.len() % others.len()];
            let byes = others.into_iter().filter(|player| *player != challenger).collect();
            Some(RoundPlan { pairings: vec![Pairing::new(leader, challenger)], byes })
        }

        fn max_rounds(&self, _players: u32) -> Option<u32> {
            None
        }
    }

    #[test]
    fn a_format_may_decide_each_round_from_the_results_and_pair_the_same_two_again() {
        let format = KnownFormat { name: "challenge", format: &Challenge };
        let mut league = League::running_with(LeagueConfig { format, ..config() }, 3, &[4]);
        let rounds = |season: &Season| (season.total_rounds(), season.scheduled_rounds().len());
        assert_eq!(rounds(&league.season), (1, 1), "later rounds are not known");
        let mut pairings = Vec::new();
        while league.season.next_action() != NextAction::Conclude {
            if matches!(league.season.next_action(), NextAction::StartRound(_)) {
                league.start_round();
                continue;
            }
            for assignment in league.assign() {
                let pairing = league.season.pairing(&assignment.match_id).unwrap();
                pairings.push((pairing.a, pairing.b));
                league.report(&assignment, MatchRecord::unplayed(Outcome::Win(Side::A))).unwrap();
            }
        }
        assert_eq!(pairings, [(0, 1), (0, 2), (0, 1), (0, 2)]);
        let season = &league.season;
        assert_eq!((season.total_rounds(), season.total_matches(), season.table().row(0).points), (4, 4, 12));
        assert_eq!(season.scheduled_round(RoundId(1)).unwrap().bye.unwrap().as_str(), "P03");
        assert_eq!(Season::replay(&league.log).unwrap(), *season);
    }
}
