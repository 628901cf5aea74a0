//! `matches/<league>/<match>.json`: one match with every word that was said, written by its referee.

use league_core::game_match::phase::MatchPhase;
use league_core::record::MatchRecord;
use league_core::season::Season;
use league_protocol::id::{GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::game_over::{ByPlayer, DrawProof};
use league_protocol::message::report::{Account, AnswerTimes, ReportedResult};
use league_protocol::message::start_match::MatchPoints;
use league_protocol::message::transcript::{MAX_TRANSCRIPT, TranscriptDigest};
use league_protocol::problem::Problem;
use league_protocol::side::Pair;
use league_protocol::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use smol_str::SmolStr;

use super::redact::redact_raw;
use super::schema_version;

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
    /// Everything that was said, in order. Empty when the file was made from the log, which does not have it.
    #[serde(default)]
    pub transcript: Vec<TranscriptEntry>,
    /// How it ended; null before that.
    #[serde(default)]
    pub result: Option<ReportedResult>,
    /// What proves the number; null when none was drawn, or nothing proves it.
    #[serde(default)]
    pub draw: Option<DrawProof>,
    /// What was wrong with the last answer of a player that lost without a game.
    #[serde(default, skip_serializing_if = "ByPlayer::is_empty")]
    pub problems: ByPlayer<Problem>,
    /// How long each player took to answer.
    #[serde(default, skip_serializing_if = "ByPlayer::is_empty")]
    pub times: ByPlayer<AnswerTimes>,
    /// The SHA-256 of the transcript, where its referee reported one: of the JSON list without blanks.
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

/// Which way a message went, seen from the referee.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Sent,
    Received,
}

/// One message, as it travelled but for its credentials.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TranscriptEntry {
    pub at: Timestamp,
    pub direction: Direction,
    pub from: SmolStr,
    pub to: SmolStr,
    pub message_type: SmolStr,
    /// What was said. Private, so that nothing gets here with its credentials.
    message: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<CallReceipt>,
    /// Why it did not count, where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<SmolStr>,
}

/// How long an answer took, and how long it was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallReceipt {
    pub sent_at: Timestamp,
    /// Milliseconds to the first byte; none when nothing came.
    pub first_byte_ms: Option<u64>,
    /// Milliseconds to the last byte, which is the one that counts.
    pub last_byte_ms: Option<u64>,
    pub limit_ms: u64,
    /// Milliseconds that were granted beyond that, because the referee itself was late; nothing when it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_ms: Option<u64>,
    /// Milliseconds after which it was given up, where no answer came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up_ms: Option<u64>,
}

impl TranscriptEntry {
    /// A message with its bytes as they travelled; what is secret in them is taken out here.
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

    /// The same, which did not count, and why.
    #[must_use]
    pub fn refused(self, why: impl Into<SmolStr>) -> Self {
        Self { refused: Some(why.into()), ..self }
    }

    pub fn message(&self) -> &RawValue {
        &self.message
    }
}

/// Which match of which league a file is about.
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

impl MatchFile {
    /// A match that a referee has taken.
    pub fn new(occasion: MatchContext, now: Timestamp) -> Self {
        let state = SmolStr::new_static(MatchPhase::WaitingForPlayers.as_str());
        Self {
            schema_version: schema_version(),
            match_id: occasion.match_id,
            league_id: occasion.league_id,
            round_id: occasion.round_id,
            game_type: occasion.game_type,
            attempt: occasion.attempt,
            player_a_id: occasion.players.a,
            player_b_id: occasion.players.b,
            referee_id: occasion.referee_id,
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

    /// The file of a match as the manager knows it from its report, without a transcript.
    pub fn of_report(
        season: &Season,
        referee: &RefereeId,
        (match_id, attempt): (&MatchId, u32),
        record: &MatchRecord,
        account: Account,
        (created, ended): (Timestamp, Timestamp),
    ) -> Option<Self> {
        let (config, players) = (season.config(), season.contestants(match_id)?.map(|player| player.id.clone()));
        let reason = record.reason(&config.game_type, players.as_ref().map(PlayerId::as_str)).map(SmolStr::new);
        let context = MatchContext {
            league_id: config.league_id.clone(),
            round_id: match_id.parts()?.0,
            match_id: match_id.clone(),
            attempt,
            game_type: config.game_type.clone(),
            players,
            referee_id: referee.clone(),
        };
        let mut file = Self::new(context, created);
        file.finish(record, &config.scoring.match_points(), reason, ended);
        file.explain(account);
        Some(file)
    }

    /// Adds what the referee told about how it came to the result.
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

    /// The transcript as it is hashed and sent: a JSON list without blanks.
    pub fn transcript_bytes(&self) -> Vec<u8> {
        // Texts and raw JSON can always be written.
        serde_json::to_vec(&self.transcript).unwrap_or_default()
    }

    /// Takes the longest messages out of a transcript that is longer than the limit, and says so in their place.
    pub fn shorten_transcript(&mut self) {
        let length = |said: &TranscriptEntry| said.message.get().len();
        // What surrounds a message takes less than this.
        let fits = |said: &[TranscriptEntry]| said.iter().map(|one| length(one) + 512).sum::<usize>() <= MAX_TRANSCRIPT;
        while !fits(&self.transcript) {
            let Some(longest) = self.transcript.iter_mut().max_by_key(|said| length(said)) else { return };
            if length(longest) <= LEFT_OUT {
                self.transcript.pop();
                continue;
            }
            let note = format!("left out: a message of {} bytes", longest.message.get().len());
            longest.message = redact_raw(note.as_bytes());
        }
    }
}

/// Messages up to this length are not worth leaving out.
const LEFT_OUT: usize = 256;

impl MatchFile {
    /// The match has ended like this. `reason` is for people.
    pub fn finish(&mut self, record: &MatchRecord, worth: &MatchPoints, reason: Option<SmolStr>, now: Timestamp) {
        let players = Pair::new(&self.player_a_id, &self.player_b_id);
        let (result, draw) = (record.reported(players, worth, reason), record.draw_proof(players, self.attempt));
        self.lifecycle.state = SmolStr::new_static(MatchPhase::Finished.as_str());
        self.lifecycle.finished = Some(now);
        self.last_updated = now;
        (self.result, self.draw) = (Some(result), draw);
    }
}

/// What a file says of the end of its match, reduced to what can be compared: half a million of them fit into memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileEnding {
    pub(crate) attempt: u32,
    /// Of result and proof, as much of it as tells two apart; the reason is for people, and not part of it. Nothing when the match has
    /// not ended.
    digest: Option<[u8; 16]>,
    /// Of the transcript, where the file has one and says which digest it should have.
    transcript: Transcript,
}

/// What is known of the transcript in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transcript {
    Missing,
    /// There is one, and its digest was not computed because the file names none.
    Unsigned,
    Hashed(TranscriptDigest),
}

impl FileEnding {
    /// What `file` says.
    pub(crate) fn of(file: &MatchFile) -> Self {
        let digest = file.result.as_ref().map(|result| {
            let (mut result, mut draw) = (result.clone(), file.draw.clone());
            result.details.reason = None;
            // The members of an object have no order, and tools that touch the file may give them another.
            sort(&mut result.score);
            result.details.choices = std::mem::take(&mut result.details.choices).received();
            sort(&mut result.details.choices);
            draw.iter_mut().for_each(|draw| sort(&mut draw.nonces));
            let text = serde_json::to_vec(&(result, draw)).unwrap_or_default();
            let digest: [u8; 32] = Sha256::digest(&text).into();
            std::array::from_fn(|place| digest[place])
        });
        let transcript = match (file.transcript.is_empty(), file.transcript_sha256) {
            (true, _) => Transcript::Missing,
            (false, None) => Transcript::Unsigned,
            (false, Some(_)) => Transcript::Hashed(TranscriptDigest::of(&file.transcript_bytes())),
        };
        Self { attempt: file.attempt, digest, transcript }
    }

    pub(crate) fn is_told(&self) -> bool {
        self.digest.is_some()
    }

    /// Whether both tell of the same end of the same attempt, whatever they have of a transcript.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        (self.attempt, self.digest) == (other.attempt, other.digest)
    }

    /// What it has of the transcript.
    pub(crate) fn transcript(&self) -> Transcript {
        self.transcript
    }
}

fn sort<T>(entries: &mut ByPlayer<T>) {
    entries.0.sort_by(|(one, _), (other, _)| one.cmp(other));
}
