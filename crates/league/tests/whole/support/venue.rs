//! A league of separate processes: one home, one manager's address, a port for every agent.

use super::{Process, TestHome, ports};
use crate::test_certificates::TestCertificates;

const SHORT: [&str; 6] = ["--join-timeout", "1", "--move-timeout", "1", "--retry-delay", "0.05"];
/// Time enough to kill and restart a process.
const PATIENT: [&str; 6] = ["--join-timeout", "5", "--move-timeout", "5", "--retry-delay", "1"];

pub(crate) struct Venue {
    pub(crate) home: TestHome,
    pub(crate) address: String,
    port: String,
    limits: [&'static str; 6],
    all: Vec<String>,
}

impl Venue {
    pub(crate) fn new() -> Self {
        let port = ports::free();
        let address = format!("http://127.0.0.1:{port}/mcp");
        Self { home: TestHome::new(), address, port: port.to_string(), limits: SHORT, all: Vec::new() }
    }

    /// With time enough to restart players.
    pub(crate) fn patient() -> Self {
        Self { limits: PATIENT, ..Self::new() }
    }

    pub(crate) fn secured(certificates: &TestCertificates) -> Self {
        let files = [("--tls-cert", "server.pem"), ("--tls-key", "server.key"), ("--ca", "ca.pem")];
        let named = files.map(|(flag, file)| [flag.to_owned(), certificates.path(file).to_str().unwrap().to_owned()]);
        let venue = Self::new();
        Self { address: venue.address.replace("http:", "https:"), all: named.concat(), ..venue }
    }

    pub(crate) fn manager(&self, players: usize, referees: usize) -> Process {
        self.manager_with(players, referees, &["--exit-when-done", "--json"])
    }

    pub(crate) fn manager_with(&self, players: usize, referees: usize, more: &[&str]) -> Process {
        let (players, referees) = (players.to_string(), referees.to_string());
        let place = ["manager", "--port", &self.port, "--home", self.home.path()];
        let expected = ["--expect-players", &players, "--expect-referees", &referees];
        self.start(&[&place[..], &expected, &self.limits, more].concat())
    }

    pub(crate) fn manager_limited(&self, limits: &str, players: usize, referees: usize) -> Process {
        let (players, referees) = (players.to_string(), referees.to_string());
        let expected = ["--expect-players", &players, "--expect-referees", &referees, "--exit-when-done", "--json"];
        let place = ["manager", "--port", &self.port, "--home", self.home.path()];
        Process::limited(limits, &[&place[..], &expected, &self.limits].concat())
    }

    pub(crate) fn referee(&self, id: &str) -> Process {
        self.agent(&["referee", "--referee-id", id], &[])
    }

    pub(crate) fn player(&self, id: &str, strategy: &str) -> Process {
        self.agent(&["player", "--player-id", id, "--strategy", strategy], &[])
    }

    pub(crate) fn agent(&self, who: &[&str], more: &[&str]) -> Process {
        let port = ports::free().to_string();
        let place = ["--port", &port, "--manager", &self.address, "--home", self.home.path()];
        self.start(&[who, &place, more].concat())
    }

    fn start(&self, arguments: &[&str]) -> Process {
        let all: Vec<&str> = self.all.iter().map(String::as_str).collect();
        Process::start(&[arguments, &all].concat())
    }
}
