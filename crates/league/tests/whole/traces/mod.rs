//! A match is one trace across the processes that play it: four processes send their spans to one collector.

mod collector;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::process::Command;

use collector::{Collector, Span};

use crate::support::{Process, ports, wait_for_all};

/// A program with the feature `otel`, which only `cargo xtask ci traces` builds: it needs thirty more crates.
const PROGRAM: &str = "LEAGUE_TRACED";

fn spans_of_a_league() -> Vec<Span> {
    let program = env::var_os(PROGRAM).unwrap_or_else(|| panic!("{PROGRAM} is set by cargo xtask ci traces"));
    let (collector, home, port) = (Collector::open(), tempfile::tempdir().unwrap(), ports::free().to_string());
    let (endpoint, address) = (collector.endpoint(), format!("http://127.0.0.1:{port}/mcp"));
    let start = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(home.path()).env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint);
        Process::of(command)
    };
    let expected = ["--expect-players", "2", "--expect-referees", "1", "--exit-when-done"];
    let manager = start(&[&["manager", "--port", &port], &expected[..]].concat());
    let agents =
        [["referee", "--referee-id", "REF01"], ["player", "--player-id", "P01"], ["player", "--player-id", "P02"]];
    let agents = agents.map(|agent| start(&[&agent[..], &["--port", "0", "--manager", &address]].concat()));
    // Every process sends its remaining spans before it exits.
    manager.wait().success();
    wait_for_all(agents);
    collector.spans()
}

#[test]
#[ignore = "needs a program with the feature `otel`: cargo xtask ci traces"]
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
    let count = |role: &str, name: &str| spans.iter().filter(|span| span.role == role && span.name == name).count();
    assert_eq!((count("referee", "start_match"), count("referee", "match R1M1")), (1, 1));
    assert_eq!((count("referee", "choose_parity"), count("player", "choose_parity")), (2, 2), "asked and answered");
    assert_eq!((count("referee", "report_match_result"), count("manager", "report_match_result")), (1, 1));
    // The span of a player's answer is a child of the referee's call.
    let answers = spans.iter().filter(|span| span.role == "player");
    assert!(answers.into_iter().all(|span| by_id[span.parent.as_str()].role == "referee"));
}
