//! Other users of the machine cannot read a home.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::home::LEAGUE;
use crate::support::{Process, TestHome, assert_contains, league};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn widen(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_new_home_can_be_read_by_its_owner_only() {
    let home = TestHome::below("home");
    // The usual mask lets others read.
    Process::limited("umask 022", &["run", "--port", "0", "--players", "2", "--home", home.path()]).wait().success();
    assert_eq!(mode(Path::new(home.path())), 0o700);
    for directory in ["data", "logs", &format!("data/leagues/{LEAGUE}"), "data/players/P01"] {
        assert_eq!(mode(&home.join(directory)), 0o700, "{directory}");
    }
    let lock = home.join(&format!("data/leagues/{LEAGUE}/manager.lock"));
    for file in [home.database(), lock, home.join("data/players/P01/keys.json")] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn the_files_beside_the_log_of_a_running_manager_can_be_read_by_the_owner_only() {
    let home = TestHome::below("home");
    let mut manager = Process::limited("umask 022", &["manager", "--port", "0", "--home", home.path()]);
    manager.address();
    for ending in ["", "-wal", "-shm"] {
        let file = home.join(&format!("data/leagues/{LEAGUE}/league.db{ending}"));
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_wide_home_is_tightened_when_the_manager_opens_it_and_the_manager_says_so() {
    let home = TestHome::below("home");
    let mut manager = home.start(&["manager", "--port", "0"]);
    manager.address();
    manager.kill();
    let lock = home.join(&format!("data/leagues/{LEAGUE}/manager.lock"));
    widen(Path::new(home.path()), 0o755);
    [home.database(), lock.clone()].iter().for_each(|file| widen(file, 0o644));
    // A command that only looks changes nothing.
    home.league(&["status"]).success();
    assert_eq!((mode(Path::new(home.path())), mode(&lock)), (0o755, 0o644));
    let mut manager = home.start(&["manager", "--port", "0"]);
    manager.wait_for_line("Other users of this machine had access to");
    manager.address();
    assert_eq!(mode(Path::new(home.path())), 0o700);
    assert_eq!((mode(&home.database()), mode(&lock)), (0o600, 0o600));
    manager.kill();
    let mut manager = home.start(&["manager", "--port", "0"]);
    let address = manager.address();
    // It answers after it has begun to listen for signals.
    league(&["status", "--manager", &address]).success();
    manager.signal("TERM");
    let said = manager.wait().success().stderr;
    assert!(!said.contains("had access"), "{said}");
}

#[test]
fn a_directory_with_other_things_keeps_its_rights() {
    let home = TestHome::below("work");
    fs::create_dir_all(home.path()).unwrap();
    widen(Path::new(home.path()), 0o755);
    fs::write(home.join("notes.txt"), "mine").unwrap();
    let said = home.run(&["--players", "2"]).stderr;
    assert_eq!(mode(Path::new(home.path())), 0o755);
    assert_eq!((mode(&home.join("data")), mode(&home.join("logs")), mode(&home.database())), (0o700, 0o700, 0o600));
    assert!(!said.contains("had access"), "{said}");
    widen(&home.join("data"), 0o755);
    assert_contains(&home.run(&["--players", "2"]).stderr, &["had access to", "data; now only the owner has"]);
}
