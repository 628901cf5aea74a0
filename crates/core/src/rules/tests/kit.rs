//! Properties of every registered game: a new game is tested by being registered.

use league_protocol::message::game_view::GameView;

use super::*;
use crate::record::BadRecord;
use crate::rules::chance::{ChanceOutcome, ChanceRequest};
use crate::rules::outcome::Outcome;
use crate::rules::registry::all_games;

/// The most characters of a view: it is part of every call and every prompt.
const LONGEST_VIEW: usize = 1_000;
/// The most legal moves that a call lists.
const MOST_MOVES: usize = 100;
/// The pairs of states for each game with hidden information.
const PAIRS: usize = 100_000;
/// The pairs for each other game of moves at once, whose only secret is a move.
const PAIRS_OF_MOVES: usize = 10_000;

#[test]
fn every_game_ends_within_its_longest_course() {
    for name in all_games() {
        let mut dice = Dice(1);
        for _ in 0..50 {
            let mut game = new_game(&name).unwrap();
            let most = game.about().max_turns;
            let mut waits = 0;
            play_out(&mut *game, &mut dice, |game, _| {
                let GameStage::Moves(due) = game.stage() else { return };
                assert_ne!(due, Pair::new(false, false), "{name} waits for no side");
                // The second of two moves at once is no new wait.
                waits += u32::from(!is_half_done(game, due));
            });
            assert!(waits <= most, "{name}: {waits} waits");
            assert!(Side::BOTH.into_iter().all(|side| game.legal_moves(side).is_empty()), "{name} is over");
            assert!(!game.reason(Pair::new("P01", "P02")).is_empty(), "{name}");
        }
    }
}

/// Whether one of two moves at once is made: the sides that have moved see nothing new.
fn is_half_done(game: &dyn Game, due: Pair<bool>) -> bool {
    let waiting = if due.a { Side::A } else { Side::B };
    let moved = |side: Side| game.check(side, "").unwrap_err().allowed;
    (due.a != due.b) && is_simultaneous(game) && !moved(waiting.other()).is_empty()
}

fn is_simultaneous(game: &dyn Game) -> bool {
    let about = game.about();
    let start = all_games().into_iter().filter_map(|name| new_game(&name)).find(|game| game.about() == about);
    matches!(start.map(|game| game.stage()), Some(GameStage::Moves(Pair { a: true, b: true })))
}

#[test]
fn an_illegal_move_changes_nothing_and_legal_moves_are_those_of_the_side_that_moves() {
    for name in all_games() {
        let mut dice = Dice(2);
        for _ in 0..10 {
            play_out(&mut *new_game(&name).unwrap(), &mut dice, |game, dice| {
                let due = Pair::from_fn(|side| game.stage().awaits(side));
                let mut tried = game.boxed();
                let before = format!("{tried:?}");
                for side in Side::BOTH {
                    let legal = game.legal_moves(side);
                    assert_eq!(!legal.is_empty(), due[side], "{name}: {game:?}");
                    assert!(legal.len() <= MOST_MOVES, "{name}");
                    assert!(legal.iter().all(|text| game.check(side, text).is_ok()), "{name}: {game:?}");
                    let long = "é".repeat(5_000);
                    for text in ["", " ", "no such move", "0", "\u{0}", long.as_str()] {
                        let illegal = tried.play(side, text).unwrap_err();
                        assert!(illegal.found.chars().count() <= 64 && !illegal.allowed.is_empty(), "{name}");
                        assert!(game.check(side, text).is_err(), "{name}");
                    }
                    if !due[side] {
                        let other = game.legal_moves(side.other());
                        assert!(other.iter().all(|text| tried.play(side, text).is_err()), "{name}");
                    }
                }
                // Chance that the game did not ask for has no effect.
                tried.draw(DrawnNumber::new(1 + dice.below(10) as u8).unwrap());
                tried.chance(&ChanceOutcome::Number(0));
                tried.chance(&ChanceOutcome::Order(vec![0, 1, 2]));
                assert_eq!(format!("{tried:?}"), before, "{name}");
            });
        }
    }
}

#[test]
fn every_game_describes_itself_and_its_views_are_bounded() {
    for name in all_games() {
        let about = new_game(&name).unwrap().about();
        assert!(!about.name.is_empty() && !about.moves.is_empty() && about.max_turns > 0, "{name}");
        assert!((40..2_000).contains(&about.rules.len()), "{name}: {}", about.rules.len());
        assert!(about.forfeit.winner > about.forfeit.loser, "{name}");
        let mut has_chance = false;
        let mut dice = Dice(3);
        for _ in 0..2 {
            let mut game = new_game(&name).unwrap();
            has_chance |= matches!(game.stage(), GameStage::Draw | GameStage::Chance(_));
            play_out(&mut *game, &mut dice, |game, _| {
                for side in Side::BOTH {
                    let view = game.view(side);
                    assert!(view.chars().count() <= LONGEST_VIEW && !view.contains('\n'), "{name}: {view}");
                    let fields = game.fields(side);
                    let written = serde_json::to_string(&fields).unwrap();
                    assert_eq!(serde_json::from_str::<GameView>(&written).unwrap(), fields, "{name}");
                    let picture = game.picture(side).unwrap_or_else(|| String::from("<svg></svg>"));
                    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>"), "{name}: {picture}");
                    assert!(!picture.contains("<script") && !picture.contains("href"), "{name}");
                }
            });
            has_chance |= matches!(game.stage(), GameStage::Over(_)) && about.chance;
        }
        assert_eq!(has_chance, about.chance, "{name}");
    }
}

/// Everything that a side is shown.
fn seen(game: &dyn Game, side: Side) -> (SmolStr, GameView, Vec<SmolStr>, Option<String>, bool) {
    let is_due = game.stage().awaits(side);
    (game.view(side), game.fields(side), game.legal_moves(side), game.picture(side), is_due)
}

#[test]
fn no_view_of_a_game_shows_the_opponents_secret() {
    for name in all_games() {
        let start = new_game(&name).unwrap();
        let (hidden, at_once) = (start.about().hidden, is_simultaneous(&*start));
        if !hidden && !at_once {
            continue;
        }
        let (mut pairs, mut leaks, mut differing, mut dice) = (0, 0, 0, Dice(4));
        while pairs < if hidden { PAIRS } else { PAIRS_OF_MOVES } {
            // Long games are played to their end now and then: a late view takes as long as many early ones.
            let most = if dice.below(500) == 0 { usize::MAX } else { 20 };
            play_moves(&mut *start.clone(), most, &mut dice, |game, dice| {
                for side in Side::BOTH {
                    if let Some(other) = game.with_other_secret(side.other(), dice.below(1_000)) {
                        pairs += 1;
                        leaks += usize::from(seen(game, side) != seen(&*other, side));
                        differing += usize::from(seen(game, side.other()) != seen(&*other, side.other()));
                    }
                }
                // Two different moves of the opponent, while both sides owe one.
                if let GameStage::Moves(Pair { a: true, b: true }) = game.stage() {
                    let side = Side::BOTH[dice.below(2)];
                    let moves = game.legal_moves(side.other());
                    let after = |text: &SmolStr| {
                        let mut next = game.boxed();
                        next.play(side.other(), text).unwrap();
                        next
                    };
                    let (one, other) = (after(dice.pick(&moves)), after(dice.pick(&moves)));
                    pairs += 1;
                    leaks += usize::from(seen(&*one, side) != seen(&*other, side));
                    leaks += usize::from(seen(&*one, side) != seen(game, side));
                    differing += 1;
                }
            });
        }
        assert_eq!(leaks, 0, "{name}: {leaks} of {pairs} pairs");
        assert!(differing * 4 > pairs, "{name}: the secrets of {pairs} pairs differ in {differing}");
    }
}

#[test]
fn the_same_moves_and_the_same_chance_give_the_same_game() {
    for name in all_games() {
        for games in [1, 3] {
            for seed in 0..20 {
                let secret = [seed; 32];
                let record = play_match(&name, secret, games, &mut Dice(seed.into()));
                assert_eq!(record, play_match(&name, secret, games, &mut Dice(seed.into())), "{name}");
                let written = serde_json::to_string(&record).unwrap();
                assert_eq!(serde_json::from_str::<MatchRecord>(&written).unwrap(), record, "{name}");
                assert_eq!(record.check(&name, &match_id(), 1), Ok(()), "{name}");
            }
        }
    }
}

#[test]
fn other_chance_than_the_committed_one_is_refused() {
    for name in all_games().into_iter().filter(|name| new_game(name).unwrap().about().chance) {
        let mut other_games = 0;
        for seed in 0..30 {
            let record = play_match(&name, [seed; 32], 1, &mut Dice(seed.into()));
            let check = |record: &MatchRecord| record.check(&name, &match_id(), 1);
            let changed = |change: &dyn Fn(&mut MatchRecord)| {
                let mut record = record.clone();
                change(&mut record);
                check(&record)
            };
            assert!(changed(&|record| record.proof.as_mut().unwrap().secret = DrawSecret([99; 32])).is_err());
            assert!(changed(&|record| record.proof.as_mut().unwrap().nonces.a = "other".parse().unwrap()).is_err());
            assert!(record.check(&name, &match_id(), 2).is_err(), "{name}");
            // A referee that dealt other cards than its commitment gives reports moves and a result that do not follow.
            let dealt = play_match(&name, [seed + 100; 32], 1, &mut Dice(seed.into()));
            let forged = MatchRecord { proof: record.proof.clone(), ..dealt };
            other_games += usize::from(check(&forged).is_err());
            if name != GameType::even_odd() {
                assert_eq!(changed(&|record| record.proof = None), Err(BadRecord::NoProof), "{name}");
            }
        }
        assert!(other_games >= 5, "{name}: {other_games} of 30 forged matches were noticed by their result");
    }
}

#[test]
fn another_result_than_that_of_the_moves_is_refused() {
    for name in all_games() {
        for games in [1, 2] {
            for seed in 0..10 {
                let record = play_match(&name, [seed; 32], games, &mut Dice(seed.into()));
                let swapped = match record.outcome.winner() {
                    Some(side) => Outcome::Win(side.other()),
                    None => Outcome::Win(Side::A),
                };
                let forged = MatchRecord { outcome: swapped, ..record.clone() };
                assert!(forged.check(&name, &match_id(), 1).is_err(), "{name}");
                if let Some(score) = record.score {
                    let score = Some(Pair::new(score.a + 1, score.b));
                    let forged = MatchRecord { score, ..record.clone() };
                    assert!(forged.check(&name, &match_id(), 1).is_err(), "{name}");
                }
                if record.course.len() > 1 {
                    let mut forged = record.clone();
                    forged.course.pop();
                    assert!(forged.check(&name, &match_id(), 1).is_err(), "{name}");
                }
            }
        }
    }
}

#[test]
fn a_request_for_chance_lists_every_outcome_once() {
    for (request, count) in [
        (ChanceRequest::UpTo(0), 1),
        (ChanceRequest::UpTo(5), 6),
        (ChanceRequest::Shuffle(0), 1),
        (ChanceRequest::Shuffle(4), 24),
    ] {
        let mut outcomes = request.outcomes();
        assert_eq!(outcomes.len(), count);
        outcomes.dedup();
        assert_eq!(outcomes.len(), count);
    }
}
