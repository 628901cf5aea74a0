//! The join key: the line that shows it, and the agents that need it.

use std::fs;

use crate::support::Venue;

const WITHOUT: &str = "ask the operator for the join key";

#[test]
fn a_key_that_the_manager_makes_lets_in_those_who_show_it_and_is_kept_nowhere() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--players-need-key", "--exit-when-done"]);
    let line = manager.says("Referees and players need this league's join key: ");
    let key = line.rsplit(' ').next().unwrap().to_owned();
    for stranger in [venue.referee("REF09"), venue.player("P09", "random")] {
        let told = stranger.ended().badly();
        assert!(told.contains("did not let us in") && told.contains(WITHOUT), "{told}");
    }
    let keyed = ["--join-key", &key];
    let _agents = [
        venue.agent(&["referee", "--referee-id", "REF01"], &keyed),
        venue.agent(&["player", "--player-id", "P01"], &keyed),
        venue.agent(&["player", "--player-id", "P02"], &keyed),
    ];
    let ended = manager.ended().well();
    let told: Vec<&str> = ended.talk.lines().filter(|line| line.contains(&key)).collect();
    let [player, referee, _] = told[..] else { panic!("{told:?}") };
    assert_eq!(player, format!("Players join with: league player --manager {} --join-key {key}", venue.address));
    assert_eq!(referee, format!("Referees join with: league referee --manager {} --join-key {key}", venue.address));
    assert!(!ended.out.contains(&key));
    venue.home.verify(1);
    for file in venue.home.files() {
        let holds = fs::read(&file).unwrap().windows(key.len()).any(|part| part == key.as_bytes());
        assert!(!holds, "{}", file.display());
    }
}

#[test]
fn a_key_of_ones_own_is_for_referees_alone() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--join-key", "sesame", "--exit-when-done"]);
    manager.address();
    let told = venue.referee("REF09").ended().badly();
    assert!(told.contains(WITHOUT), "{told}");
    let keyed = venue.agent(&["referee", "--referee-id", "REF01"], &["--join-key", "sesame"]);
    let _agents = [keyed, venue.player("P01", "random"), venue.player("P02", "random")];
    let ended = manager.ended().well();
    assert!(!ended.talk.contains("sesame"), "{}", ended.talk);
}
