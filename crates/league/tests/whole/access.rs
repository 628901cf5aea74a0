//! The keys that agents need to register.

use std::fs;

use crate::support::{Venue, league};

const NEEDS_KEY: &str = "join_key is missing or wrong; ask the operator for the";

#[test]
fn generated_keys_admit_the_agents_of_their_role_and_are_kept_nowhere() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--players-need-key", "--exit-when-done"]);
    let [referee_key, player_key] = ["Referees need the referee key: ", "Players need the player key: "]
        .map(|words| manager.wait_for_line(words).rsplit(' ').next().unwrap().to_owned());
    for stranger in [venue.referee("REF09"), venue.player("P09", "random")] {
        stranger.wait().fails_with(&["did not let us in", NEEDS_KEY]);
    }
    // A player must not become a referee by the key that it was given.
    let with = |role: [&str; 3], key: &str| venue.agent(&[&role[..], &["--join-key", key]].concat());
    with(["referee", "--referee-id", "REF09"], &player_key).wait().fails_with(&[NEEDS_KEY]);
    let _agents = [
        with(["referee", "--referee-id", "REF01"], &referee_key),
        with(["player", "--player-id", "P01"], &player_key),
        with(["player", "--player-id", "P02"], &player_key),
    ];
    let exit = manager.wait().success();
    let line = |words: &str| exit.stderr.lines().find(|line| line.starts_with(words)).unwrap().to_owned();
    for (words, role, key) in [("Players", "player", &player_key), ("Referees", "referee", &referee_key)] {
        let join = format!("{words} join with: ");
        assert_eq!(line(&join), format!("{join}league {role} --manager {} --join-key {key}", venue.address));
        assert!(!exit.stdout.contains(key));
        for file in venue.home.files() {
            let holds = fs::read(&file).unwrap().windows(key.len()).any(|part| part == key.as_bytes());
            assert!(!holds, "{}", file.display());
        }
    }
    venue.home.verify(1);
}

#[test]
fn a_chosen_referee_key_is_for_referees_alone_and_can_be_replaced() {
    const CHOSEN: &str = "sesame-sesame-open";
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--referee-key", CHOSEN, "--exit-when-done"]);
    let address = manager.address();
    venue.referee("REF09").wait().fails_with(&[NEEDS_KEY]);
    let rotated = league(&["keys", "rotate", "--role", "referee", "--manager", &address]).success().stdout;
    // The old key no longer counts.
    venue.agent(&["referee", "--referee-id", "REF08", "--join-key", CHOSEN]).wait().fails_with(&[NEEDS_KEY]);
    let referee = venue.agent(&["referee", "--referee-id", "REF01", "--join-key", rotated.trim()]);
    let _agents = [referee, venue.player("P01", "random"), venue.player("P02", "random")];
    let exit = manager.wait().success();
    assert!(!exit.stderr.contains(CHOSEN), "{}", exit.stderr);
}

#[test]
fn a_secret_that_could_be_guessed_is_refused_at_the_start() {
    let venue = Venue::new();
    for flag in ["--operator-token", "--referee-key", "--player-key"] {
        let error = venue.manager_with(2, 1, &[flag, "chalk"]).wait().fails_with(&[flag, "give at least 16"]);
        assert!(!error.contains("chalk"), "{error}");
    }
}
