//! Matches of several games, as a player sees them.

use std::sync::Arc;

use league_protocol::message::evidence::MatchInquiry;
use league_protocol::message::finished_game::FinishedGame;
use league_protocol::signature::MoveTurn;

use super::signing::numbered_call;
use super::*;
use crate::session::DrawCheck;

/// The draw of these tests, in which the player is side A.
fn draw(match_id: &MatchId) -> Draw {
    let nonces = Pair::new(nonce("mine"), nonce("theirs"));
    Draw { secret: SECRET, match_id: match_id.clone(), attempt: 1, nonces, seeded: false }
}

fn finished(match_id: &MatchId, game_number: u32) -> FinishedGame {
    FinishedGame {
        game_number,
        your_moves: vec!["even".into()],
        opponent_moves: vec!["odd".into()],
        drawn_number: Some(draw(match_id).number_of_game(game_number).get()),
        ..FinishedGame::default()
    }
}

/// The call for the move in this game, which tells the game before it.
fn asked(match_id: &MatchId, game: u32) -> MoveRequest {
    let call = numbered_call(match_id, MoveTurn { attempt: 1, game, turn: 1 });
    let told = (game > 1).then(|| finished(match_id, game - 1));
    MoveRequest { finished_games: Arc::new(told.into_iter().collect()), games_per_match: 5, ..call }
}

fn plays_games(session: &mut PlayerSession, match_id: &MatchId, games: u32) {
    let head = referee_of(match_id);
    session.is_invited(match_id, "mine");
    for game in 1..=games {
        let request = session.move_requested(&head, asked(match_id, game)).unwrap();
        let known: Vec<u32> = request.finished_games.iter().map(|game| game.game_number).collect();
        assert_eq!(known, (1..game).collect::<Vec<_>>(), "the strategy sees all earlier games");
        assert!(session.move_chosen(&head, &request.asked(), "even".into()).unwrap().signature.is_some());
    }
}

fn testimony(session: &PlayerSession, match_id: &MatchId) -> (u32, Option<u32>) {
    let inquiry = MatchInquiry { league_id: Some(league()), match_id: match_id.clone(), attempt: 1 };
    let said = session.testify(&manager(), &inquiry).unwrap();
    (said.moves, said.asked)
}

#[test]
fn the_player_signs_no_move_of_a_game_that_it_has_left_behind() {
    let (mut session, match_id) = (session(), first_of(1));
    plays_games(&mut session, &match_id, 4);
    assert_eq!(testimony(&session, &match_id), (4, Some(4)), "all moves count, also those that are not kept");
    let head = referee_of(&match_id);
    for game in [3, 4] {
        let again = session.move_requested(&head, asked(&match_id, game)).unwrap();
        assert_eq!(again.answered, word("even"), "the last two games are answered as before");
    }
    for game in [1, 2] {
        let refused = session.move_requested(&head, asked(&match_id, game)).unwrap_err();
        assert!(format!("{refused:?}").contains(&format!("game {game} of R1M1 is over")));
    }
    assert_eq!(testimony(&session, &match_id), (4, Some(4)));
    session.move_requested(&head, asked(&match_id, 5)).unwrap();
    assert_eq!(testimony(&session, &match_id), (4, Some(5)), "asked for a fifth move, and not answered");
}

#[test]
fn the_history_has_every_game_and_all_numbers_are_checked() {
    for (wrong, expected) in [(None, DrawCheck::Proved), (Some(5), DrawCheck::Broken)] {
        let (mut session, match_id) = (session(), first_of(1));
        plays_games(&mut session, &match_id, 5);
        let mut over = proved(&match_id, Side::A, &nonce("mine"), 1);
        over.games_per_match = Some(5);
        over.finished_games = vec![finished(&match_id, 5)];
        if wrong.is_some() {
            let number = over.finished_games[0].drawn_number.unwrap();
            over.finished_games[0].drawn_number = Some(number % 10 + 1);
        }
        session.is_sent(&over);
        let played = session.history().matches().last().unwrap().clone();
        assert_eq!(played.games.iter().map(|game| game.game_number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        assert_eq!(played.draw, expected);
    }
}

#[test]
fn a_referee_cannot_fill_the_memory_of_a_player_with_games() {
    let (mut session, match_id) = (session(), first_of(1));
    session.is_invited(&match_id, "mine");
    let long = FinishedGame { your_moves: vec!["even".into(); 5000], ..finished(&match_id, 1) };
    let games: Vec<_> = (0..5000).map(|game_number| FinishedGame { game_number, ..long.clone() }).collect();
    let request = MoveRequest { finished_games: Arc::new(games), ..asked(&match_id, 1) };
    let known = session.move_requested(&referee_of(&match_id), request).unwrap().finished_games;
    assert_eq!(known.last().map(|game| (game.game_number, game.your_moves.len())), Some((1000, 512)));
    assert!(known.iter().map(|game| game.your_moves.len() + game.opponent_moves.len()).sum::<usize>() <= 50_000);
}
