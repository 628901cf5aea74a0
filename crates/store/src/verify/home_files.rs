//! The files of a home that no log gives: they carry checksums. Files that do not belong there are reported.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use league_core::season::Season;
use league_protocol::id::LeagueId;

use super::difference::Findings;
use super::history;
use super::matches::MatchCheck;
use crate::home::Home;
use crate::{checksum, mark};

/// SQLite keeps the last three beside the log.
const OF_A_LEAGUE: [&str; 8] = [
    "home.mark",
    "manager.lock",
    "rounds.json",
    "standings.json",
    "league.db",
    "league.db-wal",
    "league.db-shm",
    "league.db-journal",
];

pub(super) fn check(
    home: &Home,
    league: &LeagueId,
    (season, matches): (&Season, &MatchCheck<'_>),
    findings: &mut Findings,
) -> io::Result<()> {
    let version = home.version_file();
    match read(&version)? {
        Some(bytes) => check_sum(&version, &bytes, findings),
        None => findings.differs(&version, "the file", "missing", "the version that wrote the home"),
    }
    let lock = home.lock(league);
    match read(&lock)? {
        // A manager that is being started has written nothing yet.
        Some(bytes) if bytes.is_empty() => {}
        Some(bytes) => check_sum(&lock, &bytes, findings),
        None => findings.differs(&lock, "the file", "missing", "the lock of the manager that wrote the log"),
    }
    let mark_file = home.mark(league);
    match read(&mark_file)? {
        Some(bytes) if mark::is_whole(&bytes) => {}
        Some(bytes) => {
            let found = String::from_utf8_lossy(&bytes).into_owned();
            findings.differs(&mark_file, "the mark", found, "a mark as the manager writes it");
        }
        None => findings.differs(&mark_file, "the file", "missing", "a mark as the manager writes it"),
    }
    for path in entries(&home.league(league))? {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if !OF_A_LEAGUE.contains(&name) {
            findings.differs(&path, "the file", "there", "no such file");
        }
    }
    for player in entries(&home.players())? {
        let (keys, history) = (player.join("keys.json"), player.join("history.json"));
        if let Some(bytes) = read(&keys)? {
            check_sum(&keys, &bytes, findings);
        }
        if let Some(bytes) = read(&history)? {
            history::check(&history, &bytes, league, (season, matches), findings);
        }
    }
    Ok(())
}

fn check_sum(path: &Path, bytes: &[u8], findings: &mut Findings) {
    if let Err((found, right)) = checksum::check(bytes) {
        findings.differs(path, "sha256", found, right);
    }
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        read => read.map(Some),
    }
}

/// Without those that begin with a dot: a file on its way to another name, or left by a process that was killed.
fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    let is_hidden = |path: &PathBuf| path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with('.'));
    let mut paths: Vec<_> = paths.into_iter().filter(|path| !is_hidden(path)).collect();
    paths.sort();
    Ok(paths)
}
