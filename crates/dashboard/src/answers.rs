//! Answer times, from match files and from the reports of referees.

use league_protocol::id::PlayerId;
use league_store::views::match_file::{CallReceipt, Direction, MatchFile};

use crate::league_snapshot::LeagueSnapshot;

#[derive(Clone, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) player: &'a str,
    /// That of the answer, or of the question when no answer arrived.
    pub(crate) message_type: &'a str,
    pub(crate) receipt: CallReceipt,
    pub(crate) arrived: bool,
    /// The place of the answer in the transcript, or that of the question.
    pub(crate) entry: usize,
}

pub(crate) fn answers(file: &MatchFile) -> impl Iterator<Item = Answer<'_>> {
    file.transcript.iter().enumerate().filter_map(|(place, entry)| {
        let (player, arrived) = match entry.direction {
            Direction::Sent => (&entry.to, false),
            Direction::Received => (&entry.from, true),
        };
        entry.receipt.map(|receipt| Answer {
            player,
            message_type: &entry.message_type,
            receipt,
            arrived,
            entry: place,
        })
    })
}

/// In milliseconds; `None` without answers.
pub(crate) fn median(files: &[MatchFile], player: &str) -> Option<u64> {
    let answers = files.iter().flat_map(answers).filter(|answer| answer.player == player);
    let mut times: Vec<u64> = answers.filter_map(|answer| answer.receipt.last_byte_ms).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// One answer against its limit, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TimedAnswer {
    pub(crate) took: u64,
    pub(crate) limit: u64,
}

impl TimedAnswer {
    pub(crate) fn percent(self) -> u64 {
        self.took.saturating_mul(100) / self.limit.max(1)
    }

    /// Half of the limit leaves little for a slow network.
    pub(crate) fn is_slow(self) -> bool {
        self.percent() >= 50
    }
}

/// The joins and the last moves of the last matches; referees report no other times.
pub(crate) fn reported(snapshot: &LeagueSnapshot, player: &PlayerId) -> Vec<TimedAnswer> {
    let limits = &snapshot.season().config().limits;
    let timed = |took: Option<u64>, limit: f64| Some(TimedAnswer { took: took?, limit: (limit * 1000.0) as u64 });
    let answers = snapshot.times(player).flat_map(|times| {
        [timed(times.join_ms, limits.game_join_ack_timeout_sec), timed(times.move_ms, limits.move_timeout_sec)]
    });
    answers.flatten().collect()
}

/// The answer that took most of its limit.
pub(crate) fn slowest(answers: &[TimedAnswer]) -> Option<TimedAnswer> {
    answers.iter().copied().max_by_key(|answer| answer.percent())
}

/// In milliseconds; `None` without answers.
pub(crate) fn middle(answers: &[TimedAnswer]) -> Option<u64> {
    let mut times: Vec<u64> = answers.iter().map(|answer| answer.took).collect();
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
