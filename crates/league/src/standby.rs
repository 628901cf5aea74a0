//! `league manager --standby`: follows the log of a league until no other manager leads it.
//!
//! A standby keeps the season in memory, so that a takeover costs the lease and the last few events. It shows the pages, and
//! sends calls to the manager that leads.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use http::{Response, StatusCode};
use http_body_util::{BodyExt, Full};
use league_core::replay::Replay;
use league_dashboard::{Archive, Dashboard, DashboardSettings, Feed, SnapshotBuilder};
use league_manager::Standby;
use league_protocol::id::LeagueId;
use league_protocol::token::Credential;
use league_store::home::Home;
use league_store::log::election::ElectionStep;
use league_store::log::lease::{LeaseHolder, LeaseLook};
use league_store::log::{EventLog, LoadError, LogError, LogHead, PostgresLog};
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use league_wire::pages::{PageFuture, PageHandler, PageRequest};
use league_wire::relay::{Leader, Relay};
use league_wire::settings::ServerSettings;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{AbortHandle, spawn_blocking};
use tokio::time::sleep;

use crate::agents::RunningServer;
use crate::listen::Bound;
use crate::signals::shutdown_signal;

const POLL: Duration = Duration::from_millis(100);
const BATCH: usize = 1024;
/// What a standby that is cut off from the store knows of the leader counts for so long: as long as a lease lasts.
const LEADER_KNOWN: Duration = Duration::from_secs(5);

/// The log of a league that this process leads from now on, and its state.
pub(crate) struct FollowedLog {
    pub(crate) log: PostgresLog,
    pub(crate) replay: Replay,
    pub(crate) snapshot: SnapshotBuilder,
    pub(crate) head: LogHead,
}

pub(crate) struct StandbyPlace<'a> {
    pub(crate) followed: FollowedLeague<'a>,
    pub(crate) bound: Bound,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) server: ServerSettings,
}

/// Returns when this process leads the league; `None` when it has to end before.
pub(crate) async fn wait_to_lead(place: StandbyPlace<'_>) -> Result<Option<FollowedLog>> {
    let StandbyPlace { followed: FollowedLeague { league, contact, .. }, .. } = place;
    let follower = Follower::new(place.followed)?;
    let (pages, settings) = (follower.pages(), follower.server(place.server));
    let mut server = RunningServer::start(place.bound, place.allowed_hosts, follower.agent(), settings)?;
    eprintln!("{league}: a standby is at {contact}. It leads the league as soon as no other manager does.");
    let followed = tokio::select! {
        followed = follower.lead(|| POLL) => Some(followed?),
        served = &mut server.work => {
            served??;
            bail!("the server of the standby has ended");
        }
        () = shutdown_signal() => None,
    };
    pages.close();
    // Running answers end in the background, while the leader's server takes new connections.
    server.detach();
    Ok(followed)
}

/// A league in a shared store, and this process as one that may lead it.
#[derive(Clone, Copy)]
pub(crate) struct FollowedLeague<'a> {
    pub(crate) home: &'a Home,
    pub(crate) league: &'a LeagueId,
    pub(crate) contact: &'a Endpoint,
    pub(crate) relay_key: &'a Credential,
    pub(crate) client: &'a Client,
    /// The path of the first page.
    pub(crate) root: &'a str,
}

/// Follows the log of a league, and takes its lease when that is free.
pub(crate) struct Follower {
    log: PostgresLog,
    replay: Replay,
    snapshot: SnapshotBuilder,
    head: LogHead,
    /// `None` as long as there is no league to show.
    feed: Option<Feed>,
    holder: LeaseHolder,
    league: LeagueId,
    relay: Arc<Relay>,
    /// The first page of the manager that leads.
    leader: watch::Sender<Option<String>>,
    pages: Arc<StandbyPages>,
    archive: Archive,
    root: String,
    runtime: Handle,
}

impl Follower {
    pub(crate) fn new(followed: FollowedLeague<'_>) -> Result<Self> {
        let FollowedLeague { home, league, contact, relay_key, client, root } = followed;
        let store = home.store().context("a standby needs a store that several managers share: --store")?;
        Ok(Self {
            log: store.log(league),
            replay: Replay::default(),
            snapshot: SnapshotBuilder::default(),
            head: LogHead::GENESIS,
            feed: None,
            holder: LeaseHolder {
                name: home.holder(),
                url: Some(contact.to_string()),
                relay_key: Some(relay_key.clone()),
            },
            league: league.clone(),
            relay: Arc::new(Relay::new(client.clone())),
            leader: watch::Sender::new(None),
            pages: Arc::default(),
            archive: Archive::of(home.log(league), home.clone(), league.clone()),
            root: root.to_owned(),
            runtime: Handle::current(),
        })
    }

    /// Answers the calls that cannot be sent to the leader.
    pub(crate) fn agent(&self) -> Standby {
        Standby::new(self.league.clone(), Environment::real())
    }

    pub(crate) fn pages(&self) -> Arc<StandbyPages> {
        Arc::clone(&self.pages)
    }

    /// `settings` with the pages and the relay of the standby.
    pub(crate) fn server(&self, settings: ServerSettings) -> ServerSettings {
        let pages = Some(self.pages() as Arc<dyn PageHandler>);
        ServerSettings { pages, relay: Some(Arc::clone(&self.relay)), ..settings }
    }

    /// Returns when this process leads the league. `pause` tells the time until the next look at the log and the lease.
    pub(crate) async fn lead(mut self, pause: impl Fn() -> Duration) -> Result<FollowedLog> {
        let (mut is_cut_off, mut looked_at) = (false, Instant::now());
        loop {
            let looking = spawn_blocking(move || {
                let looked = self.look();
                (self, looked)
            });
            let (follower, looked) = looking.await?;
            self = follower;
            match looked {
                Ok(true) => {
                    let Self { log, replay, snapshot, head, .. } = self;
                    return Ok(FollowedLog { log, replay, snapshot, head });
                }
                Ok(false) => (is_cut_off, looked_at) = (false, Instant::now()),
                Err(LoadError::Log(error @ (LogError::Unavailable { .. } | LogError::Busy))) => {
                    if !std::mem::replace(&mut is_cut_off, true) {
                        tracing::warn!(%error, "the standby cannot follow the league; it tries again");
                    }
                    if looked_at.elapsed() > LEADER_KNOWN {
                        self.show_leader(None);
                    }
                }
                Err(error) => return Err(error.into()),
            }
            sleep(pause()).await;
        }
    }

    /// True if this process leads and has read the whole log.
    fn look(&mut self) -> Result<bool, LoadError> {
        self.read()?;
        let LeaseLook { step, leader } = self.log.compete(&self.holder)?;
        match step {
            ElectionStep::Lead { .. } => {
                // The last leader may have written after the read above and before it lost its lease.
                self.read()?;
                Ok(true)
            }
            ElectionStep::Follow | ElectionStep::Take => {
                self.show_leader(leader.and_then(address));
                Ok(false)
            }
            // This process never led, so no other one can have taken over from it.
            ElectionStep::Stop => Err(self.went_back()),
        }
    }

    /// Calls and readers of the pages are sent there.
    fn show_leader(&self, leader: Option<Leader>) {
        self.leader.send_replace(leader.as_ref().map(|leader| leader.endpoint.beside("").to_string()));
        self.relay.set_leader(leader);
    }

    fn went_back(&self) -> LoadError {
        LogError::WentBack { log: self.league.to_string() }.into()
    }

    fn read(&mut self) -> Result<(), LoadError> {
        loop {
            // The last known event is read again: a restored database, or a replica that took over, may lack it or have another one.
            let known = usize::from(self.head.seq > 0);
            let mut entries = self.log.read(self.head.seq.saturating_sub(1), BATCH + known)?.into_iter();
            if known > 0 && entries.next().is_none_or(|(found, _)| found != self.head) {
                return Err(self.went_back());
            }
            if entries.as_slice().is_empty() {
                break;
            }
            for (head, event) in entries {
                self.replay.apply(&event)?;
                if let Some(feed) = &self.feed {
                    feed.send(&event);
                }
                if let Some(season) = self.replay.season() {
                    self.snapshot.observe(season, event);
                }
                self.head = head;
            }
        }
        if self.feed.is_none()
            && let Some(season) = self.replay.season()
            && let Some(snapshot) = self.snapshot.clone().finish(season.clone())
        {
            let (root, leader) = (self.root.clone(), Some(self.leader.subscribe()));
            let settings = DashboardSettings { root, leader, ..DashboardSettings::default() };
            let (dashboard, feed, showing) = Dashboard::of(snapshot, self.archive.clone(), settings);
            let showing = self.runtime.spawn(showing);
            self.feed = Some(feed);
            self.pages.show(dashboard, showing.abort_handle());
        }
        Ok(())
    }
}

fn address(leader: LeaseHolder) -> Option<Leader> {
    let endpoint = leader.url?.parse().inspect_err(|error| tracing::warn!(%error, "the leader's URL cannot be read"));
    Some(Leader { endpoint: endpoint.ok()?, relay_key: leader.relay_key })
}

#[derive(Debug, Default)]
pub(crate) struct StandbyPages(OnceLock<(Dashboard, AbortHandle)>);

impl StandbyPages {
    /// `None` as long as there is no league to show.
    pub(crate) fn dashboard(&self) -> Option<&Dashboard> {
        self.0.get().map(|(dashboard, _)| dashboard)
    }

    fn show(&self, dashboard: Dashboard, showing: AbortHandle) {
        // Only the first one is shown.
        drop(self.0.set((dashboard, showing)));
    }

    pub(crate) fn close(&self) {
        if let Some((dashboard, showing)) = self.0.get() {
            dashboard.close();
            showing.abort();
        }
    }
}

impl PageHandler for StandbyPages {
    fn respond(&self, request: PageRequest) -> PageFuture<'_> {
        match self.dashboard() {
            Some(dashboard) => dashboard.respond(request),
            None => Box::pin(async {
                let text = Full::from("The league has not been opened yet.\n").boxed_unsync();
                let mut response = Response::new(text);
                *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                response
            }),
        }
    }
}
