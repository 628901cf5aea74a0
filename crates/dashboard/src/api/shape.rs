//! The types that the API answers with.

use league_core::season::LeaguePhase;
use league_protocol::id::{GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::game_over::DrawProof;
use league_protocol::message::query::ScheduledMatch;
use league_protocol::message::round::Champion;
use league_protocol::message::standings::StandingsRow;
use league_protocol::quirk::Quirks;
use league_protocol::side::Side;
use league_protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::league_snapshot::LeagueSnapshot;
use crate::query::Query;

#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) from: usize,
    pub(super) limit: usize,
    pub(super) search: String,
}

impl Piece {
    pub(super) fn of(query: &Query) -> Self {
        let limit = query.number("limit").unwrap_or(100).clamp(1, 500);
        let search = query.text("q").unwrap_or_default().to_lowercase();
        Self { from: query.number("from").unwrap_or(0), limit, search }
    }

    pub(super) fn wants(&self, id: &str, name: &str) -> bool {
        self.search.is_empty() || id.to_lowercase().contains(&self.search) || name.to_lowercase().contains(&self.search)
    }

    pub(super) fn cut<T>(&self, all: impl Iterator<Item = T>, total: usize) -> Page<T> {
        self.page(all.skip(self.from).take(self.limit).collect(), total)
    }

    pub(super) fn page<T>(&self, items: Vec<T>, total: usize) -> Page<T> {
        let next = self.from.saturating_add(items.len());
        Page { total, from: self.from, next: (next < total && !items.is_empty()).then_some(next), items }
    }
}

/// A piece of a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Page<T> {
    /// Entries in all.
    pub(super) total: usize,
    /// How many were left out at the beginning.
    pub(super) from: usize,
    /// The `from` of the next piece; null at the end.
    pub(super) next: Option<usize>,
    /// The entries.
    pub(super) items: Vec<T>,
}

/// Where the league stands.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct League {
    league_id: LeagueId,
    game_type: GameType,
    /// How many games a match has.
    games_per_match: u32,
    /// `WAITING_FOR_REGISTRATIONS`, `CREATING_SCHEDULE`, `RUNNING_LEAGUE` or `LEAGUE_COMPLETED`.
    state: SmolStr,
    /// Whether the operator has stopped it.
    halted: bool,
    /// The round that is being played, or was last; 0 before the first.
    current_round: RoundId,
    total_rounds: u32,
    players: u32,
    referees: u32,
    matches_completed: u32,
    total_matches: u32,
    /// The winner, once it is over.
    champion: Option<Champion>,
    /// The number of the last event.
    seq: u64,
    opened_at: Timestamp,
    last_event_at: Timestamp,
}

impl League {
    pub(super) fn of(snapshot: &LeagueSnapshot) -> Self {
        let season = snapshot.season();
        let status = season.status();
        let over = season.phase() == LeaguePhase::LeagueCompleted;
        Self {
            league_id: status.league_id,
            game_type: season.config().game_type.clone(),
            games_per_match: season.config().games_per_match.get(),
            state: status.state,
            halted: season.is_halted(),
            current_round: status.current_round,
            total_rounds: status.total_rounds,
            players: status.players,
            referees: status.referees,
            matches_completed: status.matches_completed,
            total_matches: status.total_matches,
            champion: if over { season.champion() } else { None },
            seq: snapshot.seq(),
            opened_at: snapshot.opened(),
            last_event_at: snapshot.last(),
        }
    }
}

/// A line of the table.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Standing {
    #[serde(flatten)]
    pub(super) row: StandingsRow,
    /// The last results, a letter each, the latest last: won, drawn, lost, forfeited.
    pub(super) form: String,
}

/// A round.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Round {
    pub(super) round_id: RoundId,
    /// Whether all its results are in.
    pub(super) completed: bool,
    /// The player without a match in it.
    pub(super) bye: Option<PlayerId>,
    /// All of them, when several have no match in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) byes: Vec<PlayerId>,
    pub(super) matches: Vec<Game>,
}

/// A match.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Game {
    pub(super) match_id: MatchId,
    pub(super) round_id: RoundId,
    #[serde(rename = "player_A_id")]
    pub(super) player_a_id: PlayerId,
    #[serde(rename = "player_B_id")]
    pub(super) player_b_id: PlayerId,
    /// `PENDING`, `IN_PROGRESS` or `COMPLETED`.
    pub(super) status: SmolStr,
    /// `win`, `draw`, `technical_loss` or `double_technical_loss`; null before the end.
    pub(super) ending: Option<SmolStr>,
    /// Null in a draw and before the end.
    pub(super) winner: Option<PlayerId>,
    #[serde(rename = "choice_A")]
    pub(super) choice_a: Option<SmolStr>,
    #[serde(rename = "choice_B")]
    pub(super) choice_b: Option<SmolStr>,
    pub(super) drawn_number: Option<u8>,
}

impl Game {
    pub(super) fn of(snapshot: &LeagueSnapshot, game: ScheduledMatch) -> Self {
        let record = snapshot.record(&game.match_id);
        let choice = |side| record.and_then(|record| record.moves[side].clone());
        Self {
            ending: record.map(|record| SmolStr::new_static(record.outcome.as_str())),
            choice_a: choice(Side::A),
            choice_b: choice(Side::B),
            drawn_number: record.and_then(|record| record.drawn),
            match_id: game.match_id,
            round_id: game.round_id,
            player_a_id: game.player_a_id,
            player_b_id: game.player_b_id,
            status: game.status,
            winner: game.winner,
        }
    }
}

/// Everything about a match.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WholeGame {
    #[serde(flatten)]
    pub(super) game: Game,
    /// The attempt that counted, or is under way.
    pub(super) attempt: Option<u32>,
    /// The referee that runs it or ran it, as far as that is known here.
    pub(super) referee_id: Option<RefereeId>,
    /// What proves the number.
    pub(super) draw: Option<DrawProof>,
    /// The messages in order, without credentials. Empty before the end, and where its referee is on another machine.
    pub(super) transcript: Vec<Message>,
}

/// A message of the transcript.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Said")]
pub(super) struct Message {
    pub(super) at: Timestamp,
    /// `sent` by the referee, or `received`.
    pub(super) direction: SmolStr,
    pub(super) from: SmolStr,
    pub(super) to: SmolStr,
    pub(super) message_type: SmolStr,
    pub(super) message: Value,
    pub(super) receipt: Option<Receipt>,
}

/// How long an answer took.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Receipt {
    pub(super) sent_at: Timestamp,
    /// Null when nothing came.
    pub(super) first_byte_ms: Option<u64>,
    /// Null when the answer did not end.
    pub(super) last_byte_ms: Option<u64>,
    pub(super) limit_ms: u64,
    /// Granted beyond the limit, because the referee itself was late. Null when it was not.
    pub(super) granted_ms: Option<u64>,
    /// When it was given up. Null when an answer came.
    pub(super) given_up_ms: Option<u64>,
}

/// A player or a referee.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Agent {
    pub(super) id: SmolStr,
    /// `player` or `referee`.
    pub(super) role: SmolStr,
    pub(super) name: SmolStr,
    pub(super) version: SmolStr,
    /// `ACTIVE`, `SUSPENDED`, `WITHDRAWN` or `LOST`.
    pub(super) state: SmolStr,
    /// The letter of the frame in which the manager calls it.
    pub(super) frame: String,
    /// What it does differently, and what its author can do about it.
    pub(super) quirks: Vec<Advice>,
    /// Where it listens; only the operator sees it.
    pub(super) endpoint: Option<String>,
    /// How long a referee took to answer the manager lately; a player's times are in its matches.
    pub(super) answers_in_ms: Option<f64>,
    /// Matches that a referee runs now.
    pub(super) running: Option<u32>,
    /// Matches that a referee runs at most.
    pub(super) capacity: Option<u32>,
}

/// Something that an agent does differently.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Advice {
    pub(super) what: &'static str,
    pub(super) advice: &'static str,
}

impl Advice {
    pub(super) fn about(quirks: Quirks) -> Vec<Self> {
        quirks.iter().map(|quirk| Self { what: quirk.what(), advice: quirk.advice() }).collect()
    }
}

/// A player with its record and its matches.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Player {
    pub(super) agent: Agent,
    pub(super) standing: Option<Standing>,
    pub(super) technical_losses: u32,
    /// Its matches, in the order of the rounds; a round that is missing is its bye.
    pub(super) matches: Vec<Game>,
}

/// An event of the log, without credentials. Its hash is that of the whole event.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Entry {
    /// Its number, from one.
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) kind: String,
    /// SHA-256 of the hash before, the number and the event, in hexadecimal.
    pub(super) hash: String,
    pub(super) fact: Map<String, Value>,
}
