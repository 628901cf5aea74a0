//! Doubtful answers that wait for the end of their call.

use league_core::game_match::refusal::PostRefusal;
use league_store::views::match_file::TranscriptEntry;

use crate::posted_answer::{Answer, PostedAnswer};

/// Answers that were posted without a valid token while a call is open. Those that echo the player's conversation id
/// rank above all others: only the player and the referee know it.
#[derive(Debug, Default)]
pub(crate) struct HeldAnswers {
    echoing: Rank,
    other: Rank,
    refused: Option<PostRefusal>,
}

#[derive(Debug, Default)]
struct Rank {
    first: Option<PostedAnswer>,
    is_contradicted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HoldOutcome {
    First,
    Repeated,
    Contradicted,
}

#[derive(Debug)]
pub(crate) enum SettledAnswer {
    Answer(Box<PostedAnswer>),
    Contradiction,
}

impl HeldAnswers {
    pub(crate) fn hold(&mut self, posted: PostedAnswer, echoes: bool) -> HoldOutcome {
        let rank = if echoes { &mut self.echoing } else { &mut self.other };
        let Some(first) = &rank.first else {
            rank.first = Some(posted);
            return HoldOutcome::First;
        };
        if same(&first.answer, &posted.answer) {
            return HoldOutcome::Repeated;
        }
        rank.is_contradicted = true;
        HoldOutcome::Contradicted
    }

    pub(crate) fn refuse(&mut self, refusal: PostRefusal) {
        self.refused = Some(refusal);
    }

    pub(crate) fn refused(&self) -> Option<PostRefusal> {
        self.refused
    }

    pub(crate) fn has_echoing(&self) -> bool {
        self.echoing.first.is_some()
    }

    pub(crate) fn has_any(&self) -> bool {
        self.has_echoing() || self.other.first.is_some()
    }

    /// An estimate: any client can post from another address.
    pub(crate) fn shows_understanding(&self) -> bool {
        self.has_any() || matches!(self.refused, Some(PostRefusal::WrongToken | PostRefusal::NoToken))
    }

    /// The answer that counts after the call has ended without one.
    pub(crate) fn settle(&mut self) -> Option<SettledAnswer> {
        let rank = if self.has_echoing() { &mut self.echoing } else { &mut self.other };
        if rank.is_contradicted {
            return Some(SettledAnswer::Contradiction);
        }
        rank.first.take().map(|posted| SettledAnswer::Answer(Box::new(posted)))
    }

    /// The posts that did not count, for the transcript.
    pub(crate) fn left_over(&mut self) -> Vec<TranscriptEntry> {
        let mut left = Vec::new();
        for rank in [&mut self.echoing, &mut self.other] {
            let why = if rank.is_contradicted { "another posted answer differs" } else { "another answer counts" };
            left.extend(rank.first.take().map(|posted| posted.said.refused(why)));
        }
        left
    }
}

/// Ignores the nonce.
fn same(one: &Answer, other: &Answer) -> bool {
    match (one, other) {
        (Answer::Joined(_), Answer::Joined(_)) | (Answer::Declined, Answer::Declined) => true,
        (Answer::Moved(one), Answer::Moved(other)) => one == other,
        (Answer::Joined(_) | Answer::Declined | Answer::Moved(_), _) => false,
    }
}
