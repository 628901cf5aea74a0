//! The programs of this crate with a debug build of `league`. Its figures mean nothing, so no test judges them.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

const BENCH: &str = env!("CARGO_BIN_EXE_league-bench");

fn bench(command: &str, arguments: &[&str]) -> Output {
    let league = Path::new(BENCH).with_file_name(format!("league{}", std::env::consts::EXE_SUFFIX));
    assert!(league.exists(), "build it first: cargo build --package league");
    Command::new(BENCH).arg(command).arg("--league").arg(league).args(arguments).output().unwrap()
}

fn succeeds(command: &str, arguments: &[&str]) -> String {
    let output = bench(command, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn fails(arguments: &[&str]) -> String {
    let output = bench("measure", arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn leagues_are_measured_shown_kept_and_compared() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let before = path("before.json");
    let quick = ["--players", "6", "--turns", "1", "--growth", "4,6", "--results", "500", "--json", &before];
    let shown = succeeds("measure", &quick);
    for title in ["Figures", "A league of 6 players", "The calls of that league", "Processor time", "Growth"] {
        assert!(shown.contains(&format!("### {title}")), "{title}: {shown}");
    }
    let report = read(before.as_ref());
    let league = &report["pairs"][0]["league"];
    assert_eq!((&league["matches"], &league["calls"]["CHOOSE_PARITY_CALL"]["count"]), (&json!(15), &json!(30)));
    assert!(league["calls"].as_object().unwrap().values().all(|calls| calls["failed"] == 0), "{league}");
    assert_eq!(report["growth"][1]["figures"]["players"], 6);
    let positive = |figure: &Value| figure.as_f64().is_some_and(|figure| figure > 0.0);
    for figure in ["/league_query/count", "/restart/seconds", "/small_seconds", "/simulated_per_second", "/binary_mb"] {
        assert!(report.pointer(figure).is_some_and(positive), "{figure}: {report}");
    }
    if cfg!(target_os = "linux") {
        assert!(league["cpu_seconds"]["referees and players"]["user"].is_number(), "{league}");
    }

    assert!(succeeds("measure", &["--report", &before, "--compare", &before]).contains("### Comparison"));
    let changed = |name: &str, change: fn(&mut Value)| {
        let mut report = report.clone();
        change(&mut report);
        fs::write(path(name), report.to_string()).unwrap();
        path(name)
    };
    let smaller =
        changed("smaller.json", |report| report["binary_mb"] = json!(report["binary_mb"].as_f64().unwrap() / 2.0));
    assert!(fails(&["--report", &before, "--compare", &smaller]).contains("worse than before: binary, MB"));
    assert!(succeeds("measure", &["--report", &smaller, "--compare", &before]).contains("better"));
    let other = changed("other.json", |report| report["setting"]["players"] = json!(7));
    assert!(fails(&["--report", &before, "--compare", &other]).contains("--players 7"));
    let newer = changed("newer.json", |report| report["report"] = json!("league bench 99"));
    assert!(fails(&["--report", &newer]).contains("another version; measure again"));
    fs::write(path("notes.json"), "{}").unwrap();
    assert!(fails(&["--report", &path("notes.json")]).contains("is not a report"));
}

#[test]
fn a_loaded_referee_charges_silent_players_and_no_others() {
    let shown = succeeds("load", &["--matches", "200", "--calls", "3000", "--any-delay"]);
    println!("{shown}");
    assert!(!shown.contains("silent on purpose  0\n"), "{shown}");
}

#[test]
fn the_page_on_performance_shows_the_report_beside_it() {
    let docs = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"));
    let tables = succeeds("measure", &["--report", docs.join("performance.json").to_str().unwrap()]);
    let page = fs::read_to_string(docs.join("performance.md")).unwrap();
    let block = page.split("<!-- bench:begin -->").nth(1).unwrap().split("<!-- bench:end -->").next().unwrap();
    assert_eq!(block.trim(), tables.trim(), "`cargo xtask performance` writes it");
}
