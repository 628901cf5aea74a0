//! A whole league in memory: the season and every match, with players that choose a random legal move at once. It needs no agents
//! and no sockets.
//!
//! It measures the cost of the rules alone, and previews a league before the operator starts agents.

use league_protocol::draw::DrawNonce;
use league_protocol::error::RequestError;
use league_protocol::id::{GameType, MatchId, PlayerId};
use league_protocol::message::registration::{AgentMeta, LeagueRegisterRequest, PASS_SCHEME, RefereeRegisterRequest};
use league_protocol::message::start_match::Backoff;
use league_protocol::quirk::Quirks;
use league_protocol::side::{Pair, Side};
use league_protocol::time::Timestamp;
use smol_str::{SmolStr, format_smolstr};
use thiserror::Error;

use crate::game_match::MatchMachine;
use crate::game_match::effect::Effect;
use crate::game_match::input::{Input, ReportDelivery};
use crate::game_match::terms::{AnswerLimits, DriveMode, MatchTerms};
use crate::record::MatchRecord;
use crate::rules::game::Game;
use crate::rules::registry::new_game;
use crate::rules::seed::Seed;
use crate::season::config::LeagueConfig;
use crate::season::event::Event;
use crate::season::{Assignment, BadEvent, CommandOutcome, DrawSource, NextAction, Registered, Season};

#[derive(Debug, Error)]
pub enum InMemoryLeagueError {
    #[error(transparent)]
    Refused(#[from] RequestError),
    #[error("not let in: {0}")]
    Rejected(String),
    #[error(transparent)]
    Event(#[from] BadEvent),
    #[error("{0} has not ended")]
    Endless(MatchId),
}

/// A move that a player of a league in memory owes.
#[derive(Clone, Copy, Debug)]
pub struct InMemoryTurn<'a> {
    pub match_machine: &'a MatchMachine,
    pub side: Side,
    pub players: Pair<&'a PlayerId>,
}

/// The players of a league in memory.
pub trait InMemoryPlayers {
    fn choose(&mut self, turn: InMemoryTurn<'_>) -> SmolStr;

    /// The match is over.
    fn end(&mut self, _match_machine: &MatchMachine, _players: Pair<&PlayerId>) {}
}

/// Each chooses a random legal move, by the seed.
#[derive(Debug)]
struct RandomPlayers(Seed);

impl InMemoryPlayers for RandomPlayers {
    fn choose(&mut self, InMemoryTurn { match_machine, side, players }: InMemoryTurn<'_>) -> SmolStr {
        let game = match_machine.game();
        let (view, legal) = (game.view(side), game.legal_moves(side));
        // The same view may come again in a later game of the match.
        let view = match game.number() {
            1 => view,
            number => format_smolstr!("game {number} {view}"),
        };
        let picked = self.0.pick(&match_machine.terms().match_id, players[side], &view, legal.len());
        legal.get(picked).cloned().unwrap_or_default()
    }
}

#[derive(Debug)]
pub struct InMemoryLeague {
    season: Season,
    seed: Seed,
    now: Timestamp,
    effects: Vec<Effect>,
    kept: Option<Vec<Event>>,
}

impl InMemoryLeague {
    /// One referee runs all matches at once. The seed decides every move and draw.
    pub fn new(
        config: LeagueConfig,
        players: &[SmolStr],
        seed: Seed,
        now: Timestamp,
    ) -> Result<Self, InMemoryLeagueError> {
        Self::open(config, players, seed, now, None)
    }

    /// Like `new`, but keeps all events for [`InMemoryLeague::take_events`].
    pub fn kept(
        config: LeagueConfig,
        players: &[SmolStr],
        seed: Seed,
        now: Timestamp,
    ) -> Result<Self, InMemoryLeagueError> {
        Self::open(config, players, seed, now, Some(Vec::new()))
    }

    fn open(
        config: LeagueConfig,
        players: &[SmolStr],
        seed: Seed,
        now: Timestamp,
        mut kept: Option<Vec<Event>>,
    ) -> Result<Self, InMemoryLeagueError> {
        let game = config.game_type.clone();
        let config = LeagueConfig { max_referee_capacity: u32::MAX, ..config }.with_lots(seed.lot_secret());
        let (season, opened) = Season::open(config, now);
        if let Some(kept) = &mut kept {
            kept.push(opened);
        }
        let mut in_memory_league = Self { season, seed, now, effects: Vec::new(), kept };
        let referee = RefereeRegisterRequest {
            referee_meta: meta(SmolStr::new_static("Referee"), 0, &game, Some(u32::MAX)),
            referee_id: None,
            join_key: None,
            draw_commitments: Vec::new(),
            quirks: Quirks::default(),
        };
        let registered = in_memory_league.season.register_referee(&referee, None, &[0; 32], now)?;
        in_memory_league.admit(registered)?;
        for (name, number) in players.iter().zip(1..) {
            let player = LeagueRegisterRequest {
                player_meta: meta(name.clone(), number, &game, None),
                player_id: None,
                join_key: None,
                quirks: Quirks::default(),
            };
            let registered = in_memory_league.season.register_player(&player, None, &[0; 32], now)?;
            in_memory_league.admit(registered)?;
        }
        let started = in_memory_league.season.start(now)?;
        in_memory_league.enact(&started.events)?;
        Ok(in_memory_league)
    }

    /// Returns false when no round is left.
    pub fn play_round(&mut self) -> Result<bool, InMemoryLeagueError> {
        let mut players = RandomPlayers(self.seed.clone());
        self.play_round_with(&mut players)
    }

    /// Like `play_round`, with these players.
    pub fn play_round_with(&mut self, players: &mut dyn InMemoryPlayers) -> Result<bool, InMemoryLeagueError> {
        match self.season.next_action() {
            NextAction::StartRound(_) => {
                let started = self.season.start_round(self.now)?;
                self.enact(&started.events)?;
            }
            NextAction::Play(_) => {}
            NextAction::AwaitRegistrations | NextAction::AwaitStart | NextAction::Conclude => return Ok(false),
        }
        let assigned = self.season.assign(DrawSource::Seed(&self.seed), self.now);
        self.enact(&assigned.events)?;
        for assignment in assigned.reply {
            let record = self.play(&assignment, players)?;
            let Assignment { match_id, attempt, referee } = &assignment;
            let counted = self.season.report(referee, match_id, Some(*attempt), record, self.now)?;
            self.enact(&counted.events)?;
        }
        Ok(true)
    }

    pub fn season(&self) -> &Season {
        &self.season
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.kept.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// A rejected registration is an error: the league would lack an agent.
    fn admit(&mut self, ruling: CommandOutcome<Registered>) -> Result<(), InMemoryLeagueError> {
        match ruling.reply {
            Registered::Admitted(_) => self.enact(&ruling.events),
            Registered::Rejected(rejection) => Err(InMemoryLeagueError::Rejected(rejection.reason)),
        }
    }

    fn enact(&mut self, events: &[Event]) -> Result<(), InMemoryLeagueError> {
        events.iter().try_for_each(|event| self.season.apply(event))?;
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(events);
        }
        Ok(())
    }

    fn play(
        &mut self,
        assignment: &Assignment,
        own: &mut dyn InMemoryPlayers,
    ) -> Result<MatchRecord, InMemoryLeagueError> {
        let match_id = &assignment.match_id;
        let endless = || InMemoryLeagueError::Endless(match_id.clone());
        let players = self.season.contestants(match_id).ok_or_else(endless)?.map(|player| &player.id);
        let game = new_game(&self.season.config().game_type).ok_or_else(endless)?;
        let terms = MatchTerms {
            match_id: match_id.clone(),
            attempt: assignment.attempt,
            secret: self.seed.secret(match_id),
            seeded: true,
            manager_nonce: DrawNonce::default(),
            games: self.season.config().games_per_match,
            salt: [0; 32],
            tries: Pair::new(1, 1),
            limits: AnswerLimits { to_join: NO_TIME, to_move: NO_TIME, to_acknowledge: NO_TIME },
            base_delay: NO_TIME,
            backoff: Backoff::default(),
            mode: DriveMode::Flowing,
        };
        let mut match_machine = MatchMachine::new(terms, game);
        let effects = &mut self.effects;
        effects.clear();
        match_machine.handle(Input::Start, effects);
        while let Some(effect) = effects.pop() {
            let answer = match effect {
                // The seed already decides the draw, so a nonce would add nothing.
                Effect::Invite { side, call, .. } => {
                    Input::Joined { side, call: Some(call), nonce: DrawNonce::default(), signature: None }
                }
                Effect::AskMove { side, call, .. } => {
                    let text = own.choose(InMemoryTurn { match_machine: &match_machine, side, players });
                    Input::Moved { side, call: Some(call), text, signature: None }
                }
                Effect::Pause { side, call, .. } => Input::PauseOver { side, call },
                Effect::SendGameOver { side, call, .. } => Input::GameOverSent { side, call },
                Effect::Report => Input::Reported(ReportDelivery::Accepted),
                Effect::SendError { .. } => continue,
            };
            match_machine.handle(answer, effects);
        }
        own.end(&match_machine, players);
        match_machine.ending().map(|ending| MatchRecord::of(&match_machine, ending)).ok_or_else(endless)
    }
}

const NO_TIME: std::time::Duration = std::time::Duration::ZERO;

fn meta(display_name: SmolStr, number: u32, game: &GameType, max_concurrent_matches: Option<u32>) -> AgentMeta {
    AgentMeta {
        display_name,
        version: SmolStr::new_static("1.0.0"),
        protocol_version: None,
        game_types: vec![game.clone()],
        contact_endpoint: format_smolstr!("http://rehearsal/{number}").to_string(),
        max_concurrent_matches,
        pass_scheme: Some(SmolStr::new_static(PASS_SCHEME)),
        accepts_batches: false,
        signs_moves: false,
        pulls: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::registry::all_games;
    use crate::season::LeaguePhase;
    use crate::season::event::Fact;
    use league_protocol::message::standings::StandingsRow;

    fn names(count: u32) -> Vec<SmolStr> {
        (1..=count).map(|number| format_smolstr!("Agent {number}")).collect()
    }

    fn played(game_type: &GameType, players: u32, number: u64) -> (Season, Vec<Event>, u32) {
        played_games(game_type, 1, players, number)
    }

    fn played_games(game_type: &GameType, games: u32, players: u32, number: u64) -> (Season, Vec<Event>, u32) {
        let config =
            LeagueConfig { game_type: game_type.clone(), ..LeagueConfig::even_odd("rehearsal".parse().unwrap()) };
        let config = config.with_games(Some(games));
        let seed = Seed::new(number, config.league_id.clone());
        let mut league = InMemoryLeague::kept(config, &names(players), seed, Timestamp::EPOCH).unwrap();
        let mut rounds = 0;
        while league.play_round().unwrap() {
            rounds += 1;
        }
        assert!(!league.play_round().unwrap(), "a league that is over stays over");
        (league.season().clone(), league.take_events(), rounds)
    }

    fn standings(players: u32, number: u64) -> Vec<StandingsRow> {
        played(&GameType::even_odd(), players, number).0.standings()
    }

    #[test]
    fn a_league_of_every_game_is_played_to_its_champion_and_its_points_add_up() {
        let sizes = [(2, 1, 1), (3, 3, 3), (4, 3, 6), (5, 5, 10), (10, 9, 45)];
        let leagues = all_games().into_iter().flat_map(|game| sizes.map(|size| (game.clone(), size)));
        for (game, (players, rounds, matches)) in leagues {
            let (season, events, taken) = played(&game, players, 1);
            assert_eq!(
                (season.phase(), taken, season.matches_completed()),
                (LeaguePhase::LeagueCompleted, rounds, matches)
            );
            let table = season.standings();
            assert!(table.iter().all(|row| row.played == players - 1), "each player meets every other once");
            let champion = season.champion().unwrap();
            assert_eq!((&champion.player_id, champion.points), (&table[0].player_id, table[0].points));
            // A game of scores is ranked by the mean score, and in a round robin all have played as often.
            let place = |row: &StandingsRow| (row.score, row.points);
            assert!(table.windows(2).all(|rows| place(&rows[0]) >= place(&rows[1])), "{game}");
            assert_eq!(table[0].score.is_some(), game.as_str() == "prisoners_dilemma", "{game}");
            let given: u32 = table.iter().map(|row| row.points).sum();
            let draws: u32 = table.iter().map(|row| row.draws).sum::<u32>() / 2;
            assert_eq!(given, 3 * (matches - draws) + 2 * draws);
            let events: Vec<Event> = serde_json::from_str(&serde_json::to_string(&events).unwrap()).unwrap();
            assert_eq!(Season::replay(&events).unwrap(), season);
        }
    }

    #[test]
    fn every_draw_of_a_league_can_be_proved_from_its_log() {
        let game = GameType::even_odd();
        let (_, events, _) = played(&game, 5, 1);
        let mut proved = 0;
        for event in events {
            if let Fact::MatchReported { match_id, attempt, record, .. } = event.fact {
                assert!(record.proof.is_some());
                assert_eq!(record.check(&game, &match_id, attempt), Ok(()));
                proved += 1;
            }
        }
        assert_eq!(proved, 10);
    }

    #[test]
    fn matches_of_several_games_are_proved_and_replayed() {
        for game in all_games() {
            let (season, events, _) = played_games(&game, 4, 3, 1);
            let events: Vec<Event> = serde_json::from_str(&serde_json::to_string(&events).unwrap()).unwrap();
            assert_eq!(Season::replay(&events).unwrap(), season, "{game}");
            let mut numbers = Vec::new();
            for event in events {
                let Fact::MatchReported { match_id, attempt, record, .. } = event.fact else { continue };
                assert_eq!(record.check(&game, &match_id, attempt), Ok(()), "{game}");
                let played = record.replay(&game, (&match_id, attempt), |_, _, _| {}).unwrap();
                let ends = played.ends();
                assert_eq!(ends.iter().map(|end| end.number).collect::<Vec<_>>(), [1, 2, 3, 4], "{game}");
                assert_eq!(ends.iter().map(|end| end.moves).sum::<usize>(), record.course.len());
                let score =
                    ends.iter().fold(Pair::new(0, 0), |sum, end| Pair::from_fn(|side| sum[side] + end.score[side]));
                assert_eq!(Some(score), record.score, "{game}: the score of the match is the sum");
                numbers.extend(ends.iter().filter_map(|end| end.drawn));
            }
            assert_eq!(numbers.len(), if game == GameType::even_odd() { 12 } else { 0 });
            assert!(numbers.is_empty() || numbers.iter().any(|number| *number != numbers[0]));
        }
    }

    #[test]
    fn the_seed_decides_the_standings() {
        for players in [4, 5] {
            assert_eq!(standings(players, 7), standings(players, 7));
            assert!((8..12).any(|number| standings(players, number) != standings(players, 7)));
        }
    }

    fn refused(config: LeagueConfig, players: &[SmolStr]) -> InMemoryLeagueError {
        let seed = Seed::new(1, config.league_id.clone());
        InMemoryLeague::new(config, players, seed, Timestamp::EPOCH).map(drop).unwrap_err()
    }

    #[test]
    fn an_in_memory_league_needs_enough_players() {
        let config = LeagueConfig::even_odd("rehearsal".parse().unwrap());
        let twice = ["Agent", "Agent", "Other"].map(SmolStr::new);
        assert!(matches!(refused(config.clone(), &twice), InMemoryLeagueError::Rejected(_)));
        let small = LeagueConfig { max_players: 2, ..config.clone() };
        assert!(refused(small, &names(3)).to_string().contains("full"));
        assert!(matches!(refused(config, &names(1)), InMemoryLeagueError::Refused(_)));
    }
}
