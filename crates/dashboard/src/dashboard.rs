//! The dashboard of one league.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use league_protocol::token::TokenDigest;
use league_wire::failed_secrets::FailedSecrets;
use league_wire::pages::{PageFuture, PageHandler, PageRequest};

use crate::archive::{Archive, ArchiveError};
use crate::feed::{self, Feed};
use crate::league_snapshot::LeagueSnapshot;
use crate::metrics::Metrics;
use crate::operate::Operator;
use crate::phases;
use crate::shared_state::SharedState;
use crate::waiting_room::WaitingRoom;

/// How often a log that others write is looked at.
const LOOK: Duration = Duration::from_millis(500);
/// How many events are read at a time.
const STEP: usize = 1024;

/// What a dashboard is told when it starts.
#[derive(Debug)]
pub struct DashboardSettings {
    /// What recognises the operator; without it, whoever is on this machine.
    pub token: Option<TokenDigest>,
    /// How many may watch at a time: connections that are watched with are connections that nobody can play with.
    pub most_streams: usize,
    /// Tokens that were wrong, here and wherever else they are shown.
    pub strikes: Arc<FailedSecrets>,
    /// How agents join; none where a league is only looked at.
    pub room: Option<WaitingRoom>,
}

impl Default for DashboardSettings {
    fn default() -> Self {
        Self { token: None, most_streams: 600, strikes: Arc::default(), room: None }
    }
}

/// The dashboard of one league; cheap to clone.
#[derive(Clone, Debug)]
pub struct Dashboard {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) stage: Arc<SharedState>,
    pub(crate) settings: DashboardSettings,
    pub(crate) metrics: Metrics,
    operator: OnceLock<Arc<dyn Operator>>,
}

impl Shared {
    /// Who carries out what the operator wants; nobody where a league is only looked at.
    pub(crate) fn operator(&self) -> Option<&Arc<dyn Operator>> {
        self.operator.get()
    }
}

impl Dashboard {
    /// The dashboard of a league that has been opened, where its next events are told, and the work, which never ends. Reads the log,
    /// so it is called where blocking is allowed.
    pub fn open(
        archive: Archive,
        settings: DashboardSettings,
    ) -> Result<(Self, Feed, impl Future<Output = ()> + Send), ArchiveError> {
        Ok(Self::of(archive.tell()?, archive, settings))
    }

    /// The same for a league whose log has been read already: `story` is all of it.
    pub fn of(
        story: LeagueSnapshot,
        archive: Archive,
        settings: DashboardSettings,
    ) -> (Self, Feed, impl Future<Output = ()> + Send) {
        let stage = Arc::new(SharedState::new(story, archive, settings.most_streams, settings.room.clone()));
        let (feed, folding) = feed::open(Arc::clone(&stage));
        let metrics = Metrics::default();
        let shared = Arc::new(Shared { stage, settings, metrics, operator: OnceLock::new() });
        let asking = Arc::clone(&shared);
        let work = async move {
            let following = phases::follow(Arc::clone(&asking.stage), || asking.operator().cloned());
            tokio::join!(folding, following);
        };
        (Self { shared }, feed, work)
    }

    /// From now on `operator` carries out what the operator wants. The first one stays.
    pub fn operated_by(&self, operator: Arc<dyn Operator>) {
        drop(self.shared.operator.set(operator));
    }

    /// Follows a log that somebody else writes, without end.
    pub async fn follow(&self, feed: Feed) {
        let mut seen = self.shared.stage.story().seq();
        loop {
            match self.shared.stage.archive.events(seen, STEP).await {
                Ok(events) if events.is_empty() => tokio::time::sleep(LOOK).await,
                Ok(events) => {
                    seen += events.len() as u64;
                    events.iter().for_each(|(_, event)| feed.tell(event));
                }
                Err(error) => {
                    tracing::warn!(%error, "the log cannot be followed");
                    tokio::time::sleep(10 * LOOK).await;
                }
            }
        }
    }

    /// Ends every stream, so that a server that is closing need not wait for those who only watch.
    pub fn close(&self) {
        self.shared.stage.closing.send_replace(true);
    }
}

impl PageHandler for Dashboard {
    fn show(&self, visit: PageRequest) -> PageFuture<'_> {
        Box::pin(self.shared.answer(visit))
    }
}
