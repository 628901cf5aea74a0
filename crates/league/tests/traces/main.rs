//! A match is one trace across the processes that play it: a league of four processes, and a collector that they hand their spans to.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod collector;

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use collector::{Collector, Span};

/// A process of the league, killed when it is dropped.
struct Process(Child);

impl Process {
    fn start(collector: &Collector, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_league"));
        let quiet = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(quiet.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint()).spawn().unwrap())
    }

    /// Waits until it ends by itself.
    fn ended(mut self) {
        let until = Instant::now() + Duration::from_secs(60);
        while self.0.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "it did not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be gone already.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn free_port() -> String {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

/// The spans of a league of two players and a referee, each of them and the manager in a process of its own.
fn spans_of_a_league() -> Vec<Span> {
    let (collector, home) = (Collector::open(), tempfile::tempdir().unwrap());
    let (home, port) = (home.path().to_str().unwrap(), free_port());
    let address = format!("http://127.0.0.1:{port}/mcp");
    let expected = ["--expect-players", "2", "--expect-referees", "1", "--exit-when-done"];
    let manager = Process::start(&collector, &[&["manager", "--port", &port, "--home", home], &expected[..]].concat());
    let agents =
        [["referee", "--referee-id", "REF01"], ["player", "--player-id", "P01"], ["player", "--player-id", "P02"]];
    let agents = agents.map(|agent| {
        let place = ["--port", "0", "--manager", &address, "--home", home];
        Process::start(&collector, &[&agent[..], &place].concat())
    });
    // Everybody hands over what is left before it ends.
    manager.ended();
    agents.into_iter().for_each(Process::ended);
    collector.spans()
}

#[test]
fn a_match_is_one_trace_across_manager_referee_and_players() {
    let spans = spans_of_a_league();
    let roles: BTreeSet<&str> = spans.iter().map(|span| span.role.as_str()).collect();
    assert_eq!(roles, BTreeSet::from(["manager", "player", "referee"]), "{spans:#?}");
    let traces: BTreeSet<&str> = spans.iter().map(|span| span.trace.as_str()).collect();
    assert_eq!(traces.len(), 1, "there is one match: {spans:#?}");
    let by_id: BTreeMap<&str, &Span> = spans.iter().map(|span| (span.id.as_str(), span)).collect();
    let roots: Vec<&Span> = spans.iter().filter(|span| span.parent.is_empty()).collect();
    assert!(matches!(roots[..], [root] if root.role == "manager" && root.name == "match R1M1"), "{roots:?}");
    for span in spans.iter().filter(|span| !span.parent.is_empty()) {
        assert!(by_id.contains_key(span.parent.as_str()), "the parent of {span:?} is missing");
    }
    let said = |role: &str, name: &str| spans.iter().filter(|span| span.role == role && span.name == name).count();
    assert_eq!((said("referee", "start_match"), said("referee", "match R1M1")), (1, 1));
    assert_eq!((said("referee", "choose_parity"), said("player", "choose_parity")), (2, 2), "asked and answered");
    assert_eq!((said("referee", "report_match_result"), said("manager", "report_match_result")), (1, 1));
    // What a player answers is a child of what its referee asks.
    let answers = spans.iter().filter(|span| span.role == "player");
    assert!(answers.into_iter().all(|span| by_id[span.parent.as_str()].role == "referee"));
}
