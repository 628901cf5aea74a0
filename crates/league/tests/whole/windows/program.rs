//! The Windows program in its own process.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::support::{Ended, Process, TestHome, ports};

/// Wine's loader and the program, set by `cargo xtask ci windows`, with the variables that Wine itself reads.
const WINE: &str = "LEAGUE_WINE";
const PROGRAM: &str = "LEAGUE_WINDOWS";

/// The process id is that of Wine's loader, which becomes the program: it can be killed.
pub(super) fn start<A: AsRef<str>>(arguments: &[A]) -> Process {
    let variable = |name| env::var(name).unwrap_or_else(|_| panic!("{name} is set by cargo xtask ci windows"));
    let program = on_windows(Path::new(&variable(PROGRAM)));
    let mut command = Command::new(variable(WINE));
    command.arg(program).args(arguments.iter().map(AsRef::as_ref)).current_dir(env::temp_dir());
    Process::of(&command)
}

pub(super) fn league<A: AsRef<str>>(arguments: &[A]) -> Ended {
    start(arguments).ended()
}

/// Wine turns this signal into the console event for Ctrl-C.
pub(super) fn press_ctrl_c(process: &Process) {
    let sent = Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

pub(super) fn on_windows(path: &Path) -> String {
    format!("Z:{}", path.to_str().unwrap().replace('/', "\\"))
}

/// Its path has a space and a letter beyond ASCII, as names of students have.
pub(super) struct WindowsHome {
    directory: TestHome,
    pub(super) path: String,
}

impl WindowsHome {
    pub(super) fn new() -> Self {
        let directory = TestHome::new();
        let path = on_windows(&directory.join("José's league"));
        Self { directory, path }
    }

    pub(super) fn here(&self) -> String {
        self.directory.join("José's league").to_str().unwrap().to_owned()
    }
}

pub(super) struct WindowsVenue {
    pub(super) home: WindowsHome,
    pub(super) address: String,
    port: String,
}

impl WindowsVenue {
    pub(super) fn new() -> Self {
        let port = ports::free();
        Self { home: WindowsHome::new(), address: format!("http://127.0.0.1:{port}/mcp"), port: port.to_string() }
    }

    pub(super) fn manager(&self) -> Process {
        self.manager_at(&self.port)
    }

    pub(super) fn manager_at(&self, port: &str) -> Process {
        let place = ["manager", "--port", port, "--home", &self.home.path, "--json", "--exit-when-done"];
        let expected =
            ["--expect-players", "2", "--expect-referees", "1", "--join-timeout", "5", "--move-timeout", "5"];
        start(&[&place[..], &expected].concat())
    }

    pub(super) fn referee(&self) -> Process {
        self.agent(&["referee", "--referee-id", "REF01"])
    }

    pub(super) fn player(&self, id: &str, strategy: &str) -> Process {
        self.agent(&["player", "--player-id", id, "--strategy", strategy])
    }

    fn agent(&self, who: &[&str]) -> Process {
        let port = ports::free().to_string();
        start(&[who, &["--port", &port, "--manager", &self.address, "--home", &self.home.path]].concat())
    }
}
