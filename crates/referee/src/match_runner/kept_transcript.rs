//! The transcript of a match while it is played. Of a long match of several games the beginning and the end are kept.

use std::collections::VecDeque;

use league_protocol::id::RefereeId;
use league_store::views::match_file::TranscriptEntry;
use smol_str::SmolStr;

/// In bytes; together with the note between them less than a transcript may have.
const BEGINNING: usize = 1024 * 1024;
const END: usize = 2 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct KeptTranscript {
    beginning: Vec<TranscriptEntry>,
    beginning_size: usize,
    end: VecDeque<TranscriptEntry>,
    end_size: usize,
    left_out: usize,
}

impl KeptTranscript {
    pub(super) fn extend(&mut self, entries: impl IntoIterator<Item = TranscriptEntry>) {
        for entry in entries {
            let size = entry.size();
            if self.end.is_empty() && self.beginning_size + size <= BEGINNING {
                self.beginning_size += size;
                self.beginning.push(entry);
                continue;
            }
            self.end_size += size;
            self.end.push_back(entry);
            while self.end_size > END
                && let Some(oldest) = self.end.pop_front()
            {
                self.end_size -= oldest.size();
                self.left_out += 1;
            }
        }
    }

    /// The newest first.
    pub(super) fn newest(&self) -> impl Iterator<Item = &TranscriptEntry> {
        self.end.iter().rev().chain(self.beginning.iter().rev())
    }

    pub(super) fn into_entries(self, referee: &RefereeId) -> Vec<TranscriptEntry> {
        let mut entries = self.beginning;
        if let Some(next) = self.end.front().filter(|_| self.left_out > 0) {
            entries.push(TranscriptEntry::left_out(self.left_out, next.at, SmolStr::new(referee.as_str())));
        }
        entries.extend(self.end);
        entries
    }
}

#[cfg(test)]
mod tests {
    use league_protocol::message::transcript::MAX_TRANSCRIPT;
    use league_protocol::time::Timestamp;
    use league_store::views::match_file::Direction;

    use super::*;

    fn entry(number: usize) -> TranscriptEntry {
        let (there, what) = (("REF01".into(), "P01".into()), SmolStr::new_static("GAME_MOVE_CALL"));
        let body = format!("[{number}, \"{}\"]", "x".repeat(2000));
        TranscriptEntry::new(Timestamp::EPOCH, Direction::Sent, there, what, body.as_bytes(), None)
    }

    #[test]
    fn the_beginning_and_the_end_of_a_long_match_are_kept() {
        for (count, kept) in [(0, 0), (300, 300), (1000, 1000), (20_000, 1246)] {
            let mut transcript = KeptTranscript::default();
            transcript.extend((0..count).map(entry));
            let last = transcript.newest().next().map(|entry| entry.message().get().to_owned());
            assert_eq!(last, count.checked_sub(1).map(|last| entry(last).message().get().to_owned()));
            let entries = transcript.into_entries(&"REF01".parse().unwrap());
            let notes = entries.iter().filter(|entry| entry.is_note()).count();
            assert_eq!((entries.len() - notes, notes), (kept, usize::from(kept < count)), "{count} messages");
            assert!(serde_json::to_vec(&entries).unwrap().len() < MAX_TRANSCRIPT);
        }
    }
}
