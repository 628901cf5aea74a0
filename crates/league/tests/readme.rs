//! What the README shows is what the binary prints.

use std::process::Command;

const README: &str = include_str!("../../../README.md");

/// The examples of the README: the arguments after `cargo run --release --`, and what is shown below them.
fn examples() -> impl Iterator<Item = (&'static str, &'static str)> {
    let blocks = README.split("```text\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    blocks.filter_map(|block| block.strip_prefix("$ cargo run --release -- ")?.split_once('\n'))
}

#[test]
fn every_example_prints_what_is_shown() {
    assert!(examples().count() > 0, "the README has lost its example");
    for (arguments, shown) in examples() {
        let somewhere = tempfile::tempdir().unwrap();
        let mut league = Command::new(env!("CARGO_BIN_EXE_league"));
        let ran = league.args(arguments.split(' ')).current_dir(&somewhere).output().unwrap();
        assert!(ran.status.success(), "{arguments}: {}", String::from_utf8_lossy(&ran.stderr));
        let printed = String::from_utf8(ran.stdout).unwrap();
        let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        assert_eq!(lines(&printed), lines(shown), "{arguments}");
    }
}
