//! Sets of checks are frozen and stored as documents.
//!
//! With `LEAGUE_BLESS=1` the test writes the documents instead of comparing them. A published set must not be blessed:
//! new rules go into a new set.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::PathBuf;

use league_check::RuleSet;
use league_check::reference::document;

fn blessed() -> bool {
    std::env::var_os("LEAGUE_BLESS").is_some_and(|value| value == "1")
}

fn compare(path: &str, now: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    if blessed() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, now).unwrap();
    }
    let before = fs::read_to_string(&path).unwrap_or_default();
    assert!(before == now, "{} is out of date: `cargo xtask bless` writes it again", path.display());
}

#[test]
fn a_published_rule_set_does_not_change() {
    for set in RuleSet::all() {
        let now = format!("{}\n", serde_json::to_string_pretty(&set.frozen()).unwrap());
        compare(&format!("tests/sets/{}.json", set.name.replace('/', "-")), &now);
    }
}

#[test]
fn docs_checks_md_lists_every_check() {
    compare("../../docs/checks.md", &document());
}

#[test]
fn every_check_has_a_unique_name_of_three_parts() {
    let set = RuleSet::newest();
    let mut names: Vec<_> = set.rules().map(|rule| rule.id).collect();
    assert!(names.len() >= 60, "{} checks", names.len());
    for name in &names {
        assert_eq!(name.split('.').count(), 3, "{name}");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-')), "{name}");
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), set.rules().count());
}

#[test]
fn a_rule_is_a_sentence_and_a_hint_says_what_to_do() {
    for rule in RuleSet::newest().rules() {
        assert!(rule.text.ends_with('.') && rule.text.len() > 20, "{}: {}", rule.id, rule.text);
        assert!(!rule.hint.ends_with('.') && rule.hint.len() > 10, "{}: {}", rule.id, rule.hint);
        assert!((1..=12).contains(&rule.section), "{}: section {}", rule.id, rule.section);
    }
}
