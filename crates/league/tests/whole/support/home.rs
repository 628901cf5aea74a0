//! A temporary home, and what a league left in it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::league;

pub(crate) const LEAGUE: &str = "league_2025_even_odd";

pub(crate) struct TestHome {
    directory: TempDir,
}

impl TestHome {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &str {
        self.directory.path().to_str().unwrap()
    }

    pub(crate) fn join(&self, below: &str) -> PathBuf {
        self.directory.path().join(below)
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.join(&format!("data/leagues/{LEAGUE}/league.db"))
    }

    pub(crate) fn tells(&self, command: &str) -> Value {
        league(&[command, "--home", self.path(), "--json"]).well().json()
    }

    /// Expects `matches` results.
    pub(crate) fn verify(&self, matches: usize) {
        let report = self.tells("verify");
        assert_eq!(report["matches"], matches, "{report}");
        assert_eq!(report["damaged"], Value::Array(Vec::new()), "{report}");
        let played = self.tells("matches");
        assert_eq!(played.as_array().unwrap().len(), matches);
        assert_eq!(self.tells("status")["state"], "LEAGUE_COMPLETED");
    }

    pub(crate) fn forfeits(&self) -> usize {
        let matches = self.tells("matches");
        let files = matches.as_array().unwrap().iter().map(|game| self.match_file(game["match_id"].as_str().unwrap()));
        let lost = |file: &Value| file["result"]["details"]["technical_losses"].is_array();
        files.filter(lost).count()
    }

    pub(crate) fn row(&self, player: &str) -> Value {
        let rows = self.tells("standings");
        rows.as_array().unwrap().iter().find(|row| row["player_id"] == player).unwrap().clone()
    }

    pub(crate) fn match_file(&self, name: &str) -> Value {
        let path = self.join(&format!("data/matches/{LEAGUE}/{name}.json"));
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect(self.directory.path(), &mut found);
        found
    }
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { collect(&path, found) } else { found.push(path) }
    }
}
