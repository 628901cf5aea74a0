//! What has been kept: events out of the log, matches out of their files, and any past moment, which is a shorter replay.
//!
//! All of it reads the disk, so all of it runs where blocking is allowed, and only so much of it at a time.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use league_core::season::event::Event;
use league_protocol::id::{LeagueId, MatchId, RoundId};
use league_store::home::Home;
use league_store::log::{LogError, LogHead, SqliteLog};
use league_store::views::match_file::MatchFile;
use thiserror::Error;
use tokio::sync::Semaphore;

use crate::league_snapshot::{LeagueSnapshot, Replay};

/// How many past moments are kept at hand.
const MOMENTS: usize = 6;
/// How many results all of them together may tell of, some forty bytes each; the latest one stays whatever its size.
const RESULTS: u32 = 200_000;
/// How many events are read at a time.
const STEP: usize = 4096;
/// How many read at a time.
const READERS: usize = 4;
/// No line of a match is longer.
const MAX_LINE: u64 = 8 * 1024 * 1024;

/// Why something that was kept cannot be shown.
#[derive(Debug, Error)]
pub enum ArchiveError {
    #[error(transparent)]
    Log(#[from] LogError),
    /// The log tells of something that cannot have happened.
    #[error("the log cannot be replayed: {0}")]
    Story(#[from] league_core::season::BadEvent),
    #[error("the log has only {0} events")]
    Beyond(u64),
    #[error("the reading was given up")]
    Ended,
}

/// What has been kept of a league; cheap to clone.
#[derive(Clone, Debug)]
pub struct Archive {
    kept: Arc<Kept>,
}

#[derive(Debug)]
struct Kept {
    home: Home,
    league: LeagueId,
    log: PathBuf,
    readers: Semaphore,
    moments: Mutex<Vec<Arc<LeagueSnapshot>>>,
    lines: Mutex<MatchLineIndex>,
}

/// Where each match of a large league begins in the file that has them all, by round and number: there may be half a million.
#[derive(Debug, Default)]
struct MatchLineIndex {
    read: u64,
    places: HashMap<(RoundId, u32), u64>,
}

impl Archive {
    /// What `home` keeps of `league`.
    pub fn of(home: Home, league: LeagueId) -> Self {
        let log = home.database(&league);
        let (readers, moments, lines) = (Semaphore::new(READERS), Mutex::default(), Mutex::default());
        Self { kept: Arc::new(Kept { home, league, log, readers, moments, lines }) }
    }

    /// At most `limit` events behind event `after`, each with its head.
    pub(crate) async fn events(&self, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, ArchiveError> {
        self.reading(move |kept| Ok(SqliteLog::page(&kept.log, after, limit)?)).await
    }

    /// The file of a match; nothing when there is none that can be read.
    pub(crate) async fn game(&self, match_id: &MatchId) -> Option<MatchFile> {
        let found = self.games(vec![match_id.clone()]).await;
        found.into_iter().next()
    }

    /// The files of some matches, as far as there are any.
    pub(crate) async fn games(&self, wanted: Vec<MatchId>) -> Vec<MatchFile> {
        let read = self.reading(move |kept| Ok(wanted.iter().filter_map(|match_id| kept.game(match_id)).collect()));
        read.await.unwrap_or_default()
    }

    /// The league as it was after event `seq`.
    pub(crate) async fn moment(&self, seq: u64) -> Result<Arc<LeagueSnapshot>, ArchiveError> {
        self.reading(move |kept| kept.moment(seq)).await
    }

    /// All of the story, read from the log.
    pub(crate) fn tell(&self) -> Result<LeagueSnapshot, ArchiveError> {
        let mut telling = Replay::default();
        SqliteLog::read(&self.kept.log, |event| telling.hear(&event))?;
        telling.end()?.ok_or(ArchiveError::Beyond(0))
    }

    async fn reading<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Kept) -> Result<T, ArchiveError> + Send + 'static,
    ) -> Result<T, ArchiveError> {
        let _place = self.kept.readers.acquire().await.map_err(|_| ArchiveError::Ended)?;
        let kept = Arc::clone(&self.kept);
        tokio::task::spawn_blocking(move || read(&kept)).await.map_err(|_| ArchiveError::Ended)?
    }
}

impl Kept {
    /// The nearest moment before that is at hand is where the replay begins.
    fn moment(&self, seq: u64) -> Result<Arc<LeagueSnapshot>, ArchiveError> {
        // Held while replaying: two replays of the same log at a time would help nobody.
        let mut moments = self.moments.lock().unwrap_or_else(PoisonError::into_inner);
        let nearest = moments.iter().filter(|story| story.seq() <= seq).max_by_key(|story| story.seq()).cloned();
        if let Some(story) = nearest.as_ref().filter(|story| story.seq() == seq) {
            return Ok(Arc::clone(story));
        }
        let story = Arc::new(self.replay(nearest.as_deref(), seq)?);
        moments.push(Arc::clone(&story));
        while moments.len() > 1 && (moments.len() > MOMENTS || results_in(&moments) > RESULTS) {
            moments.remove(0);
        }
        Ok(story)
    }

    fn replay(&self, from: Option<&LeagueSnapshot>, seq: u64) -> Result<LeagueSnapshot, ArchiveError> {
        let mut story = from.cloned();
        loop {
            let after = story.as_ref().map_or(0, LeagueSnapshot::seq);
            let limit = usize::try_from(seq.saturating_sub(after)).unwrap_or(STEP).min(STEP);
            let events = if limit == 0 { Vec::new() } else { SqliteLog::page(&self.log, after, limit)? };
            if events.is_empty() {
                return story.filter(|story| story.seq() == seq).ok_or(ArchiveError::Beyond(after));
            }
            let mut telling = Replay::of(story);
            events.iter().for_each(|(_, event)| telling.hear(event));
            story = telling.end()?;
        }
    }

    fn game(&self, match_id: &MatchId) -> Option<MatchFile> {
        let text = match std::fs::read(self.home.match_file(&self.league, match_id)) {
            Ok(text) => text,
            Err(_) => self.line(match_id)?,
        };
        let mut file: MatchFile =
            serde_json::from_slice(&text).ok().filter(|file: &MatchFile| file.match_id == *match_id)?;
        let problems = std::mem::take(&mut file.problems.0);
        file.problems.0 = problems.into_iter().map(|(player, problem)| (player, problem.without_address())).collect();
        Some(file)
    }

    /// The line of a match. What was appended since the last look is looked through first, once.
    fn line(&self, match_id: &MatchId) -> Option<Vec<u8>> {
        let file = File::open(self.home.match_lines(&self.league)).ok()?;
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reader = BufReader::with_capacity(1 << 20, file);
        reader.seek(SeekFrom::Start(lines.read)).ok()?;
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).ok()? as u64;
            if line.last() != Some(&b'\n') {
                break;
            }
            let start = lines.read;
            lines.read += length;
            if let Some(place) = named(&line).and_then(|named| named.parts()) {
                lines.places.insert(place, start);
            }
        }
        let start = *lines.places.get(&match_id.parts()?)?;
        drop(lines);
        reader.seek(SeekFrom::Start(start)).ok()?;
        line.clear();
        reader.take(MAX_LINE).read_until(b'\n', &mut line).ok()?;
        Some(line)
    }
}

/// How many results these moments tell of.
fn results_in(moments: &[Arc<LeagueSnapshot>]) -> u32 {
    moments.iter().map(|story| story.season().matches_completed()).sum()
}

/// Which match a line is about: said within its first bytes, so that half a million lines need not be parsed.
fn named(line: &[u8]) -> Option<MatchId> {
    const KEY: &[u8] = b"\"match_id\":\"";
    let beginning = &line[..line.len().min(512)];
    let start = beginning.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
    let end = start + beginning[start..].iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(&beginning[start..end]).ok()?.parse().ok()
}
