//! A manager that leads and loses its way to the database: first only that way, then every way. Packets vanish, and no
//! connection is closed.

use std::net::IpAddr;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::network::{Host, Network};
use crate::postgres::server::TestServer;
use crate::postgres::standbys::TAKEOVER;
use crate::support::{Process, poll};

const KEY: &str = "a-key-for-the-referees";
const DATABASE: &str = "192.168.1.30";
const MANAGERS: &str = "http://192.168.1.10:8000/mcp,http://192.168.1.31:8000/mcp";
const PLAYERS: usize = 4;
const MATCHES: usize = 6 * PLAYERS * (PLAYERS - 1) / 2;

struct TestManager {
    host: Host,
    /// Of the switch.
    port: &'static str,
    address: &'static str,
    process: Process,
}

impl TestManager {
    fn start(host: Host, port: &'static str, address: &'static str, store: &str) -> Self {
        let process = Self::process(&host, store);
        Self { host, port, address, process }
    }

    fn process(host: &Host, store: &str) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_league"));
        let expected = format!("--expect-players {PLAYERS} --expect-referees 2 --registration-window 600");
        let rules = format!("--format round_robin:times=6 --referee-key {KEY} --join-timeout 5 --move-timeout 5");
        command.args(format!("manager --standby --host 0.0.0.0 {expected} {rules}").split_whitespace());
        let mut process = host.start(command.env("LEAGUE_STORE", store));
        process.wait_for_line("a standby is at");
        process
    }
}

struct PartitionedLeague {
    network: Network,
    server: TestServer,
    store: String,
    managers: Vec<TestManager>,
}

impl PartitionedLeague {
    fn count(&self, fact: &str) -> usize {
        let query = format!("SELECT count(*) FROM league.event WHERE body LIKE '%\"{fact}\"%'");
        self.server.ask(&query).parse().unwrap()
    }

    fn leader(&self) -> usize {
        poll("a leader", || {
            let url = self.server.ask("SELECT url FROM league.lease WHERE expires_at > clock_timestamp()");
            self.managers.iter().position(|manager| url.contains(manager.address))
        })
    }

    /// Until another manager than `leader` has the lease and has begun a match.
    fn wait_for_successor(&self, leader: usize, since: Instant) -> Duration {
        let of_another = format!("url NOT LIKE '%{}%'", self.managers[leader].address);
        let led = format!("SELECT count(*) FROM league.lease WHERE {of_another} AND expires_at > clock_timestamp()");
        while self.server.ask(&led) == "0" {
            assert!(since.elapsed() < 2 * TAKEOVER, "no other manager leads");
            sleep(Duration::from_millis(20));
        }
        let before = self.count("match_assigned");
        while self.count("match_assigned") == before {
            assert!(since.elapsed() < 2 * TAKEOVER, "no other manager begins a match");
            sleep(Duration::from_millis(20));
        }
        since.elapsed()
    }

    /// Both ways.
    fn drop_packets_to_the_database(&self, leader: usize, table_change: &str) {
        for (chain, side) in [("OUTPUT", "destination"), ("INPUT", "source")] {
            let line = format!("iptables --{table_change} {chain} --{side} {DATABASE} --jump DROP");
            self.managers[leader].host.does(&line);
        }
    }

    fn set_link(&self, leader: usize, state: &str) {
        self.network.switch.does(&format!("ip link set {} {state}", self.managers[leader].port));
    }

    /// Cuts the leader off, and lets it come back when another manager leads.
    fn partition(&mut self, cut: impl Fn(&Self, usize), heal: impl Fn(&Self, usize)) {
        let (leader, since) = (self.leader(), Instant::now());
        cut(self, leader);
        let took = self.wait_for_successor(leader, since);
        println!("{took:.1?}");
        assert!(took < TAKEOVER, "{took:?}");
        heal(self, leader);
        let manager = &mut self.managers[leader];
        let exit = manager.process.wait_within(Duration::from_secs(40));
        exit.fails_with(&["another manager has taken over", "writes nothing more", "--standby"]);
        manager.process = TestManager::process(&manager.host, &self.store);
    }
}

#[test]
#[ignore = "needs cargo xtask ci, which installs PostgreSQL and looks whether namespaces are allowed"]
fn a_partition_between_manager_and_database_loses_no_result() {
    let mut network = Network::new();
    let server = TestServer::on(network.further(30));
    let store = format!("{}?sslmode=disable", server.url_at(DATABASE.parse::<IpAddr>().unwrap()));
    let (first, second) = (std::mem::replace(&mut network.manager, Host::new("unused")), network.further(31));
    let managers = vec![
        TestManager::start(first, "port10", "192.168.1.10", &store),
        TestManager::start(second, "port31", "192.168.1.31", &store),
    ];
    let mut league = PartitionedLeague { network, server, store, managers };
    let mut agents = Vec::new();
    for number in 1..=2 {
        let line = format!("referee --pull --port 0 --home referee-{number} --join-key {KEY} --manager {MANAGERS}");
        agents.push(league.network.referees.league(&line));
    }
    for number in 1..=PLAYERS {
        // A move takes one second.
        let line = format!("player --host 192.168.1.12 --port 0 --home player-{number} --strategy slow:20");
        agents.push(league.network.players.league(&format!("{line} --manager {MANAGERS}")));
    }
    poll("results", || (league.count("match_reported") > 2).then_some(()));
    league.partition(
        |league, leader| league.drop_packets_to_the_database(leader, "append"),
        |league, leader| league.drop_packets_to_the_database(leader, "delete"),
    );
    league.partition(|league, leader| league.set_link(leader, "down"), |league, leader| league.set_link(leader, "up"));
    poll("the end of the league", || (league.count("league_completed") == 1).then_some(()));
    assert_eq!(league.count("match_reported"), MATCHES, "each result counts once");
    let charged = "SELECT count(*) FROM league.event WHERE body LIKE '%\"match_reported\"%forfeit%'";
    assert_eq!(league.server.ask(charged), "0", "a player was charged");
}
