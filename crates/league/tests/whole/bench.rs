//! `league bench`: what it reports, and what it says to another report. Figures of these builds are worth nothing, so none is judged.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Ended, TestHome, league};

/// As little as can be measured.
const QUICK: [&str; 10] = ["bench", "--players", "6", "--turns", "1", "--growth", "4,6", "--results", "500", "--json"];

/// Every table, by its title, with something that stands in it.
const TABLES: [(&str, &str); 7] = [
    ("Goals", "calls/s of the running league ÷ ceiling, 100 players"),
    ("A league of 6 players beside the wire alone", "ceiling, calls/s"),
    ("Every call of that league", "CHOOSE_PARITY_CALL"),
    ("Where the processor time of a match goes", ""),
    ("What a match costs", "allocations"),
    ("Growth", "restart, seconds"),
    ("Measured for themselves", "times while 6 play"),
];

/// A place with the report of a quick run, `before.json`.
fn measured() -> (TestHome, String, Ended) {
    let place = TestHome::new();
    let file = path(&place, "before.json");
    let ended = league(&[&QUICK[..], &[&file]].concat()).well();
    (place, file, ended)
}

fn path(place: &TestHome, name: &str) -> String {
    place.join(name).to_str().unwrap().to_owned()
}

/// Compares the report in `now` with the one in `before`.
fn compared(now: &str, before: &str) -> Ended {
    league(&["bench", "--report", now, "--compare", before])
}

/// A copy of the report in `file` of which something else is told.
fn doctored(place: &TestHome, file: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut report: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    change(&mut report);
    let other = path(place, "doctored.json");
    fs::write(&other, report.to_string()).unwrap();
    other
}

#[test]
fn everything_is_measured_shown_and_kept() {
    let (place, file, ended) = measured();
    for step in [
        "[1 of 8] a league of 6 players, turn 1 of 1",
        "[2 of 8] the wire alone",
        "[8 of 8] a restart with 500 results",
    ] {
        assert!(ended.talk.contains(step), "{}", ended.talk);
    }
    for (title, inside) in TABLES {
        assert!(ended.out.contains(title) && ended.out.contains(inside), "{title}: {}", ended.out);
    }
    assert!(ended.out.contains("┌") && !ended.out.contains("|---|"), "{}", ended.out);

    let report: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(report["setting"]["players"], 6);
    let pair = &report["pairs"][0];
    assert_eq!((&pair["league"]["matches"], pair["ceiling"]["calls"].as_u64().unwrap() > 100), (&json!(15), true));
    for call in ["GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "MATCH_RESULT_REPORT", "ROUND_ANNOUNCEMENT"] {
        let figures = &pair["league"]["calls"][call];
        for key in ["count", "bytes_out", "bytes_in", "p50_us", "p99_us", "p999_us"] {
            assert!(figures[key].as_u64().unwrap() > 0, "{call} {key}: {figures}");
        }
        assert_eq!(figures["failed"], 0, "{call}");
    }
    let grown = report["growth"].as_array().unwrap();
    assert_eq!(grown.iter().map(|grown| &grown["figures"]["players"]).collect::<Vec<_>>(), [4, 6]);
    assert!(grown.iter().all(|grown| grown["restart"]["seconds"].as_f64().unwrap() > 0.0), "{grown:?}");
    if cfg!(target_os = "linux") {
        assert!(pair["league"]["cpu_seconds"]["referees and players"]["user"].is_number(), "{pair}");
        assert!(pair["ceiling"]["cpu_seconds"].is_number() && pair["league"]["peak_memory_mb"].is_u64(), "{pair}");
        assert!(report["restart"]["manager_mb"].as_u64().unwrap() > 0);
    }
    assert!(report["league_query"]["count"].as_u64().unwrap() > 0, "{}", report["league_query"]);
    assert!(report["restart"]["results"].as_u64().unwrap() >= 500);
    for key in ["small_seconds", "simulated_per_second", "binary_mb"] {
        assert!(report[key].as_f64().unwrap() > 0.0, "{key}");
    }
    let goals = report["goals"].as_array().unwrap();
    assert_eq!(goals.len(), 11);
    assert!(goals.iter().any(|goal| goal["verdict"] == "unmeasured"), "nobody has seen 1,000 players: {goals:?}");

    let page = path(&place, "page.md");
    let again = league(&["bench", "--report", &file, "--markdown", &page]).well();
    assert_eq!(again.out, ended.out, "a report that was kept tells the same");
    let page = fs::read_to_string(page).unwrap();
    for (title, inside) in TABLES {
        let part = page.split("### ").find(|part| part.starts_with(title)).unwrap();
        assert!(part.contains(inside) && (part.contains("|---|") || part.contains("|--:|")), "{part}");
    }

    same_and_slower(&place, &file);
}

/// What two reports say to each other; of one run, because it takes a while.
fn same_and_slower(place: &TestHome, file: &str) {
    let same = compared(file, file).well();
    assert!(same.talk.contains("Nothing got slower than in "), "{}", same.talk);
    assert!(same.out.contains("Compared with ") && same.out.contains("now ÷ before"), "{}", same.out);

    let faster = doctored(place, file, |report| {
        let league = &mut report["pairs"][0]["league"];
        league["playing_seconds"] = json!(league["playing_seconds"].as_f64().unwrap() / 3.0);
        report["binary_mb"] = json!(report["binary_mb"].as_f64().unwrap() / 2.0);
    });
    let ended = compared(file, &faster);
    assert_eq!(ended.code, Some(1));
    for slower in ["slower than in ", "ceiling ÷ league, calls/s", "the binary, MB"] {
        assert!(ended.talk.contains(slower), "{slower}: {}", ended.talk);
    }
    assert!(!ended.talk.contains("bytes per match") && ended.out.contains("slower"), "{}", ended.talk);
    let better = compared(&faster, file).well();
    assert!(better.out.contains("better"), "{}", better.out);

    let others = doctored(place, file, |report| report["setting"]["players"] = json!(7));
    let told = compared(file, &others).badly();
    assert!(told.contains("--players 7") && told.contains("--players 6") && told.contains("same settings"), "{told}");
    // Said before anything is measured.
    let told = league(&[&QUICK[..], &[&path(place, "never.json"), "--compare", &others]].concat()).badly();
    assert!(told.contains("same settings") && !told.contains("[1 of "), "{told}");

    let damaged = doctored(place, file, |report| report["pairs"] = json!(7));
    assert!(compared(file, &damaged).badly().contains("is damaged"));
    let newer = doctored(place, file, |report| report["report"] = json!("league bench 99"));
    assert!(compared(file, &newer).badly().contains("another version of `league bench`; measure again"));
}

#[test]
fn what_is_no_report_is_said_so() {
    let place = TestHome::new();
    let [notes, figures] = ["notes.json", "figures.json"].map(|name| path(&place, name));
    fs::write(&notes, "nothing of the kind").unwrap();
    fs::write(&figures, r#"{"players":4}"#).unwrap();
    for file in [&notes, &figures] {
        let told = league(&["bench", "--compare", file]).badly();
        assert!(told.contains(&format!("{file} is not a report of `league bench --json`")), "{told}");
    }
    assert!(league(&["bench", "--report", &path(&place, "none.json")]).badly().contains("none.json cannot be read"));
    assert_eq!(league(&["bench", "--report", &notes, "--players", "9"]).code, Some(2));
}

#[test]
fn a_build_that_does_not_count_allocations_is_not_asked_to() {
    let told = league(&["bench", "--players", "3", "--turns", "1", "--allocations-by", env!("CARGO_BIN_EXE_league")]);
    let told = told.badly();
    assert!(told.contains("build it with `--features allocations`"), "{told}");
}

#[test]
fn a_league_says_what_it_cost() {
    let home = TestHome::new();
    let file = path(&home, "figures.json");
    league(&["run", "--players", "5", "--port", "0", "--home", home.path(), "--figures", &file]).well();
    let figures: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!((&figures["players"], &figures["referees"], &figures["matches"]), (&json!(5), &json!(2), &json!(10)));
    assert_eq!(figures["calls"]["CHOOSE_PARITY_CALL"]["count"], 20);
    assert!(figures["seconds"].as_f64().unwrap() >= figures["playing_seconds"].as_f64().unwrap());
    home.verify(10);
    let nowhere = path(&home, "no/such/place.json");
    let told = league(&["run", "--port", "0", "--home", home.path(), "--figures", &nowhere]).badly();
    assert!(told.contains("the figures cannot be written to"), "{told}");
}

/// The tables of docs/performance.md are those of the report that lies beside it.
#[test]
fn the_page_on_performance_shows_the_report_that_is_kept_with_it() {
    let docs = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"));
    let (place, report) = (TestHome::new(), docs.join("performance.json"));
    let tables = path(&place, "tables.md");
    league(&["bench", "--report", report.to_str().unwrap(), "--markdown", &tables]).well();
    let page = fs::read_to_string(docs.join("performance.md")).unwrap();
    let block = page.split_once("<!-- league bench -->\n").and_then(|(_, rest)| rest.split_once("<!-- end -->"));
    let (block, _) = block.unwrap_or_else(|| panic!("the page has lost its block"));
    assert_eq!(block.trim(), fs::read_to_string(tables).unwrap().trim(), "`cargo xtask performance` writes it");
}
