//! One league of this process. With a shared store the process follows the league until it gets the lease, leads it, and follows it
//! again if another process has taken over. A home without a store has no other process, so the league is led at once.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use anyhow::{Result, anyhow};
use futures_util::FutureExt;
use league_core::season::LeaguePhase;
use league_core::season::config::LeagueConfig;
use league_dashboard::Dashboard;
use league_manager::league_actor::LeagueClosed;
use league_manager::{LeagueStopped, ManagerSettings, Standby};
use league_protocol::id::LeagueId;
use league_protocol::message::query::LeagueStatus;
use league_protocol::sender::Role;
use league_protocol::token::TokenDigest;
use league_wire::hosting::{HostedAgent, league_path};
use league_wire::lan;
use league_wire::pages::PageHandler;
use league_wire::relay::Relay;
use league_wire::settings::ServerSettings;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::host::HostPlace;
use crate::agents::{GRACE, closed_error, save};
use crate::invitation::Invitation;
use crate::keys::Keys;
use crate::open::{ManagedLeague, OpenLeague, locked};
use crate::reachable::Reachable;
use crate::standby::{FollowedLeague, Follower, StandbyPages};

/// After a failure, such as a log that cannot be written.
const RETRY_PAUSE: Duration = Duration::from_secs(2);
/// Between two looks at the log and the lease of a league that another process leads. Each process reads every log, so this costs
/// the leaders time.
const LOOK_PAUSE: Duration = Duration::from_millis(500);
/// More for each league that this process leads.
const PAUSE_PER_LED: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// A league that is over needs a leader only for agents that missed its end.
const PAUSE_WHEN_OVER: Duration = Duration::from_secs(2);

/// Clones are cheap.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// Not opened yet, or why it cannot be opened now.
    Closed(Option<String>),
    Followed(Arc<StandbyPages>),
    Led(Dashboard),
}

pub(super) struct HostedLeague {
    league: LeagueId,
    place: Arc<HostPlace>,
    /// Answers the requests of the current stage.
    agent: RwLock<HostedAgent>,
    stage: watch::Sender<Stage>,
}

/// A league that this process may write to.
struct Opened {
    league: OpenLeague,
    operator: Option<TokenDigest>,
    keys: Keys,
}

impl HostedLeague {
    pub(super) fn new(league: LeagueId, place: Arc<HostPlace>) -> Self {
        let agent = RwLock::new(closed_agent(&league, &place));
        Self { league, place, agent, stage: watch::Sender::new(Stage::Closed(None)) }
    }

    pub(super) fn agent(&self) -> HostedAgent {
        self.agent.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn stages(&self) -> watch::Receiver<Stage> {
        self.stage.subscribe()
    }

    pub(super) fn leads(&self) -> bool {
        matches!(*self.stage.borrow(), Stage::Led(_))
    }

    /// `None` until the log was read.
    pub(super) fn dashboard(&self) -> Option<Dashboard> {
        match &*self.stage.borrow() {
            Stage::Closed(_) => None,
            Stage::Followed(pages) => pages.dashboard().cloned(),
            Stage::Led(dashboard) => Some(dashboard.clone()),
        }
    }

    /// `None` until the log was read.
    pub(super) fn status(&self) -> Option<LeagueStatus> {
        self.dashboard().map(|dashboard| dashboard.status())
    }

    fn enter(&self, agent: HostedAgent, stage: Stage) {
        *self.agent.write().unwrap_or_else(PoisonError::into_inner) = agent;
        let (before, after) = (self.leads(), matches!(stage, Stage::Led(_)));
        match (before, after) {
            (false, true) => drop(self.place.led.fetch_add(1, Ordering::Relaxed)),
            (true, false) => drop(self.place.led.fetch_sub(1, Ordering::Relaxed)),
            (false, false) | (true, true) => {}
        }
        match self.stage.send_replace(stage) {
            Stage::Closed(_) => {}
            Stage::Followed(pages) => pages.close(),
            Stage::Led(dashboard) => dashboard.close(),
        }
    }

    /// Ends at the shutdown, or if a new league cannot be opened.
    pub(super) async fn run(self: Arc<Self>, rules: Option<LeagueConfig>, mut stop: watch::Receiver<bool>) {
        let (mut printed, mut is_new) = (String::new(), rules.is_some());
        loop {
            let why = match self.lead(rules.as_ref(), &mut stop).await {
                Ok(()) => return,
                Err(error) => format!("{error:#}"),
            };
            if printed != why {
                eprintln!("{}: {why}", self.league);
                printed.clone_from(&why);
            }
            is_new &= self.status().is_none();
            self.enter(closed_agent(&self.league, &self.place), Stage::Closed(Some(why)));
            if is_new {
                return;
            }
            tokio::select! {
                () = sleep(RETRY_PAUSE) => {}
                () = stopped(&mut stop) => return,
            }
        }
    }

    /// Returns at the shutdown. The error says why this process no longer leads the league.
    async fn lead(&self, rules: Option<&LeagueConfig>, stop: &mut watch::Receiver<bool>) -> Result<()> {
        let place = &self.place;
        let reachable = place.reachable.at_league(&league_path(&self.league));
        let opened = tokio::select! {
            opened = self.open(rules, &reachable) => opened?,
            () = stopped(stop) => return Ok(()),
        };
        let ManagedLeague { manager, views, dashboard, repairing: _, work } = self.manage(opened, &reachable)?;
        let pages = Some(Arc::new(dashboard.clone()) as Arc<dyn PageHandler>);
        let server = ServerSettings { pages, relay_key: Some(place.relay_key.digest()), ..place.server.clone() };
        self.enter(HostedAgent::new(manager.clone(), place.bound, &server), Stage::Led(dashboard));
        let mut actor = tokio::spawn(work);
        let mut is_over = false;
        loop {
            tokio::select! {
                ended = AssertUnwindSafe(manager.conduct()).catch_unwind(), if !is_over => match ended {
                    Err(_) => {
                        // Without its actor the league gives its lease and its lock back.
                        actor.abort();
                        tracing::error!(league = %self.league, "the task that conducts the league panicked");
                        return Err(anyhow!("an internal error ended this league here; it is opened again"));
                    }
                    Ok(Ok(())) => {
                        is_over = true;
                        eprintln!("{}: the league is over.", self.league);
                    }
                    Ok(Err(stopped @ LeagueStopped::TooFew { .. })) => {
                        eprintln!("{}: {stopped}; the registration stays open.", self.league);
                    }
                    // A log that cannot be written is the cause of every later refusal.
                    Ok(Err(LeagueStopped::Refused(refused))) => match timeout(GRACE, &mut actor).await {
                        Ok(closed) => return Err(loss(&closed?)),
                        Err(_) => return Err(refused.into()),
                    },
                },
                closed = &mut actor => return Err(loss(&closed?)),
                () = stopped(stop) => {
                    let progress = save(&manager, &views).await.unwrap_or_default();
                    eprintln!("{}: stopped{progress}.", self.league);
                    return Ok(());
                }
            }
        }
    }

    /// Waits for the lease, if there may be other processes.
    async fn open(&self, rules: Option<&LeagueConfig>, reachable: &Reachable) -> Result<Opened> {
        let (place, league) = (Arc::clone(&self.place), self.league.clone());
        let rules = rules.map_or_else(|| place.rules(&league), |rules| Ok(rules.clone()))?;
        let contact = reachable.contact.clone();
        let followed = match place.home.store() {
            None => None,
            Some(_) => {
                let lock = locked(&place.home, &league, &place.environment)?;
                let root = league_path(&league);
                let follower = Follower::new(FollowedLeague {
                    home: &place.home,
                    league: &league,
                    contact: &contact,
                    relay_key: &place.relay_key,
                    client: &place.client,
                    root: &root,
                })?;
                let (pages, server) = (follower.pages(), follower.server(place.server.clone()));
                let agent = HostedAgent::new(follower.agent(), place.bound, &server);
                self.enter(agent, Stage::Followed(Arc::clone(&pages)));
                Some((lock, follower.lead(|| self.pause(&pages)).await?))
            }
        };
        // The replay of a long log must not delay the other leagues.
        let opening = spawn_blocking(move || {
            let (home, environment) = (place.home.clone(), &place.environment);
            let league = Handle::current().block_on(async {
                match followed {
                    Some((lock, followed)) => {
                        OpenLeague::take_over(home, lock, followed, rules, None, environment).await
                    }
                    None => OpenLeague::open(home, rules, None, environment).await,
                }
            })?;
            let (operator, keys) = place.secrets(&league.season().config().league_id)?;
            league.announce(operator.as_ref(), &keys, &contact, &place.relay_key)?;
            Ok(Opened { league, operator, keys })
        });
        opening.await?
    }

    /// A process that leads many leagues looks less often, so that free leases go to processes that lead few.
    fn pause(&self, pages: &StandbyPages) -> Duration {
        let is_over = |status: LeagueStatus| status.state == LeaguePhase::LeagueCompleted.as_str();
        if pages.dashboard().map(Dashboard::status).is_some_and(is_over) {
            return PAUSE_WHEN_OVER;
        }
        let led = u32::try_from(self.place.led.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        PAUSE_PER_LED.saturating_mul(led).saturating_add(LOOK_PAUSE).min(MAX_PAUSE)
    }

    fn manage(&self, opened: Opened, reachable: &Reachable) -> Result<ManagedLeague> {
        let Opened { mut league, operator, keys } = opened;
        let (place, rules) = (&self.place, league.season().config().clone());
        let start = rules.start.unwrap_or_default();
        league.publish_address(&reachable.contact)?;
        let invitation = Invitation {
            reachable,
            keys: &keys,
            has_token: operator.is_some(),
            expect_players: start.expect_players,
            expect_referees: start.expect_referees,
        };
        let settings = ManagerSettings {
            expect_players: start.expect_players,
            expect_referees: start.expect_referees,
            registration_window: start.window(),
            operator,
            referee_key: keys.digest(Role::Referee),
            player_key: keys.digest(Role::Player),
            here: Some(place.bound),
            contact: Some(reachable.contact.to_string()),
            own_addresses: lan::own_addresses,
            allowed_hosts: place.allow_host.clone(),
            answer_limit: place.configured.timeouts.response,
            rates: place.configured.rates.manager,
            strikes: Arc::clone(&place.strikes),
            ..ManagerSettings::default()
        };
        let resumed = if league.resumed { ", which goes on" } else { "" };
        let shown = (invitation.room(), league_path(&self.league));
        let managed =
            league.manage(settings, &place.writers, shown, place.client.clone(), place.environment.clone())?;
        eprintln!("{}{resumed}: this process leads it at {}", rules.label(), reachable.contact);
        if let Some(explanation) = keys.explanation() {
            eprintln!("{explanation}");
        }
        Ok(managed)
    }
}

/// Why this process no longer leads the league.
fn loss(closed: &LeagueClosed) -> anyhow::Error {
    if let LeagueClosed::Deposed(why) = closed {
        return anyhow!("{why}. This process follows the league now");
    }
    closed_error(closed)
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error only means that the sender was dropped.
    drop(stop.wait_for(|stop| *stop).await);
}

/// For a league that is not open yet: agents try again, and the page says so.
fn closed_agent(league: &LeagueId, place: &HostPlace) -> HostedAgent {
    let settings = ServerSettings {
        pages: Some(Arc::<StandbyPages>::default()),
        relay: Some(Arc::new(Relay::new(place.client.clone()))),
        ..place.server.clone()
    };
    HostedAgent::new(Standby::new(league.clone(), place.environment.clone()), place.bound, &settings)
}
