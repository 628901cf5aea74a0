//! `matches/<league>/<match>.json`: one match with every message, written by its referee.

use std::num::NonZeroU32;

use league_core::game_match::phase::MatchPhase;
use league_core::record::{MatchRecord, RevealedDraw};
use league_core::rules::outcome::Outcome;
use league_core::rules::series::Series;
use league_core::season::Season;
use league_protocol::id::{GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::game_over::{ByPlayer, DrawProof};
use league_protocol::message::report::{Account, AnswerTimes, ReportedResult};
use league_protocol::message::start_match::MatchPoints;
use league_protocol::message::transcript::{MAX_TRANSCRIPT, TranscriptDigest};
use league_protocol::problem::Problem;
use league_protocol::side::{Pair, Side};
use league_protocol::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use super::redact::redact_raw;
use super::schema_version;

/// The type of an entry that is no message.
const NOTE: &str = "NOTE";

/// Replacing a shorter message saves nothing, so the last entries are removed instead.
const LEFT_OUT: usize = 256;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatchFile {
    pub schema_version: SmolStr,
    pub match_id: MatchId,
    pub league_id: LeagueId,
    pub round_id: RoundId,
    pub game_type: GameType,
    pub attempt: u32,
    #[serde(rename = "player_A_id")]
    pub player_a_id: PlayerId,
    #[serde(rename = "player_B_id")]
    pub player_b_id: PlayerId,
    pub referee_id: RefereeId,
    pub last_updated: Timestamp,
    pub lifecycle: MatchFileState,
    /// Empty when the file was made from the log, which has no transcripts.
    #[serde(default)]
    pub transcript: Vec<TranscriptEntry>,
    #[serde(default)]
    pub result: Option<ReportedResult>,
    /// `None` when no number was drawn, or the referee sent no proof.
    #[serde(default)]
    pub draw: Option<DrawProof>,
    #[serde(default, skip_serializing_if = "ByPlayer::is_empty")]
    pub problems: ByPlayer<Problem>,
    #[serde(default, skip_serializing_if = "ByPlayer::is_empty")]
    pub times: ByPlayer<AnswerTimes>,
    /// SHA-256 of the transcript as compact JSON, as the referee reported it. It covers nothing that a referee adds later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_sha256: Option<TranscriptDigest>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MatchFileState {
    /// `WAITING_FOR_PLAYERS`, `COLLECTING_CHOICES`, `DRAWING_NUMBER` or `FINISHED`.
    pub state: SmolStr,
    pub created: Timestamp,
    #[serde(default)]
    pub started: Option<Timestamp>,
    #[serde(default)]
    pub finished: Option<Timestamp>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Sent,
    Received,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TranscriptEntry {
    pub at: Timestamp,
    pub direction: Direction,
    pub from: SmolStr,
    pub to: SmolStr,
    pub message_type: SmolStr,
    /// Private, so that every message is redacted before it is stored.
    message: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<CallReceipt>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<SmolStr>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallReceipt {
    pub sent_at: Timestamp,
    /// Milliseconds to the first byte; `None` when none arrived.
    pub first_byte_ms: Option<u64>,
    /// Milliseconds to the last byte, which decides whether the answer was in time.
    pub last_byte_ms: Option<u64>,
    pub limit_ms: u64,
    /// Milliseconds granted beyond the limit because the referee itself was late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up_ms: Option<u64>,
}

impl TranscriptEntry {
    /// Hides the credentials in `bytes`.
    pub fn new(
        at: Timestamp,
        direction: Direction,
        (from, to): (SmolStr, SmolStr),
        message_type: SmolStr,
        bytes: &[u8],
        receipt: Option<CallReceipt>,
    ) -> Self {
        Self { at, direction, from, to, message_type, message: redact_raw(bytes), receipt, refused: None }
    }

    #[must_use]
    pub fn refused(self, why: impl Into<SmolStr>) -> Self {
        Self { refused: Some(why.into()), ..self }
    }

    /// Stands for messages that a long transcript does not have.
    pub fn left_out(messages: usize, at: Timestamp, referee: SmolStr) -> Self {
        let note = format!("\"messages left out here: {messages}\"");
        let there = (referee, SmolStr::default());
        Self::new(at, Direction::Sent, there, SmolStr::new_static(NOTE), note.as_bytes(), None)
    }

    pub fn is_note(&self) -> bool {
        self.message_type == NOTE
    }

    /// At most so many bytes in the transcript: the fields around a message take less than 512.
    pub fn size(&self) -> usize {
        self.message.get().len() + 512
    }

    pub fn message(&self) -> &RawValue {
        &self.message
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchContext {
    pub league_id: LeagueId,
    pub round_id: RoundId,
    pub match_id: MatchId,
    pub attempt: u32,
    pub game_type: GameType,
    pub players: Pair<PlayerId>,
    pub referee_id: RefereeId,
}

impl MatchContext {
    /// Of an attempt in `season`.
    pub fn of(season: &Season, referee: &RefereeId, (match_id, attempt): (&MatchId, u32)) -> Option<Self> {
        let config = season.config();
        Some(Self {
            league_id: config.league_id.clone(),
            round_id: match_id.parts()?.0,
            match_id: match_id.clone(),
            attempt,
            game_type: config.game_type.clone(),
            players: season.contestants(match_id)?.map(|player| player.id.clone()),
            referee_id: referee.clone(),
        })
    }
}

impl MatchFile {
    pub fn new(context: MatchContext, now: Timestamp) -> Self {
        let state = SmolStr::new_static(MatchPhase::WaitingForPlayers.as_str());
        Self {
            schema_version: schema_version(),
            match_id: context.match_id,
            league_id: context.league_id,
            round_id: context.round_id,
            game_type: context.game_type,
            attempt: context.attempt,
            player_a_id: context.players.a,
            player_b_id: context.players.b,
            referee_id: context.referee_id,
            last_updated: now,
            lifecycle: MatchFileState { state, created: now, started: None, finished: None },
            transcript: Vec::new(),
            result: None,
            draw: None,
            problems: ByPlayer::default(),
            times: ByPlayer::default(),
            transcript_sha256: None,
        }
    }

    /// The file that a report gives, without its transcript. `ended` is the time of the report's event.
    pub fn of_report(
        season: &Season,
        referee: &RefereeId,
        (match_id, attempt): (&MatchId, u32),
        record: &MatchRecord,
        account: Account,
        ended: Timestamp,
    ) -> Option<Self> {
        let (config, context) = (season.config(), MatchContext::of(season, referee, (match_id, attempt))?);
        let ids = context.players.as_ref().map(PlayerId::as_str);
        let reason = record.reason(&config.game_type, (match_id, attempt), ids).map(SmolStr::new);
        let mut file = Self::new(context, account.started.unwrap_or(ended));
        file.finish(record, &config.scoring.match_points(), reason, ended);
        file.explain(account);
        Some(file)
    }

    /// The file of an attempt whose transcript came before its report. It follows from the log and the transcript.
    pub fn unreported(context: MatchContext, transcript: Vec<TranscriptEntry>) -> Self {
        let last = transcript.last().map_or(Timestamp::EPOCH, |entry| entry.at);
        let mut file = Self { transcript, ..Self::new(context, last) };
        file.transcript_sha256 = Some(TranscriptDigest::of(&file.transcript_bytes()));
        file
    }

    /// This file as it was before the report, without the transcript, whose last message is of the time `last`.
    pub(crate) fn before_report(&self, last: Option<Timestamp>) -> Self {
        let context = MatchContext {
            league_id: self.league_id.clone(),
            round_id: self.round_id,
            match_id: self.match_id.clone(),
            attempt: self.attempt,
            game_type: self.game_type.clone(),
            players: Pair::new(self.player_a_id.clone(), self.player_b_id.clone()),
            referee_id: self.referee_id.clone(),
        };
        let file = Self::new(context, last.unwrap_or(Timestamp::EPOCH));
        Self { transcript_sha256: self.transcript_sha256, ..file }
    }

    pub fn explain(&mut self, account: Account) {
        if let Some(result) = self.result.as_mut().filter(|_| account.reason.is_some()) {
            result.details.reason = account.reason;
        }
        if let Some(started) = account.started {
            self.lifecycle.started = Some(started);
        }
        (self.problems, self.times) = (account.problems, account.times);
        self.transcript_sha256 = account.transcript_sha256;
    }

    /// The match played again from its moves in order and its proof; `None` when it is not over or one of them is missing.
    pub fn replay(&self) -> Option<Series> {
        let details = &self.result.as_ref()?.details;
        let games = details.games_per_match.and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        let side = |player: &PlayerId| if *player == self.player_a_id { Side::A } else { Side::B };
        let course = details.moves.iter().map(|one| (side(&one.player_id), one.played.clone())).collect();
        let players = Pair::new(&self.player_a_id, &self.player_b_id);
        let proof = self.draw.as_ref().map(|draw| {
            let nonces = players.map(|player| draw.nonces.get(player).cloned().unwrap_or_default());
            let DrawProof { commitment, secret, seal, seeded, .. } = *draw;
            Box::new(RevealedDraw { commitment, secret, nonces, seal, seeded })
        });
        let record = MatchRecord { games, course, proof, ..MatchRecord::unplayed(Outcome::DoubleForfeit) };
        record.replay(&self.game_type, (&self.match_id, self.attempt), |_, _, _| {}).ok()
    }

    /// The time of the last message in the transcript.
    pub fn last_entry(&self) -> Option<Timestamp> {
        self.transcript.last().map(|entry| entry.at)
    }

    /// The bytes that are hashed and sent: compact JSON.
    pub fn transcript_bytes(&self) -> Vec<u8> {
        // Strings and raw JSON always serialize.
        serde_json::to_vec(&self.transcript).unwrap_or_default()
    }

    /// Replaces the longest messages with a note until the transcript fits the limit.
    pub fn shorten_transcript(&mut self) {
        let length = |entry: &TranscriptEntry| entry.message.get().len();
        while self.transcript.iter().map(TranscriptEntry::size).sum::<usize>() > MAX_TRANSCRIPT {
            let Some(longest) = self.transcript.iter_mut().max_by_key(|entry| length(entry)) else { return };
            if length(longest) <= LEFT_OUT {
                self.transcript.pop();
                continue;
            }
            let note = format!("left out: a message of {} bytes", length(longest));
            longest.message = redact_raw(note.as_bytes());
        }
    }

    pub fn finish(&mut self, record: &MatchRecord, worth: &MatchPoints, reason: Option<SmolStr>, now: Timestamp) {
        let players = Pair::new(&self.player_a_id, &self.player_b_id);
        let (result, draw) = (record.reported(players, worth, reason), record.draw_proof(players, self.attempt));
        self.lifecycle.state = SmolStr::new_static(MatchPhase::Finished.as_str());
        self.lifecycle.finished = Some(now);
        self.last_updated = now;
        (self.result, self.draw) = (Some(result), draw);
    }
}
