//! A league of separate processes: one home, one manager's address, a port for every agent.

use super::{Process, TestHome, http, league, ports};
use crate::test_certificates::TestCertificates;

const SHORT: [&str; 6] = ["--join-timeout", "1", "--move-timeout", "1", "--retry-delay", "0.05"];
const LONG: [&str; 6] = ["--join-timeout", "5", "--move-timeout", "5", "--retry-delay", "1"];

pub(crate) struct Venue {
    pub(crate) home: TestHome,
    pub(crate) address: String,
    /// The home as the program names it.
    home_argument: String,
    launch: fn(&[String]) -> Process,
    port: String,
    limits: [&'static str; 6],
    /// Flags of every agent.
    flags: Vec<String>,
}

impl Venue {
    pub(crate) fn new() -> Self {
        let (home, port) = (TestHome::new(), ports::free());
        let (home_argument, address, port) = (home.path().to_owned(), ports::endpoint(port), port.to_string());
        Self { home, address, home_argument, launch: Process::start, port, limits: SHORT, flags: Vec::new() }
    }

    /// With time enough to kill and restart a player during a match.
    pub(crate) fn patient() -> Self {
        Self { limits: LONG, ..Self::new() }
    }

    /// For another program than `league`.
    pub(crate) fn launched_by(launch: fn(&[String]) -> Process, home: TestHome, home_argument: String) -> Self {
        Self { home, home_argument, launch, ..Self::patient() }
    }

    pub(crate) fn secured(certificates: &TestCertificates) -> Self {
        let files = [("--tls-cert", "server.pem"), ("--tls-key", "server.key"), ("--ca", "ca.pem")];
        let flags = files.map(|(flag, file)| [flag.to_owned(), certificates.path(file).to_str().unwrap().to_owned()]);
        let venue = Self::new();
        Self { address: venue.address.replace("http:", "https:"), flags: flags.concat(), ..venue }
    }

    pub(crate) fn manager(&self, players: usize, referees: usize) -> Process {
        self.manager_with(players, referees, &["--exit-when-done", "--json"])
    }

    pub(crate) fn manager_with(&self, players: usize, referees: usize, more: &[&str]) -> Process {
        (self.launch)(&self.manager_arguments(players, referees, more))
    }

    pub(crate) fn manager_limited(&self, limits: &str, players: usize, referees: usize) -> Process {
        Process::limited(limits, &self.manager_arguments(players, referees, &["--exit-when-done", "--json"]))
    }

    fn manager_arguments(&self, players: usize, referees: usize, more: &[&str]) -> Vec<String> {
        let (players, referees) = (players.to_string(), referees.to_string());
        let expected = ["--expect-players", &players, "--expect-referees", &referees];
        let place = ["manager", "--port", &self.port, "--home", &self.home_argument];
        self.with_flags(&[&place[..], &expected, &self.limits, more].concat())
    }

    pub(crate) fn referee(&self, id: &str) -> Process {
        self.agent(&["referee", "--referee-id", id])
    }

    pub(crate) fn player(&self, id: &str, strategy: &str) -> Process {
        self.agent(&["player", "--player-id", id, "--strategy", strategy])
    }

    pub(crate) fn agent(&self, arguments: &[&str]) -> Process {
        self.agent_in(&self.home_argument, arguments)
    }

    pub(crate) fn agent_in(&self, home: &str, arguments: &[&str]) -> Process {
        let port = ports::free().to_string();
        let place = ["--port", &port, "--manager", &self.address, "--home", home];
        (self.launch)(&self.with_flags(&[arguments, &place].concat()))
    }

    fn with_flags(&self, arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(ToString::to_string).chain(self.flags.iter().cloned()).collect()
    }
}

/// A league in its first match, while its two players choose.
pub(crate) struct RunningMatch {
    pub(crate) venue: Venue,
    pub(crate) manager: Process,
    pub(crate) referee: Process,
    pub(crate) players: [Process; 2],
}

impl RunningMatch {
    pub(crate) fn start(venue: Venue, strategy: &str) -> Self {
        let mut manager = venue.manager(2, 1);
        manager.address();
        let (mut referee, mut players) = (venue.referee("REF01"), ["P01", "P02"].map(|id| venue.player(id, strategy)));
        referee.wait_for_line("is ready");
        players.iter_mut().for_each(|player| drop(player.wait_for_line("plays")));
        let agents = league(&["agents", "--manager", &venue.address, "--json"]).success().json();
        http::until_match(agents[0]["endpoint"].as_str().unwrap(), "R1M1", "state", "COLLECTING_CHOICES");
        Self { venue, manager, referee, players }
    }
}

/// Starts `league run` with slow players and waits for the first result.
pub(crate) fn start_slow_run(launch: fn(&[String]) -> Process, home: &str) -> Process {
    // The same port after a restart: an agent at another port counts as a different agent.
    let port = ports::free().to_string();
    let arguments = ["run", "--port", &port, "--players", "4", "--strategies", "slow:5", "--home", home];
    let mut run = launch(&arguments.map(str::to_owned));
    let address = run.wait_for_line("manager at http").rsplit(' ').next().unwrap().to_owned();
    let played = |answer: &serde_json::Value| answer["result"]["standings"].to_string().contains("\"played\":1");
    http::until(&address, "get_standings", &serde_json::json!({}), played);
    run
}
