use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::id::{LeagueId, PlayerId, RoundId};
use crate::lenient;

/// One line of the table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StandingsRow {
    /// Place, from one.
    pub rank: u32,
    /// Who.
    pub player_id: PlayerId,
    /// By name.
    #[serde(default, deserialize_with = "lenient::text_or_default")]
    pub display_name: SmolStr,
    /// Matches played.
    #[serde(default, deserialize_with = "lenient::count")]
    pub played: u32,
    /// Of these won.
    #[serde(default, deserialize_with = "lenient::count")]
    pub wins: u32,
    /// Of these drawn.
    #[serde(default, deserialize_with = "lenient::count")]
    pub draws: u32,
    /// Of these lost.
    #[serde(default, deserialize_with = "lenient::count")]
    pub losses: u32,
    /// Points.
    pub points: u32,
    /// The sum of its scores, in a game whose table ranks by the mean score.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub score: Option<i64>,
    /// Whether the operator has taken it out of the league: it keeps its results, and plays no more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}

/// One line of the final table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FinalRow {
    /// Place, from one.
    pub rank: u32,
    /// Who.
    pub player_id: PlayerId,
    /// By name.
    #[serde(default, deserialize_with = "lenient::text_or_default")]
    pub display_name: SmolStr,
    /// Points.
    pub points: u32,
    /// Won.
    #[serde(default, deserialize_with = "lenient::count")]
    pub wins: u32,
    /// Drawn.
    #[serde(default, deserialize_with = "lenient::count")]
    pub draws: u32,
    /// Lost.
    #[serde(default, deserialize_with = "lenient::count")]
    pub losses: u32,
    /// Whether the operator has taken it out of the league.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}

impl From<&StandingsRow> for FinalRow {
    fn from(row: &StandingsRow) -> Self {
        Self {
            rank: row.rank,
            player_id: row.player_id.clone(),
            display_name: row.display_name.clone(),
            points: row.points,
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
            withdrawn: row.withdrawn,
        }
    }
}

/// LEAGUE_STANDINGS_UPDATE: the table after a round.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StandingsUpdate {
    /// The league.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round after which it stands so.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// The table, best first; in a large league only its head and the receiver's own row.
    pub standings: Vec<StandingsRow>,
    /// How many rows there are in all, where `standings` has not all of them.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub total_players: Option<u32>,
}

/// `get_standings`: how does it stand?
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetStandings {
    /// The league; the only one there is when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
}

/// The answer to `get_standings`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StandingsAnswer {
    /// The league.
    pub league_id: LeagueId,
    /// The round that is being played, or was last; 0 before the first.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub current_round: RoundId,
    /// The table, best first.
    pub standings: Vec<StandingsRow>,
}

/// A player's own record, as it is told with a call for a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PlayerRecord {
    /// Won.
    #[serde(deserialize_with = "lenient::count")]
    pub wins: u32,
    /// Lost.
    #[serde(deserialize_with = "lenient::count")]
    pub losses: u32,
    /// Drawn.
    #[serde(deserialize_with = "lenient::count")]
    pub draws: u32,
    /// Points.
    #[serde(deserialize_with = "lenient::count")]
    pub points: u32,
}
