//! The thread that writes views, behind a bounded queue.
//!
//! `put` waits only when the queue is full. Later standings replace earlier ones in the queue, and waiting lines are
//! written together. Match files are synced together at a flush, because a sync for each would cost ten times the
//! writing. The next flush reports failed writes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use league_protocol::id::LeagueId;
use serde::Serialize;
use serde_json::{Map, Value};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use super::MATCH_FILES;
use super::match_file::MatchFile;
use super::register::{MAX_REGISTER, RegisterFile};
use super::replace::{ReplaceSync, in_directory, replace, sync_directory, sync_file};
use super::rounds::RoundsFile;
use super::standings::StandingsFile;
use crate::home::Home;

const MAX_WAITING: usize = 1024;

/// More than any league has before its final flush.
const MAX_UNSYNCED: usize = 4 * 1024;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ViewLimits {
    /// A league with more matches keeps them in one file.
    pub match_files: u64,
}

impl Default for ViewLimits {
    fn default() -> Self {
        Self { match_files: MATCH_FILES }
    }
}

#[derive(Debug)]
pub enum ViewUpdate {
    Standings(StandingsFile),
    Rounds(RoundsFile),
    Match(Box<MatchFile>),
    Register(RegisterFile),
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{path} could not be written ({reason}), and {others} other files; the log has everything that was in them")]
pub struct ViewError {
    pub path: PathBuf,
    pub reason: String,
    pub others: u64,
}

enum Job {
    Put(ViewUpdate),
    /// Dropped once all earlier jobs are written.
    Write(oneshot::Sender<()>),
    Expect {
        league: LeagueId,
        matches: u64,
    },
    Flush(oneshot::Sender<Result<(), ViewError>>),
}

/// The thread ends with the last handle.
#[derive(Clone, Debug)]
pub struct ViewWriter {
    queue: mpsc::Sender<Job>,
}

fn ended() -> ViewError {
    ViewError { path: PathBuf::new(), reason: String::from("the writer has ended"), others: 0 }
}

impl ViewWriter {
    pub fn start(home: Home, limits: ViewLimits) -> io::Result<Self> {
        let (queue, jobs) = mpsc::channel(MAX_WAITING);
        let thread = ViewThread {
            home,
            limits,
            large: HashSet::new(),
            lines: HashMap::new(),
            unsynced: HashMap::new(),
            failed: None,
        };
        std::thread::Builder::new().name(String::from("league-views")).spawn(move || thread.run(jobs))?;
        Ok(Self { queue })
    }

    /// The number of matches decides between one file and many. Called before the first match.
    pub async fn expect(&self, league: LeagueId, matches: u64) {
        let _ = self.queue.send(Job::Expect { league, matches }).await;
    }

    pub async fn put(&self, view: ViewUpdate) {
        // The next flush reports that the thread has ended.
        let _ = self.queue.send(Job::Put(view)).await;
    }

    /// Like [`put`](Self::put), and waits until the file is there for every reader. It is durable after a flush.
    pub async fn write(&self, view: ViewUpdate) {
        self.put(view).await;
        let (written, wait) = oneshot::channel();
        let _ = self.queue.send(Job::Write(written)).await;
        let _ = wait.await;
    }

    /// Waits until every view is on the disk. Fails when a write since the last flush failed.
    pub async fn flush(&self) -> Result<(), ViewError> {
        let (reply, answer) = oneshot::channel();
        self.queue.send(Job::Flush(reply)).await.map_err(|_| ended())?;
        answer.await.unwrap_or_else(|_| Err(ended()))
    }
}

struct ViewThread {
    home: Home,
    limits: ViewLimits,
    large: HashSet<LeagueId>,
    lines: HashMap<PathBuf, Vec<u8>>,
    /// By directory: written and not yet synced.
    unsynced: HashMap<PathBuf, BTreeSet<PathBuf>>,
    failed: Option<ViewError>,
}

impl ViewThread {
    fn run(mut self, mut queue: mpsc::Receiver<Job>) {
        let mut jobs = Vec::with_capacity(MAX_WAITING);
        while queue.blocking_recv_many(&mut jobs, MAX_WAITING) > 0 {
            let keep = self.worth_writing(&jobs);
            for (job, keep) in jobs.drain(..).zip(keep) {
                match job {
                    Job::Put(view) if keep => self.write(view),
                    Job::Put(_) => {}
                    Job::Expect { league, matches } if matches > self.limits.match_files => {
                        self.large.insert(league);
                    }
                    Job::Expect { .. } => {}
                    Job::Write(written) => {
                        self.write_lines();
                        drop(written);
                    }
                    Job::Flush(reply) => {
                        self.write_lines();
                        self.sync();
                        let _ = reply.send(self.failed.take().map_or(Ok(()), Err));
                    }
                }
            }
            self.write_lines();
        }
        self.sync();
    }

    /// Skips a view that a later one replaces, unless a flush waits in between.
    fn worth_writing(&self, jobs: &[Job]) -> Vec<bool> {
        let mut replaced = HashSet::new();
        let mut keep: Vec<bool> = Vec::with_capacity(jobs.len());
        for job in jobs.iter().rev() {
            if matches!(job, Job::Flush(_)) {
                replaced.clear();
            }
            keep.push(self.target(job).is_none_or(|path| replaced.insert(path)));
        }
        keep.reverse();
        keep
    }

    fn target(&self, job: &Job) -> Option<PathBuf> {
        match job {
            Job::Put(ViewUpdate::Standings(file)) => Some(self.home.standings(&file.league_id)),
            Job::Put(ViewUpdate::Rounds(file)) => Some(self.home.rounds(&file.league_id)),
            Job::Put(ViewUpdate::Register(_)) => Some(self.home.agents_config()),
            // A reader may see any state of a match, and a match may be a line.
            Job::Put(ViewUpdate::Match(_)) | Job::Write(_) | Job::Expect { .. } | Job::Flush(_) => None,
        }
    }

    fn write(&mut self, view: ViewUpdate) {
        match view {
            // Written several times a second; a sync for each would delay the syncs of the log.
            ViewUpdate::Standings(file) => {
                self.replace(self.home.standings(&file.league_id), &file, ReplaceSync::Later);
            }
            ViewUpdate::Rounds(file) => self.replace(self.home.rounds(&file.league_id), &file, ReplaceSync::Later),
            ViewUpdate::Register(file) => {
                let path = self.home.agents_config();
                match read_register(&path).and_then(|found| file.merged_into(found)) {
                    Ok(whole) => self.replace(path, &whole, ReplaceSync::Now),
                    Err(error) => self.record_failure(path, &error),
                }
            }
            ViewUpdate::Match(file) if self.large.contains(&file.league_id) => {
                let path = self.home.match_lines(&file.league_id);
                let lines = self.lines.entry(path).or_default();
                if let Err(error) = add_line(lines, &*file) {
                    self.record_failure(self.home.match_lines(&file.league_id), &error);
                }
            }
            ViewUpdate::Match(file) => {
                self.replace(self.home.match_file(&file.league_id, &file.match_id), &*file, ReplaceSync::Later);
            }
        }
    }

    fn write_lines(&mut self) {
        for (path, lines) in std::mem::take(&mut self.lines) {
            let written = append(&path, &lines);
            self.record(path, written, ReplaceSync::Later);
        }
    }

    fn replace(&mut self, path: PathBuf, contents: &impl Serialize, sync: ReplaceSync) {
        let written = document(contents).and_then(|document| replace(&path, &document, sync));
        self.record(path, written, sync);
    }

    fn record(&mut self, path: PathBuf, written: io::Result<()>, sync: ReplaceSync) {
        match written {
            Ok(()) => {
                let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
                let files = self.unsynced.entry(directory).or_default();
                if sync == ReplaceSync::Later {
                    files.insert(path);
                }
                // A referee of many leagues never flushes and must not keep all paths in memory.
                if self.unsynced.values().map(BTreeSet::len).sum::<usize>() > MAX_UNSYNCED {
                    self.sync();
                }
            }
            Err(error) => self.record_failure(path, &error),
        }
    }

    fn record_failure(&mut self, path: PathBuf, error: &io::Error) {
        match &mut self.failed {
            Some(failed) => failed.others += 1,
            None => {
                tracing::warn!(path = %path.display(), %error, "a view could not be written");
                self.failed = Some(ViewError { path, reason: error.to_string(), others: 0 });
            }
        }
    }

    fn sync(&mut self) {
        for (directory, files) in std::mem::take(&mut self.unsynced) {
            let synced = files.iter().try_for_each(|file| sync_file(file)).and_then(|()| sync_directory(&directory));
            if let Err(error) = synced {
                self.record_failure(directory, &error);
            }
        }
    }
}

/// An empty object where the file does not exist.
pub(crate) fn read_register(path: &Path) -> io::Result<Value> {
    let bytes = match fs::metadata(path) {
        Ok(file) if file.len() > MAX_REGISTER => {
            return Err(io::Error::other(format!("it has more than {MAX_REGISTER} bytes; move it away")));
        }
        Ok(_) => fs::read(path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Value::Object(Map::new())),
        Err(error) => return Err(error),
    };
    // Editors on Windows write a byte order mark.
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    Ok(serde_json::from_slice(text)?)
}

pub(crate) fn document(contents: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut document = serde_json::to_vec_pretty(contents)?;
    document.push(b'\n');
    Ok(document)
}

pub(super) fn add_line(lines: &mut Vec<u8>, contents: &impl Serialize) -> io::Result<()> {
    let before = lines.len();
    serde_json::to_writer(&mut *lines, contents).inspect_err(|_| lines.truncate(before))?;
    lines.push(b'\n');
    Ok(())
}

/// Ends a line that a crash cut off, so that only that line is lost.
pub(super) fn append(path: &Path, lines: &[u8]) -> io::Result<()> {
    let mut file = in_directory(path, || OpenOptions::new().read(true).append(true).create(true).open(path))?;
    if file.metadata()?.len() > 0 {
        let mut last = [b'\n'];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != [b'\n'] {
            file.write_all(b"\n")?;
        }
    }
    // One write, so that lines of several processes do not mix.
    file.write_all(lines)
}
