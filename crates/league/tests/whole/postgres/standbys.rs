//! Managers that take a league over from each other: two real managers, a real server, and agents that know both.

mod database;

use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{DatabaseProxy, Passing, TestServer};
use crate::support::{Exit, Process, TestHome, http, poll, ports};

const LEAGUE_ID: &str = "taken_over";
const PLAYERS: usize = 6;
/// From the fault to the next match.
pub(crate) const TAKEOVER: Duration = Duration::from_secs(8);
const LIMITS: [&str; 6] = ["--join-timeout", "5", "--move-timeout", "5", "--retry-delay", "1"];

/// Notes in which epoch each event was written, and from which port.
const NOTE_WRITERS: &str = "
    CREATE SCHEMA test;
    CREATE TABLE test.write (seq bigint, epoch bigint, port integer);
    CREATE FUNCTION test.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO test.write SELECT NEW.seq, epoch, inet_client_port() FROM league.lease WHERE league = NEW.league;
        RETURN NULL;
    END $$;
    CREATE TRIGGER note AFTER INSERT ON league.event FOR EACH ROW EXECUTE FUNCTION test.note()";

struct TestManager {
    process: Process,
    home: TestHome,
    proxy: DatabaseProxy,
    port: u16,
}

/// A league of two managers.
pub(crate) struct Fleet {
    server: TestServer,
    managers: Vec<TestManager>,
    agents: Vec<Process>,
    home: TestHome,
    /// How often two players meet.
    times: usize,
}

impl TestManager {
    fn start(server: &TestServer, more: &[&str]) -> Self {
        let (home, proxy, port) = (TestHome::new(), DatabaseProxy::start(server.address()), ports::free());
        let process = Self::process(&home, &proxy, port, more);
        Self { process, home, proxy, port }
    }

    fn process(home: &TestHome, proxy: &DatabaseProxy, port: u16, more: &[&str]) -> Process {
        let (port, players) = (port.to_string(), PLAYERS.to_string());
        let place = ["manager", "--standby", "--port", &port, "--home", home.path(), "--league-id", LEAGUE_ID];
        let expected = ["--expect-players", &players, "--expect-referees", "2", "--registration-window", "600"];
        let arguments = [&place[..], &expected, &LIMITS, more].concat();
        Process::start_in(home.path(), &[("LEAGUE_STORE", &proxy.url())], &arguments)
    }

    fn restart(&mut self) {
        self.proxy.set(Passing::After(Duration::ZERO));
        self.process = Self::process(&self.home, &self.proxy, self.port, &[]);
        self.process.wait_for_line("a standby is at");
    }

    fn endpoint(&self) -> String {
        ports::endpoint(self.port)
    }
}

impl Fleet {
    /// Without agents.
    fn managers(server: TestServer, more: &[&str]) -> Self {
        let mut managers: Vec<TestManager> = (0..2).map(|_| TestManager::start(&server, more)).collect();
        managers.iter_mut().for_each(|manager| drop(manager.process.wait_for_line("a standby is at")));
        Self { server, managers, agents: Vec::new(), home: TestHome::new(), times: 1 }
    }

    /// Two players meet so many `times`.
    pub(crate) fn start(server: TestServer, times: usize) -> Self {
        let mut fleet = Self { times, ..Self::managers(server, &["--format", &format!("round_robin:times={times}")]) };
        fleet.leader();
        fleet.server.ask(NOTE_WRITERS);
        for id in ["REF01", "REF02"] {
            fleet.agent(&["referee", "--referee-id", id, "--capacity", "1"]);
        }
        for number in 1..=PLAYERS {
            // A move takes one second.
            fleet.agent(&["player", "--player-id", &format!("P{number:02}"), "--strategy", "slow:20"]);
        }
        fleet
    }

    fn matches(&self) -> usize {
        self.times * PLAYERS * (PLAYERS - 1) / 2
    }

    /// Matches that no referee has had yet.
    pub(crate) fn left(&self) -> usize {
        let first = "SELECT count(*) FROM league.event WHERE body LIKE '%\"match_assigned\"%\"attempt\":1,%'";
        self.matches() - self.server.ask(first).parse::<usize>().unwrap()
    }

    fn urls(&self) -> String {
        self.managers.iter().map(TestManager::endpoint).collect::<Vec<_>>().join(",")
    }

    fn agent(&mut self, arguments: &[&str]) {
        let (port, urls) = (ports::free().to_string(), self.urls());
        let place = ["--port", &port, "--manager", &urls, "--home", self.home.path()];
        self.agents.push(Process::start(&[arguments, &place].concat()));
    }

    /// The index of the manager that leads.
    fn leader(&self) -> usize {
        poll("a leader", || {
            let url = self.server.try_ask("SELECT url FROM league.lease WHERE expires_at > clock_timestamp()").ok()?;
            self.managers.iter().position(|manager| manager.endpoint() == url)
        })
    }

    fn count(&self, fact: &str) -> usize {
        let query = format!("SELECT count(*) FROM league.event WHERE body LIKE '%\"{fact}\"%'");
        self.server.try_ask(&query).ok().and_then(|count| count.parse().ok()).unwrap_or_default()
    }

    /// Starts the managers again that have ended.
    fn restart(&mut self) {
        for manager in &mut self.managers {
            if manager.process.has_exited() {
                manager.restart();
            }
        }
    }

    fn epoch(&self) -> u64 {
        self.server.ask("SELECT epoch FROM league.lease").parse().unwrap()
    }

    /// The epoch, if its lease ends at a time that a renewal by the present clock can give it.
    fn epoch_by_the_clock(&self) -> Option<u64> {
        let renewed = "SELECT epoch FROM league.lease
            WHERE expires_at BETWEEN clock_timestamp() AND clock_timestamp() + interval '6 s'";
        self.server.ask(renewed).parse().ok()
    }

    fn restart_deposed(&mut self, manager: usize) {
        let exit = self.managers[manager].process.wait_within(Duration::from_secs(30));
        exit.fails_with(&["another manager has taken over", "writes nothing more", "--standby"]);
        self.managers[manager].restart();
    }

    pub(crate) fn results(&self) -> usize {
        self.count("match_reported")
    }

    pub(crate) fn wait_for_results(&mut self, results: usize) {
        let began = Instant::now();
        while self.results() < results {
            if began.elapsed() > 4 * TAKEOVER {
                self.fail("no result comes");
            }
            sleep(Duration::from_millis(20));
        }
    }

    /// The time until the next match was assigned in a later epoch than `before`.
    fn wait_for_successor(&mut self, before: u64, since: Instant) -> Duration {
        let begun = format!(
            "SELECT count(*) FROM test.write JOIN league.event USING (seq) WHERE epoch > {before} AND body LIKE '%\"match_assigned\"%'"
        );
        while self.server.try_ask(&begun).ok().is_none_or(|begun| begun == "0") {
            if since.elapsed() > 4 * TAKEOVER {
                self.fail("no successor begins a match");
            }
            sleep(Duration::from_millis(20));
        }
        since.elapsed()
    }

    /// Shows what the managers said.
    fn fail(&mut self, why: &str) -> ! {
        let lease = self.server.try_ask("SELECT epoch, holder, url, expires_at, clock_timestamp() FROM league.lease");
        let last = "SELECT string_agg(seq || ' ' || left(body, 200), E'\\n' ORDER BY seq) FROM league.event
            WHERE seq > (SELECT max(seq) FROM league.event) - 30";
        println!("the lease: {lease:?}\nthe last events: {}", self.server.try_ask(last).unwrap_or_default());
        for agent in &mut self.agents {
            agent.kill();
            println!("an agent:\n{}", agent.wait_within(Duration::from_secs(5)).stderr);
        }
        for manager in &mut self.managers {
            manager.process.kill();
            println!("{}:\n{}", manager.endpoint(), manager.process.wait_within(Duration::from_secs(5)).stderr);
        }
        panic!("{why}");
    }

    /// No epoch has two writers. So a manager that was frozen or cut off wrote nothing when it came back.
    fn check_writers(&self) {
        let written = self.server.ask("SELECT string_agg(DISTINCT epoch || ' ' || port, ',') FROM test.write");
        let mut epochs = BTreeMap::<u64, Vec<u16>>::new();
        for pair in written.split(',') {
            let (epoch, port) = pair.split_once(' ').unwrap();
            epochs.entry(epoch.parse().unwrap()).or_default().push(port.parse().unwrap());
        }
        for (epoch, ports) in epochs {
            let wrote_all = |manager: &TestManager| ports.iter().all(|port| manager.proxy.has_called_from(*port));
            assert!(self.managers.iter().any(wrote_all), "epoch {epoch} has two writers: {ports:?}");
        }
    }

    /// The manager that leads at the end has the transcripts of all matches, also of those that ended before it led.
    fn check_transcripts(&self) {
        let (home, store) = (&self.managers[self.leader()].home, self.server.url());
        let verify = ["verify", "--json", "--home", home.path(), "--league-id", LEAGUE_ID];
        poll("the transcripts", || {
            let verified = Process::start_in(home.path(), &[("LEAGUE_STORE", &store)], &verify).wait().json();
            (verified["transcripts"] == self.matches() && verified["transcripts_missing"] == 0).then_some(())
        });
    }

    /// Every match counts once, and no player was charged.
    pub(crate) fn finish(mut self) {
        while self.left() > 0 {
            self.wait_for_results(self.results() + 1);
        }
        poll("the end of the league", || (self.count("league_completed") == 1).then_some(()));
        self.check_writers();
        self.check_transcripts();
        let matches = self.matches();
        let Self { server, home, times, .. } = self;
        let league = |command: &str| -> Exit {
            let arguments = [command, "--json", "--home", home.path(), "--league-id", LEAGUE_ID];
            Process::start_in(home.path(), &[("LEAGUE_STORE", &server.url())], &arguments).wait()
        };
        let played = league("matches").success().json();
        let ids: BTreeSet<String> =
            played.as_array().unwrap().iter().map(|game| game["match_id"].to_string()).collect();
        assert_eq!(ids.len(), matches, "{played}");
        let results = server.ask("SELECT count(*) FROM league.event WHERE body LIKE '%\"match_reported\"%'");
        assert_eq!(results, matches.to_string(), "no result counts twice");
        let standings = league("standings").success().json();
        for row in standings.as_array().unwrap() {
            assert_eq!(row["played"], times * (PLAYERS - 1), "{standings}");
        }
        let charged = "SELECT count(*) FROM league.event WHERE body LIKE '%\"match_reported\"%forfeit%'";
        assert_eq!(server.ask(charged), "0", "a player was charged");
        let verified = league("verify").json();
        assert_eq!((&verified["matches"], &verified["draws_unproved"]), (&json!(matches), &json!(0)), "{verified}");
    }
}

/// What happens to the manager that leads, or to its database.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Fault {
    Kill,
    /// Past its lease.
    Freeze,
    /// It gives its lease back.
    Terminate,
    CutOff,
    /// Every statement takes longer than its limit.
    Delay,
    Connections,
    ServerCrash,
}

pub(crate) const FAULTS: [Fault; 7] =
    [Fault::Kill, Fault::Freeze, Fault::Terminate, Fault::CutOff, Fault::Delay, Fault::Connections, Fault::ServerCrash];

impl Fleet {
    /// Returns the time from the fault to the next match.
    pub(crate) fn strike(&mut self, fault: Fault) -> Duration {
        let (leader, epoch, before) = (self.leader(), self.epoch(), self.count("match_assigned"));
        let since = Instant::now();
        let victim = &mut self.managers[leader];
        match fault {
            Fault::Kill => victim.process.kill(),
            Fault::Freeze => victim.process.signal("STOP"),
            Fault::Terminate => victim.process.signal("TERM"),
            Fault::CutOff => victim.proxy.set(Passing::Cut),
            Fault::Delay => victim.proxy.set(Passing::After(Duration::from_secs(5))),
            Fault::Connections => {
                let all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'league'";
                self.server.ask(all);
            }
            Fault::ServerCrash => {
                self.server.stop_immediately();
                self.server.resume();
            }
        }
        if matches!(fault, Fault::Connections | Fault::ServerCrash) {
            // The leader goes on, unless it was away for too long.
            poll("the next match", || (self.count("match_assigned") > before).then_some(()));
            return since.elapsed();
        }
        let took = self.wait_for_successor(epoch, since);
        let victim = &mut self.managers[leader];
        match fault {
            Fault::Freeze => victim.process.signal("CONT"),
            Fault::CutOff | Fault::Delay => victim.proxy.set(Passing::After(Duration::ZERO)),
            Fault::Kill | Fault::Terminate | Fault::Connections | Fault::ServerCrash => {}
        }
        match fault {
            Fault::Kill => {}
            Fault::Terminate => drop(victim.process.wait_within(Duration::from_secs(30)).success()),
            Fault::Freeze | Fault::CutOff | Fault::Delay | Fault::Connections | Fault::ServerCrash => {
                self.restart_deposed(leader);
                return took;
            }
        }
        self.managers[leader].restart();
        took
    }
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn a_standby_takes_over_from_a_leader_that_is_killed_frozen_stopped_or_cut_off() {
    let mut fleet = Fleet::start(TestServer::start(), 1);
    for (number, fault) in (1..).zip([Fault::Kill, Fault::Freeze, Fault::Terminate, Fault::CutOff]) {
        fleet.wait_for_results(2 * number);
        let took = fleet.strike(fault);
        println!("{fault:?}: {took:.1?}");
        assert!(took < TAKEOVER, "{fault:?}: {took:?}");
    }
    fleet.finish();
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn a_leader_survives_lost_connections_and_a_crash_of_its_server() {
    let mut fleet = Fleet::start(TestServer::start(), 1);
    for (number, fault) in (1..).zip([Fault::Connections, Fault::ServerCrash, Fault::Connections]) {
        fleet.wait_for_results(3 * number);
        let took = fleet.strike(fault);
        println!("{fault:?}: {took:.1?}");
        assert!(took < TAKEOVER, "{fault:?}: {took:?}");
    }
    fleet.finish();
}

/// An agent of another make knows one manager: the standby forwards its calls.
#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn a_standby_forwards_calls_shows_pages_and_names_the_leader() {
    let mut fleet = Fleet::managers(TestServer::start(), &["--operator-token", "the-token-of-the-operator"]);
    let leader = fleet.leader();
    let (led, waiting) = (fleet.managers[leader].endpoint(), fleet.managers[1 - leader].endpoint());
    let (port, token) = (ports::free().to_string(), json!({"auth_token": "the-token-of-the-operator"}));
    let home = fleet.home.path().to_owned();
    let mut player = Process::start(&["player", "--port", &port, "--manager", &waiting, "--home", &home]);
    player.wait_for_line("plays");
    let agents = json!({"view": "agents", "auth_token": "the-token-of-the-operator"});
    let told = http::call(&waiting, "get_league", &agents);
    assert_eq!(told["result"]["agents"].as_array().unwrap().len(), 1, "{told}");
    // Wrong or missing secrets stay wrong, although both managers are on this machine.
    for wrong in [json!({}), json!({"auth_token": "a-token-that-never-counted"})] {
        let refused = http::call(&waiting, "stop_league", &wrong);
        assert!(refused["error"]["data"].to_string().contains("E01"), "{refused}");
    }
    let header = "Content-Type: application/json\r\nLeague-Managers: 2\r\n";
    let answer = http::call_with(&waiting, header, "get_standings", &json!({}));
    assert_eq!(answer["leader"], Value::from(led.clone()), "{answer}");
    let site = waiting.replace("/mcp", "/");
    let link = format!("The league is led at <a href=\"{}\">", led.replace("/mcp", "/"));
    poll("the page of the standby", || Some(http::page(&site, None).1).filter(|page| page.contains(&link)));
    // Its leader has a token, and hides this from clients that do not show it.
    let directory = format!("{site}api/v1/agents");
    let shown = poll("the player", || Some(http::page(&directory, None).1).filter(|page| page.contains("\"P01\"")));
    assert!(shown.contains("\"endpoint\":null"), "{shown}");
    let (status, text) = http::page(&format!("{site}operate"), Some("action=start"));
    assert!(status == 409 && text.contains(&led.replace("/mcp", "/")), "{status} {text}");
    let health = http::page(&format!("{site}health"), None).1;
    assert!(health.contains("\"standby\""), "{health}");
    // The successor knows the same agents and the same token.
    fleet.managers[leader].process.kill();
    let status = poll("the successor", || {
        let answer = http::call(&waiting, "get_league", &agents);
        answer["result"]["agents"].as_array().map(Vec::len)
    });
    assert_eq!(status, 1);
    let refused = http::call(&waiting, "stop_league", &json!({}));
    assert!(refused["error"]["data"].to_string().contains("E011"), "{refused}");
    let stopped = http::call(&waiting, "create_schedule", &token);
    assert!(!stopped.to_string().contains("E011") && !stopped.to_string().contains("E012"), "{stopped}");
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn a_successor_takes_the_keys_of_the_leader_also_after_they_were_replaced() {
    let mut fleet =
        Fleet::managers(TestServer::start(), &["--players-need-key", "--referee-key", "the-first-key-of-referees"]);
    let (leader, urls) = (fleet.leader(), fleet.urls());
    let rotate = ["keys", "rotate", "--role", "player", "--manager", &urls];
    let key = Process::start(&rotate).wait().success().stdout.trim().to_owned();
    fleet.managers[leader].process.kill();
    fleet.managers[1 - leader].process.wait_for_line("this one does now");
    let home = fleet.home.path().to_owned();
    let join = |arguments: &[&str], key: &str| {
        let port = ports::free().to_string();
        let place = ["--port", &port, "--manager", &urls, "--home", &home, "--join-key", key];
        Process::start(&[arguments, &place].concat())
    };
    join(&["player"], &key).wait_for_line("plays");
    join(&["referee"], "the-first-key-of-referees").wait_for_line("is ready");
    join(&["player"], "a-key-that-never-counted").wait().fails_with(&["join_key"]);
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn a_standby_ends_when_its_database_lost_an_event_that_it_has_read() {
    let mut fleet = Fleet::managers(TestServer::start(), &[]);
    let waiting = 1 - fleet.leader();
    let site = fleet.managers[waiting].endpoint().replace("/mcp", "/");
    poll("the page of the standby", || Some(http::page(&site, None).0).filter(|status| *status == 200));
    fleet.server.ask("DELETE FROM league.event WHERE seq = (SELECT max(seq) FROM league.event)");
    let exit = fleet.managers[waiting].process.wait_within(Duration::from_secs(30));
    exit.fails_with(&["the database went back to an earlier state", LEAGUE_ID]);
}
