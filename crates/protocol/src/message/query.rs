use schemars::JsonSchema;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use smol_str::SmolStr;

use super::round::AnnouncedMatch;
use super::standings::StandingsRow;
use crate::id::{GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use crate::lenient;

/// What can be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum QueryType {
    /// The table.
    #[serde(alias = "standings")]
    GetStandings,
    /// All rounds with their matches.
    #[serde(alias = "schedule")]
    GetSchedule,
    /// A player's next match.
    #[serde(alias = "next_match")]
    GetNextMatch,
    /// A player's figures.
    #[serde(alias = "stats", alias = "player_stats")]
    GetPlayerStats,
    /// Where the league stands.
    #[serde(alias = "status")]
    GetStatus,
    /// Where the players listen; for referees.
    GetPlayerDirectory,
    /// Who is registered.
    GetRegistrations,
}

impl QueryType {
    pub const ALL: [Self; 7] = [
        Self::GetStandings,
        Self::GetSchedule,
        Self::GetNextMatch,
        Self::GetPlayerStats,
        Self::GetStatus,
        Self::GetPlayerDirectory,
        Self::GetRegistrations,
    ];
}

/// A question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeagueQuery {
    /// The league; the only one there is when left out.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// What is asked.
    pub query_type: QueryType,
    /// About whom.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub query_params: QueryParams,
}

/// About whom a question is.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct QueryParams {
    /// The player; the asker when left out.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// The round; all of them when left out.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
}

/// A match that is still to be played.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NextMatch {
    /// The match.
    pub match_id: MatchId,
    /// Its round.
    pub round_id: RoundId,
    /// The opponent.
    pub opponent_id: PlayerId,
    /// Where its referee listens, once one is appointed.
    #[serde(default)]
    pub referee_endpoint: Option<String>,
    /// The game.
    pub game_type: GameType,
}

/// A player's figures.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlayerStats {
    /// The player's line of the table.
    pub standing: StandingsRow,
    /// Of the losses, those without a game.
    pub technical_losses: u32,
    /// Matches still to play.
    pub remaining: u32,
    /// Whether the player is active or suspended.
    pub state: SmolStr,
}

/// One round of the schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledRound {
    /// The round.
    pub round_id: RoundId,
    /// Whether all its results are in.
    pub completed: bool,
    /// Who has nothing to do in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bye: Option<PlayerId>,
    /// All of them, when several have nothing to do in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub byes: Vec<PlayerId>,
    /// Its matches.
    pub matches: Vec<ScheduledMatch>,
}

/// One match of the schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledMatch {
    /// The match.
    pub match_id: MatchId,
    /// Its round.
    pub round_id: RoundId,
    /// The game.
    pub game_type: GameType,
    /// Side A.
    #[serde(rename = "player_A_id")]
    pub player_a_id: PlayerId,
    /// Side B.
    #[serde(rename = "player_B_id")]
    pub player_b_id: PlayerId,
    /// `PENDING`, `IN_PROGRESS` or `COMPLETED`.
    pub status: SmolStr,
    /// The winner; null in a draw and before the end.
    #[serde(default)]
    pub winner: Option<PlayerId>,
}

/// Where the league stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeagueStatus {
    /// The league.
    pub league_id: LeagueId,
    /// What people call it, where it has a name beside its id.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub display_name: Option<SmolStr>,
    /// `WAITING_FOR_REGISTRATIONS`, `RUNNING_LEAGUE`, ….
    pub state: SmolStr,
    /// Whether the operator has stopped it: no match begins before `start_league`.
    #[serde(default)]
    pub halted: bool,
    /// The round that is being played, or was last; 0 before the first.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub current_round: RoundId,
    /// Rounds in all.
    pub total_rounds: u32,
    /// Players registered.
    pub players: u32,
    /// Referees registered.
    pub referees: u32,
    /// Matches with a result.
    pub matches_completed: u32,
    /// Matches in all.
    pub total_matches: u32,
    /// How many games a match has, where it is more than one.
    // The tools of the manager are listed in one answer of at most 64 KiB.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub games_per_match: Option<u32>,
}

/// An agent as others may see it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DirectoryEntry {
    /// The player, when it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// The referee, when it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referee_id: Option<RefereeId>,
    /// By name.
    pub display_name: SmolStr,
    /// Where it listens; told to referees only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

macro_rules! findings {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {
        /// What was found. Each answer fills the fields that belong to its question.
        #[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct Findings {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<$type>,)*
        }

        impl Findings {
            /// Repeats the fields beside `data`, where some agents look.
            fn write_fields<S: SerializeStruct>(&self, out: &mut S) -> Result<(), S::Error> {
                $(if let Some(found) = &self.$field {
                    out.serialize_field(stringify!($field), found)?;
                })*
                Ok(())
            }
        }
    };
}

findings! {
    /// GET_STANDINGS.
    standings: Vec<StandingsRow>,
    /// GET_SCHEDULE.
    schedule: Vec<ScheduledRound>,
    /// GET_NEXT_MATCH; absent when there is none.
    next_match: NextMatch,
    /// GET_PLAYER_STATS.
    stats: PlayerStats,
    /// GET_STATUS.
    status: LeagueStatus,
    /// GET_PLAYER_DIRECTORY and GET_REGISTRATIONS.
    players: Vec<DirectoryEntry>,
    /// GET_REGISTRATIONS.
    referees: Vec<DirectoryEntry>,
}

/// An answer: what was found under `data`, and the same beside it, because sources differ in where they look.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
pub struct LeagueQueryResponse {
    /// What was asked.
    pub query_type: QueryType,
    /// Whether it could be answered.
    #[serde(default = "yes")]
    pub success: bool,
    /// The round that is being played, or was last; 0 before the first.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub current_round: RoundId,
    /// What was found.
    #[serde(default)]
    pub data: Findings,
    /// Why it could not be answered.
    #[serde(default)]
    pub error: Option<String>,
}

fn yes() -> bool {
    true
}

impl Serialize for LeagueQueryResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("LeagueQueryResponse", 6)?;
        out.serialize_field("query_type", &self.query_type)?;
        out.serialize_field("success", &self.success)?;
        out.serialize_field("current_round", &self.current_round)?;
        out.serialize_field("data", &self.data)?;
        self.data.write_fields(&mut out)?;
        if let Some(error) = &self.error {
            out.serialize_field("error", error)?;
        }
        out.end()
    }
}

/// `get_assigned_matches`: a referee that polls asks for its matches.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetAssignedMatches {
    /// The league; the only one there is when left out.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
}

/// The matches that a referee holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AssignedMatches {
    /// With the players' endpoints.
    pub matches: Vec<AnnouncedMatch>,
}
