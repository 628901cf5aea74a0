//! MATCH_TRANSCRIPT: the JSON list of a match file, without whitespace, in parts, before the report, which contains its SHA-256.

use std::fmt;
use std::str::FromStr;

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use smol_str::SmolStr;
use thiserror::Error;

use crate::id::{LeagueId, MatchId};
use crate::lenient;
use crate::seal::digest;
use crate::text::parsed;

/// In bytes.
pub const MAX_TRANSCRIPT: usize = 4 * 1024 * 1024;

/// In bytes. As Base64 with its envelope a part fits into a message of 64 KiB.
pub const PART: usize = 45 * 1024;

pub const MAX_PARTS: u32 = MAX_TRANSCRIPT.div_ceil(PART) as u32;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected 64 hexadecimal digits")]
pub struct NotADigest;

/// The SHA-256 of a transcript.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(into = "String")]
#[schemars(with = "String")]
pub struct TranscriptDigest(pub [u8; 32]);

impl TranscriptDigest {
    pub fn of(transcript: &[u8]) -> Self {
        Self(digest(transcript))
    }
}

impl FromStr for TranscriptDigest {
    type Err = NotADigest;
    fn from_str(text: &str) -> Result<Self, NotADigest> {
        if text.len() != 64 {
            return Err(NotADigest);
        }
        let mut bytes = [0; 32];
        HEXLOWER_PERMISSIVE.decode_mut(text.as_bytes(), &mut bytes).map_err(|_| NotADigest)?;
        Ok(Self(bytes))
    }
}

impl<'de> Deserialize<'de> for TranscriptDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed(deserializer)
    }
}

impl From<TranscriptDigest> for String {
    fn from(digest: TranscriptDigest) -> Self {
        HEXLOWER_PERMISSIVE.encode(&digest.0)
    }
}

impl fmt::Display for TranscriptDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER_PERMISSIVE.encode(&self.0))
    }
}

impl fmt::Debug for TranscriptDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One part of a transcript.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MatchTranscript {
    /// The league.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The match.
    pub match_id: MatchId,
    /// The attempt at it that was reported.
    pub attempt: u32,
    /// The SHA-256 of the whole transcript, as in the report.
    pub sha256: TranscriptDigest,
    /// Which part this is, from 1.
    pub part: u32,
    /// How many parts there are.
    pub parts: u32,
    /// The bytes of this part in Base64.
    pub data: String,
}

impl MatchTranscript {
    pub fn parts_of<'a>(
        league_id: Option<&'a LeagueId>,
        match_id: &'a MatchId,
        attempt: u32,
        transcript: &'a [u8],
    ) -> impl Iterator<Item = Self> + 'a {
        let sha256 = TranscriptDigest::of(transcript);
        let parts = u32::try_from(transcript.len().div_ceil(PART)).unwrap_or(u32::MAX);
        transcript.chunks(PART).zip(1..).map(move |(bytes, part)| Self {
            league_id: league_id.cloned(),
            match_id: match_id.clone(),
            attempt,
            sha256,
            part,
            parts,
            data: BASE64.encode(bytes),
        })
    }

    /// `None` if this is not Base64 or too long.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        BASE64.decode(self.data.as_bytes()).ok().filter(|bytes| bytes.len() <= PART)
    }
}

/// The manager has this part, and perhaps all of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptAck {
    /// `ACCEPTED`.
    pub status: SmolStr,
    /// The match.
    pub match_id: MatchId,
    /// How many parts the manager has, from the first on.
    pub received: u32,
    /// Whether the whole transcript is on the manager's disk.
    pub complete: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::MAX_BODY;

    #[test]
    fn parts_make_up_the_transcript_and_each_fits_into_a_message() {
        let match_id: MatchId = "R1M1".parse().unwrap();
        let whole: Vec<u8> = (0..PART * 2 + 7).map(|place| (place % 251) as u8).collect();
        let parts: Vec<_> = MatchTranscript::parts_of(None, &match_id, 1, &whole).collect();
        assert_eq!(parts.iter().map(|part| (part.part, part.parts)).collect::<Vec<_>>(), [(1, 3), (2, 3), (3, 3)]);
        let joined: Vec<u8> = parts.iter().flat_map(|part| part.bytes().unwrap()).collect();
        assert_eq!(joined, whole);
        assert_eq!(parts[0].sha256, TranscriptDigest::of(&whole));
        assert!(parts.iter().all(|part| serde_json::to_vec(part).unwrap().len() + 1024 < MAX_BODY));
        let text = parts[0].sha256.to_string();
        assert_eq!(text.parse::<TranscriptDigest>().unwrap(), parts[0].sha256);
        "12".parse::<TranscriptDigest>().unwrap_err();
    }
}
