//! Answer times, read from match files.

use league_store::views::match_file::{CallReceipt, Direction, MatchFile};

#[derive(Clone, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) player: &'a str,
    /// That of the answer, or of the question when no answer arrived.
    pub(crate) message_type: &'a str,
    pub(crate) receipt: CallReceipt,
    pub(crate) arrived: bool,
}

pub(crate) fn answers(file: &MatchFile) -> impl Iterator<Item = Answer<'_>> {
    file.transcript.iter().filter_map(|entry| {
        let (player, arrived) = match entry.direction {
            Direction::Sent => (&entry.to, false),
            Direction::Received => (&entry.from, true),
        };
        entry.receipt.map(|receipt| Answer { player, message_type: &entry.message_type, receipt, arrived })
    })
}

/// In milliseconds; `None` without answers.
pub(crate) fn median(files: &[MatchFile], player: &str) -> Option<u64> {
    let answers = files.iter().flat_map(answers).filter(|answer| answer.player == player);
    let mut times: Vec<u64> = answers.filter_map(|answer| answer.receipt.last_byte_ms).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// Upper bounds of the histogram, as fractions of the limit.
const BARS: [(f64, &str); 6] =
    [(0.01, "≤1%"), (0.1, "≤10%"), (0.25, "≤25%"), (0.5, "≤50%"), (1.0, "≤100%"), (f64::INFINITY, "late")];

pub(crate) fn histogram(files: &[MatchFile], player: &str, message_types: &[&str]) -> [(&'static str, usize); 6] {
    let mut bars = BARS.map(|(_, name)| (name, 0));
    let wanted = |answer: &Answer<'_>| answer.player == player && message_types.contains(&answer.message_type);
    for answer in files.iter().flat_map(answers).filter(wanted) {
        let fraction = match answer.receipt.last_byte_ms {
            Some(took) if answer.arrived => took as f64 / answer.receipt.limit_ms.max(1) as f64,
            Some(_) | None => f64::INFINITY,
        };
        if let Some(bar) = BARS.iter().position(|(bound, _)| fraction <= *bound) {
            bars[bar].1 += 1;
        }
    }
    bars
}
