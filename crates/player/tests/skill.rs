//! Better strategies finish above worse ones, in leagues in memory with matches of several games.
//!
//! Two strategies of rock, paper, scissors are told apart only by third ones: against a uniform player every strategy wins half of
//! the matches. So three players have each strategy, and the mean points of the strategies are compared.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail, and so may what helps it")]

use std::collections::HashMap;
use std::sync::Arc;

use league_core::game_match::MatchMachine;
use league_core::in_memory::{InMemoryLeague, InMemoryPlayers, InMemoryTurn};
use league_core::rules::game::Game;
use league_core::rules::seed::Seed;
use league_core::season::config::LeagueConfig;
use league_core::session::{DrawCheck, History, MoveRequest, PlayedMatch};
use league_player::chance::Chance;
use league_player::memory::Memory;
use league_player::strategy::registry::strategy;
use league_player::strategy::{Decision, Strategy};
use league_protocol::id::{GameType, PlayerId};
use league_protocol::message::finished_game::FinishedGame;
use league_protocol::message::game_over::OwnResult;
use league_protocol::message::standings::PlayerRecord;
use league_protocol::side::{Pair, Side};
use league_protocol::signature::MoveTurn;
use league_protocol::table::Method;
use league_protocol::time::Timestamp;
use smol_str::{SmolStr, format_smolstr};

const SEEDS: u64 = 20;
const GAMES: u32 = 50;

struct Strategists {
    game: GameType,
    strategies: Vec<Arc<dyn Strategy>>,
    seed: Seed,
    histories: HashMap<PlayerId, Vec<PlayedMatch>>,
    memories: HashMap<PlayerId, Memory>,
    finished: Pair<Arc<Vec<FinishedGame>>>,
}

impl Strategists {
    fn memory(&mut self, player: &PlayerId) -> &Memory {
        let (histories, seed) = (&self.histories, &self.seed);
        self.memories.entry(player.clone()).or_insert_with(|| {
            let matches = histories.get(player).map(Vec::as_slice).unwrap_or_default();
            let history: History = serde_json::from_value(serde_json::to_value(matches).unwrap()).unwrap();
            let chance = Chance::Seeded(seed.clone());
            Memory { player: player.clone(), history: Arc::new(history), standings: Arc::default(), chance }
        })
    }

    /// Takes the games that ended since the last move of `side`.
    fn learn(&mut self, match_machine: &MatchMachine, side: Side) {
        let known = self.finished[side].last().map_or(0, |game| game.game_number);
        if match_machine.game().ends().last().is_none_or(|end| end.number == known) {
            return;
        }
        let new = match_machine.finished_games(side).into_iter().filter(|game| game.game_number > known);
        Arc::make_mut(&mut self.finished[side]).extend(new);
    }
}

impl InMemoryPlayers for Strategists {
    fn choose(&mut self, InMemoryTurn { match_machine, side, players }: InMemoryTurn<'_>) -> SmolStr {
        self.learn(match_machine, side);
        let game = match_machine.game();
        let request = MoveRequest {
            method: Method::MakeMove,
            match_id: match_machine.terms().match_id.clone(),
            round: None,
            game: self.game.clone(),
            opponent: Some(players[side.other()].clone()),
            record: PlayerRecord::default(),
            view: game.view(side),
            legal_moves: game.legal_moves(side),
            deadline: None,
            answered: None,
            attempt: Some(1),
            turn: Some(MoveTurn { attempt: 1, game: game.number(), turn: match_machine.turn(side) }),
            games_per_match: game.games().get(),
            finished_games: Arc::clone(&self.finished[side]),
        };
        let place = players[side].number().unwrap() as usize - 1;
        let strategy = Arc::clone(&self.strategies[place % self.strategies.len()]);
        match strategy.choose(&request, self.memory(players[side])) {
            Decision::Move(text) => text,
            Decision::Ask(_) => panic!("{} asks a model", strategy.name()),
            #[cfg(feature = "test-strategies")]
            Decision::Misbehave(_) => panic!("{} misbehaves", strategy.name()),
        }
    }

    fn end(&mut self, match_machine: &MatchMachine, players: Pair<&PlayerId>) {
        for side in Side::BOTH {
            self.learn(match_machine, side);
            // The strategies look at no more than this of a match.
            let games = std::mem::take(&mut self.finished[side]);
            let games = games[games.len().saturating_sub(5)..].to_vec();
            let played = PlayedMatch {
                league_id: None,
                match_id: match_machine.terms().match_id.clone(),
                round_id: None,
                opponent_id: Some(players[side.other()].clone()),
                result: OwnResult::Draw,
                my_choice: None,
                opponent_choice: None,
                drawn_number: None,
                points: 0,
                draw: DrawCheck::Unproved,
                games,
            };
            self.histories.entry(players[side].clone()).or_default().push(played);
            self.memories.remove(players[side]);
        }
    }
}

/// The strategies by mean points, best first, in a round robin of four meetings with `copies` players of each.
fn order(game: &str, names: &[&str], copies: usize, games: u32, seed: u64) -> Vec<(String, f64)> {
    let game: GameType = game.parse().unwrap();
    let config = LeagueConfig { game_type: game.clone(), ..LeagueConfig::even_odd("skill".parse().unwrap()) };
    let config = config.with_format("round_robin:times=4".parse().unwrap()).with_games(Some(games));
    let seed = Seed::new(seed, config.league_id.clone());
    let players: Vec<SmolStr> =
        (0..copies).flat_map(|copy| names.iter().map(move |name| format_smolstr!("{name} {copy}"))).collect();
    let mut league = InMemoryLeague::new(config, &players, seed.clone(), Timestamp::EPOCH).unwrap();
    let strategies = names.iter().map(|name| strategy(name).unwrap()).collect();
    let (histories, memories, finished) = (HashMap::new(), HashMap::new(), Pair::default());
    let mut strategists = Strategists { game, strategies, seed, histories, memories, finished };
    while league.play_round_with(&mut strategists).unwrap() {}
    let rows = league.season().standings();
    let mean = |name: &str| {
        let own = rows.iter().filter(|row| row.display_name.split(' ').next() == Some(name));
        own.map(|row| f64::from(row.points)).sum::<f64>() / copies as f64
    };
    let mut means: Vec<_> = names.iter().map(|name| ((*name).to_owned(), mean(name))).collect();
    means.sort_by(|one, other| other.1.total_cmp(&one.1));
    means
}

/// Plays all seeds, on two threads, and prints the order of each.
fn finish_in_order(game: &'static str, names: &'static [&'static str], copies: usize) {
    let run = move |first: u64| {
        (first..=SEEDS).step_by(2).map(|seed| (seed, order(game, names, copies, GAMES, seed))).collect::<Vec<_>>()
    };
    let other = std::thread::spawn(move || run(2));
    let mut orders = run(1);
    orders.extend(other.join().unwrap());
    orders.sort_by_key(|(seed, _)| *seed);
    for (seed, means) in &orders {
        let shown: Vec<String> = means.iter().map(|(name, points)| format!("{name} {points:.1}")).collect();
        println!("{game}, seed {seed}: {}", shown.join(", "));
    }
    let right = orders.iter().filter(|(_, means)| means.iter().map(|(name, _)| name).eq(names.iter())).count();
    println!("{game}: {} in this order in {right} of {SEEDS} seeds", names.join(" above "));
    assert!(right >= 19, "{right} of {SEEDS} seeds");
}

/// The short version of the tests below.
#[test]
fn the_better_strategies_lead_a_short_league() {
    let throws = order("rock_paper_scissors", &["throw_pattern", "mostly_rock"], 1, 10, 1);
    assert_eq!(throws[0].0, "throw_pattern", "{throws:?}");
    let searches = order("connect_four", &["connect_four:3", "connect_four:1"], 1, 2, 1);
    assert_eq!(searches[0].0, "connect_four:3", "{searches:?}");
}

#[test]
#[ignore = "minutes without optimization: cargo xtask soak skill"]
fn a_predictor_finishes_above_the_uniform_player_and_that_above_a_biased_one() {
    finish_in_order("rock_paper_scissors", &["throw_pattern", "random", "mostly_rock"], 3);
}

#[test]
#[ignore = "minutes without optimization: cargo xtask soak skill"]
fn deeper_searches_of_connect_four_finish_above_shallower_ones() {
    finish_in_order("connect_four", &["connect_four:5", "connect_four:3", "connect_four:1"], 1);
}
