//! Reads what is stored: events from the log, matches from their files, and any past moment, which is a shorter replay.
//!
//! Reading blocks, so it runs on threads for that, and only [`READERS`] at a time.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use league_core::season::event::Event;
use league_protocol::id::{LeagueId, MatchId};
use league_store::home::Home;
use league_store::log::{EventLog, LoadError, LogError, LogHead, replay};
use league_store::views::find_match::MatchFinder;
use league_store::views::match_file::MatchFile;
use thiserror::Error;
use tokio::sync::Semaphore;

use crate::league_snapshot::{LeagueSnapshot, SnapshotBuilder};

/// Past moments that stay in memory.
const MOMENTS: usize = 6;
/// Results in all of them together, some forty bytes each. The latest moment stays whatever its size.
const RESULTS: u32 = 200_000;
/// Events in one read.
const STEP: usize = 4096;
const READERS: usize = 4;

#[derive(Debug, Error)]
pub enum ArchiveError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("the log cannot be replayed: {0}")]
    Event(#[from] league_core::season::BadEvent),
    #[error("the log has only {0} events")]
    Beyond(u64),
    #[error("the reading was given up")]
    Ended,
}

/// What is stored of a league; cheap to clone.
#[derive(Clone, Debug)]
pub struct Archive {
    kept: Arc<Kept>,
}

struct Kept {
    log: Box<dyn EventLog>,
    home: Home,
    league: LeagueId,
    readers: Semaphore,
    moments: Mutex<Vec<Arc<LeagueSnapshot>>>,
    finder: Mutex<MatchFinder>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("home", &self.home).field("league", &self.league).finish_non_exhaustive()
    }
}

impl Archive {
    /// The league in `log`, with its match files in `home`.
    pub fn of(log: impl EventLog + 'static, home: Home, league: LeagueId) -> Self {
        let (readers, moments, finder) = (Semaphore::new(READERS), Mutex::default(), Mutex::default());
        Self { kept: Arc::new(Kept { log: Box::new(log), home, league, readers, moments, finder }) }
    }

    /// At most `limit` events behind event `after`, each with its head.
    pub(crate) async fn events(&self, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, ArchiveError> {
        self.reading(move |kept| Ok(kept.log.read(after, limit)?)).await
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
        let mut builder = SnapshotBuilder::default();
        let (replay, _) = replay(&*self.kept.log, |event| builder.observe(&event))?;
        builder.finish(replay.finish().map_err(LoadError::from)?).ok_or(ArchiveError::Beyond(0))
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
        let mut snapshot = from.cloned();
        loop {
            let after = snapshot.as_ref().map_or(0, LeagueSnapshot::seq);
            let limit = usize::try_from(seq.saturating_sub(after)).unwrap_or(STEP).min(STEP);
            let events = if limit == 0 { Vec::new() } else { self.log.read(after, limit)? };
            if events.is_empty() {
                return snapshot.filter(|snapshot| snapshot.seq() == seq).ok_or(ArchiveError::Beyond(after));
            }
            for (_, event) in &events {
                match &mut snapshot {
                    Some(snapshot) => snapshot.apply(event)?,
                    None => snapshot = Some(LeagueSnapshot::begin(event)?),
                }
            }
        }
    }

    fn game(&self, match_id: &MatchId) -> Option<MatchFile> {
        let mut finder = self.finder.lock().unwrap_or_else(PoisonError::into_inner);
        let text = finder.find(&self.home, &self.league, match_id).ok()??;
        drop(finder);
        let mut file: MatchFile =
            serde_json::from_str(&text).ok().filter(|file: &MatchFile| file.match_id == *match_id)?;
        let problems = std::mem::take(&mut file.problems.0);
        file.problems.0 = problems.into_iter().map(|(player, problem)| (player, problem.without_address())).collect();
        Some(file)
    }
}

/// How many results these snapshots hold.
fn results_in(moments: &[Arc<LeagueSnapshot>]) -> u32 {
    moments.iter().map(|snapshot| snapshot.season().matches_completed()).sum()
}
