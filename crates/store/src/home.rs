//! The paths of a home.
//!
//! Ids have no `/` and no leading dot, so no path made here leads out of the home.

use std::path::{Path, PathBuf};
use std::{fs, io};

use league_core::season::agent::AgentId;
use league_protocol::id::{LeagueId, MatchId, PlayerId};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::checksum;
use crate::file_identity::FileIdentity;
use crate::file_name::file_name;
use crate::log::lease::LeaseHolder;
use crate::log::{EventLog, HeldLease, LogError, PostgresStore, SqliteLog};
use crate::private;
use crate::views::replace::{ReplaceSync, replace};

#[derive(Debug, Error)]
pub enum HomeError {
    #[error("{path} cannot be read ({error}); correct it, or choose another home with --home")]
    Read { path: PathBuf, error: io::Error },
    #[error("{path} cannot be created ({error}); choose another home with --home, or make it writable")]
    Create { path: PathBuf, error: io::Error },
    #[error("{path} cannot be written to ({error}); choose another home with --home, or make it writable")]
    Write { path: PathBuf, error: io::Error },
    #[error("there is no league {league} in {path}; --home names the directory that holds its `data`")]
    NoLeague { league: LeagueId, path: PathBuf },
    #[error("the home {path} was written by league {version}; use that version, or choose another --home")]
    OtherVersion { path: PathBuf, version: String },
    #[error(transparent)]
    Log(#[from] LogError),
}

const FORMAT: u32 = 2;

const OF_A_HOME: [&str; 4] = ["config", "data", "home.json", "logs"];

/// The contents of `home.json`. League 0.1.0 wrote no such file.
#[derive(Serialize, Deserialize)]
struct HomeVersion {
    format: u32,
    league_version: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Home {
    root: PathBuf,
    /// Where the logs are, if not in the home.
    store: Option<PostgresStore>,
}

impl Home {
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), store: None }
    }

    /// The logs of its leagues are in `store`; its files stay where they are.
    #[must_use]
    pub fn with_store(self, store: PostgresStore) -> Self {
        Self { store: Some(store), ..self }
    }

    pub fn store(&self) -> Option<&PostgresStore> {
        self.store.as_ref()
    }

    /// Fails when a version with another format wrote the home. Changes nothing.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, HomeError> {
        let home = Self::at(root);
        let version = home.version()?;
        // Another process may be preparing the home right now. It writes the version before the data, so a second look
        // finds it.
        let version = if version.is_none() && home.root.join("data").exists() { home.version()? } else { version };
        let other = match version {
            Some(HomeVersion { format: FORMAT, .. }) => return Ok(home),
            Some(HomeVersion { league_version, .. }) => league_version,
            None if home.root.join("data").exists() => String::from("0.1.0"),
            None => return Ok(home),
        };
        Err(HomeError::OtherVersion { path: home.root, version: other })
    }

    fn version(&self) -> Result<Option<HomeVersion>, HomeError> {
        let path = self.version_file();
        let read = match fs::read(&path) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            read => read.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?)),
        };
        read.map(Some).map_err(|error| HomeError::Read { path, error })
    }

    pub(crate) fn version_file(&self) -> PathBuf {
        self.root.join("home.json")
    }

    fn write_version(&self) -> Result<(), HomeError> {
        let path = self.version_file();
        if path.exists() {
            return Ok(());
        }
        let version = HomeVersion { format: FORMAT, league_version: env!("CARGO_PKG_VERSION").to_owned() };
        let document = serde_json::to_vec_pretty(&version).map_err(io::Error::from);
        let written = document.and_then(|document| replace(&path, &checksum::add(document), ReplaceSync::Now));
        written.map_err(|error| HomeError::Create { path, error })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The operator writes the configuration; the manager writes only the register of agents.
    pub fn config(&self) -> PathBuf {
        self.root.join("config")
    }

    pub fn agents_config(&self) -> PathBuf {
        self.config().join("agents/agents_config.json")
    }

    pub fn league(&self, league: &LeagueId) -> PathBuf {
        self.root.join("data").join("leagues").join(&*file_name(league.as_str()))
    }

    pub fn database(&self, league: &LeagueId) -> PathBuf {
        self.league(league).join("league.db")
    }

    /// For readers. With [`Home::writer`] the only place that decides which storage holds the events.
    pub fn log(&self, league: &LeagueId) -> Box<dyn EventLog> {
        match &self.store {
            Some(store) => Box::new(store.log(league)),
            None => Box::new(SqliteLog::at(self.database(league))),
        }
    }

    /// For the one manager that leads the league. `lock` is the lock file of the home. In a shared store the lease counts, too, and
    /// this blocks until a killed manager's lease has expired.
    pub fn writer(
        &self,
        league: &LeagueId,
        lock: FileIdentity,
    ) -> Result<(Box<dyn EventLog>, Option<HeldLease>), LogError> {
        let Some(store) = &self.store else {
            return Ok((Box::new(SqliteLog::at(self.database(league)).guarded_by(lock)), None));
        };
        let log = store.log(league);
        log.lead(&LeaseHolder::named(self.holder()))?;
        let lease = log.held_lease();
        Ok((Box::new(log), Some(lease)))
    }

    /// How the lease of a league names a manager with this home.
    pub fn holder(&self) -> String {
        format!("process {} with the home {}", std::process::id(), self.root.display())
    }

    /// True if the log has an event.
    pub fn has_league(&self, league: &LeagueId) -> Result<bool, LogError> {
        match &self.store {
            Some(store) => Ok(store.log(league).head()?.seq > 0),
            None => Ok(self.database(league).is_file()),
        }
    }

    pub fn lock(&self, league: &LeagueId) -> PathBuf {
        self.league(league).join("manager.lock")
    }

    /// Held by the process that serves all leagues of this home.
    pub fn serve_lock(&self) -> PathBuf {
        self.root.join("data").join("serve.lock")
    }

    /// A referee that finds this mark shares its home with the manager.
    pub fn mark(&self, league: &LeagueId) -> PathBuf {
        self.league(league).join("home.mark")
    }

    pub fn standings(&self, league: &LeagueId) -> PathBuf {
        self.league(league).join("standings.json")
    }

    pub fn rounds(&self, league: &LeagueId) -> PathBuf {
        self.league(league).join("rounds.json")
    }

    pub fn matches(&self, league: &LeagueId) -> PathBuf {
        self.root.join("data").join("matches").join(&*file_name(league.as_str()))
    }

    pub fn match_file(&self, league: &LeagueId, match_id: &MatchId) -> PathBuf {
        self.matches(league).join(format!("{}.json", file_name(match_id.as_str())))
    }

    /// The file that holds the match: its own, or that of all matches.
    pub(crate) fn stored_match(&self, league: &LeagueId, match_id: &MatchId) -> PathBuf {
        let own = self.match_file(league, match_id);
        if own.exists() { own } else { self.match_lines(league) }
    }

    /// A large league keeps all its matches here, one to a line.
    pub fn match_lines(&self, league: &LeagueId) -> PathBuf {
        self.matches(league).join("matches.jsonl")
    }

    pub fn history(&self, player: &PlayerId) -> PathBuf {
        self.player(player).join("history.json")
    }

    pub fn keys(&self, player: &PlayerId) -> PathBuf {
        self.player(player).join("keys.json")
    }

    fn player(&self, player: &PlayerId) -> PathBuf {
        self.players().join(&*file_name(player.as_str()))
    }

    pub(crate) fn players(&self) -> PathBuf {
        self.root.join("data").join("players")
    }

    pub fn league_journal(&self, league: &LeagueId) -> PathBuf {
        self.root.join("logs").join("league").join(&*file_name(league.as_str())).join("league.log.jsonl")
    }

    pub fn agent_journal(&self, agent: &AgentId) -> PathBuf {
        self.root.join("logs").join("agents").join(format!("{}.log.jsonl", file_name(agent.as_str())))
    }

    /// The journal of the process that starts and stops the agents.
    pub fn system_journal(&self) -> PathBuf {
        self.root.join("logs/system/orchestrator.log.jsonl")
    }

    pub fn prepare(&self, league: &LeagueId) -> Result<(), HomeError> {
        self.write_version()?;
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
            private::create_dir_all(&path).map_err(|error| HomeError::Create { path, error })?;
        }
        probe(self.league(league))
    }

    pub fn prepare_for_agent(&self) -> Result<(), HomeError> {
        self.write_version()?;
        for path in ["data/matches", "data/players", "logs/agents"].map(|below| self.root.join(below)) {
            private::create_dir_all(&path).map_err(|error| HomeError::Create { path: path.clone(), error })?;
            probe(path)?;
        }
        Ok(())
    }

    /// Takes the rights of other users of the machine away. Returns what they could read or enter before.
    ///
    /// A directory that holds other things than a home, such as the current directory, keeps its rights.
    pub fn tighten(&self, league: &LeagueId) -> Result<Vec<PathBuf>, HomeError> {
        let write = |path: &Path, error| HomeError::Write { path: path.to_owned(), error };
        let mut names = fs::read_dir(&self.root).map_err(|error| write(&self.root, error))?;
        let is_own =
            names.all(|entry| entry.is_ok_and(|entry| OF_A_HOME.iter().any(|name| entry.file_name() == *name)));
        let directories =
            if is_own { vec![self.root.clone()] } else { ["data", "logs"].map(|name| self.root.join(name)).to_vec() };
        let database = self.database(league);
        let beside = ["", "-wal", "-shm"].map(|ending| {
            let mut name = database.clone().into_os_string();
            name.push(ending);
            PathBuf::from(name)
        });
        let mut wide = Vec::new();
        for path in directories.into_iter().chain(beside).chain([self.lock(league)]) {
            if private::tighten(&path).map_err(|error| write(&path, error))? {
                wide.push(path);
            }
        }
        Ok(wide)
    }

    pub fn expect(&self, league: &LeagueId) -> Result<(), HomeError> {
        if self.has_league(league)? {
            return Ok(());
        }
        Err(HomeError::NoLeague { league: league.clone(), path: self.root.clone() })
    }
}

/// Permissions do not predict the outcome (root, read-only mounts, quotas), so this writes a file.
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
    fn the_paths_are_those_of_the_course() {
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
    fn an_error_about_a_home_names_its_path_and_the_option() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("taken");
        fs::write(&file, b"not a directory").unwrap();
        let home = Home::at(&file);
        for refused in [home.prepare(&league()), home.prepare_for_agent()] {
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("taken") && refused.contains("--home"), "{refused}");
        }
    }

    #[test]
    fn a_home_of_another_version_is_refused_and_not_changed() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("home");
        let opened = || Home::open(&root).map(drop).map_err(|error| error.to_string());
        assert_eq!(opened(), Ok(()), "a new home");
        fs::create_dir_all(root.join("data/leagues")).unwrap();
        let refused = opened().unwrap_err();
        assert!(refused.contains("written by league 0.1.0; use that version, or choose another --home"), "{refused}");
        assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
        fs::write(root.join("home.json"), r#"{"format":3,"league_version":"0.9.1"}"#).unwrap();
        assert!(opened().unwrap_err().contains("written by league 0.9.1"));
        fs::write(root.join("home.json"), "{").unwrap();
        assert!(opened().unwrap_err().contains("home.json cannot be read"));
        fs::remove_file(root.join("home.json")).unwrap();
        Home::at(&root).prepare_for_agent().unwrap();
        assert_eq!(opened(), Ok(()));
    }

    #[test]
    fn an_error_about_a_missing_league_names_it() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        home.prepare(&league()).unwrap();
        let refused = home.expect(&league()).unwrap_err().to_string();
        assert!(refused.contains("league_2025_even_odd") && refused.contains("--home"), "{refused}");
    }
}
