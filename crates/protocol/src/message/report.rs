use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use smol_str::SmolStr;

use super::coded_moves::CodedMoves;
use super::game_over::{ByPlayer, DrawProof, ResultStatus, means_no_winner};
use super::next_match::AnyObject;
use super::registration::MAX_COMMITMENTS;
use super::start_match::StartMatch;
use super::transcript::TranscriptDigest;
use crate::dialect::PeerDialect;
use crate::draw::{DrawCommitment, DrawNonce, Signature};
use crate::id::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::lenient;
use crate::parity::Parity;
use crate::problem::Problem;
use crate::quirk::Quirks;
use crate::time::Timestamp;

/// The end of a match, to be counted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct MatchResultReport {
    /// The league.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// The match.
    pub match_id: MatchId,
    /// The game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_type: Option<GameType>,
    /// The attempt at this match; referees of other make do not know of attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The result.
    pub result: ReportedResult,
    /// What the referee found out about the players' ways, where that is news.
    #[serde(skip_serializing_if = "ByPlayer::is_empty")]
    #[schemars(with = "ByPlayer<serde_json::Map<String, serde_json::Value>>")]
    pub learned: ByPlayer<LearnedDialect>,
    /// How it came to this result, for people.
    #[serde(skip_serializing_if = "Account::is_empty")]
    // The tools of the manager are listed in one answer of at most 64 KiB.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub account: Account,
    /// What the players signed. The manager refuses a report without the signatures of players that sign.
    #[serde(skip_serializing_if = "ByPlayer::is_empty")]
    #[schemars(with = "ByPlayer<serde_json::Map<String, serde_json::Value>>")]
    pub signatures: ByPlayer<PlayerSignatures>,
    /// New commitments for later draws, as at registration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub draw_commitments: Vec<DrawCommitment>,
}

/// What a player signed in a match.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PlayerSignatures {
    /// The nonce that its join signs.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub draw_nonce: Option<DrawNonce>,
    /// Of its join.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub join: Option<Signature>,
    /// Of its moves, in order; null for a move without one.
    #[serde(default, deserialize_with = "lenient::value_or_default", skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Option<Signature>>,
    /// Of all its moves together, in a match of several games: the bytes of the signatures, combined by XOR.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub combined: Option<Signature>,
    /// The last illegal move, of a player that lost by illegal moves.
    #[serde(default, deserialize_with = "lenient::value", skip_serializing_if = "Option::is_none")]
    pub illegal_move: Option<SignedIllegalMove>,
}

impl PlayerSignatures {
    /// Replaces the signatures of the moves by their combination. There is none while a move is unsigned.
    #[must_use]
    pub fn combined(self) -> Self {
        let moves: Option<Vec<Signature>> = self.moves.iter().copied().collect();
        let combined = moves.filter(|moves| !moves.is_empty()).map(|moves| Signature::combined(&moves));
        Self { moves: Vec::new(), combined, ..self }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Proves that a player made an illegal move.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SignedIllegalMove {
    /// What it sent.
    #[serde(rename = "move")]
    pub played: SmolStr,
    /// Its signature.
    pub signature: Signature,
}

/// How a match came to its result: what went wrong, how long answers took, and the hash of what was said.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    /// In a sentence, why it ended so.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub reason: Option<SmolStr>,
    /// When the players were invited.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// What was wrong with the last answer of a player that lost without a game.
    #[serde(default, deserialize_with = "lenient::value_or_default", skip_serializing_if = "ByPlayer::is_empty")]
    pub problems: ByPlayer<Problem>,
    /// How long the answers took.
    #[serde(default, deserialize_with = "lenient::value_or_default", skip_serializing_if = "ByPlayer::is_empty")]
    pub times: ByPlayer<AnswerTimes>,
    /// The SHA-256 of the transcript, which goes before the report by MATCH_TRANSCRIPT.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub transcript_sha256: Option<TranscriptDigest>,
    /// Whether the referee wrote the match file, with the transcript, into the manager's own home.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "std::ops::Not::not")]
    pub in_your_home: bool,
}

impl Account {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How long a player took, in milliseconds to the last byte; nothing where no answer came.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct AnswerTimes {
    /// To join.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub join_ms: Option<u64>,
    /// To choose or move, the last time that it was asked.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub move_ms: Option<u64>,
}

/// What was found out about a peer while it was spoken to.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LearnedDialect {
    /// How it is spoken to, where that is not what was thought before.
    #[serde(rename = "manner", default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<PeerDialect>,
    /// What it does differently.
    #[serde(default, skip_serializing_if = "no_quirks")]
    pub quirks: Quirks,
    /// Whether it has shown a right token or pass.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shows_token: bool,
}

impl LearnedDialect {
    pub fn is_nothing(&self) -> bool {
        self.dialect.is_none() && self.quirks.is_empty() && !self.shows_token
    }
}

/// The result as a referee reports it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReportedResult {
    /// The winner; null in a draw.
    #[serde(default, deserialize_with = "winner")]
    pub winner: Option<PlayerId>,
    /// Each player's points.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub score: ByPlayer<u32>,
    /// How it came.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub details: ResultDetails,
}

/// How a result came about.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResultDetails {
    /// The number; null when none was drawn.
    #[serde(default)]
    pub drawn_number: Option<u8>,
    /// Its parity; null when none was drawn.
    #[serde(default)]
    pub number_parity: Option<Parity>,
    /// What was chosen, as far as it was received.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub choices: ByPlayer<Option<SmolStr>>,
    /// In one word.
    #[serde(default, deserialize_with = "status", skip_serializing_if = "Option::is_none")]
    pub status: Option<ResultStatus>,
    /// Who lost without a game.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub technical_losses: Vec<PlayerId>,
    /// In a sentence.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub reason: Option<SmolStr>,
    /// What proves the draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawProof>,
    /// All moves in order, in a game of more than one turn: the manager replays them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<ReportedMove>,
    /// How many games the match had.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub games_per_match: Option<u32>,
    /// All moves in order, in a match of several games, in place of `moves`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    // The tools of the manager are listed in one answer of at most 64 KiB.
    #[schemars(skip)]
    pub coded_moves: Option<CodedMoves>,
    /// What each player scored, in a game of scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game_score: Option<ByPlayer<i32>>,
}

impl ResultDetails {
    /// Whether a player lost without a game, by the list or by the status.
    pub fn may_charge(&self) -> bool {
        !self.technical_losses.is_empty() || self.status == Some(ResultStatus::TechnicalLoss)
    }
}

/// A move as a referee reports it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReportedMove {
    /// The player.
    pub player_id: PlayerId,
    /// The move, as the game writes it.
    #[serde(rename = "move")]
    pub played: SmolStr,
}

fn no_quirks(quirks: &Quirks) -> bool {
    quirks.is_empty()
}

/// A draw is null, absent, or a word.
fn winner<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PlayerId>, D::Error> {
    let text = Option::<SmolStr>::deserialize(deserializer)?;
    match text.as_deref() {
        None => Ok(None),
        Some(player) if means_no_winner(player) => Ok(None),
        Some(player) => player.parse().map(Some).map_err(serde::de::Error::custom),
    }
}

/// In any case. An unknown word is refused, because it might mean a forfeit.
fn status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ResultStatus>, D::Error> {
    let word = Option::<SmolStr>::deserialize(deserializer)?;
    let unknown = |()| serde::de::Error::custom("a status is WIN, DRAW or TECHNICAL_LOSS");
    word.map(|word| word.parse().map_err(unknown)).transpose()
}

/// Reads the result nested, or flat as in a plain tool call.
#[derive(Deserialize)]
struct Written {
    #[serde(default, deserialize_with = "lenient::text")]
    league_id: Option<LeagueId>,
    #[serde(default, deserialize_with = "lenient::number")]
    round_id: Option<RoundId>,
    match_id: MatchId,
    #[serde(default, deserialize_with = "lenient::text")]
    game_type: Option<GameType>,
    #[serde(default, deserialize_with = "lenient::number")]
    attempt: Option<u32>,
    #[serde(default)]
    result: Option<ReportedResult>,
    #[serde(default, deserialize_with = "winner")]
    winner: Option<PlayerId>,
    #[serde(default)]
    score: Option<ByPlayer<u32>>,
    #[serde(default)]
    details: Option<ResultDetails>,
    #[serde(default, deserialize_with = "lenient::value_or_default")]
    learned: ByPlayer<LearnedDialect>,
    #[serde(default, deserialize_with = "lenient::value_or_default")]
    account: Account,
    #[serde(default, deserialize_with = "lenient::value_or_default")]
    signatures: ByPlayer<PlayerSignatures>,
    #[serde(default, deserialize_with = "lenient::value_or_default")]
    draw_commitments: Vec<DrawCommitment>,
}

impl<'de> Deserialize<'de> for MatchResultReport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        let flat =
            |score| ReportedResult { winner: written.winner, score, details: written.details.unwrap_or_default() };
        let result = written.result.or_else(|| written.score.map(flat));
        Ok(Self {
            league_id: written.league_id,
            round_id: written.round_id,
            match_id: written.match_id,
            game_type: written.game_type,
            attempt: written.attempt,
            result: result.ok_or_else(|| serde::de::Error::missing_field("result"))?,
            learned: written.learned,
            account: written.account,
            signatures: written.signatures,
            draw_commitments: written.draw_commitments.into_iter().take(MAX_COMMITMENTS).collect(),
        })
    }
}

/// The manager has counted it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MatchResultAck {
    /// `ACCEPTED`.
    pub status: SmolStr,
    /// The match.
    pub match_id: MatchId,
    /// The round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// Whether the same report had come before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
    /// The next START_MATCH of a referee that pulls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyObject>")]
    pub next_match: Option<Box<StartMatch>>,
}
