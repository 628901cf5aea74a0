//! The leagues of this process. A task looks for new ones in the store.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use anyhow::Result;
use league_core::season::LeaguePhase;
use league_core::season::config::LeagueConfig;
use league_dashboard::index::{CreateError, Creating, LeagueHost, ListedLeague, NewLeague};
use league_protocol::id::LeagueId;
use league_protocol::token::{Credential, TokenDigest};
use league_store::home::Home;
use league_wire::client::Client;
use league_wire::environment::Environment;
use league_wire::failed_secrets::FailedSecrets;
use league_wire::hosting::{HostedAgent, LeagueDirectory, league_path};
use league_wire::settings::ServerSettings;
use tokio::sync::watch;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, sleep, timeout};

use super::hosted::{HostedLeague, Stage};
use super::new_league;
use crate::config::Configured;
use crate::keys::{GivenKeys, KeptKeys, Keys};
use crate::open::{FileWriters, leagues_of};
use crate::reachable::Reachable;
use crate::signals::ORDERLY;

/// Between two looks for new leagues in the store.
const WATCH: Duration = Duration::from_millis(500);
/// For a league that is created: its lease, and its first event.
const CREATE_LIMIT: Duration = Duration::from_secs(15);
const CREATE_CHECK: Duration = Duration::from_millis(50);
const MAX_LISTED: usize = 10;

/// What all leagues of this process have in common.
pub(super) struct HostPlace {
    pub(super) home: Home,
    pub(super) configured: Configured,
    pub(super) writers: FileWriters,
    pub(super) client: Client,
    pub(super) server: ServerSettings,
    pub(super) reachable: Reachable,
    pub(super) bound: SocketAddr,
    pub(super) relay_key: Credential,
    pub(super) operator: Option<TokenDigest>,
    pub(super) referee_key: Option<Credential>,
    pub(super) player_key: Option<Credential>,
    pub(super) players_need_key: bool,
    pub(super) allow_host: Vec<String>,
    pub(super) strikes: Arc<FailedSecrets>,
    pub(super) environment: Environment,
    /// How many leagues this process leads.
    pub(super) led: AtomicUsize,
}

impl HostPlace {
    /// The configured rules, for a league that has none in its log.
    pub(super) fn rules(&self, league: &LeagueId) -> Result<LeagueConfig> {
        let (configured, _) = Configured::load(&self.home, Some(league.clone()), |name| std::env::var(name).ok())?;
        Ok(configured.league)
    }

    /// The operator's token of this process comes first, because the index page knows it, too. Stored keys come first, because they
    /// may have been replaced since this process started. Blocks.
    pub(super) fn secrets(&self, league: &LeagueId) -> Result<(Option<TokenDigest>, Keys)> {
        let digests = self.home.store().map(|store| store.digests(league)).transpose()?;
        let stored_operator = digests.as_ref().and_then(|digests| digests.operator.clone());
        let chosen = GivenKeys {
            referee: self.referee_key.as_ref(),
            player: self.player_key.as_ref(),
            players_need_key: self.players_need_key,
            stored: digests.map(|digests| KeptKeys { digests, come_first: true }),
        };
        let keys = Keys::choose(&chosen, self.bound.ip(), &self.environment)?;
        Ok((self.operator.clone().or(stored_operator), keys))
    }
}

type Leagues = BTreeMap<LeagueId, Arc<HostedLeague>>;

pub(super) struct Host {
    place: Arc<HostPlace>,
    leagues: Arc<RwLock<Leagues>>,
    tasks: Mutex<JoinSet<()>>,
    stop: watch::Sender<bool>,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("leagues", &self.leagues().len()).finish_non_exhaustive()
    }
}

impl Host {
    pub(super) fn new(place: HostPlace) -> Self {
        let (leagues, tasks, stop) = (Arc::default(), Mutex::default(), watch::Sender::new(false));
        Self { place: Arc::new(place), leagues, tasks, stop }
    }

    fn leagues(&self) -> RwLockReadGuard<'_, Leagues> {
        self.leagues.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hosts the leagues that appear in the store.
    pub(super) async fn watch(&self) -> Infallible {
        let mut is_cut_off = false;
        loop {
            let home = self.place.home.clone();
            match spawn_blocking(move || leagues_of(&home)).await {
                Ok(Ok(found)) => {
                    is_cut_off = false;
                    for (league, _) in found {
                        self.host(&league, None);
                    }
                }
                Ok(Err(error)) if !std::mem::replace(&mut is_cut_off, true) => {
                    tracing::warn!(%error, "the leagues cannot be listed; this process tries again");
                }
                Ok(Err(_)) => {}
                Err(error) => tracing::error!(%error, "the leagues cannot be listed"),
            }
            sleep(WATCH).await;
        }
    }

    /// Begins to host a league; `None` if it is hosted already. `rules` are those of a new league.
    fn host(&self, league: &LeagueId, rules: Option<LeagueConfig>) -> Option<Arc<HostedLeague>> {
        if self.leagues().contains_key(league) {
            return None;
        }
        let mut leagues = self.leagues.write().unwrap_or_else(PoisonError::into_inner);
        if leagues.contains_key(league) {
            return None;
        }
        let hosted = Arc::new(HostedLeague::new(league.clone(), Arc::clone(&self.place)));
        leagues.insert(league.clone(), Arc::clone(&hosted));
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        let (running, stop, known) = (Arc::clone(&hosted), self.stop.subscribe(), Arc::clone(&self.leagues));
        let league = league.clone();
        tasks.spawn(async move {
            Arc::clone(&running).run(rules, stop.clone()).await;
            // A league that could not be created may be created again, also if its first client has hung up.
            if !*stop.borrow() {
                forget(&known, &league, &running);
            }
        });
        Some(hosted)
    }

    /// Lets every league save its files, and gives the leases back.
    pub(super) async fn stop(&self) {
        self.stop.send_replace(true);
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let all = async { while tasks.join_next().await.is_some() {} };
        if timeout(ORDERLY, all).await.is_err() {
            tracing::warn!(left = tasks.len(), "leagues could not be saved in time; their logs are complete");
        }
    }

    fn listed(&self, league: &LeagueId, hosted: &HostedLeague) -> ListedLeague {
        let path = league_path(league);
        let endpoint = self.place.reachable.at_league(&path).contact.to_string();
        ListedLeague { league_id: league.clone(), path, endpoint, leads: hosted.leads(), dashboard: hosted.dashboard() }
    }

    async fn create(&self, new: NewLeague) -> Result<ListedLeague, CreateError> {
        let configured = |league: &LeagueId| self.place.rules(league).map_err(|error| format!("{error:#}"));
        let rules = new_league::rules(&new, configured)?;
        let league = rules.league_id.clone();
        let exists = || CreateError::Exists(format!("there is a league {league} already; choose another id"));
        let (home, wanted) = (self.place.home.clone(), league.clone());
        let known = spawn_blocking(move || home.has_league(&wanted)).await;
        let known = known.map_err(|error| CreateError::Failed(error.to_string()))?;
        if known.map_err(|error| CreateError::Failed(error.to_string()))? {
            return Err(exists());
        }
        let hosted = self.host(&league, Some(rules)).ok_or_else(exists)?;
        let until = Instant::now() + CREATE_LIMIT;
        let mut changes = hosted.stages();
        loop {
            let stage = changes.borrow_and_update().clone();
            match stage {
                Stage::Led(_) => break,
                // Another process was faster.
                Stage::Followed(pages) if pages.dashboard().is_some() => return Err(exists()),
                Stage::Closed(Some(why)) => {
                    forget(&self.leagues, &league, &hosted);
                    return Err(CreateError::Failed(why));
                }
                Stage::Followed(_) | Stage::Closed(None) if Instant::now() < until => {}
                Stage::Followed(_) | Stage::Closed(None) => {
                    let why =
                        format!("{league} is not open after {CREATE_LIMIT:?}; the list of leagues shows when it is");
                    return Err(CreateError::Failed(why));
                }
            }
            drop(timeout(CREATE_CHECK, changes.changed()).await);
        }
        if self.place.home.store().is_some() {
            // The operator may use the league at any process as soon as this one answers.
            sleep(WATCH + CREATE_CHECK).await;
        }
        Ok(self.listed(&league, &hosted))
    }

    fn list_open(leagues: &Leagues) -> String {
        let open = leagues.iter().filter(|(_, hosted)| is_open(hosted)).map(|(league, _)| league.as_str());
        let open: Vec<&str> = open.take(MAX_LISTED + 1).collect();
        let more = if open.len() > MAX_LISTED { ", …" } else { "" };
        format!("{}{more}", open[..open.len().min(MAX_LISTED)].join(", "))
    }
}

/// Leaves a league alone that was hosted anew under the same id.
fn forget(leagues: &RwLock<Leagues>, league: &LeagueId, hosted: &Arc<HostedLeague>) {
    let mut leagues = leagues.write().unwrap_or_else(PoisonError::into_inner);
    if leagues.get(league).is_some_and(|known| Arc::ptr_eq(known, hosted)) {
        leagues.remove(league);
    }
}

/// A league that is not over. One that was not read yet counts as open.
fn is_open(hosted: &HostedLeague) -> bool {
    hosted.status().is_none_or(|status| status.state != LeaguePhase::LeagueCompleted.as_str())
}

impl LeagueHost for Host {
    fn leagues(&self) -> Vec<ListedLeague> {
        self.leagues().iter().map(|(league, hosted)| self.listed(league, hosted)).collect()
    }

    fn create(&self, new: NewLeague) -> Creating<'_> {
        Box::pin(self.create(new))
    }
}

impl LeagueDirectory for Host {
    fn named(&self, league: &str) -> Result<HostedAgent, String> {
        let leagues = self.leagues();
        if let Some(hosted) = league.parse::<LeagueId>().ok().and_then(|league| leagues.get(&league)) {
            return Ok(hosted.agent());
        }
        let (shown, open) = (league.chars().take(64).collect::<String>(), Self::list_open(&leagues));
        let open = if open.is_empty() { String::from("no league is open") } else { format!("open leagues: {open}") };
        Err(format!("there is no league {shown:?} here; {open}"))
    }

    fn only(&self) -> Result<HostedAgent, String> {
        let leagues = self.leagues();
        let mut open = leagues.values().filter(|hosted| is_open(hosted));
        match (open.next(), open.next()) {
            (Some(only), None) => Ok(only.agent()),
            (Some(_), Some(_)) => {
                let example = self.place.reachable.contact.beside("leagues/LEAGUE_ID/mcp");
                Err(format!(
                    "several leagues are open here: {}; name one with league_id, or use its own endpoint, {example}",
                    Self::list_open(&leagues)
                ))
            }
            (None, _) if leagues.len() == 1 => {
                leagues.values().next().map(|hosted| hosted.agent()).ok_or_else(String::new)
            }
            (None, _) => {
                Err(String::from("no league is open here; name one with league_id, or ask the operator for a new one"))
            }
        }
    }
}
