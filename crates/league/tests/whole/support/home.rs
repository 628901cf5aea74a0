//! A temporary home, and what a league left in it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Exit, Process};

pub(crate) const LEAGUE: &str = "league_2025_even_odd";

pub(crate) struct TestHome {
    path: PathBuf,
    _directory: TempDir,
}

impl TestHome {
    pub(crate) fn new() -> Self {
        Self::below("")
    }

    /// A directory of this name, which does not exist yet.
    pub(crate) fn below(name: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { path: directory.path().join(name), _directory: directory }
    }

    pub(crate) fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }

    pub(crate) fn join(&self, below: &str) -> PathBuf {
        self.path.join(below)
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.join(&format!("data/leagues/{LEAGUE}/league.db"))
    }

    pub(crate) fn match_path(&self, match_id: &str) -> PathBuf {
        self.join(&format!("data/matches/{LEAGUE}/{match_id}.json"))
    }

    pub(crate) fn match_file(&self, match_id: &str) -> Value {
        read_json(&self.match_path(match_id))
    }

    pub(crate) fn write(&self, below: &str, contents: &Value) {
        let path = self.join(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents.to_string()).unwrap();
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Process {
        Process::start(&[arguments, &["--home", self.path()]].concat())
    }

    pub(crate) fn league(&self, arguments: &[&str]) -> Exit {
        self.start(arguments).wait()
    }

    /// `league run` at free ports.
    pub(crate) fn run(&self, more: &[&str]) -> Exit {
        self.league(&[&["run", "--port", "0"], more].concat()).success()
    }

    pub(crate) fn json(&self, command: &str) -> Value {
        self.league(&[command, "--json"]).success().json()
    }

    pub(crate) fn list(&self, command: &str) -> Vec<Value> {
        self.json(command).as_array().unwrap().clone()
    }

    /// Expects a finished league with `matches` results.
    pub(crate) fn verify(&self, matches: usize) {
        let report = self.json("verify");
        let findings = (&report["differences"], &report["stale"]);
        assert_eq!((&report["matches"], findings), (&json!(matches), (&json!([]), &json!([]))), "{report}");
        assert_eq!(self.list("matches").len(), matches);
        assert_eq!(self.json("status")["state"], "LEAGUE_COMPLETED");
    }

    pub(crate) fn forfeits(&self) -> usize {
        let files = self.list("matches").into_iter().map(|game| self.match_file(game["match_id"].as_str().unwrap()));
        files.filter(|file| file["result"]["details"]["technical_losses"].is_array()).count()
    }

    /// The standings of a player.
    pub(crate) fn row(&self, player: &str) -> Value {
        self.list("standings").into_iter().find(|row| row["player_id"] == player).unwrap()
    }

    /// The endpoint of the first registered agent.
    pub(crate) fn referee_endpoint(&self) -> String {
        self.json("agents")[0]["endpoint"].as_str().unwrap().to_owned()
    }

    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect(&self.path, &mut found);
        found
    }
}

/// Expects that every player of the standings has played this many matches.
pub(crate) fn assert_played(standings: &Value, matches: usize) {
    assert!(standings.as_array().unwrap().iter().all(|row| row["played"] == matches), "{standings}");
}

pub(crate) fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The lines of a log file. The last one may be incomplete.
pub(crate) fn read_json_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    complete.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { collect(&path, found) } else { found.push(path) }
    }
}
