//! Matches of several games, by our agents over real sockets.

use league_test_agents::frame::Frame;
use league_test_agents::http_server::{HttpReply, HttpServer};
use league_test_agents::referee::Plan;
use serde_json::{Value, json};

use crate::support::home::LEAGUE;
use crate::support::{TestHome, Venue, assert_contains, assert_played, league, poll, read_json, register_player};

fn details(home: &TestHome, match_id: &str) -> Value {
    home.match_file(match_id)["result"]["details"].clone()
}

#[test]
fn fifty_games_of_a_hundred_throws_are_signed_reported_and_verified() {
    let home = TestHome::new();
    let options = ["--json", "--game", "rock_paper_scissors", "--games-per-match", "50", "--players", "2"];
    let standings = home.run(&[&options[..], &["--strategies", "throw_pattern,mostly_rock"]].concat()).json();
    assert_played(&standings, 1);
    home.verify(1);
    assert_eq!(home.forfeits(), 0);
    let details = details(&home, "R1M1");
    assert_eq!((&details["games_per_match"], details["moves"].as_array().unwrap().len()), (&json!(50), 10_000));
    // The predictor learns the bias and wins most throws that anyone wins.
    assert_eq!(standings[0]["display_name"], "throw_pattern 1", "{standings}");
    assert_eq!(home.json("status")["games_per_match"], 50);
    assert_contains(&home.league(&["status"]).success().stdout, &["Games per match", "50"]);
    let told = home.league(&["match", "R1M1"]).success().stdout;
    assert_contains(&told, &["in 50 games", "  Game 1: ", "  Game 50: ", "messages left out here: "]);
    let transcript = home.match_file("R1M1")["transcript"].clone();
    assert!(transcript.to_string().len() < 4 * 1024 * 1024);
    assert_eq!(home.json("alerts"), json!([]));
}

#[test]
fn fifty_games_of_connect_four_are_played() {
    let home = TestHome::new();
    let options = ["--json", "--game", "connect_four", "--games-per-match", "50", "--players", "2"];
    assert_played(&home.run(&[&options[..], &["--strategies", "connect_four:3,random"]].concat()).json(), 1);
    home.verify(1);
    assert_eq!((home.forfeits(), &details(&home, "R1M1")["games_per_match"]), (0, &json!(50)));
}

#[test]
fn every_game_of_a_match_of_poker_has_fresh_cards() {
    let home = TestHome::new();
    home.run(&["--game", "kuhn_poker", "--games-per-match", "4"]);
    home.verify(6);
    assert_eq!(home.json("verify")["draws_proved"], 6);
    let told = home.league(&["match", "R1M1"]).success().stdout;
    let games: Vec<&str> = told.lines().filter(|line| line.starts_with("  Game ")).collect();
    assert_eq!(games.len(), 4, "{told}");
    assert!(games.iter().all(|game| game.contains(" held ") && game.contains("; moves ")), "{told}");
    let first = |game: &str| game.split_once(": ").unwrap().1.split_once(" first; ").unwrap().0.to_owned();
    assert!(first(games[0]) == first(games[2]) && first(games[0]) != first(games[1]), "the sides swap: {told}");
    // The first view of each game of each match, as P01 saw it: its card.
    let cards = home.list("matches").into_iter().map(|game| {
        let file = home.match_file(game["match_id"].as_str().unwrap());
        let calls = file["transcript"].as_array().unwrap().clone();
        let calls = calls.into_iter().filter(|entry| entry["message_type"] == "GAME_MOVE_CALL" && entry["to"] == "P01");
        let first = calls.filter(|entry| entry["message"]["params"]["turn"] == 1);
        first.map(|entry| entry["message"]["params"]["context"]["view"]["card"].clone()).collect::<Vec<_>>()
    });
    let cards: Vec<Vec<Value>> = cards.filter(|cards| !cards.is_empty()).collect();
    assert_eq!(cards.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 4], "{cards:?}");
    assert!(cards.iter().any(|cards| cards.iter().any(|card| *card != cards[0])), "{cards:?}");
}

#[test]
fn each_game_of_a_match_of_even_odd_has_its_own_proved_number() {
    let home = TestHome::new();
    home.run(&["--games-per-match", "3", "--strategies", "frequency,alternate"]);
    home.verify(6);
    let report = home.json("verify");
    assert_eq!((&report["draws_proved"], &report["draws_unproved"]), (&json!(6), &json!(0)), "{report}");
    let told = home.league(&["match", "R1M1"]).success().stdout;
    let numbers = told.lines().filter(|line| line.starts_with("  Game ") && line.contains(", number ")).count();
    assert_eq!(numbers, 3, "{told}");
    let history = read_json(&home.join("data/players/P01/history.json"));
    let games = |played: &Value| played["games"].as_array().unwrap().len();
    assert_eq!(history["matches"].as_array().unwrap().iter().map(games).collect::<Vec<_>>(), [3, 3, 3]);
    assert!(history["matches"].as_array().unwrap().iter().all(|played| played["draw"] == "proved"), "{history}");
}

#[test]
fn a_player_that_falls_silent_in_the_second_game_loses_the_match() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--games-per-match", "3", "--exit-when-done", "--json"]);
    let address = manager.address();
    let stand_in = HttpServer::stub(|request| {
        let request = request.json();
        let params = &request["params"];
        let answer = match request["method"].as_str().unwrap() {
            "handle_game_invitation" => json!({"message_type": "GAME_JOIN_ACK", "player_id": "P02", "accept": true}),
            "choose_parity" if params["game_number"] == 1 => {
                json!({"message_type": "CHOOSE_PARITY_RESPONSE", "match_id": params["match_id"], "player_id": "P02", "parity_choice": "even"})
            }
            _ => json!({"status": "ok"}),
        };
        HttpReply::result(&request, &answer)
    });
    let stand_in = stand_in.unwrap();
    register_player(&address, "P02", &stand_in.endpoint());
    let _agents = [venue.referee("REF01"), venue.player("P01", "random")];
    manager.wait().success();
    venue.home.verify(1);
    let details = details(&venue.home, "R1M1");
    assert_eq!((&details["technical_losses"], &details["games_per_match"]), (&json!(["P02"]), &json!(3)), "{details}");
    assert_eq!(
        (venue.home.row("P01")["points"].clone(), venue.home.row("P02")["points"].clone()),
        (json!(3), json!(0))
    );
    let asked: Vec<Value> = stand_in.calls("choose_parity").into_iter().map(|call| call["params"].clone()).collect();
    let games: Vec<_> = asked.iter().map(|call| call["game_number"].as_u64().unwrap()).collect();
    assert_eq!(games, [1, 2, 2, 2], "three tries for the move of the second game");
    assert!(asked.iter().all(|call| call["games_per_match"] == 3));
    let told = &asked[1]["finished_games"];
    assert_eq!((told.as_array().unwrap().len(), &told[0]["your_moves"]), (1, &json!(["even"])), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_report_of_a_referee_that_plays_one_game_of_three_is_refused() {
    let venue = Venue::patient();
    let mut manager = venue.manager_with(2, 1, &["--games-per-match", "3"]);
    let address = tokio::task::block_in_place(|| manager.address());
    let referee = Plan::new("Whistle", Frame::Direct).join(&address).await.unwrap();
    let _players = ["P01", "P02"].map(|id| venue.player(id, "random"));
    let reported = || referee.reports().into_iter().next().map(|(_, answer)| format!("{answer:?}"));
    let answer = tokio::task::block_in_place(|| poll("the report", reported));
    assert_contains(&answer, &["E003", "result.details.games_per_match is missing", "has 3 games"]);
    assert_eq!(tokio::task::block_in_place(|| venue.home.json("status"))["matches_completed"], 0);
}

#[test]
fn more_games_than_a_report_can_hold_are_refused_with_the_most() {
    let home = TestHome::new();
    for command in ["run", "manager", "simulate"] {
        for number in ["0", "1001", "x"] {
            assert_eq!(league(&[command, "--games-per-match", number]).code, Some(2), "{command} {number}");
        }
        let wrong = [command, "--game", "rock_paper_scissors", "--games-per-match", "205"];
        let exit = if command == "simulate" { league(&wrong) } else { home.league(&wrong) };
        exit.fails_with(&["205 games per match of rock_paper_scissors do not fit", "choose at most 204"]);
    }
    home.write(&format!("config/leagues/{LEAGUE}.json"), &json!({"scheduling": {"games_per_match": 2}}));
    home.run(&[]);
    assert_eq!(home.json("status")["games_per_match"], 2);
    home.league(&["run", "--port", "0", "--games-per-match", "3", "--league-id", LEAGUE])
        .fails_with(&["has 2 games per match; name a new league with --league-id"]);
}

#[test]
fn a_league_of_several_games_is_simulated_and_a_seed_repeats_it() {
    for game in league_core::rules::registry::known_games() {
        let simulate =
            || league(&["simulate", "--seed", "7", "--json", "--game", game, "--games-per-match", "3"]).success();
        assert_eq!(simulate().stdout, simulate().stdout);
        assert_played(&simulate().json(), 3);
    }
}
