//! Answer times, read from match files.

use league_store::views::match_file::{CallReceipt, Direction, MatchFile};

#[derive(Clone, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) player: &'a str,
    /// The message type of the answer, or of the question when no answer came.
    pub(crate) what: &'a str,
    pub(crate) receipt: CallReceipt,
    pub(crate) came: bool,
}

pub(crate) fn of(file: &MatchFile) -> impl Iterator<Item = Answer<'_>> {
    file.transcript.iter().filter_map(|said| {
        let (player, came) = match said.direction {
            Direction::Sent => (&said.to, false),
            Direction::Received => (&said.from, true),
        };
        said.receipt.map(|receipt| Answer { player, what: &said.message_type, receipt, came })
    })
}

/// In milliseconds; `None` without answers.
pub(crate) fn median(files: &[MatchFile], player: &str) -> Option<u64> {
    let mut times: Vec<u64> = files
        .iter()
        .flat_map(of)
        .filter(|answer| answer.player == player)
        .filter_map(|answer| answer.receipt.last_byte_ms)
        .collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// Upper bounds of the histogram, as fractions of the limit.
const PARTS: [(f64, &str); 6] =
    [(0.01, "≤1%"), (0.1, "≤10%"), (0.25, "≤25%"), (0.5, "≤50%"), (1.0, "≤100%"), (f64::INFINITY, "late")];

pub(crate) fn spread(files: &[MatchFile], player: &str, what: &[&str]) -> Vec<(String, usize)> {
    let mut bars: Vec<(String, usize)> = PARTS.iter().map(|(_, name)| ((*name).to_owned(), 0)).collect();
    for answer in files.iter().flat_map(of) {
        if answer.player != player || !what.contains(&answer.what) {
            continue;
        }
        let part = match answer.receipt.last_byte_ms {
            Some(took) if answer.came => took as f64 / answer.receipt.limit_ms.max(1) as f64,
            Some(_) | None => f64::INFINITY,
        };
        if let Some(place) = PARTS.iter().position(|(most, _)| part <= *most) {
            bars[place].1 += 1;
        }
    }
    bars
}
