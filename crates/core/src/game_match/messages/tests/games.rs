//! What the players of a match of several games are told.

use std::num::NonZeroU32;

use league_protocol::message::finished_game::FinishedGame;

use super::*;
use crate::rules::game::DrawnNumber;

struct SeriesMatch {
    machine: MatchMachine,
    order: StartMatch,
    effects: Vec<Effect>,
}

impl SeriesMatch {
    fn new(game: &str, games: u32) -> Self {
        let order = StartMatch { games_per_match: games, ..order(game) };
        let machine = MatchMachine::new(terms(&order, SECRET, SALT), new_game(&order.game_type).unwrap());
        let mut started = Self { machine, order, effects: Vec::new() };
        started.feed(Input::Start);
        for (effect, side) in started.take().into_iter().zip(Side::BOTH) {
            let Effect::Invite { call, .. } = effect else { panic!("{effect:?}") };
            started.feed(Input::Joined { side, call: Some(call), nonce: nonce(side), signature: None });
        }
        started
    }

    fn feed(&mut self, input: Input) {
        self.machine.handle(input, &mut self.effects);
    }

    fn take(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    fn messages(&self) -> MatchMessages<'_> {
        MatchMessages::new(&self.machine, &self.order, self.referee(), SECRET.commitment())
    }

    fn referee(&self) -> &'static RefereeId {
        static REFEREE: LazyLock<RefereeId> = LazyLock::new(referee);
        &REFEREE
    }

    /// Both answer the open calls with these moves.
    fn both_move(&mut self, moves: [&str; 2]) {
        for effect in self.take() {
            if let Effect::AskMove { side, call, .. } = effect {
                let text = if side == Side::A { moves[0] } else { moves[1] };
                self.feed(Input::Moved { side, call: Some(call), text: text.into(), signature: None });
            }
        }
    }

    fn asked(&self, side: Side) -> ChooseParityCall {
        let Call::ChooseParity(call) = self.messages().ask(side, now(), Duration::from_secs(30)) else { panic!() };
        call
    }
}

#[test]
fn each_call_tells_its_game_and_the_games_since_the_last_move() {
    let mut series = SeriesMatch::new("even_odd", 3);
    assert_eq!(series.messages().invitation(Side::A).games_per_match, Some(3));
    let first = series.asked(Side::A);
    assert_eq!((first.game_number, first.games_per_match, first.finished_games), (Some(1), Some(3), Vec::new()));
    series.both_move(["even", "odd"]);
    let end = series.machine.game().ends()[0];
    for side in Side::BOTH {
        let call = series.asked(side);
        assert_eq!((call.game_number, call.turn, call.games_per_match), (Some(2), Some(1), Some(3)));
        let (own, theirs) = if side == Side::A { ("even", "odd") } else { ("odd", "even") };
        let expected = FinishedGame {
            game_number: 1,
            your_moves: vec![own.into()],
            opponent_moves: vec![theirs.into()],
            drawn_number: end.drawn.map(DrawnNumber::get),
            your_score: end.score[side],
            opponent_score: end.score[side.other()],
        };
        assert_eq!(call.finished_games, [expected]);
    }
    series.both_move(["odd", "odd"]);
    series.both_move(["even", "even"]);
    let over = series.messages().over(Side::B).unwrap();
    let told: Vec<u32> = over.finished_games.iter().map(|game| game.game_number).collect();
    assert_eq!((over.games_per_match, told), (Some(3), vec![3]));
    let numbers: Vec<_> = series.machine.game().ends().iter().map(|end| end.drawn.unwrap().get()).collect();
    let draw = Draw {
        secret: SECRET,
        match_id: series.order.match_id.clone(),
        attempt: 1,
        nonces: Pair::from_fn(nonce),
        seeded: false,
    };
    assert_eq!(numbers, [1, 2, 3].map(|game| draw.number_of_game(game).get()), "each game has its own number");
}

#[test]
fn tries_count_for_each_move_and_a_technical_loss_ends_the_match() {
    let mut series = SeriesMatch::new("even_odd", 3);
    for game in 1..=2 {
        for try_number in 1..=3 {
            let effects = series.take();
            let asked = effects.iter().filter_map(|effect| {
                let Effect::AskMove { side, call, try_number, .. } = effect else { return None };
                Some((*side, *call, *try_number))
            });
            let asked: Vec<_> = asked.collect();
            let (_, call, tried) = *asked.iter().find(|(side, ..)| *side == Side::A).unwrap();
            assert_eq!((series.machine.game().number(), tried), (game, try_number));
            if let Some((_, call, _)) = asked.iter().find(|(side, ..)| *side == Side::B) {
                series.feed(Input::Moved { side: Side::B, call: Some(*call), text: "odd".into(), signature: None });
            }
            if game == 1 && try_number == 3 {
                series.feed(Input::Moved { side: Side::A, call: Some(call), text: "even".into(), signature: None });
                continue;
            }
            series.feed(Input::Failed { side: Side::A, call, fault: CallFailure::TimedOut });
            let pause = series.effects.iter().find_map(|effect| {
                let Effect::Pause { call, .. } = effect else { return None };
                Some(*call)
            });
            if let Some(call) = pause {
                series.feed(Input::PauseOver { side: Side::A, call });
            }
        }
    }
    let report = series.messages().report().unwrap();
    assert_eq!(report.result.details.technical_losses, [series.order.players.a.player_id.clone()]);
    let moves = report.result.details.coded_moves.unwrap().decode().unwrap();
    assert_eq!(moves.len(), 3, "two of the first game, and one of the second");
    let forfeit = series.machine.game().about().forfeit;
    assert_eq!((forfeit.winner, forfeit.loser), (3, 0));
    let games = NonZeroU32::new(3).unwrap();
    assert_eq!(series.machine.terms().games, games);
}

#[test]
fn a_match_of_one_game_tells_nothing_of_games() {
    let mut single = SeriesMatch::new("even_odd", 1);
    let written = |value: serde_json::Value| value.to_string();
    let mut texts = vec![
        written(serde_json::to_value(&single.order).unwrap()),
        written(serde_json::to_value(single.messages().invitation(Side::A)).unwrap()),
        written(serde_json::to_value(single.asked(Side::A)).unwrap()),
    ];
    single.both_move(["even", "odd"]);
    texts.push(written(serde_json::to_value(single.messages().over(Side::A).unwrap()).unwrap()));
    texts.push(written(serde_json::to_value(single.messages().report().unwrap()).unwrap()));
    for text in texts {
        assert!(
            ["games_per_match", "finished_games", "coded_moves", "combined"].iter().all(|name| !text.contains(name))
        );
    }
}

#[test]
fn the_state_of_a_long_match_has_the_moves_of_one_game() {
    let mut at_once = SeriesMatch::new("prisoners_dilemma", 8);
    while at_once.machine.ending().is_none() {
        let state = at_once.messages().state();
        let (game, size) = (state.game_number, serde_json::to_string(&state).unwrap().len());
        assert!(size < 64 * 1024, "{size}");
        // The moves of the current game stay secret.
        assert_eq!(state.moves.len(), if game == Some(1) { 0 } else { 400 }, "{game:?}");
        at_once.both_move(["cooperate", "defect"]);
    }
    assert_eq!(at_once.messages().state().moves.len(), 400);
    let mut in_turns = SeriesMatch::new("tic_tac_toe", 2);
    for text in ["1", "4", "2", "5", "3", "9"] {
        in_turns.both_move([text, text]);
    }
    let moves = in_turns.messages().state().moves;
    assert_eq!(moves.iter().map(|one| one.played.as_str()).collect::<Vec<_>>(), ["9"]);
}
