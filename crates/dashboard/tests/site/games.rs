//! Matches of several games and games with cards.

use std::num::NonZeroU32;
use std::sync::Arc;

use league_core::in_memory::InMemoryLeague;
use league_core::record::MatchRecord;
use league_core::rules::seed::Seed;
use league_core::season::config::LeagueConfig;
use league_core::season::event::{Event, Fact};
use league_protocol::id::{GameType, MatchId};
use league_protocol::side::Pair;
use league_protocol::time::Timestamp;
use smol_str::SmolStr;

use crate::leagues::league;
use crate::markup;
use crate::operator::RecordingOperator;
use crate::support::Site;

const NAMES: Pair<&str> = Pair { a: "Ada", b: "Bob" };

fn played(game: &str, games: u32) -> (GameType, Vec<Event>) {
    let game: GameType = game.parse().unwrap();
    let config = LeagueConfig {
        game_type: game.clone(),
        games_per_match: NonZeroU32::new(games).unwrap(),
        ..LeagueConfig::even_odd(league())
    };
    let (seed, names) = (Seed::new(7, league()), ["Ada", "Bob"].map(SmolStr::new_static));
    let mut league = InMemoryLeague::kept(config, &names, seed, Timestamp::EPOCH).unwrap();
    while league.play_round().unwrap() {}
    (game, league.take_events())
}

fn reported(events: &[Event]) -> (MatchId, u32, MatchRecord) {
    let reported = events.iter().find_map(|event| {
        let Fact::MatchReported { match_id, attempt, record, .. } = &event.fact else { return None };
        Some((match_id.clone(), *attempt, record.clone()))
    });
    reported.unwrap()
}

#[tokio::test]
async fn a_finished_match_of_poker_shows_its_cards_and_where_each_game_begins_and_ends() {
    for (name, games) in [("kuhn_poker", 1), ("leduc_poker", 1), ("kuhn_poker", 4), ("leduc_poker", 4)] {
        let (game, events) = played(name, games);
        let (match_id, attempt, record) = reported(&events);
        let series = record.replay(&game, (&match_id, attempt), |_, _, _| {}).unwrap();
        assert_eq!(series.ends().len(), games as usize);
        let page = Site::of(&events).await.get(&format!("/matches/{match_id}")).await.body;
        markup::check(&page);
        for end in series.ends() {
            let deal = end.deal.unwrap();
            for card in [deal.hands.a, deal.hands.b] {
                assert!(page.contains(&format!("<b class=\"card\">{card}</b>")), "{name}: {page}");
            }
            if games > 1 {
                assert!(page.contains(&deal.sentence(NAMES)), "{name}: {page}");
                let (first, number) = (if end.number % 2 == 1 { "Ada" } else { "Bob" }, end.number);
                let begins = format!("<bdi>{first}</bdi> has the first side");
                assert!(page.contains(&format!("Game {number} of {games}: ")) && page.contains(&begins), "{page}");
                let ends = format!("Game {number} ends <b>{} : {}</b>", end.score.a, end.score.b);
                assert!(page.contains(&ends), "{ends}: {page}");
            }
        }
    }
}

/// The referee tells a viewer the moves that both players know, and no card.
#[tokio::test]
async fn a_running_match_of_poker_shows_its_moves_and_no_card() {
    let (_, mut events) = played("leduc_poker", 4);
    let end =
        events.iter().position(|event| matches!(event.fact, Fact::MatchExplained { .. } | Fact::MatchReported { .. }));
    events.truncate(end.unwrap());
    let site = Site::of(&events).await;
    let operator = Arc::new(RecordingOperator::default());
    let state = serde_json::json!({
        "match_id": "R1M1", "attempt": 1, "game_type": "leduc_poker", "state": "COLLECTING_CHOICES",
        "player_A_id": "P01", "player_B_id": "P02", "joined": { "P01": true, "P02": true },
        "moves": [{ "player_id": "P01", "move": "bet" }, { "player_id": "P02", "move": "fold" }, { "player_id": "P02", "move": "check" }],
        "open_calls": { "P01": { "left_ms": 12_000, "limit_ms": 30_000 } }, "game_number": 2, "game_score": { "P01": 1, "P02": -1 },
    });
    operator.1.set(state).unwrap();
    site.dashboard.operated_by(operator.clone());
    let page = site.get("/matches/R1M1").await.body;
    markup::check(&page);
    for part in
        ["Game 2 of 4: Waiting for the move of Ada", "1 : -1", "<b>bet</b>", "<b>check</b>", "data-left=\"12000\""]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    for secret in ["held", "class=\"card\"", "turned up"] {
        assert!(!page.contains(secret), "{secret}: {page}");
    }
}

/// The referee tells the moves of the current game only, which the other player began.
#[tokio::test]
async fn the_board_of_a_later_game_is_shown() {
    let (_, mut events) = played("tic_tac_toe", 4);
    let end =
        events.iter().position(|event| matches!(event.fact, Fact::MatchExplained { .. } | Fact::MatchReported { .. }));
    events.truncate(end.unwrap());
    let site = Site::of(&events).await;
    let operator = Arc::new(RecordingOperator::default());
    let state = serde_json::json!({
        "match_id": "R1M1", "attempt": 1, "game_type": "tic_tac_toe", "state": "COLLECTING_CHOICES",
        "player_A_id": "P01", "player_B_id": "P02", "joined": { "P01": true, "P02": true },
        "moves": [{ "player_id": "P02", "move": "1" }, { "player_id": "P01", "move": "5" }, { "player_id": "P02", "move": "3" }],
        "game_number": 2, "game_score": { "P01": 1, "P02": 0 },
    });
    operator.1.set(state).unwrap();
    site.dashboard.operated_by(operator.clone());
    let page = site.get("/matches/R1M1").await.body;
    markup::check(&page);
    let board = page.split("id=\"board\"").nth(1).unwrap();
    assert!(board.contains("So far") && board.contains("data-first=\"B\""), "{board}");
    assert!(board.contains("Bob plays 3") && board.matches("class=\"a\"").count() == 2, "{board}");
}

#[tokio::test]
async fn the_pages_of_a_match_of_fifty_games_are_small() {
    for game in ["rock_paper_scissors", "connect_four"] {
        let (_, events) = played(game, 50);
        let (match_id, ..) = reported(&events);
        let site = Site::of(&events).await;
        let assets = site.get("/static/live.js").await.body.len() + site.get("/static/style.css").await.body.len();
        for from in [1, 25, 50] {
            let page = site.get(&format!("/matches/{match_id}?game={from}")).await.body;
            markup::check(&page);
            assert!(page.contains(&format!("Game {from} of 50: ")), "{page}");
            assert!(page.len() + assets < 100_000, "{game}, {from}: {}", page.len());
        }
    }
}
