//! Games other than Even/Odd, by our players over real sockets, and `league simulate`.

use std::thread;

use league_core::rules::registry::known_games;
use serde_json::{Value, json};

use crate::support::home::LEAGUE;
use crate::support::{TestHome, Venue, assert_contains, assert_played, league, ports, wait_for_all};

/// At most as many moves as a game of tic-tac-toe can have.
fn lists_its_moves(home: &TestHome, match_id: &str) -> bool {
    let file = home.match_file(match_id);
    let moves = file["result"]["details"]["moves"].as_array().unwrap().len();
    file["game_type"] == "tic_tac_toe" && (5..=9).contains(&moves)
}

#[test]
fn a_league_of_tic_tac_toe_is_played_counted_and_verified() {
    let home = TestHome::new();
    let standings = home.run(&["--json", "--game", "tic_tac_toe"]).json();
    assert_played(&standings, 3);
    // Two of the four play perfectly, so they lose no match.
    let perfect = |row: &&Value| row["display_name"].as_str().unwrap().starts_with("tic_tac_toe");
    let losses: Vec<_> = standings.as_array().unwrap().iter().filter(perfect).map(|row| &row["losses"]).collect();
    assert_eq!(losses, [&json!(0), &json!(0)]);
    home.verify(6);
    assert_eq!(home.forfeits(), 0);
    assert!(["R1M1", "R2M2", "R3M1"].iter().all(|match_id| lists_its_moves(&home, match_id)));
    home.league(&["run", "--port", "0", "--league-id", LEAGUE, "--game", "even_odd"])
        .fails_with(&["plays tic_tac_toe; name a new league with --league-id"]);
}

#[test]
fn tic_tac_toe_is_played_by_processes() {
    let venue = Venue::new();
    let manager = venue.manager_with(3, 1, &["--game", "tic_tac_toe", "--exit-when-done", "--json"]);
    let players = [("P01", "random"), ("P02", "tic_tac_toe"), ("P03", "tic_tac_toe")];
    let players = players.map(|(id, strategy)| venue.player(id, strategy));
    let referee = venue.agent(&["referee", "--referee-id", "REF01", "--game", "tic_tac_toe"]);
    assert_played(&manager.wait().success().json(), 2);
    wait_for_all(players.into_iter().chain([referee]));
    venue.home.verify(3);
    assert!(["R1M1", "R2M1", "R3M1"].iter().all(|match_id| lists_its_moves(&venue.home, match_id)));
}

/// Everything of a league that its seed decides.
fn results(home: &TestHome) -> Vec<Value> {
    let matches = home.list("matches");
    matches.iter().map(|game| home.match_file(game["match_id"].as_str().unwrap())["result"].clone()).collect()
}

fn plays_with_any_number_of_referees(game: &str) {
    let leagues = ["1", "2", "8"].map(|referees| {
        let home = TestHome::new();
        let options = ["--json", "--game", game, "--players", "3", "--seed", "7", "--referees", referees];
        let standings = home.run(&options).json();
        assert_played(&standings, 2);
        home.verify(3);
        assert_eq!(home.forfeits(), 0, "{game}");
        (standings, results(&home))
    });
    assert_eq!(leagues[0], leagues[1], "{game}");
    assert_eq!(leagues[0], leagues[2], "{game}");
}

#[test]
fn every_game_of_turns_is_played_over_sockets_with_any_number_of_referees() {
    ["tic_tac_toe", "connect_four", "kuhn_poker", "leduc_poker", "colonel_blotto"]
        .into_iter()
        .for_each(plays_with_any_number_of_referees);
}

#[test]
fn rock_paper_scissors_is_played_over_sockets_with_any_number_of_referees() {
    plays_with_any_number_of_referees("rock_paper_scissors");
}

#[test]
fn the_dilemma_is_played_over_sockets_with_any_number_of_referees_and_ranked_by_scores() {
    plays_with_any_number_of_referees("prisoners_dilemma");
    let home = TestHome::new();
    let standings =
        home.run(&["--json", "--game", "prisoners_dilemma", "--players", "3", "--strategies", "tit_for_tat,random"]);
    let scores: Vec<i64> =
        standings.json().as_array().unwrap().iter().map(|row| row["score"].as_i64().unwrap()).collect();
    assert!(scores.is_sorted_by(|one, other| one >= other), "{scores:?}");
}

#[test]
fn cards_are_proved_in_the_log() {
    let home = TestHome::new();
    home.run(&["--game", "leduc_poker"]);
    let report = home.json("verify");
    assert_eq!(report["draws_proved"], json!(6), "{report}");
}

fn the_checker_has_no_complaint(role: &str, game: &str) {
    let (home, port, listen) = (TestHome::new(), ports::free(), ports::free());
    let mut agent = home.start(&[role, "--port", &port.to_string(), "--manager", &ports::endpoint(listen)]);
    agent.wait_for_line(&format!("Waiting for the manager at {}", ports::endpoint(listen)));
    let (address, listen) = (format!("localhost:{port}"), listen.to_string());
    let report = league(&["check", &address, "--role", role, "--listen", &listen, "--json", "--game", game]).json();
    assert_eq!(report["failures"], json!([]), "{role}, {game}: {report}");
}

#[test]
fn the_checker_grades_agents_in_every_game() {
    for role in ["player", "referee"] {
        thread::scope(|scope| {
            for game in known_games() {
                scope.spawn(move || the_checker_has_no_complaint(role, game));
            }
        });
    }
}

#[test]
fn an_unknown_game_or_a_strategy_that_does_not_play_it_is_refused_with_the_known_ones() {
    let home = TestHome::new();
    for command in ["run", "manager", "referee", "player", "simulate"] {
        let exit = league(&[command, "--game", "chess"]);
        assert_eq!(exit.code, Some(2), "{command}");
        assert_contains(&exit.stderr, &["expected one of even_odd, tic_tac_toe"]);
    }
    home.league(&["run", "--game", "tic_tac_toe", "--strategies", "markov"])
        .fails_with(&["the strategy markov does not play tic_tac_toe; these do: random, tic_tac_toe"]);
}

#[test]
fn a_league_of_every_game_is_simulated_and_a_seed_repeats_it() {
    for game in known_games() {
        let simulate =
            |seed| league(&["simulate", "--players", "5", "--seed", seed, "--json", "--game", game]).success();
        let exit = simulate("7");
        assert_eq!(exit.json().as_array().unwrap().len(), 5);
        assert_played(&exit.json(), 4);
        assert_contains(&exit.stderr, &["5 players, 5 rounds, 10 matches", "Champion: "]);
        assert_eq!(exit.stdout, simulate("7").stdout);
        assert_ne!(exit.stdout, simulate("8").stdout);
    }
    league(&["simulate"]).success();
}
