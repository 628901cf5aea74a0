//! Reads stored events and match files, and replays the log up to a past event.
//!
//! Reading blocks, so it runs on blocking threads, at most `READERS` at a time.

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

const MAX_SNAPSHOTS: usize = 6;
/// Bounds the results in all kept snapshots, about 40 bytes each. The latest snapshot always stays.
const MAX_RESULTS: u32 = 200_000;
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

#[derive(Clone, Debug)]
pub struct Archive {
    state: Arc<ArchiveState>,
}

struct ArchiveState {
    log: Box<dyn EventLog>,
    home: Home,
    league: LeagueId,
    readers: Semaphore,
    snapshots: Mutex<Vec<Arc<LeagueSnapshot>>>,
    finder: Mutex<MatchFinder>,
}

impl fmt::Debug for ArchiveState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").field("home", &self.home).field("league", &self.league).finish_non_exhaustive()
    }
}

impl Archive {
    pub fn of(log: impl EventLog + 'static, home: Home, league: LeagueId) -> Self {
        let (readers, snapshots, finder) = (Semaphore::new(READERS), Mutex::default(), Mutex::default());
        Self { state: Arc::new(ArchiveState { log: Box::new(log), home, league, readers, snapshots, finder }) }
    }

    pub(crate) async fn events(&self, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, ArchiveError> {
        self.reading(move |state| Ok(state.log.read(after, limit)?)).await
    }

    pub(crate) async fn game(&self, match_id: &MatchId) -> Option<MatchFile> {
        self.games(vec![match_id.clone()]).await.into_iter().next()
    }

    /// Skips matches without a readable file.
    pub(crate) async fn games(&self, wanted: Vec<MatchId>) -> Vec<MatchFile> {
        let read = self.reading(move |state| Ok(wanted.iter().filter_map(|match_id| state.game(match_id)).collect()));
        read.await.unwrap_or_default()
    }

    pub(crate) async fn snapshot_at(&self, seq: u64) -> Result<Arc<LeagueSnapshot>, ArchiveError> {
        self.reading(move |state| state.snapshot_at(seq)).await
    }

    pub(crate) fn load(&self) -> Result<LeagueSnapshot, ArchiveError> {
        let mut builder = SnapshotBuilder::default();
        let (replay, _) = replay(&*self.state.log, |season, event| builder.observe(season, event))?;
        builder.finish(replay.finish().map_err(LoadError::from)?).ok_or(ArchiveError::Beyond(0))
    }

    async fn reading<T: Send + 'static>(
        &self,
        read: impl FnOnce(&ArchiveState) -> Result<T, ArchiveError> + Send + 'static,
    ) -> Result<T, ArchiveError> {
        let _place = self.state.readers.acquire().await.map_err(|_| ArchiveError::Ended)?;
        let state = Arc::clone(&self.state);
        tokio::task::spawn_blocking(move || read(&state)).await.map_err(|_| ArchiveError::Ended)?
    }
}

impl ArchiveState {
    /// Starts the replay at the nearest earlier snapshot in memory.
    fn snapshot_at(&self, seq: u64) -> Result<Arc<LeagueSnapshot>, ArchiveError> {
        // Held during the replay, so that two requests do not replay the same events.
        let mut snapshots = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = snapshots.iter().filter(|snapshot| snapshot.seq() <= seq);
        let nearest = earlier.max_by_key(|snapshot| snapshot.seq()).cloned();
        if let Some(snapshot) = nearest.as_ref().filter(|snapshot| snapshot.seq() == seq) {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = Arc::new(self.replay(nearest.as_deref(), seq)?);
        snapshots.push(Arc::clone(&snapshot));
        while snapshots.len() > 1 && (snapshots.len() > MAX_SNAPSHOTS || results_in(&snapshots) > MAX_RESULTS) {
            snapshots.remove(0);
        }
        Ok(snapshot)
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
        let file = serde_json::from_str::<MatchFile>(&text).ok();
        let mut file = file.filter(|file| file.match_id == *match_id)?;
        let problems = std::mem::take(&mut file.problems.0);
        file.problems.0 = problems.into_iter().map(|(player, problem)| (player, problem.without_address())).collect();
        Some(file)
    }
}

fn results_in(snapshots: &[Arc<LeagueSnapshot>]) -> u32 {
    snapshots.iter().map(|snapshot| snapshot.season().matches_completed()).sum()
}
