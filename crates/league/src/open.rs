//! Opens a league in a home: takes its lock, replays its log, and continues it.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use league_core::replay::Replay;
use league_core::rules::seed::Seed;
use league_core::season::Season;
use league_core::season::config::LeagueConfig;
use league_core::season::event::Fact;
use league_dashboard::{Archive, Dashboard, DashboardSettings, SnapshotBuilder, WaitingRoom};
use league_manager::event_lines::line;
use league_manager::league_actor::LeagueClosed;
use league_manager::{LeagueHandle, Manager, ManagerSettings};
use league_protocol::id::LeagueId;
use league_protocol::sender::Role;
use league_protocol::token::{Credential, TokenDigest};
use league_store::file_name::id_of;
use league_store::home::Home;
use league_store::journal::{JournalLimits, JournalWriter};
use league_store::lock::Lock;
use league_store::log::{EventLog, HeldLease, LogHead, StoredDigests, replay};
use league_store::mark;
use league_store::views::repair::{Repair, RepairReport};
use league_store::views::restore::{expect_no_less, restore_tables};
use league_store::views::writer::{ViewLimits, ViewWriter};
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use smol_str::SmolStr;
use tokio::task::JoinHandle;

use crate::keys::Keys;
use crate::news::{ExpectedPlayers, News};
use crate::operator::AtManager;
use crate::standby::FollowedLog;

const BATCH: usize = 1024;
const TAIL: u64 = 16;
const MAX_LISTED: usize = 10;

/// Holds the lock of the league.
pub(crate) struct OpenLeague {
    season: Season,
    head: LogHead,
    /// What the pages show in addition to the season.
    snapshot: SnapshotBuilder,
    log: Box<dyn EventLog>,
    /// `None` if only one manager can use the store.
    lease: Option<HeldLease>,
    lock: Lock,
    home: Home,
    pub(crate) resumed: bool,
    news: Option<News>,
}

/// The state of a log that this process may write to.
struct ReadLog {
    log: Box<dyn EventLog>,
    lease: Option<HeldLease>,
    replay: Replay,
    snapshot: SnapshotBuilder,
    head: LogHead,
}

impl OpenLeague {
    /// A league with events continues by its own rules.
    pub(crate) async fn open(
        home: Home,
        rules: LeagueConfig,
        seed: Option<&Seed>,
        environment: &Environment,
    ) -> Result<Self> {
        let league = rules.league_id.clone();
        let lock = locked(&home, &league, environment)?;
        // Read before the first append, which would repair the remains of a damaged log.
        let ((log, lease), mut snapshot) = (home.writer(&league, lock.identity()?)?, SnapshotBuilder::default());
        let (replay, head) =
            replay(&log, |season, event| snapshot.observe(season, event)).with_context(|| league.to_string())?;
        let read = ReadLog { log, lease, replay, snapshot, head };
        Self::begin(home, lock, read, rules, seed, environment).await
    }

    /// Goes on with a league that this process has followed and leads now.
    pub(crate) async fn take_over(
        home: Home,
        lock: Lock,
        followed: FollowedLog,
        rules: LeagueConfig,
        seed: Option<&Seed>,
        environment: &Environment,
    ) -> Result<Self> {
        let FollowedLog { log, replay, snapshot, head } = followed;
        let lease = Some(log.held_lease());
        let read = ReadLog { log: Box::new(log), lease, replay, snapshot, head };
        Self::begin(home, lock, read, rules, seed, environment).await
    }

    async fn begin(
        home: Home,
        lock: Lock,
        read: ReadLog,
        rules: LeagueConfig,
        seed: Option<&Seed>,
        environment: &Environment,
    ) -> Result<Self> {
        let ReadLog { log, lease, replay, mut snapshot, head } = read;
        let league = &rules.league_id;
        expect_no_less(&home, league, replay.season().map_or(0, Season::matches_completed))?;
        if replay.season().is_none() {
            let rules = rules.with_lots(seed.map_or_else(|| environment.random(), Seed::lot_secret));
            let (season, opened) = Season::open(rules, environment.now());
            snapshot.observe(&season, opened.clone());
            let head = log.append(head, vec![opened]).await?;
            return Ok(Self { season, head, snapshot, log, lease, lock, home, resumed: false, news: None });
        }
        let season = replay.finish()?;
        // Makes sure that the log can be written to.
        log.append(head, Vec::new()).await?;
        // Files are views: missing or damaged ones are written again, and a failure stops nothing.
        match restore_tables(&home, &season, ViewLimits::default()) {
            Ok(damaged) => print_rewritten(&damaged),
            Err(error) => tracing::warn!(%error, "the tables of the league cannot be written again"),
        }
        Ok(Self { season, head, snapshot, log, lease, lock, home, resumed: true, news: None })
    }

    /// Repairs the match files of a resumed league from its log, on a separate thread: there may be half a million.
    pub(crate) fn repair(&self) -> JoinHandle<()> {
        let (home, until, resumed) = (self.home.clone(), self.head.seq, self.resumed);
        let league = self.season().config().league_id.clone();
        let matches = self.season().total_matches();
        tokio::task::spawn_blocking(move || {
            if !resumed {
                return;
            }
            match repair(home, league, matches, until) {
                Ok(repaired) => print_repaired(&repaired),
                Err(error) => tracing::warn!(%error, "the match files of the league cannot be completed"),
            }
        })
    }

    pub(crate) fn publish_address(&mut self, address: &Endpoint) -> Result<()> {
        Ok(self.lock.set_address(address.to_string())?)
    }

    pub(crate) fn season(&self) -> &Season {
        &self.season
    }

    pub(crate) fn news(&mut self, expected: ExpectedPlayers) -> Result<News> {
        let news = News::start(self.season().clone(), expected).context("the console cannot be written to")?;
        self.news = Some(news.clone());
        Ok(news)
    }

    /// Keeps the digests of the league's secrets in a shared store, and tells the other managers where this one is. Blocks.
    pub(crate) fn announce(
        &self,
        operator: Option<&TokenDigest>,
        keys: &Keys,
        contact: &Endpoint,
        relay_key: &Credential,
    ) -> Result<()> {
        let Some(lease) = &self.lease else { return Ok(()) };
        let (referee, player) = (keys.digest(Role::Referee), keys.digest(Role::Player));
        lease.keep(&StoredDigests { operator: operator.cloned(), referee, player })?;
        Ok(lease.publish(contact.as_str(), relay_key)?)
    }

    /// The page shows `room` while the registration is open. Its path is `root`.
    pub(crate) fn manage(
        self,
        mut settings: ManagerSettings,
        writers: &FileWriters,
        (room, root): (WaitingRoom, String),
        client: Client,
        environment: Environment,
    ) -> Result<ManagedLeague> {
        let rules = self.season().config().clone();
        let journal = writers.journals.journal(self.home.league_journal(&rules.league_id));
        settings.journal = Some(journal.clone());
        settings.home = Some(self.home.clone());
        settings.lease = self.lease.clone();
        settings.home_mark = write_mark(&self.home, &rules.league_id, &environment);
        let views = writers.views.clone();
        let repairing = self.repair();
        let archive = Archive::of(self.home.log(&rules.league_id), self.home, rules.league_id.clone());
        let (token, strikes) = (settings.operator.clone(), Arc::clone(&settings.strikes));
        let window = settings.registration_window.map(|span| (std::time::Instant::now(), span));
        let room = WaitingRoom { window, ..room };
        let pages = DashboardSettings { root, token, strikes, room: Some(room), ..DashboardSettings::default() };
        let (season, news) = (self.season, self.news);
        let snapshot = self.snapshot.finish(season.clone()).context("the log has no event")?;
        let (dashboard, feed, showing) = Dashboard::of(snapshot, archive, pages);
        let (league_handle, work) =
            LeagueHandle::open(season, self.head, self.log, environment.clone(), move |event| {
                feed.send(event);
                journal.write(line(event));
                if let Some(news) = &news {
                    news.print(event);
                }
            });
        let manager = Manager::new(&rules, settings, league_handle, client, Some(views.clone()), environment);
        dashboard.operated_by(Arc::new(AtManager(manager.clone())));
        tokio::spawn(showing);
        let lock = self.lock;
        let work = Box::pin(async move {
            let closed = work.await;
            drop(lock);
            closed
        });
        Ok(ManagedLeague { manager, views, dashboard, repairing, work })
    }
}

/// The threads that write the files of a home. Managers of several leagues in one process share them.
#[derive(Clone)]
pub(crate) struct FileWriters {
    views: ViewWriter,
    journals: JournalWriter,
}

impl FileWriters {
    pub(crate) fn start(home: &Home, logs: JournalLimits) -> Result<Self> {
        let journals = JournalWriter::start(logs).context("the league's log cannot be written")?;
        let views = ViewWriter::start(home.clone(), ViewLimits::default()).context("the files cannot be written")?;
        Ok(Self { views, journals })
    }
}

/// Takes the lock of a league in a home that may be new.
pub(crate) fn locked(home: &Home, league: &LeagueId, environment: &Environment) -> Result<Lock> {
    home.prepare(league)?;
    let lock = Lock::take(home.lock(league), environment.now())?;
    tighten(home, league);
    Ok(lock)
}

/// The log has the keys of all passes, so only the owner of the home may read it.
fn tighten(home: &Home, league: &LeagueId) {
    match home.tighten(league) {
        Ok(wide) if wide.is_empty() => {}
        Ok(wide) => {
            let wide: Vec<String> = wide.iter().map(|path| path.display().to_string()).collect();
            eprintln!("Other users of this machine had access to {}; now only the owner has.", wide.join(", "));
        }
        Err(error) => eprintln!("Other users of this machine may read the keys of this league: {error}"),
    }
}

/// Marks the home, so that referees see whether they write into it themselves. Without a mark no transcript is sent.
fn write_mark(home: &Home, league: &LeagueId, environment: &Environment) -> Option<SmolStr> {
    let random: [u8; 32] = environment.random();
    let text = mark::of(std::array::from_fn(|place| random[place]));
    match mark::write(home, league, &text) {
        Ok(()) => Some(SmolStr::new(text)),
        Err(error) => {
            tracing::warn!(%error, "the home cannot be marked; referees with another home keep their transcripts");
            None
        }
    }
}

/// Writes the missing match files up to event `until`. Running referees write the files of later matches.
fn repair(home: Home, league: LeagueId, matches: u64, until: u64) -> Result<RepairReport> {
    let log = home.log(&league);
    let mut repair = Repair::new(home, league, matches, ViewLimits::default())?;
    let mut seen = 0;
    while seen < until {
        let left = usize::try_from(until - seen).unwrap_or(BATCH);
        let events = log.read(seen, left.min(BATCH))?;
        seen = events.last().map_or(until, |(head, _)| head.seq);
        for (_, event) in &events {
            repair.apply(event)?;
        }
    }
    Ok(repair.finish()?)
}

fn print_repaired(repaired: &RepairReport) {
    print_rewritten(&repaired.damaged);
    if repaired.written > 0 {
        eprintln!("Match files written again from the log: {}.", repaired.written);
    }
}

fn print_rewritten(damaged: &[PathBuf]) {
    for path in damaged {
        eprintln!("{} was damaged or missing; it is written again from the log.", path.display());
    }
}

pub(crate) struct ManagedLeague {
    pub(crate) manager: Manager,
    pub(crate) views: ViewWriter,
    pub(crate) dashboard: Dashboard,
    pub(crate) repairing: JoinHandle<()>,
    /// The league task; the league is open until this ends.
    pub(crate) work: std::pin::Pin<Box<dyn Future<Output = LeagueClosed> + Send>>,
}

/// The first of `name`, `name_2`, `name_3` … that is not finished: an unfinished league continues.
pub(crate) fn unfinished(home: &Home, name: &LeagueId) -> Result<LeagueId> {
    for number in 1_u32.. {
        let league: LeagueId = if number == 1 { name.clone() } else { format!("{name}_{number}").parse()? };
        if !is_completed(&home.log(&league))? {
            return Ok(league);
        }
    }
    Ok(name.clone())
}

/// Reads the log backwards to the last event about a round: only events about agents follow the end of a league.
fn is_completed(log: &dyn EventLog) -> Result<bool> {
    let mut end = log.head()?.seq;
    while end > 0 {
        let start = end.saturating_sub(TAIL);
        for (_, event) in log.read(start, usize::try_from(end - start)?)?.iter().rev() {
            let over = matches!(event.fact, Fact::LeagueCompleted);
            if over || matches!(event.fact, Fact::RoundStarted { .. } | Fact::RoundCompleted { .. }) {
                return Ok(over);
            }
        }
        end = start;
    }
    Ok(false)
}

/// The named league, which has to be in this home, or the one that was written last.
pub(crate) fn find_league(home: &Home, named: Option<&LeagueId>) -> Result<LeagueId> {
    let leagues = leagues_of(home)?;
    let Some(league) = named else {
        let newest = leagues.into_iter().next().map(|(league, _)| league);
        return newest
            .with_context(|| format!("there is no league in {}; say where with --home or --store", place(home)));
    };
    if leagues.iter().any(|(listed, _)| listed == league) {
        return Ok(league.clone());
    }
    let listed = leagues.iter().take(MAX_LISTED).map(|(league, _)| league.as_str()).collect::<Vec<_>>().join(", ");
    let listed = if listed.is_empty() { String::from("it holds none") } else { format!("it holds {listed}") };
    bail!(
        "there is no league {league} in {}: {listed}; league leagues lists them, and --home names another home",
        place(home)
    )
}

/// Where the logs are, for people.
fn place(home: &Home) -> String {
    home.store().map_or_else(|| home.root().display().to_string(), |store| store.name().to_owned())
}

/// With the time of the last write, newest first.
pub(crate) fn leagues_of(home: &Home) -> Result<Vec<(LeagueId, SystemTime)>> {
    if let Some(store) = home.store() {
        return Ok(store.leagues()?);
    }
    let directory = home.root().join("data").join("leagues");
    let entries = match std::fs::read_dir(&directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("{} cannot be read", directory.display()))?,
    };
    let mut found: Vec<(LeagueId, SystemTime)> = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let Some(league) = name.to_str().and_then(id_of).and_then(|id| id.parse::<LeagueId>().ok()) else { continue };
        if let Ok(written) = std::fs::metadata(home.database(&league)).and_then(|file| file.modified()) {
            found.push((league, written));
        }
    }
    found.sort_by(|left, right| (right.1, &right.0).cmp(&(left.1, &left.0)));
    Ok(found)
}

pub(crate) fn read(home: &Home, league: &LeagueId) -> Result<Season> {
    let (replay, _) = replay(&home.log(league), |_, _| {}).with_context(|| league.to_string())?;
    replay.finish().with_context(|| league.to_string())
}
