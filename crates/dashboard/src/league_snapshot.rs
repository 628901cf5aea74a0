//! The league up to an event, as the pages show it: the season, and results and events that the season does not keep.
//!
//! The dashboard has a season of its own, so that it never blocks the league.

use std::collections::{HashMap, VecDeque};

use league_core::record::MatchRecord;
use league_core::rules::outcome::Outcome;
use league_core::season::event::{Event, Fact};
use league_core::season::{BadEvent, Season};
use league_protocol::id::{MatchId, PlayerId, RoundId};
use league_protocol::problem::Problem;
use league_protocol::side::{Pair, Side};
use league_protocol::time::Timestamp;
use smol_str::SmolStr;

/// How many events are told of on the first page.
const NEWS: usize = 30;
/// How many different moves are kept apart. Even/Odd has two.
const WORDS: usize = 250;

/// A match that was played, in sixteen bytes but for its moves: a league of a thousand has half a million.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Played {
    pub(crate) seq: u64,
    pub(crate) outcome: Outcome,
    /// The number, where one was drawn.
    pub(crate) drawn: Option<u8>,
    /// The moves, by their place among the words; none is the last.
    moves: Pair<u8>,
}

/// The league up to an event.
#[derive(Clone, Debug)]
pub struct LeagueSnapshot {
    season: Season,
    seq: u64,
    opened: Timestamp,
    last: Timestamp,
    rounds: Vec<Vec<Option<Played>>>,
    words: Vec<SmolStr>,
    news: VecDeque<(u64, Event)>,
    /// What each player did wrong in the last matches that it lost without a game.
    problems: HashMap<PlayerId, VecDeque<(MatchId, Problem)>>,
}

/// How many problems of a player are kept.
const PROBLEMS: usize = 20;

impl LeagueSnapshot {
    /// The league after the first event of its log.
    pub fn begin(first: &Event) -> Result<Self, BadEvent> {
        let season = Season::replay([first])?;
        Ok(Self {
            season,
            seq: 1,
            opened: first.at,
            last: first.at,
            rounds: Vec::new(),
            words: Vec::new(),
            news: VecDeque::from([(1, first.clone())]),
            problems: HashMap::new(),
        })
    }

    /// Applies the next event.
    pub(crate) fn apply(&mut self, event: &Event) -> Result<(), BadEvent> {
        self.season.apply(event)?;
        self.observe(event);
        Ok(())
    }

    /// Notes what the season does not keep.
    fn observe(&mut self, event: &Event) {
        self.seq += 1;
        self.last = event.at;
        if let Some((match_id, outcome)) = event.fact.ending()
            && let Some((round, number)) = match_id.parts()
        {
            // Nothing was chosen or drawn where nobody played.
            let record = if let Fact::MatchReported { record, .. } = &event.fact { Some(record) } else { None };
            let moves = Pair::from_fn(|side| self.word(record.and_then(|record| record.moves[side].as_ref())));
            let played = Played { seq: self.seq, outcome, drawn: record.and_then(|record| record.drawn), moves };
            let (round, number) = (round.0 as usize, number as usize);
            if self.rounds.len() < round {
                self.rounds.resize(round, Vec::new());
            }
            let matches = &mut self.rounds[round - 1];
            if matches.len() < number {
                matches.resize(number, None);
            }
            matches[number - 1] = Some(played);
        }
        if let Fact::MatchExplained { match_id, account, .. } = &event.fact {
            for (player, problem) in &account.problems.0 {
                let known = self.problems.entry(player.clone()).or_default();
                if known.len() == PROBLEMS {
                    known.pop_front();
                }
                known.push_back((match_id.clone(), problem.clone().without_address()));
            }
        }
        // Who runs what is seen where it is run, and would drown everything else.
        if !matches!(event.fact, Fact::MatchAssigned { .. } | Fact::MatchExplained { .. }) {
            if self.news.len() == NEWS {
                self.news.pop_front();
            }
            self.news.push_back((self.seq, event.clone()));
        }
    }

    /// The place of a move among the words.
    fn word(&mut self, said: Option<&SmolStr>) -> u8 {
        let Some(said) = said else { return u8::MAX };
        let place = self.words.iter().position(|word| word == said).unwrap_or_else(|| {
            if self.words.len() < WORDS {
                self.words.push(said.clone());
            }
            self.words.len() - 1
        });
        u8::try_from(place).unwrap_or(u8::MAX)
    }

    pub fn season(&self) -> &Season {
        &self.season
    }

    /// The number of the last event.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    pub(crate) fn opened(&self) -> Timestamp {
        self.opened
    }

    pub(crate) fn last(&self) -> Timestamp {
        self.last
    }

    /// What happened lately, the latest first.
    pub(crate) fn news(&self) -> impl Iterator<Item = &(u64, Event)> {
        self.news.iter().rev()
    }

    /// A match, once it has been played.
    pub(crate) fn played(&self, match_id: &MatchId) -> Option<&Played> {
        let (round, number) = match_id.parts()?;
        self.played_in(round.0, number)
    }

    fn played_in(&self, round: u32, number: u32) -> Option<&Played> {
        let matches = self.rounds.get((round as usize).checked_sub(1)?)?;
        matches.get((number as usize).checked_sub(1)?)?.as_ref()
    }

    /// What a player did wrong in matches that it lost without a game: each problem once, with its last matches, the latest first.
    pub(crate) fn problems(&self, player: &PlayerId) -> Vec<(&Problem, Vec<&MatchId>)> {
        let mut found: Vec<(&Problem, Vec<&MatchId>)> = Vec::new();
        for (match_id, problem) in self.problems.get(player).into_iter().flatten().rev() {
            match found.iter_mut().find(|(known, _)| *known == problem) {
                Some((_, matches)) => matches.push(match_id),
                None => found.push((problem, vec![match_id])),
            }
        }
        found
    }

    /// Whether a player has played, and never made a legal move.
    pub(crate) fn never_moved(&self, place: u32) -> bool {
        let mut played =
            self.course(place).filter_map(|meeting| meeting.game.and_then(|game| Some((game.played?, game.side))));
        let mut any = false;
        let none = played.all(|(played, side)| {
            any = true;
            Mark::of(played.outcome, side) == Mark::Forfeit && self.choice(played, side).is_none()
        });
        any && none
    }

    pub(crate) fn choice(&self, played: &Played, side: Side) -> Option<&SmolStr> {
        self.words.get(usize::from(played.moves[side]))
    }

    /// How many matches ended in which way, in the order of [`ENDINGS`].
    pub(crate) fn endings(&self) -> [u64; ENDINGS.len()] {
        let mut counts = [0; ENDINGS.len()];
        for played in self.rounds.iter().flatten().flatten() {
            counts[ending(played.outcome)] += 1;
        }
        counts
    }

    /// The matches of the player in this place of the schedule, round by round; a round without one is its bye.
    pub(crate) fn course(&self, player: u32) -> impl Iterator<Item = RoundOfPlayer<'_>> {
        let schedule = *self.season.schedule();
        (1..=schedule.rounds()).map(move |round| {
            let game = schedule.opponent(round, player).and_then(|opponent| {
                let (_, number) = schedule.meeting(player, opponent)?;
                let sides = schedule.pairing(round, number)?;
                let side = if sides.a == player { Side::A } else { Side::B };
                let played = self.played_in(round, number);
                Some(Game { match_id: MatchId::of(RoundId(round), number), opponent, side, played })
            });
            RoundOfPlayer { round, game }
        })
    }

    /// The last results of a player, the latest last, at most `count`.
    pub(crate) fn form(&self, player: u32, count: usize) -> Vec<Mark> {
        let schedule = self.season.schedule();
        let last = u32::try_from(self.rounds.len()).unwrap_or(u32::MAX);
        let marks = (1..=last).rev().filter_map(|round| {
            let opponent = schedule.opponent(round, player)?;
            let (_, number) = schedule.meeting(player, opponent)?;
            let side = if schedule.pairing(round, number)?.a == player { Side::A } else { Side::B };
            Some(Mark::of(self.played_in(round, number)?.outcome, side))
        });
        let mut marks: Vec<Mark> = marks.take(count).collect();
        marks.reverse();
        marks
    }

    /// The points of a player after each round that has begun.
    pub(crate) fn points(&self, player: u32) -> Vec<u32> {
        let worth = self.season.config().scoring.match_points();
        let mut sum = 0_u32;
        let begun = self.season.current_round().map_or(0, |round| round.0);
        self.course(player)
            .take(begun as usize)
            .map(|meeting| {
                if let Some(game) = meeting.game
                    && let Some(played) = game.played
                {
                    sum = sum.saturating_add(played.outcome.points(&worth)[game.side]);
                }
                sum
            })
            .collect()
    }
}

/// Collects what the pages show beside the season, while a log is replayed.
#[derive(Debug, Default)]
pub struct SnapshotBuilder(Option<LeagueSnapshot>);

impl SnapshotBuilder {
    pub fn observe(&mut self, event: &Event) {
        match &mut self.0 {
            Some(snapshot) => snapshot.observe(event),
            // An event that opens no league ends the replay.
            none @ None => *none = LeagueSnapshot::begin(event).ok(),
        }
    }

    /// The snapshot with the season that the replay led to; `None` when there was no event.
    pub fn finish(self, season: Season) -> Option<LeagueSnapshot> {
        self.0.map(|snapshot| LeagueSnapshot { season, ..snapshot })
    }
}

/// The record of a match that nobody played.
pub(crate) fn unplayed(outcome: Outcome) -> MatchRecord {
    MatchRecord { outcome, moves: Pair::new(None, None), course: Vec::new(), drawn: None, proof: None }
}

/// What a round is to a player.
#[derive(Clone, Debug)]
pub(crate) struct RoundOfPlayer<'a> {
    pub(crate) round: u32,
    /// Its match; none is a bye.
    pub(crate) game: Option<Game<'a>>,
}

/// A match, from the side of one player.
#[derive(Clone, Debug)]
pub(crate) struct Game<'a> {
    pub(crate) match_id: MatchId,
    /// Against whom, by its place in the schedule.
    pub(crate) opponent: u32,
    pub(crate) side: Side,
    /// How it was, once it is over.
    pub(crate) played: Option<&'a Played>,
}

/// What a match was to one of its players.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    Win,
    Draw,
    Loss,
    Forfeit,
}

impl Mark {
    /// What `outcome` is to `side`.
    pub(crate) fn of(outcome: Outcome, side: Side) -> Self {
        match outcome {
            Outcome::Win(winner) if winner == side => Self::Win,
            Outcome::Win(_) => Self::Loss,
            Outcome::Draw => Self::Draw,
            Outcome::Forfeit(loser) if loser == side => Self::Forfeit,
            Outcome::Forfeit(_) => Self::Win,
            Outcome::DoubleForfeit => Self::Forfeit,
        }
    }

    pub(crate) fn letter(self) -> &'static str {
        match self {
            Self::Win => "W",
            Self::Draw => "D",
            Self::Loss => "L",
            Self::Forfeit => "F",
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Draw => "draw",
            Self::Loss => "loss",
            Self::Forfeit => "technical loss",
        }
    }
}

/// The ways in which a match ends, as programs read them.
pub(crate) const ENDINGS: [&str; 4] = ["win", "draw", "technical_loss", "double_technical_loss"];

/// The place of an outcome in [`ENDINGS`].
pub(crate) fn ending(outcome: Outcome) -> usize {
    match outcome {
        Outcome::Win(_) => 0,
        Outcome::Draw => 1,
        Outcome::Forfeit(_) => 2,
        Outcome::DoubleForfeit => 3,
    }
}
