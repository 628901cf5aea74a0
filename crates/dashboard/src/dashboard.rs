//! The dashboard of one league.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use league_protocol::message::query::LeagueStatus;
use league_protocol::token::TokenDigest;
use league_wire::failed_secrets::FailedSecrets;
use league_wire::pages::{PageFuture, PageHandler, PageRequest};
use tokio::sync::watch;

use crate::archive::{Archive, ArchiveError};
use crate::feed::{self, Feed};
use crate::league_snapshot::LeagueSnapshot;
use crate::match_states::MatchStates;
use crate::metrics::Metrics;
use crate::operate::Operator;
use crate::phases;
use crate::shared_state::SharedState;
use crate::waiting_room::WaitingRoom;

/// The pause between two reads of a log that another process writes.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
const STEP: usize = 1024;

#[derive(Debug)]
pub struct DashboardSettings {
    /// The path of the first page, with a slash at both ends. Requests arrive without it; links and redirects are written with it.
    pub root: String,
    /// Recognises the operator. Without it, every client on this machine is the operator.
    pub token: Option<TokenDigest>,
    /// Bounds the streams, so that viewers leave connections for the agents.
    pub most_streams: usize,
    /// Shared with the manager, so that wrong tokens count together.
    pub strikes: Arc<FailedSecrets>,
    /// `None` when the league is only displayed.
    pub room: Option<WaitingRoom>,
    /// For the pages of a standby: the first page of the manager that leads, if one does.
    pub leader: Option<watch::Receiver<Option<String>>>,
}

impl Default for DashboardSettings {
    fn default() -> Self {
        let (root, strikes) = (String::from("/"), Arc::default());
        Self { root, token: None, most_streams: 600, strikes, room: None, leader: None }
    }
}

#[derive(Clone, Debug)]
pub struct Dashboard {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) state: Arc<SharedState>,
    pub(crate) settings: DashboardSettings,
    pub(crate) metrics: Metrics,
    pub(crate) match_states: MatchStates,
    operator: OnceLock<Arc<dyn Operator>>,
}

impl Shared {
    /// `None` when the league is only displayed.
    pub(crate) fn operator(&self) -> Option<&Arc<dyn Operator>> {
        self.operator.get()
    }

    pub(crate) fn is_standby(&self) -> bool {
        self.settings.leader.is_some()
    }

    pub(crate) fn leader(&self) -> Option<Option<String>> {
        self.settings.leader.as_ref().map(|leader| leader.borrow().clone())
    }
}

impl Dashboard {
    /// Returns the dashboard, the feed for later events, and the work, which never ends. Blocks while it reads the log.
    pub fn open(
        archive: Archive,
        settings: DashboardSettings,
    ) -> Result<(Self, Feed, impl Future<Output = ()> + Send), ArchiveError> {
        Ok(Self::of(archive.load()?, archive, settings))
    }

    /// For a log that was already read: `snapshot` is its state.
    pub fn of(
        snapshot: LeagueSnapshot,
        archive: Archive,
        settings: DashboardSettings,
    ) -> (Self, Feed, impl Future<Output = ()> + Send) {
        let state = Arc::new(SharedState::new(snapshot, archive, settings.most_streams, settings.room.clone()));
        let (feed, folding) = feed::open(Arc::clone(&state));
        let metrics = Metrics::default();
        let match_states = MatchStates::default();
        let shared = Arc::new(Shared { state, settings, metrics, match_states, operator: OnceLock::new() });
        let asking = Arc::clone(&shared);
        let work = async move {
            let following = phases::follow(Arc::clone(&asking.state), || asking.operator().cloned());
            tokio::join!(folding, following);
        };
        (Self { shared }, feed, work)
    }

    /// Only the first call has an effect.
    pub fn operated_by(&self, operator: Arc<dyn Operator>) {
        drop(self.shared.operator.set(operator));
    }

    /// Reads events that another process appends. Never ends.
    pub async fn follow(&self, feed: Feed) {
        let mut seen = self.shared.state.snapshot().seq();
        loop {
            match self.shared.state.archive.events(seen, STEP).await {
                Ok(events) if events.is_empty() => tokio::time::sleep(POLL_INTERVAL).await,
                Ok(events) => {
                    seen += events.len() as u64;
                    events.iter().for_each(|(_, event)| feed.send(event));
                }
                Err(error) => {
                    tracing::warn!(%error, "the log cannot be followed");
                    tokio::time::sleep(10 * POLL_INTERVAL).await;
                }
            }
        }
    }

    pub fn status(&self) -> LeagueStatus {
        self.shared.state.snapshot().season().status()
    }

    /// Ends every stream, so that a closing server does not wait for viewers.
    pub fn close(&self) {
        self.shared.state.closing.send_replace(true);
    }
}

impl PageHandler for Dashboard {
    fn respond(&self, request: PageRequest) -> PageFuture<'_> {
        Box::pin(self.shared.answer(request))
    }
}
