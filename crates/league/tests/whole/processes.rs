//! `league manager`, `league referee`, `league player`: everybody in a process of its own.

use crate::support::{Process, TestHome, Venue};

#[test]
fn any_start_order_works_and_everybody_goes_home_at_the_end() {
    let venue = Venue::new();
    let players = ["P01", "P02", "P03"].map(|id| (id, venue.player(id, "markov")));
    let referees = ["REF01", "REF02"].map(|id| (id, venue.referee(id)));
    let standings = venue.manager(3, 2).ended().well().json();
    assert!(standings.as_array().unwrap().iter().all(|row| row["played"] == 2), "{standings}");
    for (id, player) in players {
        assert!(player.ended().well().talk.contains(&format!("{id} plays markov")));
    }
    for (id, referee) in referees {
        assert!(referee.ended().well().talk.contains(&format!("{id} is ready")));
    }
    venue.home.verify(3);
    assert_eq!(venue.home.tells("standings"), standings);
}

#[test]
fn a_free_port_is_said_where_one_is_asked_for() {
    let home = TestHome::new();
    let arguments = ["manager", "--port", "0", "--home", home.path(), "--expect-players", "2", "--exit-when-done"];
    let mut manager = Process::start(&arguments);
    let address = manager.address();
    let agents = [
        ["referee", "--port", "0", "--manager", &address],
        ["player", "--port", "0", "--manager", &address],
        ["player", "--port", "0", "--manager", &address],
    ];
    let agents = agents.map(|agent| Process::start(&[&agent[..], &["--home", home.path()]].concat()));
    manager.ended().well();
    for agent in agents {
        agent.ended().well();
    }
    home.verify(1);
}

#[test]
fn a_manager_that_comes_back_to_a_finished_league_tells_who_has_not_heard() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &[]);
    let (_referee, mut player) = (venue.referee("REF01"), venue.player("P01", "random"));
    let _other = venue.player("P02", "random");
    manager.says("The league is over. Serving until Ctrl-C.");
    // As if it had not been told: a player that has just come back knows nothing of the end.
    player.kill_and_restart();
    player.says("P01 plays");
    manager.kill();
    venue.manager(2, 1).ended().well();
    player.ended().well();
    venue.home.verify(1);
}
