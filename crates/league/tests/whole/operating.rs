//! The commands of docs/operating.md, in one shell: PostgreSQL from Debian's package, managers, referees and players.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{fs, iter};

use crate::support::{Process, TestHome, ports};

const PAGE: &str = include_str!("../../../../docs/operating.md");
/// The ports of the page.
const PORTS: [&str; 3] = ["8000", "8010", "5433"];
/// For the leases of the managers that are killed.
const LIMIT: Duration = Duration::from_secs(180);

fn script() -> String {
    let blocks: Vec<&str> = PAGE.split("```bash\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
    assert!(blocks.len() > 2, "the page has lost its commands");
    // No free port contains one that is replaced later.
    let free =
        || iter::repeat_with(|| ports::free().to_string()).find(|free| !PORTS.iter().any(|port| free.contains(port)));
    PORTS.iter().fold(blocks.join("\n"), |script, port| script.replace(port, &free().unwrap()))
}

/// PostgreSQL refuses to run as root, so root becomes another user.
fn shell(directory: &Path) -> Command {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|printed| printed.stdout == b"0\n");
    if !is_root {
        return Command::new("bash");
    }
    let owned = Command::new("chown").args(["--recursive", "postgres:postgres"]).arg(directory).status();
    assert!(owned.unwrap().success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "bash"]);
    command
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_and_the_commands_of_the_operating_guide_survive_the_kill_of_a_manager() {
    let directory = TestHome::new();
    let place = Path::new(directory.path());
    // Another user may not reach the program below a private home.
    let program = place.join("bin/league");
    fs::create_dir(place.join("bin")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_league"), &program).unwrap();
    fs::set_permissions(place, fs::Permissions::from_mode(0o755)).unwrap();
    // Whatever fails, no process of the script is left.
    let ending = "trap 'set +e; kill -9 $(jobs -p) 2> /dev/null; pg_ctl stop --mode immediate --pgdata log > /dev/null 2>&1' EXIT";
    fs::write(place.join("script"), format!("set -e\n{ending}\n{}\n", script())).unwrap();
    let mut command = shell(place);
    let path = format!("{}:{}", place.join("bin").display(), std::env::var("PATH").unwrap());
    command.arg("script").current_dir(place).env("PATH", path).env("HOME", place);
    let exit = Process::of(command).wait_within(LIMIT).success();
    for player in ["Player-1", "Player-2", "Player-3", "Player-4"] {
        assert!(exit.stdout.contains(player), "{player} is not in the table: {}\n{}", exit.stdout, exit.stderr);
    }
    assert!(exit.stderr.contains("Going on with"), "the second manager found the league: {}", exit.stderr);
    // The players print this at the end of their league. The manager prints its own line later, and the script may stop it first.
    for player in ["spring-1", "spring-2", "summer-1", "summer-2"] {
        assert!(exit.stderr.contains(&format!("{player} finished")), "{player} did not finish: {}", exit.stderr);
    }
}
