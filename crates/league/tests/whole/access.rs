//! The join key: the line that shows it, and the agents that need it.

use std::fs;

use crate::support::Venue;

const NEEDS_KEY: &str = "ask the operator for the join key";

#[test]
fn a_generated_join_key_admits_agents_and_is_stored_nowhere() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--players-need-key", "--exit-when-done"]);
    let line = manager.wait_for_line("Referees and players need this league's join key: ");
    let key = line.rsplit(' ').next().unwrap().to_owned();
    for stranger in [venue.referee("REF09"), venue.player("P09", "random")] {
        stranger.wait().fails_with(&["did not let us in", NEEDS_KEY]);
    }
    let _agents =
        [["referee", "--referee-id", "REF01"], ["player", "--player-id", "P01"], ["player", "--player-id", "P02"]]
            .map(|agent| venue.agent(&[&agent[..], &["--join-key", &key]].concat()));
    let exit = manager.wait().success();
    let lines: Vec<&str> = exit.stderr.lines().filter(|line| line.contains(&key)).collect();
    let [player, referee, _] = lines[..] else { panic!("{lines:?}") };
    assert_eq!(player, format!("Players join with: league player --manager {} --join-key {key}", venue.address));
    assert_eq!(referee, format!("Referees join with: league referee --manager {} --join-key {key}", venue.address));
    assert!(!exit.stdout.contains(&key));
    venue.home.verify(1);
    for file in venue.home.files() {
        let holds = fs::read(&file).unwrap().windows(key.len()).any(|part| part == key.as_bytes());
        assert!(!holds, "{}", file.display());
    }
}

#[test]
fn a_chosen_join_key_is_needed_by_referees_only() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--join-key", "sesame", "--exit-when-done"]);
    manager.address();
    venue.referee("REF09").wait().fails_with(&[NEEDS_KEY]);
    let referee = venue.agent(&["referee", "--referee-id", "REF01", "--join-key", "sesame"]);
    let _agents = [referee, venue.player("P01", "random"), venue.player("P02", "random")];
    let exit = manager.wait().success();
    assert!(!exit.stderr.contains("sesame"), "{}", exit.stderr);
}
