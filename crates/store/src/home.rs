//! The paths of a home, in one place: the profile's tree, and nothing outside of it.
//!
//! Ids have no `/` and no leading dot, so no path made here can lead out of the home; what Windows does not take in a name is encoded by
//! [`file_name`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use league_core::season::agent::AgentId;
use league_protocol::id::{LeagueId, MatchId, PlayerId};
use thiserror::Error;

use crate::file_name::file_name;

/// A home that cannot be used, with what to do about it.
#[derive(Debug, Error)]
pub enum HomeError {
    /// Something in the way, a full disk, a missing permission.
    #[error("{path} cannot be created ({error}); choose another home with --home, or make it writable")]
    Create { path: PathBuf, error: io::Error },
    /// It is there, and nothing can be written.
    #[error("{path} cannot be written to ({error}); choose another home with --home, or make it writable")]
    Write { path: PathBuf, error: io::Error },
    #[error("there is no league {league} in {path}; --home names the directory that holds its `data`")]
    NoLeague { league: LeagueId, path: PathBuf },
}

/// The directory that holds everything of one or more leagues, `SHARED` by default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// The home at `root`. Nothing is touched yet.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What is configured: written by people, and the register of agents by the manager; read by everybody.
    pub fn config(&self) -> PathBuf {
        self.root.join("config")
    }

    /// Who is registered, and where: written by the manager and by operators.
    pub fn agents_config(&self) -> PathBuf {
        self.config().join("agents/agents_config.json")
    }

    /// What the manager keeps of a league.
    pub fn league(&self, league: &LeagueId) -> PathBuf {
        self.root.join("data").join("leagues").join(&*file_name(league.as_str()))
    }

    /// The events of a league: the truth.
    pub fn database(&self, league: &LeagueId) -> PathBuf {
        self.league(league).join("league.db")
    }

    /// What only one manager can hold.
    pub fn lock(&self, league: &LeagueId) -> PathBuf {
        self.league(league).join("manager.lock")
    }

    /// What tells a referee that it shares this home with the manager of the league.
    pub fn mark(&self, league: &LeagueId) -> PathBuf {
        self.league(league).join("home.mark")
    }

    /// Transcripts that a referee still owes to the manager of a league: an empty file for each match.
    pub fn outbox(&self, league: &LeagueId) -> PathBuf {
        self.root.join("data/outbox").join(league.as_str())
    }

    pub fn standings(&self, league: &LeagueId) -> PathBuf {
        self.league(league).join("standings.json")
    }

    pub fn rounds(&self, league: &LeagueId) -> PathBuf {
        self.league(league).join("rounds.json")
    }

    /// The match files of a league.
    pub fn matches(&self, league: &LeagueId) -> PathBuf {
        self.root.join("data").join("matches").join(&*file_name(league.as_str()))
    }

    pub fn match_file(&self, league: &LeagueId, match_id: &MatchId) -> PathBuf {
        self.matches(league).join(format!("{}.json", file_name(match_id.as_str())))
    }

    /// All matches of a large league, one to a line.
    pub fn match_lines(&self, league: &LeagueId) -> PathBuf {
        self.matches(league).join("matches.jsonl")
    }

    pub fn history(&self, player: &PlayerId) -> PathBuf {
        self.player(player).join("history.json")
    }

    /// By what a player recognises the referees of matches that it was in when it was killed.
    pub fn keys(&self, player: &PlayerId) -> PathBuf {
        self.player(player).join("keys.json")
    }

    fn player(&self, player: &PlayerId) -> PathBuf {
        self.root.join("data").join("players").join(&*file_name(player.as_str()))
    }

    pub fn league_journal(&self, league: &LeagueId) -> PathBuf {
        self.root.join("logs").join("league").join(&*file_name(league.as_str())).join("league.log.jsonl")
    }

    pub fn agent_journal(&self, agent: &AgentId) -> PathBuf {
        self.root.join("logs").join("agents").join(format!("{}.log.jsonl", file_name(agent.as_str())))
    }

    /// The log of whatever starts and stops the others.
    pub fn system_journal(&self) -> PathBuf {
        self.root.join("logs/system/orchestrator.log.jsonl")
    }

    /// Makes every directory that a league needs, and makes sure that something can be written there.
    pub fn prepare(&self, league: &LeagueId) -> Result<(), HomeError> {
        let journal = self.league_journal(league);
        let journals = journal.parent().unwrap_or(&self.root);
        let directories = [
            &self.league(league),
            &self.matches(league),
            &self.root.join("data/players"),
            journals,
            &self.root.join("logs/agents"),
        ]
        .map(Path::to_path_buf);
        for path in directories {
            fs::create_dir_all(&path).map_err(|error| HomeError::Create { path, error })?;
        }
        probe(self.league(league))
    }

    /// Makes every directory that a referee or a player needs, which knows its league only later; likewise.
    pub fn prepare_for_agent(&self) -> Result<(), HomeError> {
        for path in ["data/matches", "data/players", "logs/agents"].map(|below| self.root.join(below)) {
            fs::create_dir_all(&path).map_err(|error| HomeError::Create { path: path.clone(), error })?;
            probe(path)?;
        }
        Ok(())
    }

    /// Makes sure that a league has been kept here.
    pub fn expect(&self, league: &LeagueId) -> Result<(), HomeError> {
        if self.database(league).is_file() {
            return Ok(());
        }
        Err(HomeError::NoLeague { league: league.clone(), path: self.root.clone() })
    }
}

/// Makes sure that something can be written to a directory. Permissions say little (root, read-only mounts, quotas): only writing
/// shows it.
fn probe(path: PathBuf) -> Result<(), HomeError> {
    let probe = path.join(format!(".writable-{}", std::process::id()));
    fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe)).map_err(|error| HomeError::Write { path, error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn league() -> LeagueId {
        "league_2025_even_odd".parse().unwrap()
    }

    #[test]
    fn the_tree_is_that_of_the_profile() {
        let (home, league) = (Home::at("SHARED"), league());
        let player: PlayerId = "P01".parse().unwrap();
        for (path, expected) in [
            (home.standings(&league), "SHARED/data/leagues/league_2025_even_odd/standings.json"),
            (home.rounds(&league), "SHARED/data/leagues/league_2025_even_odd/rounds.json"),
            (home.agents_config(), "SHARED/config/agents/agents_config.json"),
            (home.database(&league), "SHARED/data/leagues/league_2025_even_odd/league.db"),
            (home.match_file(&league, &"R1M1".parse().unwrap()), "SHARED/data/matches/league_2025_even_odd/R1M1.json"),
            (home.history(&player), "SHARED/data/players/P01/history.json"),
            (home.league_journal(&league), "SHARED/logs/league/league_2025_even_odd/league.log.jsonl"),
            (home.agent_journal(&AgentId::Player(player)), "SHARED/logs/agents/P01.log.jsonl"),
            (home.history(&"player:P04".parse().unwrap()), "SHARED/data/players/player%3AP04/history.json"),
        ] {
            assert_eq!(path, Path::new(expected));
        }
    }

    #[test]
    fn a_home_that_cannot_be_made_says_where_and_what_to_do() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("taken");
        fs::write(&file, b"not a directory").unwrap();
        let refused = Home::at(&file).prepare(&league()).unwrap_err().to_string();
        assert!(refused.contains("taken") && refused.contains("--home"), "{refused}");
        let refused = Home::at(&file).prepare_for_agent().unwrap_err().to_string();
        assert!(refused.contains("taken") && refused.contains("--home"), "{refused}");
    }

    #[test]
    fn a_league_that_is_not_there_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        home.prepare(&league()).unwrap();
        let refused = home.expect(&league()).unwrap_err().to_string();
        assert!(refused.contains("league_2025_even_odd") && refused.contains("--home"), "{refused}");
    }
}
