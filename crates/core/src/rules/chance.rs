//! Provable chance for any game: numbers and shuffles from one stream of words for each game of a match.
//!
//! The stream follows from what binds a [`Draw`], the number of the game and a counter. So a verifier that has
//! the proof of a match computes every number and every card again. PROTOCOL.md section 8 has the bytes.

use std::fmt;

use league_protocol::seal::seal;
use smol_str::SmolStr;

use super::draw::{Draw, sealed_attempt};
use super::game::DrawnNumber;

/// Distinguishes the blocks of the stream from the seal of a draw.
const TAG: &[u8] = b"chance";

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChanceRequest {
    /// A number from 0 to this one, all equally likely.
    UpTo(u32),
    /// An order of this many cards, all equally likely.
    Shuffle(u8),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ChanceOutcome {
    Number(u32),
    /// The cards from 0, the first one first.
    Order(Vec<u8>),
}

impl ChanceRequest {
    /// Every outcome, for requests with few of them.
    pub fn outcomes(self) -> Vec<ChanceOutcome> {
        match self {
            Self::UpTo(most) => (0..=most).map(ChanceOutcome::Number).collect(),
            Self::Shuffle(cards) => {
                orders(&(0..cards).collect::<Vec<_>>()).into_iter().map(ChanceOutcome::Order).collect()
            }
        }
    }
}

fn orders(cards: &[u8]) -> Vec<Vec<u8>> {
    if cards.is_empty() {
        return vec![Vec::new()];
    }
    let starting_with = |first: u8| {
        let rest: Vec<u8> = cards.iter().copied().filter(|card| *card != first).collect();
        orders(&rest).into_iter().map(move |order| [vec![first], order].concat())
    };
    cards.iter().flat_map(|first| starting_with(*first)).collect()
}

impl fmt::Display for ChanceOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Order(cards) => {
                let cards: Vec<SmolStr> = cards.iter().map(|card| smol_str::format_smolstr!("{card}")).collect();
                f.write_str(&cards.join(" "))
            }
        }
    }
}

/// The chance of one game of a match.
#[derive(Clone)]
pub struct ChanceStream {
    draw: Draw,
    /// From one.
    game: u32,
    /// The next block.
    counter: u32,
    words: std::vec::IntoIter<u32>,
}

/// Hides the words, which decide what comes next, from logs.
impl fmt::Debug for ChanceStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chance of game {}:…", self.game)
    }
}

impl ChanceStream {
    pub fn new(draw: Draw, game: u32) -> Self {
        Self { draw, game, counter: 0, words: Vec::new().into_iter() }
    }

    pub fn answer(&mut self, request: ChanceRequest) -> ChanceOutcome {
        match request {
            ChanceRequest::UpTo(most) => ChanceOutcome::Number(self.up_to(most)),
            ChanceRequest::Shuffle(cards) => ChanceOutcome::Order(self.shuffle(cards)),
        }
    }

    /// Skips the words above the last multiple of the range, which would make small numbers more likely.
    pub fn up_to(&mut self, most: u32) -> u32 {
        let range = u64::from(most) + 1;
        let fair = (1 << 32) / range * range;
        loop {
            let word = u64::from(self.word());
            if word < fair {
                // A remainder of a number of 33 bits at most fits.
                return u32::try_from(word % range).unwrap_or(most);
            }
        }
    }

    /// The number of a game after the first. `None` never happens: all ten numbers are drawn numbers.
    pub(super) fn drawn_number(&mut self) -> Option<DrawnNumber> {
        u8::try_from(1 + self.up_to(9)).ok().and_then(DrawnNumber::new)
    }

    fn shuffle(&mut self, cards: u8) -> Vec<u8> {
        let mut order: Vec<u8> = (0..cards).collect();
        for last in (1..cards).rev() {
            let other = self.up_to(u32::from(last));
            order.swap(usize::from(last), other as usize);
        }
        order
    }

    fn word(&mut self) -> u32 {
        loop {
            if let Some(word) = self.words.next() {
                return word;
            }
            let block = self.block();
            let (words, _) = block.as_chunks::<4>();
            self.words = words.iter().map(|bytes| u32::from_be_bytes(*bytes)).collect::<Vec<_>>().into_iter();
        }
    }

    fn block(&mut self) -> [u8; 32] {
        let Draw { secret, match_id, attempt, nonces, seeded } = &self.draw;
        let counter = self.counter;
        self.counter = self.counter.wrapping_add(1);
        seal(
            &secret.0,
            &[
                TAG,
                match_id.as_str().as_bytes(),
                &sealed_attempt(*attempt, *seeded).to_be_bytes(),
                nonces.a.as_bytes(),
                nonces.b.as_bytes(),
                &self.game.to_be_bytes(),
                &counter.to_be_bytes(),
            ],
        )
    }
}
