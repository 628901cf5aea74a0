//! The league as the pages show it: the season and further details.
//!
//! A snapshot applies the same events as the manager's season. The copy keeps the dashboard from blocking the league.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use league_core::record::MatchRecord;
use league_core::rules::outcome::Outcome;
use league_core::season::event::{Event, Fact};
use league_core::season::{BadEvent, Fixture, LeaguePhase, Season};
use league_protocol::id::{MatchId, PlayerId, RoundId};
use league_protocol::message::game_over::OwnResult;
use league_protocol::message::report::AnswerTimes;
use league_protocol::message::start_match::DoubleForfeit;
use league_protocol::problem::Problem;
use league_protocol::side::Side;
use league_protocol::time::Timestamp;

use crate::rank_history::RankHistory;

const NEWS: usize = 30;
const PROBLEMS: usize = 20;
const TIMES: usize = 8;

/// The number of the event, and a summary of the result.
type CountedResult = (u64, Arc<MatchRecord>);

#[derive(Clone, Debug)]
pub struct LeagueSnapshot {
    season: Season,
    seq: u64,
    opened: Timestamp,
    last: Timestamp,
    /// By round and match. 16 bytes each, so 8 MB for a round robin of 1,000 players.
    results: Vec<Vec<Option<CountedResult>>>,
    /// Each summary once: half a million matches of Even/Odd have a few hundred different ones.
    summaries: HashSet<Arc<MatchRecord>>,
    news: VecDeque<(u64, Event)>,
    /// From the last matches that each player forfeited.
    problems: HashMap<PlayerId, VecDeque<(MatchId, Problem)>>,
    /// From the last matches of each player.
    times: HashMap<PlayerId, VecDeque<AnswerTimes>>,
    ranks: RankHistory,
}

impl LeagueSnapshot {
    pub fn begin(first: &Event) -> Result<Self, BadEvent> {
        let season = Season::replay([first])?;
        Ok(Self {
            season,
            seq: 1,
            opened: first.at,
            last: first.at,
            results: Vec::new(),
            summaries: HashSet::new(),
            news: VecDeque::from([(1, first.clone())]),
            problems: HashMap::new(),
            times: HashMap::new(),
            ranks: RankHistory::default(),
        })
    }

    pub(crate) fn apply(&mut self, event: &Event) -> Result<(), BadEvent> {
        self.season.apply(event)?;
        if matches!(event.fact, Fact::RoundCompleted { .. }) {
            self.ranks.complete(self.seq + 1, &self.season);
        }
        self.observe(event.clone());
        Ok(())
    }

    fn observe(&mut self, event: Event) {
        self.seq += 1;
        self.last = event.at;
        if let Fact::RoundStarted { pairings, .. } = &event.fact {
            self.results.push(vec![None; pairings.len()]);
        } else if event.fact == Fact::RegistrationReopened {
            self.results.clear();
            self.ranks = RankHistory::default();
        } else if let Some((match_id, record)) = event.fact.result()
            && let Some((round, number)) = match_id.parts()
        {
            let summary = self.shared(record);
            let round = self.results.get_mut((round.0 as usize).wrapping_sub(1));
            if let Some(result) = round.and_then(|round| round.get_mut((number as usize).wrapping_sub(1))) {
                *result = Some((self.seq, summary));
            }
        } else if let Fact::MatchExplained { match_id, account, .. } = &event.fact {
            for (player, problem) in &account.problems.0 {
                let known = self.problems.entry(player.clone()).or_default();
                if known.len() == PROBLEMS {
                    known.pop_front();
                }
                known.push_back((match_id.clone(), problem.clone().without_address()));
            }
            for (player, times) in &account.times.0 {
                let known = self.times.entry(player.clone()).or_default();
                if known.len() == TIMES {
                    known.pop_front();
                }
                known.push_back(*times);
            }
        }
        // Two in three events are assignments, and the current round shows them anyway.
        if !matches!(event.fact, Fact::MatchAssigned { .. } | Fact::MatchExplained { .. }) {
            if self.news.len() == NEWS {
                self.news.pop_front();
            }
            self.news.push_back((self.seq, event));
        }
    }

    fn shared(&mut self, summary: MatchRecord) -> Arc<MatchRecord> {
        if let Some(known) = self.summaries.get(&summary) {
            return Arc::clone(known);
        }
        let new = Arc::new(summary);
        self.summaries.insert(Arc::clone(&new));
        new
    }

    pub fn season(&self) -> &Season {
        &self.season
    }

    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    pub(crate) fn opened(&self) -> Timestamp {
        self.opened
    }

    pub(crate) fn last(&self) -> Timestamp {
        self.last
    }

    /// The latest event first.
    pub(crate) fn news(&self) -> impl Iterator<Item = &(u64, Event)> {
        self.news.iter().rev()
    }

    fn result(&self, match_id: &MatchId) -> Option<&CountedResult> {
        let (round, number) = match_id.parts()?;
        let round = self.results.get((round.0 as usize).checked_sub(1)?)?;
        round.get((number as usize).checked_sub(1)?)?.as_ref()
    }

    /// Without the proof, which is in the log.
    pub(crate) fn record(&self, match_id: &MatchId) -> Option<&MatchRecord> {
        self.result(match_id).map(|(_, record)| record.as_ref())
    }

    pub(crate) fn event_of(&self, match_id: &MatchId) -> Option<u64> {
        self.result(match_id).map(|(seq, _)| *seq)
    }

    /// Each problem once, with its last matches, the latest first.
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

    /// Of its last matches, the latest last; empty when no referee reported any.
    pub(crate) fn times(&self, player: &PlayerId) -> impl Iterator<Item = &AnswerTimes> {
        self.times.get(player).into_iter().flatten()
    }

    pub(crate) fn ranks(&self) -> &RankHistory {
        &self.ranks
    }

    pub(crate) fn endings(&self) -> [(&'static str, usize); 4] {
        let outcomes = [Outcome::Win(Side::A), Outcome::Draw, Outcome::Forfeit(Side::A), Outcome::DoubleForfeit];
        outcomes.map(|outcome| {
            let results = self.results.iter().flatten().flatten();
            (outcome.as_str(), results.filter(|(_, record)| record.outcome.as_str() == outcome.as_str()).count())
        })
    }

    /// `None` while registration is open.
    pub(crate) fn place(&self, player: &PlayerId) -> Option<u32> {
        self.season.place_of(player).filter(|_| self.season.phase() != LeaguePhase::WaitingForRegistrations)
    }

    /// `None` when the player has a bye.
    pub(crate) fn match_of(&self, place: u32, round: u32) -> Option<PlayerMatch<'_>> {
        let fixture = self.season.fixture(place, RoundId(round))?;
        Some(PlayerMatch { record: self.record(&fixture.match_id), fixture })
    }

    pub(crate) fn played(&self, place: u32) -> impl DoubleEndedIterator<Item = (Fixture, &MatchRecord)> {
        (1..=self.season.round_number().0).filter_map(move |round| {
            let PlayerMatch { fixture, record } = self.match_of(place, round)?;
            Some((fixture, record?))
        })
    }

    /// False for a player without results.
    pub(crate) fn never_moved(&self, place: u32) -> bool {
        let mut played = self.played(place).peekable();
        played.peek().is_some()
            && played
                .all(|(fixture, record)| record.outcome.forfeited(fixture.side) && record.moves[fixture.side].is_none())
    }

    /// The latest result last, at most `count`.
    pub(crate) fn form(&self, place: u32, count: usize) -> Vec<OwnResult> {
        let played = self.played(place).rev().take(count);
        let mut results: Vec<OwnResult> = played.map(|(fixture, record)| own_result(record, fixture.side)).collect();
        results.reverse();
        results
    }

    pub(crate) fn points(&self, place: u32) -> Vec<u32> {
        let mut sum = 0_u32;
        let rounds = (1..=self.season.round_number().0).map(|round| {
            sum = sum.saturating_add(self.gained(place, round));
            sum
        });
        rounds.collect()
    }

    /// The points that a player got in one round, with those of a bye.
    pub(crate) fn gained(&self, place: u32, round: u32) -> u32 {
        let worth = self.season.config().scoring.match_points();
        let played = match self.match_of(place, round) {
            Some(PlayerMatch { fixture, record: Some(record) }) => record.outcome.points(&worth)[fixture.side],
            Some(_) | None => 0,
        };
        played.saturating_add(self.season.bye_points(place, RoundId(round)).unwrap_or(0))
    }
}

#[derive(Clone, Debug, Default)]
pub struct SnapshotBuilder(Option<LeagueSnapshot>);

impl SnapshotBuilder {
    /// `season` is the state after the event.
    pub fn observe(&mut self, season: &Season, event: Event) {
        match &mut self.0 {
            Some(snapshot) => {
                if matches!(event.fact, Fact::RoundCompleted { .. }) {
                    snapshot.ranks.complete(snapshot.seq + 1, season);
                }
                snapshot.observe(event);
            }
            // The replay fails on a log whose first event opens no league.
            none @ None => *none = LeagueSnapshot::begin(&event).ok(),
        }
    }

    pub fn finish(self, season: Season) -> Option<LeagueSnapshot> {
        self.0.map(|snapshot| LeagueSnapshot { season, ..snapshot })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct PlayerMatch<'a> {
    pub(crate) fixture: Fixture,
    pub(crate) record: Option<&'a MatchRecord>,
}

/// Pages show a double forfeit as such, whatever it counts as.
pub(crate) fn own_result(record: &MatchRecord, side: Side) -> OwnResult {
    record.outcome.own_result(side, DoubleForfeit::TechnicalLoss)
}

pub(crate) fn shown(result: OwnResult) -> (&'static str, &'static str) {
    match result {
        OwnResult::Win => ("W", "win"),
        OwnResult::Draw => ("D", "draw"),
        OwnResult::Loss => ("L", "loss"),
        OwnResult::TechnicalLoss => ("F", "technical loss"),
    }
}

#[cfg(test)]
mod tests {
    use league_core::season::config::LeagueConfig;
    use league_core::season::{CommandOutcome, DrawSource, NextAction};
    use league_protocol::side::Pair;
    use smol_str::format_smolstr;

    use super::*;

    fn enact<T>(league: &mut LeagueSnapshot, outcome: CommandOutcome<T>) -> T {
        outcome.events.iter().for_each(|event| league.apply(event).unwrap());
        outcome.reply
    }

    #[test]
    fn every_move_is_shown_as_it_was_made_however_many_different_ones_there_are() {
        let now = "2025-01-15T10:30:00Z".parse().unwrap();
        let (_, opening) = Season::open(LeagueConfig::even_odd("league".parse().unwrap()), now);
        let mut league = LeagueSnapshot::begin(&opening).unwrap();
        let meta = |name: String| {
            serde_json::json!({ "display_name": name, "version": "1", "game_types": ["even_odd"],
                "contact_endpoint": format!("http://localhost:8101/{name}"), "max_concurrent_matches": 64 })
        };
        let referee = serde_json::from_value(serde_json::json!({ "referee_meta": meta("r".into()) })).unwrap();
        let registered = league.season.register_referee(&referee, None, &[0; 32], now).unwrap();
        enact(&mut league, registered);
        for number in 0..17 {
            let player = serde_json::json!({ "player_meta": meta(format!("p{number}")) });
            let player = serde_json::from_value(player).unwrap();
            let registered = league.season.register_player(&player, None, &[0; 32], now).unwrap();
            enact(&mut league, registered);
        }
        let started = league.season.start(now).unwrap();
        enact(&mut league, started);
        let mut made = Vec::new();
        while league.season.next_action() != NextAction::Conclude {
            if matches!(league.season.next_action(), NextAction::StartRound(_)) {
                let next = league.season.start_round(now).unwrap();
                enact(&mut league, next);
            }
            let assigned = league.season.assign(DrawSource::Random(&[7; 32]), now);
            for held in enact(&mut league, assigned) {
                let moves = Pair::from_fn(|side| Some(format_smolstr!("move {} {side:?}", made.len())));
                let record = MatchRecord { moves, ..MatchRecord::unplayed(Outcome::Draw) };
                made.push((held.match_id.clone(), record.clone()));
                let counted = league.season.report(&held.referee, &held.match_id, None, record, now).unwrap();
                enact(&mut league, counted);
            }
        }
        assert_eq!(made.len(), 136, "272 different moves");
        for (match_id, record) in &made {
            assert_eq!(league.record(match_id), Some(record));
        }
    }
}
