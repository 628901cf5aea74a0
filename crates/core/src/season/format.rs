//! Formats decide the pairings of the next round from the state alone.
//!
//! The decision becomes the event that starts the round, and all other code reads that event. A new format is one file and one
//! line in `FORMATS`.

mod knockout;
mod parameters;
mod round_robin;
mod swiss;

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use league_protocol::id::MatchId;
use league_protocol::side::Pair;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

use super::RoundState;
use super::agent::RegisteredPlayer;
use super::lots::Lot;
use super::standings::{Table, TieBreak};

pub use parameters::{Allowed, BadFormat, Parameter, Values};

/// The first is the usual one.
const FORMATS: &[FormatEntry] = &[round_robin::ENTRY, swiss::ENTRY, knockout::ENTRY];

/// Two players by their indices in the list of players.
pub type Pairing = Pair<u32>;

/// Match numbers follow the order of the pairings, from one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RoundPlan {
    pub pairings: Vec<Pairing>,
    /// Players of the league without a match in this round.
    pub byes: Vec<u32>,
}

/// Two places of a bracket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BracketTie {
    /// Indices in the list of players; `None` for a place without a player, which gives the other one a bye.
    pub players: [Option<u32>; 2],
    pub wins: [u32; 2],
    pub matches: Vec<MatchId>,
    pub winner: Option<u32>,
    pub by_lot: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct FormatState<'a> {
    /// In the order of the schedule; withdrawn players keep their indices.
    pub players: &'a [RegisteredPlayer],
    /// How many of them were there when the first round started.
    pub entrants: u32,
    pub table: &'a Table,
    /// All completed.
    pub rounds: &'a [Arc<RoundState>],
    pub lots: &'a [Lot],
}

/// Two players may meet in several rounds, but no player plays twice in one round.
pub trait Format: fmt::Debug + Send + Sync {
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

    /// Players may register while the league runs, and play from the next round on.
    fn takes_late_players(&self) -> bool {
        false
    }

    /// A bye gives the points of a win. It gives nothing where all players have equally many.
    fn scores_byes(&self) -> bool {
        false
    }

    fn draws_lots(&self) -> bool {
        false
    }

    /// The next round cannot be decided before a lot is drawn.
    fn needs_lot(&self, _state: &FormatState<'_>) -> bool {
        false
    }

    /// How far each player has come, where that and not its points decides its place.
    fn stages_won(&self, _state: &FormatState<'_>) -> Option<Vec<u32>> {
        None
    }

    /// The stages of a bracket so far, the first one first.
    fn bracket(&self, _state: &FormatState<'_>) -> Option<Vec<Vec<BracketTie>>> {
        None
    }

    /// Unless the league configures others.
    fn tiebreakers(&self) -> Vec<TieBreak> {
        vec![TieBreak::Wins, TieBreak::HeadToHead, TieBreak::Draws]
    }
}

pub struct FormatEntry {
    pub name: &'static str,
    pub about: &'static str,
    pub parameters: &'static [Parameter],
    pub make: fn(&Values) -> Arc<dyn Format>,
}

/// All formats, for help texts.
pub fn formats() -> impl Iterator<Item = &'static FormatEntry> {
    FORMATS.iter()
}

/// A format with its parameters. Its text is `NAME` or `NAME:PARAMETER=VALUE,...`.
#[derive(Clone)]
pub struct KnownFormat {
    name: &'static str,
    values: Values,
    format: Arc<dyn Format>,
}

impl KnownFormat {
    fn new<'a>(name: &str, given: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, BadFormat> {
        let known = FORMATS.iter().find(|entry| entry.name == name);
        let entry = known.ok_or_else(|| BadFormat::Name { found: name.to_owned() })?;
        let values = Values::checked(entry.name, entry.parameters, given)?;
        Ok(Self { name: entry.name, format: (entry.make)(&values), values })
    }

    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl Default for KnownFormat {
    fn default() -> Self {
        let (entry, values) = (&FORMATS[0], Values::default());
        Self { name: entry.name, format: (entry.make)(&values), values }
    }
}

impl FromStr for KnownFormat {
    type Err = BadFormat;
    fn from_str(text: &str) -> Result<Self, BadFormat> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let assignments = rest.split(',').filter(|part| !part.is_empty() || rest.contains(','));
        let given = assignments
            .map(|part| part.split_once('=').ok_or_else(|| BadFormat::Assignment { found: part.to_owned() }));
        Self::new(name, given.collect::<Result<Vec<_>, _>>()?)
    }
}

impl fmt::Display for KnownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        self.values
            .iter()
            .zip([":"].into_iter().chain(std::iter::repeat(",")))
            .try_for_each(|((parameter, value), separator)| write!(f, "{separator}{parameter}={value}"))
    }
}

impl fmt::Debug for KnownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for KnownFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KnownFormat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrObject)
    }
}

struct TextOrObject;

impl<'de> Visitor<'de> for TextOrObject {
    type Value = KnownFormat;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a format like \"swiss:rounds=7\" or an object like {\"name\": \"swiss\", \"rounds\": 7}")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<KnownFormat, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<KnownFormat, A::Error> {
        let (mut name, mut given) = (None, Vec::new());
        while let Some((key, Scalar(value))) = members.next_entry::<SmolStr, Scalar>()? {
            if key == "name" { name = Some(value) } else { given.push((key, value)) }
        }
        let name = name.ok_or_else(|| A::Error::missing_field("name"))?;
        let given = given.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        KnownFormat::new(&name, given).map_err(A::Error::custom)
    }
}

/// A value of a parameter: a string or a number.
struct Scalar(SmolStr);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a number or a string")]
        enum Either {
            Number(u64),
            Text(SmolStr),
        }
        Either::deserialize(deserializer).map(|either| match either {
            Either::Number(number) => Self(smol_str::format_smolstr!("{number}")),
            Either::Text(text) => Self(text),
        })
    }
}

impl Deref for KnownFormat {
    type Target = dyn Format;
    fn deref(&self) -> &Self::Target {
        &*self.format
    }
}

impl PartialEq for KnownFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.values == other.values
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

    #[derive(Debug)]
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
        let format = KnownFormat { name: "challenge", values: Values::default(), format: Arc::new(Challenge) };
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

    #[test]
    fn a_format_is_read_from_text_and_from_an_object_and_written_as_text() {
        let read = |json: &str| serde_json::from_str::<KnownFormat>(json).unwrap().to_string();
        assert_eq!(read(r#""round_robin""#), "round_robin");
        assert_eq!(read(r#""swiss:rounds=7""#), "swiss:rounds=7");
        assert_eq!(read(r#"{"name":"swiss","rounds":7}"#), "swiss:rounds=7");
        assert_eq!(read(r#"{"seeding":"draw","best_of":"3","name":"knockout"}"#), "knockout:best_of=3,seeding=draw");
        let written = serde_json::to_string(&"round_robin:times=4".parse::<KnownFormat>().unwrap()).unwrap();
        assert_eq!(written, r#""round_robin:times=4""#);
    }

    #[test]
    fn an_error_about_a_format_says_what_is_allowed() {
        let wrong = |text: &str| text.parse::<KnownFormat>().unwrap_err().to_string();
        let names: Vec<String> = formats().map(|entry| format!("`{}`", entry.name)).collect();
        assert_eq!(wrong("league"), format!("unknown format \"league\": expected one of {}", names.join(", ")));
        assert_eq!(wrong("swiss:turns=3"), r#"swiss has no parameter "turns": expected `rounds`"#);
        assert_eq!(wrong("knockout:x=3"), r#"knockout has no parameter "x": expected `best_of` or `seeding`"#);
        assert_eq!(wrong("swiss:rounds=0"), r#"rounds is "0": expected a whole number from 1 to 1000"#);
        assert_eq!(wrong("swiss:rounds=07"), r#"rounds is "07": expected a whole number from 1 to 1000"#);
        assert_eq!(wrong("swiss:rounds"), r#""rounds" is no parameter: expected NAME=VALUE, as in `swiss:rounds=7`"#);
        assert_eq!(wrong("swiss:rounds=3,rounds=3"), "rounds is given twice: expected each parameter once");
        assert_eq!(wrong("knockout:best_of=2"), r#"best_of is "2": expected an odd number from 1 to 99"#);
        assert_eq!(wrong("knockout:seeding=id"), r#"seeding is "id": expected registration or draw"#);
        let error = serde_json::from_str::<KnownFormat>("7").unwrap_err().to_string();
        assert!(error.contains("expected a format like"), "{error}");
    }
}
