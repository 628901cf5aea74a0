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

const MOMENTS: usize = 6;
/// Bounds the results in all kept snapshots, about 40 bytes each. The latest snapshot always stays.
const RESULTS: u32 = 200_000;
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
    pub fn of(log: impl EventLog + 'static, home: Home, league: LeagueId) -> Self {
        let (readers, moments, finder) = (Semaphore::new(READERS), Mutex::default(), Mutex::default());
        Self { kept: Arc::new(Kept { log: Box::new(log), home, league, readers, moments, finder }) }
    }

    pub(crate) async fn events(&self, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, ArchiveError> {
        self.reading(move |kept| Ok(kept.log.read(after, limit)?)).await
    }

    pub(crate) async fn game(&self, match_id: &MatchId) -> Option<MatchFile> {
        let found = self.games(vec![match_id.clone()]).await;
        found.into_iter().next()
    }

    /// Skips matches without a readable file.
    pub(crate) async fn games(&self, wanted: Vec<MatchId>) -> Vec<MatchFile> {
        let read = self.reading(move |kept| Ok(wanted.iter().filter_map(|match_id| kept.game(match_id)).collect()));
        read.await.unwrap_or_default()
    }

    pub(crate) async fn moment(&self, seq: u64) -> Result<Arc<LeagueSnapshot>, ArchiveError> {
        self.reading(move |kept| kept.moment(seq)).await
    }

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
    /// Starts the replay at the nearest earlier snapshot in memory.
    fn moment(&self, seq: u64) -> Result<Arc<LeagueSnapshot>, ArchiveError> {
        // Held during the replay, so that two requests do not replay the same events.
        let mut moments = self.moments.lock().unwrap_or_else(PoisonError::into_inner);
        let nearest =
            moments.iter().filter(|snapshot| snapshot.seq() <= seq).max_by_key(|snapshot| snapshot.seq()).cloned();
        if let Some(snapshot) = nearest.as_ref().filter(|snapshot| snapshot.seq() == seq) {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = Arc::new(self.replay(nearest.as_deref(), seq)?);
        moments.push(Arc::clone(&snapshot));
        while moments.len() > 1 && (moments.len() > MOMENTS || results_in(&moments) > RESULTS) {
            moments.remove(0);
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
        let mut file: MatchFile =
            serde_json::from_str(&text).ok().filter(|file: &MatchFile| file.match_id == *match_id)?;
        let problems = std::mem::take(&mut file.problems.0);
        file.problems.0 = problems.into_iter().map(|(player, problem)| (player, problem.without_address())).collect();
        Some(file)
    }
}

fn results_in(moments: &[Arc<LeagueSnapshot>]) -> u32 {
    moments.iter().map(|snapshot| snapshot.season().matches_completed()).sum()
}
