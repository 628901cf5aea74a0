//! How long answers took, out of the files of matches.

use league_store::views::match_file::{CallReceipt, Direction, MatchFile};

#[derive(Clone, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) player: &'a str,
    /// For what: the type of the answer, or of the question that got none.
    pub(crate) what: &'a str,
    pub(crate) receipt: CallReceipt,
    pub(crate) came: bool,
}

/// Every call of a match that has a receipt, in order.
pub(crate) fn of(file: &MatchFile) -> impl Iterator<Item = Answer<'_>> {
    file.transcript.iter().filter_map(|said| {
        let (player, came) = match said.direction {
            Direction::Sent => (&said.to, false),
            Direction::Received => (&said.from, true),
        };
        said.receipt.map(|receipt| Answer { player, what: &said.message_type, receipt, came })
    })
}

/// The middle of what a player's answers took, in milliseconds; nothing without answers.
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

/// Up to which part of its limit an answer took, and what that is called.
const PARTS: [(f64, &str); 6] =
    [(0.01, "≤1%"), (0.1, "≤10%"), (0.25, "≤25%"), (0.5, "≤50%"), (1.0, "≤100%"), (f64::INFINITY, "late")];

/// How often a player's answers of a kind took which part of their limit.
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
