//! The command lines in `deploy/` are ones that this program accepts.

use std::fs;
use std::path::Path;

use clap::Parser;

use super::Cli;

/// The arguments after the program: a JSON list in a YAML file, or words in a unit of systemd.
fn command_lines(file: &Path) -> Vec<Vec<String>> {
    // Kubernetes puts the name of the pod there.
    let text = fs::read_to_string(file).unwrap().replace("$(POD_NAME)", "league-manager-0");
    let arguments = |line: &str| {
        let line = line.trim();
        if let Some(words) = line.strip_prefix("ExecStart=/usr/bin/league ") {
            return Some(words.split_whitespace().map(String::from).collect());
        }
        let list = ["command: ", "args: "].iter().find_map(|key| line.strip_prefix(key))?;
        Some(serde_json::from_str(list).unwrap_or_else(|error| panic!("{}: {error} in {line}", file.display())))
    };
    text.lines().filter_map(arguments).collect()
}

#[test]
fn every_command_line_of_a_deployment_is_accepted() {
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    for (folder, expected) in [(".", 3), ("kubernetes", 2), ("systemd", 3)] {
        let files = fs::read_dir(deploy.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let lines: Vec<_> = files.filter(|path| path.is_file()).flat_map(|path| command_lines(&path)).collect();
        assert_eq!(lines.len(), expected, "in deploy/{folder}: {lines:?}");
        for line in lines {
            let parsed = Cli::try_parse_from([String::from("league")].iter().chain(&line));
            assert!(parsed.is_ok(), "{line:?}: {}", parsed.unwrap_err());
        }
    }
}
