//! Matches of several games, signed by both players.

use std::num::NonZeroU32;

use league_protocol::message::coded_moves::CodedMoves;
use league_protocol::message::start_match::MatchMode;
use league_protocol::request::MAX_BODY;

use super::*;
use crate::game_match::MatchMachine;
use crate::game_match::effect::Effect;
use crate::game_match::input::{CallFailure, Input};
use crate::game_match::messages::{MatchMessages, terms};
use crate::rules::game::Game;
use crate::rules::registry::{all_games, new_game};
use crate::rules::series::most_games;

fn league_of(game: &str, games: u32) -> SigningLeague {
    let mut league = SigningLeague::new(game, 2, 1);
    league.league.season.config.games_per_match = NonZeroU32::new(games).unwrap();
    league
}

/// A match in which both players sign, through the machine and the messages of a referee. `silent` is asked in vain from its first
/// move in this game on. `keys` has other keys of side A from a game on.
fn played(
    league: &SigningLeague,
    held: &Assignment,
    silent: Option<(Side, u32)>,
    keys: &[(u32, TokenDigest)],
) -> MatchResultReport {
    let season = &league.league.season;
    let order = season.order(held, MatchMode::Flowing, None).unwrap();
    let secret = league.secret_of(held);
    let mut machine = MatchMachine::new(terms(&order, secret, [0; 32]), new_game(&order.game_type).unwrap());
    let (mut effects, players) = (Vec::new(), league.players(held));
    machine.handle(Input::Start, &mut effects);
    while !effects.is_empty() {
        let answer = match effects.remove(0) {
            Effect::Invite { side, call, .. } => {
                let nonce: DrawNonce = format!("nonce of {side:?}").replace(' ', "-").parse().unwrap();
                let signature = league.join(held, side, &nonce).join;
                Input::Joined { side, call: Some(call), nonce, signature }
            }
            Effect::AskMove { side, call, .. }
                if silent.is_some_and(|(who, from)| who == side && machine.game().number() >= from) =>
            {
                Input::Failed { side, call, fault: CallFailure::TimedOut }
            }
            Effect::AskMove { side, call, .. } => {
                let (game, turn) = (machine.game(), machine.turn(side));
                let legal = game.legal_moves(side);
                let text = legal[(turn as usize * 7 + game.number() as usize * 3) % legal.len()].clone();
                let made = SignedMove {
                    league: &season.config().league_id,
                    match_id: &held.match_id,
                    turn: MoveTurn { attempt: held.attempt, game: game.number(), turn },
                    view: ViewDigest::of(&game.view(side)),
                    played: &text,
                };
                let changed = keys.iter().rfind(|(from, _)| side == Side::A && game.number() >= *from);
                let key = changed.map_or_else(|| league.key(&players[side]), |(_, key)| key);
                Input::Moved { side, call: Some(call), signature: Some(made.sign(key)), text }
            }
            Effect::Pause { side, call, .. } => Input::PauseOver { side, call },
            Effect::SendError { .. } => continue,
            Effect::Report => break,
            Effect::SendGameOver { .. } => unreachable!("the report comes first"),
        };
        machine.handle(answer, &mut effects);
    }
    MatchMessages::new(&machine, &order, &held.referee, secret.commitment()).report().unwrap()
}

#[test]
fn a_signed_match_of_several_games_counts_in_every_game() {
    for game in all_games() {
        let mut league = league_of(game.as_str(), 3);
        let held = league.league.assign().remove(0);
        let report = played(&league, &held, None, &[]);
        let report: MatchResultReport = serde_json::from_value(serde_json::to_value(&report).unwrap()).unwrap();
        assert_eq!(report.result.details.games_per_match, Some(3));
        assert!(report.signatures.0.iter().all(|(_, signed)| signed.moves.is_empty() && signed.combined.is_some()));
        assert_eq!(league.judge(&held, &report, &Testimonies::default()), ReportOutcome::Now, "{game}");
    }
}

#[test]
fn the_longest_matches_fit_into_one_message() {
    let largest = |game: &str| most_games(&game.parse().unwrap()).get();
    let known =
        ["even_odd", "tic_tac_toe", "connect_four", "rock_paper_scissors", "prisoners_dilemma", "colonel_blotto"];
    assert_eq!(known.map(largest), [1000, 1000, 975, 204, 102, 1000]);
    for game in all_games() {
        let most = most_games(&game).get();
        for games in [50.min(most), most] {
            let mut league = league_of(game.as_str(), games);
            let held = league.league.assign().remove(0);
            let report = played(&league, &held, None, &[]);
            let bytes = serde_json::to_vec(&report).unwrap().len();
            println!("{game}, {games} games: {bytes} bytes");
            // 256 new commitments and the envelope take at most 18 KiB.
            assert!(bytes + 18 * 1024 < MAX_BODY, "{game}, {games} games: {bytes} bytes");
        }
    }
    let config = LeagueConfig { game_type: "rock_paper_scissors".parse().unwrap(), ..config() };
    assert_eq!(config.clone().with_games(Some(204)).check_games(), Ok(()));
    let refused = config.with_games(Some(205)).check_games().unwrap_err().to_string();
    assert!(refused.ends_with("do not fit into a report of 64 KiB; choose at most 204"), "{refused}");
}

type GameLie = (&'static str, fn(&mut MatchResultReport));

#[test]
fn a_changed_move_or_signature_of_any_game_does_not_count() {
    let lies: [GameLie; 3] = [
        ("no signature", |report| report.signatures.0[0].1.combined = None),
        ("another signature", |report| report.signatures.0[1].1.combined = Some(Signature([1; 32]))),
        ("the signatures of the other", |report| {
            report.signatures.0[0].1.combined = report.signatures.0[1].1.combined;
        }),
    ];
    for (what, lie) in lies {
        let mut league = league_of("rock_paper_scissors", 2);
        let held = league.league.assign().remove(0);
        let mut report = played(&league, &held, None, &[]);
        lie(&mut report);
        let outcome = league.judge(&held, &report, &Testimonies::default());
        assert_eq!(outcome, ReportOutcome::Contested(AlertKind::BadSignature), "{what}");
    }
    // Both change their last throw alike, so the score stays: only the signatures tell.
    let mut league = league_of("rock_paper_scissors", 2);
    let held = league.league.assign().remove(0);
    let mut report = played(&league, &held, None, &[]);
    let mut moves = report.result.details.coded_moves.as_ref().unwrap().decode().unwrap();
    let length = moves.len();
    assert_eq!(moves[length - 2].1, moves[length - 1].1, "both throw alike in this test");
    for (_, text) in &mut moves[length - 2..] {
        *text = if *text == "rock" { "paper".into() } else { "rock".into() };
    }
    let last = moves[length - 1].1.clone();
    report.result.details.coded_moves = Some(CodedMoves::encode(moves.iter().map(|(side, text)| (*side, text))));
    report.result.details.choices.0.iter_mut().for_each(|(_, choice)| *choice = Some(last.clone()));
    let outcome = league.judge(&held, &report, &Testimonies::default());
    assert_eq!(outcome, ReportOutcome::Contested(AlertKind::BadSignature));
}

#[test]
fn a_report_of_fewer_games_is_refused_with_what_is_missing() {
    let mut league = league_of("even_odd", 3);
    let held = league.league.assign().remove(0);
    let whole = played(&league, &held, None, &[]);
    for (games, expected) in [(None, "E003"), (Some(1), "E002"), (Some(4), "E002")] {
        let mut report = whole.clone();
        report.result.details.games_per_match = games;
        let refused = format!("{:?}", league.league.season.read_report(&report).unwrap_err());
        assert!(refused.contains(expected) && refused.contains("a match of this league has 3 games"), "{refused}");
    }
    let one = MatchRecord::unplayed(Outcome::Forfeit(Side::A));
    let refused = league.league.season.report(&held.referee, &held.match_id, None, one, now()).unwrap_err();
    assert!(format!("{refused:?}").contains("games_per_match is 1"));
    let mut one_game = SigningLeague::new("even_odd", 2, 1);
    let held = one_game.league.assign().remove(0);
    let (_, mut report) = one_game.honest(&held);
    report.result.details.games_per_match = Some(1);
    assert_eq!(one_game.judge(&held, &report, &Testimonies::default()), ReportOutcome::Now);
}

#[test]
fn a_technical_loss_in_the_second_game_ends_the_match_and_a_deposit_of_that_game_refutes_it() {
    let mut league = league_of("even_odd", 3);
    let held = league.league.assign().remove(0);
    let report = played(&league, &held, Some((Side::B, 2)), &[]);
    let record = league.league.season.read_report(&report).unwrap();
    assert_eq!((record.outcome, record.score), (Outcome::Forfeit(Side::B), None));
    let (_, asked) = league.league.season.players_to_ask(&held.referee, &report);
    assert_eq!(asked, [p(2)]);
    let players = league.players(&held);
    let made = |game: u32| {
        let signed = SignedMove {
            league: &league.league.season.config().league_id,
            match_id: &held.match_id,
            turn: MoveTurn { attempt: held.attempt, game, turn: 1 },
            view: ViewDigest::of(""),
            played: "even",
        };
        MoveDeposit {
            game_number: game,
            signature: signed.sign(league.key(&players.b)),
            ..league.deposit(&held, Side::B)
        }
    };
    let (first, second, unknown) = (made(1), made(2), made(4));
    assert!(league.league.season.deposit(&p(2), &unknown, now()).is_err(), "there is no fourth game");
    let said = Testimonies(vec![(p(2), None)]);
    let mut same = SigningLeague { league: league.league.clone(), keys: league.keys.clone() };
    same.league.run(|season| season.deposit(&p(2), &first, now()));
    assert_eq!(
        same.judge(&held, &report, &said),
        ReportOutcome::Now,
        "a move of the first game is not the one that is missing"
    );
    league.league.run(|season| season.deposit(&p(2), &second, now()));
    assert_eq!(league.judge(&held, &report, &said), ReportOutcome::Contested(AlertKind::AnswerDeposited));
}

#[test]
fn a_player_that_registers_again_in_the_middle_signs_the_rest_with_its_new_key() {
    let mut league = league_of("connect_four", 3);
    let held = league.league.assign().remove(0);
    let mut request = player(1);
    request.player_meta.signs_moves = true;
    request.player_meta.game_types = vec!["connect_four".parse().unwrap()];
    let mut again = || league.league.admit(&request).token.digest();
    let (second, third) = (again(), again());
    for (keys, expected) in [
        (vec![(2, second.clone())], true),
        (vec![(3, third.clone())], true),
        (vec![(2, second.clone()), (3, third.clone())], false),
        (vec![(1, third), (2, second)], false),
    ] {
        let report = played(&league, &held, None, &keys);
        let record = league.league.season.read_report(&report).unwrap();
        let judged = league.league.season.judge_report(&held.referee, &report, &record, &Testimonies::default(), now());
        assert_eq!(judged.unwrap().reply == ReportOutcome::Now, expected, "{:?}", keys.len());
    }
}
