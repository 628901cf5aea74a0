//! Compares match files with the results in the log.

use std::collections::HashMap;
use std::io;

use league_core::season::Season;
use league_protocol::id::{LeagueId, MatchId, RefereeId, RoundId};
use serde_json::Value;

use super::difference::Findings;
use crate::home::Home;
use crate::views::find_match::find_match;
use crate::views::match_digest::{MatchAgreement, MatchDigest};
use crate::views::match_file::MatchFile;
use crate::views::match_index::MatchIndex;
use crate::views::match_replay::{MatchReplay, ReplayedMatch};

/// What players are told about the end of a match, which the season does not keep. A move is reduced to its hash.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToldResult {
    pub(super) drawn: Option<u8>,
    pub(super) moves: [Option<u64>; 2],
    /// A player may remember an attempt that did not count.
    pub(super) is_first_attempt: bool,
}

#[derive(Debug)]
pub(super) struct MatchCheck<'a> {
    home: &'a Home,
    league: &'a LeagueId,
    index: MatchIndex,
    in_play: bool,
    pub(super) told: HashMap<(RoundId, u32), ToldResult>,
    pub(super) agreeing: u64,
    pub(super) transcripts: u64,
    pub(super) transcripts_missing: u64,
}

impl<'a> MatchCheck<'a> {
    pub(super) fn read(home: &'a Home, league: &'a LeagueId, in_play: bool) -> io::Result<Self> {
        let (index, told) = (MatchIndex::of(home, league)?, HashMap::new());
        Ok(Self { home, league, index, in_play, told, agreeing: 0, transcripts: 0, transcripts_missing: 0 })
    }

    /// Called with each result.
    pub(super) fn see(&mut self, replayed: &ReplayedMatch, findings: &mut Findings) {
        let match_id = &replayed.from_log.match_id;
        if let Some(place) = match_id.parts() {
            self.told.insert(place, told(replayed));
        }
        let Some(found) = self.index.take(match_id) else {
            let own = self.home.match_file(self.league, match_id);
            // The index lists a file that cannot be read.
            if self.index.damaged.contains(&own) {
            } else if self.in_play {
                findings.stale(&own, "it is not written yet");
            } else {
                findings.differs(&own, &match_id.to_string(), "missing", "the match that the log gives");
            }
            return;
        };
        let path = self.home.stored_match(self.league, match_id);
        match found.compare(replayed) {
            MatchAgreement::Whole => {
                self.agreeing += 1;
                self.transcripts += u64::from(replayed.from_log.transcript_sha256.is_some());
            }
            MatchAgreement::WithoutTranscript => {
                self.agreeing += 1;
                self.transcripts_missing += 1;
                findings.stale(&path, format!("the transcript of {match_id} has not arrived, or is lost"));
            }
            MatchAgreement::BeforeReport => {
                findings.stale(&path, format!("the result of {match_id} is not in it yet"));
            }
            MatchAgreement::OtherTranscript => self.compare_transcripts(&found, replayed, findings),
            MatchAgreement::OtherFields if self.is_of_earlier_attempt(&found, replayed) => {
                let (found, counted) = (found.attempt, replayed.from_log.attempt);
                findings.stale(&path, format!("{match_id} is of attempt {found}, and attempt {counted} counted"));
            }
            MatchAgreement::OtherFields | MatchAgreement::OtherBytes => {
                self.name_difference(&found, replayed, findings);
                self.compare_transcripts(&found, replayed, findings);
            }
        }
    }

    fn compare_transcripts(&self, found: &MatchDigest, replayed: &ReplayedMatch, findings: &mut Findings) {
        let (reported, match_id) = (replayed.from_log.transcript_sha256, &replayed.from_log.match_id);
        let Some(found) = found.transcript_digest().filter(|found| Some(*found) != reported) else { return };
        let expected = reported.map_or_else(|| String::from("none"), |digest| format!("SHA-256 {digest}"));
        let path = self.home.stored_match(self.league, match_id);
        findings.differs(&path, &format!("the transcript of {match_id}"), format!("SHA-256 {found}"), expected);
    }

    /// A referee writes its match file before it reports. If its report comes too late, the file remains.
    fn is_of_earlier_attempt(&self, found: &MatchDigest, replayed: &ReplayedMatch) -> bool {
        let expected = &replayed.from_log;
        let is_sound = |file: &MatchFile, referee: &RefereeId| {
            let names = |file: &MatchFile| (file.player_a_id.clone(), file.player_b_id.clone(), file.round_id);
            file.referee_id == *referee && names(file) == names(expected) && file.game_type == expected.game_type
        };
        let Some((_, referee)) = replayed.earlier.iter().find(|(attempt, _)| *attempt == found.attempt) else {
            return false;
        };
        self.stored(&expected.match_id)
            .and_then(|text| serde_json::from_str::<MatchFile>(&text).ok())
            .is_some_and(|file| is_sound(&file, referee))
    }

    fn stored(&self, match_id: &MatchId) -> Option<String> {
        find_match(self.home, self.league, match_id).ok().flatten()
    }

    fn name_difference(&self, found: &MatchDigest, replayed: &ReplayedMatch, findings: &mut Findings) {
        let expected = replayed.file(found.last_entry());
        let match_id = &expected.match_id;
        let path = self.home.stored_match(self.league, match_id);
        let text = self.stored(match_id).unwrap_or_default();
        let Ok(mut parsed) = serde_json::from_str::<Value>(&text) else {
            return findings.unreadable(&path, &"it is not JSON");
        };
        let mut expected = serde_json::to_value(&expected).unwrap_or_default();
        // The digests of the transcripts are equal, or another finding says what else is wrong.
        for document in [&mut parsed, &mut expected] {
            if let Some(members) = document.as_object_mut() {
                members.remove("transcript");
            }
        }
        findings.compare(&path, parsed.to_string().as_bytes(), expected.to_string().as_bytes());
    }

    /// Reports files that cannot be read, and files of matches without a result. A referee writes the file of its match
    /// before it reports.
    pub(super) fn finish(&self, replay: &MatchReplay, last: &Season, findings: &mut Findings) {
        for path in &self.index.damaged {
            findings.differs(path, "the file", "damaged, or no match file", "what the log gives");
        }
        for (match_id, found) in self.index.remaining() {
            let is_assigned = replay.attempts(&match_id).iter().any(|(attempt, _)| *attempt == found.attempt);
            if !is_assigned {
                let path = self.home.stored_match(self.league, &match_id);
                let known = if last.outcome(&match_id).is_some() { "a match without play" } else { "no such match" };
                findings.differs(&path, match_id.as_str(), format!("attempt {}", found.attempt), known);
            }
        }
    }
}

fn told(replayed: &ReplayedMatch) -> ToldResult {
    let file = &replayed.from_log;
    let details = file.result.as_ref().map(|result| &result.details);
    let chosen = |player| details.and_then(|details| details.choices.get(player)?.as_deref()).map(hash);
    ToldResult {
        drawn: details.and_then(|details| details.drawn_number),
        moves: [chosen(&file.player_a_id), chosen(&file.player_b_id)],
        is_first_attempt: replayed.earlier.is_empty(),
    }
}

pub(super) fn hash(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
