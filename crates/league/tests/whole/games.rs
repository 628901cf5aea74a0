//! Games other than Even/Odd, by our players over real sockets.

use serde_json::{Value, json};

use crate::support::{Process, TestHome, Venue, league, ports};

const GAME: [&str; 2] = ["--game", "tic_tac_toe"];

/// At most as many moves as a game of tic-tac-toe can have.
fn lists_its_moves(home: &TestHome, name: &str) -> bool {
    let file = home.match_file(name);
    let moves = file["result"]["details"]["moves"].as_array().unwrap().len();
    file["game_type"] == "tic_tac_toe" && (5..=9).contains(&moves)
}

#[test]
fn a_league_of_tic_tac_toe_is_played_counted_and_verified() {
    let home = TestHome::new();
    let run = ["run", "--port", "0", "--players", "4", "--home", home.path(), "--json"];
    let ended = league(&[&run[..], &GAME].concat()).well();
    let standings: Vec<Value> = serde_json::from_str(&ended.out).unwrap();
    assert!(standings.iter().all(|row| row["played"] == 3), "{standings:?}");
    // Two of the four play perfectly, so they lose no match.
    let perfect = standings.iter().filter(|row| row["display_name"].as_str().unwrap().starts_with("tic_tac_toe"));
    assert_eq!(perfect.map(|row| &row["losses"]).collect::<Vec<_>>(), [&json!(0), &json!(0)]);
    home.verify(6);
    assert_eq!(home.forfeits(), 0);
    assert!(["R1M1", "R2M2", "R3M1"].iter().all(|name| lists_its_moves(&home, name)));
    let other = league(&[
        "run",
        "--port",
        "0",
        "--home",
        home.path(),
        "--league-id",
        crate::support::home::LEAGUE,
        "--game",
        "even_odd",
    ]);
    assert!(other.badly().contains("plays tic_tac_toe; name a new league with --league-id"));
}

#[test]
fn tic_tac_toe_is_played_by_processes() {
    let venue = Venue::new();
    let manager = venue.manager_with(3, 1, &["--game", "tic_tac_toe", "--exit-when-done", "--json"]);
    let players = [("P01", "random"), ("P02", "tic_tac_toe"), ("P03", "tic_tac_toe")];
    let agents = players.map(|(id, strategy)| venue.player(id, strategy));
    let referee = venue.agent(&["referee", "--referee-id", "REF01"], &GAME);
    let standings = manager.ended().well().json();
    assert!(standings.as_array().unwrap().iter().all(|row| row["played"] == 2), "{standings}");
    agents.into_iter().chain([referee]).for_each(|agent| drop(agent.ended().well()));
    venue.home.verify(3);
    assert!(["R1M1", "R2M1", "R3M1"].iter().all(|name| lists_its_moves(&venue.home, name)));
}

#[test]
fn the_checker_grades_agents_in_another_game() {
    let (home, [player, referee, listen]) = (TestHome::new(), [(); 3].map(|()| ports::free().to_string()));
    let manager = format!("http://127.0.0.1:{listen}/mcp");
    let mut agents = [["player", "--port", &player], ["referee", "--port", &referee]]
        .map(|agent| Process::start(&[&agent[..], &["--manager", &manager, "--home", home.path()]].concat()));
    agents.iter_mut().for_each(|agent| drop(agent.says("Waiting for the manager")));
    for (role, port) in [("player", &player), ("referee", &referee)] {
        let address = format!("localhost:{port}");
        let check = ["check", &address, "--role", role, "--listen", &listen, "--json"];
        let report = league(&[&check[..], &GAME].concat()).json();
        assert_eq!(report["failures"], json!([]), "{role}: {report}");
    }
}

#[test]
fn an_unknown_game_or_a_strategy_that_does_not_play_it_is_refused_with_what_there_is() {
    let home = TestHome::new();
    for command in ["run", "manager", "referee", "player", "simulate"] {
        let told = league(&[command, "--game", "chess"]);
        assert_eq!(told.code, Some(2), "{command}");
        assert!(told.talk.contains("expected one of even_odd, tic_tac_toe"), "{command}: {}", told.talk);
    }
    let told = league(&["run", "--home", home.path(), "--game", "tic_tac_toe", "--strategies", "markov"]).badly();
    assert!(told.contains("the strategy markov does not play tic_tac_toe; these do: random, tic_tac_toe"), "{told}");
}

#[test]
fn a_league_of_every_game_is_simulated_and_a_seed_repeats_it() {
    for game in ["even_odd", "tic_tac_toe"] {
        let play = || league(&["simulate", "--players", "5", "--seed", "7", "--json", "--game", game]).well().out;
        let standings: Vec<Value> = serde_json::from_str(&play()).unwrap();
        assert!(standings.len() == 5 && standings.iter().all(|row| row["played"] == 4), "{game}: {standings:?}");
        assert_eq!(play(), play());
    }
}
