use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

use super::finished_game::MAX_GAMES;
use super::standings::PlayerRecord;
use crate::dialect::PeerDialect;
use crate::draw::{DrawCommitment, DrawNonce, DrawSecret};
use crate::id::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::lenient;
use crate::side::{Pair, Side};
use crate::token::Pass;

/// The league of matches that the operator starts at a referee. They never count.
pub const FRIENDLY: &str = "friendly";

/// The league of the checker, which grades players before they register.
pub const CHECK_LEAGUE: &str = "league_check";

/// Whether a match runs by itself or waits for the operator's steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MatchMode {
    /// By itself.
    #[default]
    Flowing,
    /// Step by step, for teaching.
    Stepped,
}

/// A player as its referee needs to know it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Contestant {
    /// Who.
    pub player_id: PlayerId,
    /// Where it listens.
    pub endpoint: String,
    /// By name.
    #[serde(default)]
    pub display_name: SmolStr,
    /// Its record so far.
    #[serde(default)]
    pub standings: PlayerRecord,
    /// What the referee shows this player: that the manager appointed it for this match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referee_pass: Option<Pass>,
    /// What this player will show the referee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub player_pass: Option<Pass>,
    /// How the player is spoken to, as far as that is known.
    #[serde(rename = "manner", default, skip_serializing_if = "PeerDialect::is_canonical")]
    pub dialect: PeerDialect,
    /// Whether it has shown a right token or pass in this league: then no answer of its own goes without.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shows_token: bool,
    /// How often it is asked in all: once when it is suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u8>,
}

impl Contestant {
    /// A player of which only the id and the endpoint are known.
    pub fn new(player_id: PlayerId, endpoint: String) -> Self {
        Self {
            player_id,
            endpoint,
            display_name: SmolStr::default(),
            standings: PlayerRecord::default(),
            referee_pass: None,
            player_pass: None,
            dialect: PeerDialect::default(),
            shows_token: false,
            attempts: None,
        }
    }
}

/// The limits that a referee keeps, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MatchLimits {
    /// For GAME_JOIN_ACK.
    pub game_join_ack_timeout_sec: f64,
    /// For a choice or move.
    pub move_timeout_sec: f64,
    /// For acknowledging GAME_OVER and GAME_ERROR.
    pub game_over_timeout_sec: f64,
    /// How often a player is asked in all.
    pub max_retries: u8,
    /// The pause before the second try.
    pub base_delay_sec: f64,
    /// How the pause grows before further tries.
    #[serde(skip_serializing_if = "Backoff::is_usual")]
    pub backoff_strategy: Backoff,
}

/// How the pause between tries grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// It doubles: 2 s, 4 s, 8 s.
    #[default]
    Exponential,
    /// It grows by the first pause each time: 2 s, 4 s, 6 s.
    Linear,
}

impl Backoff {
    fn is_usual(&self) -> bool {
        *self == Self::Exponential
    }
}

impl Default for MatchLimits {
    fn default() -> Self {
        Self {
            game_join_ack_timeout_sec: 5.0,
            move_timeout_sec: 30.0,
            game_over_timeout_sec: 5.0,
            max_retries: 3,
            base_delay_sec: 2.0,
            backoff_strategy: Backoff::Exponential,
        }
    }
}

/// Clamps seconds from a file or message to zero … one hour.
pub fn span(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.clamp(0.0, 3600.0)).unwrap_or_default()
}

/// The points of a match, so that a referee can report scores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MatchPoints {
    /// For a win.
    pub win_points: u32,
    /// For a draw.
    pub draw_points: u32,
    /// For a loss.
    pub loss_points: u32,
    /// For a loss without a game.
    pub technical_loss_points: u32,
    /// What it counts as when both lose without a game.
    pub double_forfeit: DoubleForfeit,
}

/// What a match that both players forfeit counts as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DoubleForfeit {
    /// A draw: neither was worse than the other.
    #[default]
    Draw,
    /// A technical loss of both: points are for playing.
    TechnicalLoss,
}

impl Default for MatchPoints {
    fn default() -> Self {
        Self {
            win_points: 3,
            draw_points: 1,
            loss_points: 0,
            technical_loss_points: 0,
            double_forfeit: DoubleForfeit::Draw,
        }
    }
}

/// Run this match.
#[derive(Clone, Debug, JsonSchema)]
pub struct StartMatch {
    /// The league.
    pub league_id: Option<LeagueId>,
    /// The round.
    pub round_id: Option<RoundId>,
    /// The match.
    pub match_id: MatchId,
    /// The game.
    #[schemars(default = "GameType::even_odd")]
    pub game_type: GameType,
    /// The attempt at this match, from one.
    #[schemars(default = "first")]
    pub attempt: u32,
    /// How many games the match has, with the sides swapped in turn: 1 to 1000.
    #[schemars(default = "first")]
    pub games_per_match: u32,
    /// By itself or step by step.
    #[schemars(default)]
    pub mode: MatchMode,
    /// Who plays.
    #[schemars(with = "[Contestant; 2]")]
    pub players: Pair<Contestant>,
    /// What is demanded of them.
    #[schemars(default)]
    pub timeouts: MatchLimits,
    /// What it is worth.
    #[schemars(default)]
    pub scoring: MatchPoints,
    /// The secret of the draw, in a league with a seed only: everywhere else the referee makes its own.
    pub draw_secret: Option<DrawSecret>,
    /// The commitment that the referee deposited and that this attempt is bound to.
    #[schemars(default)]
    pub draw_commitment: Option<DrawCommitment>,
    /// Enters the draw in place of the nonce of each player that sends none.
    #[schemars(default)]
    pub manager_nonce: Option<DrawNonce>,
    /// Whether answers that are not in order are none.
    #[schemars(default)]
    pub strict: bool,
    /// What the manager's home holds in the file `home.mark` of the league. A referee that finds the same in its own home shares
    /// it, and writes the match file there; another one sends the transcript.
    #[schemars(default)]
    pub home_mark: Option<SmolStr>,
}

/// Also reads the flat fields of the course's own tool.
#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    league_id: Option<LeagueId>,
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    round_id: Option<RoundId>,
    match_id: MatchId,
    #[serde(default = "GameType::even_odd")]
    game_type: GameType,
    #[serde(default = "first")]
    attempt: u32,
    #[serde(default = "first", skip_serializing_if = "is_first")]
    games_per_match: u32,
    #[serde(default)]
    mode: MatchMode,
    #[serde(rename = "player_A_id", alias = "player_a_id", default)]
    player_a_id: Option<PlayerId>,
    #[serde(rename = "player_B_id", alias = "player_b_id", default)]
    player_b_id: Option<PlayerId>,
    #[serde(rename = "player_A_endpoint", alias = "player_a_endpoint", default)]
    player_a_endpoint: Option<String>,
    #[serde(rename = "player_B_endpoint", alias = "player_b_endpoint", default)]
    player_b_endpoint: Option<String>,
    #[serde(default)]
    players: Vec<Contestant>,
    #[serde(default)]
    timeouts: MatchLimits,
    #[serde(default)]
    scoring: MatchPoints,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    draw_secret: Option<DrawSecret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    draw_commitment: Option<DrawCommitment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    manager_nonce: Option<DrawNonce>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    home_mark: Option<SmolStr>,
}

fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_first(number: &u32) -> bool {
    *number == 1
}

impl<'de> Deserialize<'de> for StartMatch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let written = Written::deserialize(deserializer)?;
        let flat = |id: Option<PlayerId>, endpoint: Option<String>, names: [&'static str; 2]| {
            let id = id.ok_or_else(|| D::Error::missing_field(names[0]))?;
            Ok(Contestant::new(id, endpoint.ok_or_else(|| D::Error::missing_field(names[1]))?))
        };
        let players = match <[Contestant; 2]>::try_from(written.players) {
            Ok([a, b]) => Pair::new(a, b),
            Err(players) if players.is_empty() => Pair::new(
                flat(written.player_a_id, written.player_a_endpoint, ["player_A_id", "player_A_endpoint"])?,
                flat(written.player_b_id, written.player_b_endpoint, ["player_B_id", "player_B_endpoint"])?,
            ),
            Err(players) => return Err(D::Error::invalid_length(players.len(), &"two players")),
        };
        if players.a.player_id == players.b.player_id {
            return Err(D::Error::custom("`players` names one player twice; send two different ones"));
        }
        if !(1..=MAX_GAMES).contains(&written.games_per_match) {
            let found = written.games_per_match;
            return Err(D::Error::custom(format_args!("`games_per_match` is {found}; send 1 to {MAX_GAMES}")));
        }
        Ok(Self {
            league_id: written.league_id,
            round_id: written.round_id,
            match_id: written.match_id,
            game_type: written.game_type,
            attempt: written.attempt,
            games_per_match: written.games_per_match,
            mode: written.mode,
            players,
            timeouts: written.timeouts,
            scoring: written.scoring,
            draw_secret: written.draw_secret,
            draw_commitment: written.draw_commitment,
            manager_nonce: written.manager_nonce,
            strict: written.strict,
            home_mark: written.home_mark,
        })
    }
}

impl Serialize for StartMatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let id = |side| Some(self.players[side].player_id.clone());
        let endpoint = |side| Some(self.players[side].endpoint.clone());
        Written {
            league_id: self.league_id.clone(),
            round_id: self.round_id,
            match_id: self.match_id.clone(),
            game_type: self.game_type.clone(),
            attempt: self.attempt,
            games_per_match: self.games_per_match,
            mode: self.mode,
            player_a_id: id(Side::A),
            player_b_id: id(Side::B),
            player_a_endpoint: endpoint(Side::A),
            player_b_endpoint: endpoint(Side::B),
            players: vec![self.players.a.clone(), self.players.b.clone()],
            timeouts: self.timeouts,
            scoring: self.scoring,
            draw_secret: self.draw_secret,
            draw_commitment: self.draw_commitment,
            manager_nonce: self.manager_nonce.clone(),
            strict: self.strict,
            home_mark: self.home_mark.clone(),
        }
        .serialize(serializer)
    }
}

/// Taken or not, at once.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StartMatchAnswer {
    /// `ACCEPTED` or `REFUSED`.
    pub status: SmolStr,
    /// The match.
    pub match_id: MatchId,
    /// The attempt.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Why not.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub reason: Option<SmolStr>,
}
