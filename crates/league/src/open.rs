//! Opening a league in a home: taking its lock, reading its log, and going on where it was.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use league_core::season::config::LeagueConfig;
use league_core::season::{BadEvent, LeaguePhase, Season};
use league_dashboard::{Archive, Dashboard, LeagueSnapshot, Replay, WaitingRoom};
use league_manager::event_lines::line;
use league_manager::league_actor::LeagueClosed;
use league_manager::{LeagueHandle, Manager, ManagerSettings};
use league_protocol::id::LeagueId;
use league_store::file_name::id_of;
use league_store::home::Home;
use league_store::journal::{JournalLimits, JournalWriter};
use league_store::lock::Lock;
use league_store::log::{EventLog, SqliteLog};
use league_store::mark;
use league_store::views::repair::{Repair, RepairReport};
use league_store::views::restore::{expect_no_less, restore_tables};
use league_store::views::writer::{ViewLimits, ViewWriter};
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use smol_str::SmolStr;
use tokio::task::JoinHandle;

use crate::news::{Awaited, News};
use crate::operator::AtManager;

/// How many events are read at a time when files are mended.
const STEP: usize = 1024;
/// How many leagues are named where another one was meant.
const LISTED: usize = 10;

/// A league that is open here and nowhere else.
pub(crate) struct OpenLeague {
    /// What its log tells, all of it.
    story: LeagueSnapshot,
    log: SqliteLog,
    lock: Lock,
    home: Home,
    /// Whether it had been begun before.
    pub(crate) resumed: bool,
    /// Who tells the operator of what happens.
    news: Option<News>,
}

impl OpenLeague {
    /// Opens the league of `rules` in `home`; what it played before stands, and its own rules with it.
    pub(crate) async fn open(home: Home, rules: LeagueConfig, world: &Environment) -> Result<Self> {
        let league = rules.league_id.clone();
        home.prepare(&league)?;
        let lock = Lock::take(home.lock(&league), world.now())?;
        // Looked at before it is opened for writing, which would tidy up what is left of a damaged one.
        let mut telling = Replay::default();
        let examined = SqliteLog::examine(home.database(&league), |event| telling.hear(&event))?;
        let story = telling.end().with_context(|| cannot_be_replayed(&league))?;
        let results = story.as_ref().map_or(0, |story| story.season().matches_completed());
        expect_no_less(&home, &league, results)?;
        let log = examined.open()?;
        let Some(story) = story else {
            let (_, opened) = Season::open(rules, world.now());
            log.append(vec![opened.clone()]).await?;
            return Ok(Self { story: LeagueSnapshot::begin(&opened)?, log, lock, home, resumed: false, news: None });
        };
        // Files are views: what is missing or damaged is written again, and what cannot be written stops nobody.
        match restore_tables(&home, story.season(), ViewLimits::default(), world.now()) {
            Ok(damaged) => say_written_again(&damaged),
            Err(error) => tracing::warn!(%error, "the tables of the league cannot be written again"),
        }
        Ok(Self { story, log, lock, home, resumed: true, news: None })
    }

    /// Brings the match files of a league that goes on into agreement with its log, on a thread of its own: in a large league there is
    /// more to be read in them than anybody would wait for.
    pub(crate) fn mend(&self) -> JoinHandle<()> {
        let (home, until, resumed) = (self.home.clone(), self.log.head().seq, self.resumed);
        let league = self.season().config().league_id.clone();
        let matches = self.season().schedule().total_matches();
        tokio::task::spawn_blocking(move || {
            if !resumed {
                return;
            }
            match mend(home, league, matches, until) {
                Ok(mended) => tell(&mended),
                Err(error) => tracing::warn!(%error, "the match files of the league cannot be completed"),
            }
        })
    }

    /// Tells others who want this league where its manager is.
    pub(crate) fn is_at(&mut self, address: &Endpoint) -> Result<()> {
        Ok(self.lock.tell(address.to_string())?)
    }

    pub(crate) fn season(&self) -> &Season {
        self.story.season()
    }

    /// Has the operator told on stderr of what happens from now on.
    pub(crate) fn news(&mut self, awaited: Awaited) -> Result<News> {
        let news = News::start(self.season().clone(), awaited).context("the console cannot be written to")?;
        self.news = Some(news.clone());
        Ok(news)
    }

    /// Puts a manager in charge. Its page shows `room` as long as registration is open.
    pub(crate) fn manage(
        self,
        mut settings: ManagerSettings,
        logs: JournalLimits,
        room: WaitingRoom,
        client: Client,
        world: Environment,
    ) -> Result<ManagedLeague> {
        let rules = self.season().config().clone();
        let scribe = JournalWriter::start(logs).context("the league's log cannot be written")?;
        let journal = scribe.journal(self.home.league_journal(&rules.league_id));
        settings.journal = Some(journal.clone());
        settings.home = Some(self.home.clone());
        settings.home_mark = marked(&self.home, &rules.league_id, &world);
        let views =
            ViewWriter::start(self.home.clone(), ViewLimits::default()).context("the files cannot be written")?;
        let mending = self.mend();
        let archive = Archive::of(self.home, rules.league_id.clone());
        let (token, strikes) = (settings.operator.clone(), Arc::clone(&settings.strikes));
        let shown = league_dashboard::DashboardSettings {
            token,
            strikes,
            room: Some(room),
            ..league_dashboard::DashboardSettings::default()
        };
        let (season, news) = (self.story.season().clone(), self.news);
        let (dashboard, feed, showing) = Dashboard::of(self.story, archive, shown);
        let (desk, work) = LeagueHandle::open(season, self.log, world.clone(), move |event| {
            feed.tell(event);
            journal.write(line(event));
            if let Some(news) = &news {
                news.tell(event);
            }
        });
        let manager = Manager::new(&rules, settings, desk, client, Some(views.clone()), world);
        dashboard.operated_by(Arc::new(AtManager(manager.clone())));
        tokio::spawn(showing);
        let lock = self.lock;
        let work = Box::pin(async move {
            let closed = work.await;
            drop(lock);
            closed
        });
        Ok(ManagedLeague { manager, views, dashboard, mending, work })
    }
}

/// Marks the home, so that referees see whether they write into it themselves. Without a mark no transcript is sent.
fn marked(home: &Home, league: &LeagueId, world: &Environment) -> Option<SmolStr> {
    let random: [u8; 32] = world.random();
    let text: String = random[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    match mark::write(home, league, &text) {
        Ok(()) => Some(SmolStr::new(text)),
        Err(error) => {
            tracing::warn!(%error, "the home cannot be marked; referees with another home keep their transcripts");
            None
        }
    }
}

/// Reads the match files of a league, and writes again what its log has and they have not, up to event `until`: whatever comes behind
/// that is told by referees that are there.
fn mend(home: Home, league: LeagueId, matches: u64, until: u64) -> Result<RepairReport> {
    let log = home.database(&league);
    let mut mending = Repair::begin(home, league, matches, ViewLimits::default())?;
    let mut seen = 0;
    while seen < until {
        let left = usize::try_from(until - seen).unwrap_or(STEP);
        let events = SqliteLog::page(&log, seen, left.min(STEP))?;
        seen = events.last().map_or(until, |(head, _)| head.seq);
        for (_, event) in &events {
            mending.see(event)?;
        }
    }
    Ok(mending.end()?)
}

/// Says what was not as it should be, and is again.
fn tell(mended: &RepairReport) {
    say_written_again(&mended.damaged);
    if mended.written > 0 {
        eprintln!("Match files written again from the log: {}; what was said in them is not in it.", mended.written);
    }
}

fn say_written_again(damaged: &[PathBuf]) {
    for path in damaged {
        eprintln!("{} was damaged or missing; it is written again from the log.", path.display());
    }
}

fn cannot_be_replayed(league: &LeagueId) -> String {
    format!("the log of {league} cannot be replayed")
}

/// A league with its manager in charge.
pub(crate) struct ManagedLeague {
    pub(crate) manager: Manager,
    pub(crate) views: ViewWriter,
    pub(crate) dashboard: Dashboard,
    /// The match files on the way to agreement with the log.
    pub(crate) mending: JoinHandle<()>,
    /// The desk at work; the league is open as long as this is.
    pub(crate) work: std::pin::Pin<Box<dyn Future<Output = LeagueClosed> + Send>>,
}

/// The first of `name`, `name_2`, `name_3` … that is not finished in this home: unfinished leagues are gone on with.
pub(crate) fn unfinished(home: &Home, name: &LeagueId) -> Result<LeagueId> {
    for number in 1_u32.. {
        let league: LeagueId = if number == 1 { name.clone() } else { format!("{name}_{number}").parse()? };
        let path = home.database(&league);
        if !path.exists() {
            return Ok(league);
        }
        let over = told(&path)?.is_ok_and(|story| story.season().phase() == LeaguePhase::LeagueCompleted);
        if !over {
            return Ok(league);
        }
    }
    Ok(name.clone())
}

/// The league that is meant: the named one, which has to be in this home, or the one that was written last.
pub(crate) fn meant(home: &Home, named: Option<&LeagueId>) -> Result<LeagueId> {
    let leagues = known(home)?;
    let Some(league) = named else {
        let newest = leagues.into_iter().next().map(|(league, _)| league);
        return newest
            .with_context(|| format!("there is no league in {}; say where with --home", home.root().display()));
    };
    if leagues.iter().any(|(known, _)| known == league) {
        return Ok(league.clone());
    }
    let known = leagues.iter().take(LISTED).map(|(league, _)| league.as_str()).collect::<Vec<_>>().join(", ");
    let known = if known.is_empty() { String::from("it holds none") } else { format!("it holds {known}") };
    bail!(
        "there is no league {league} in {}: {known}; league leagues lists them, and --home names another home",
        home.root().display()
    )
}

/// The leagues of a home and when each was last written, newest first.
pub(crate) fn known(home: &Home) -> Result<Vec<(LeagueId, SystemTime)>> {
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
    found.sort_by(|one, other| (other.1, &other.0).cmp(&(one.1, &one.0)));
    Ok(found)
}

/// The season of a league as its log tells it, whoever is running it.
pub(crate) fn read(home: &Home, league: &LeagueId) -> Result<Season> {
    let story = told(&home.database(league))?.with_context(|| cannot_be_replayed(league))?;
    Ok(story.season().clone())
}

/// What the log at `path` tells, unless that cannot have happened.
fn told(path: &Path) -> Result<Result<LeagueSnapshot, BadEvent>> {
    let mut telling = Replay::default();
    SqliteLog::read(path, |event| telling.hear(&event))?;
    Ok(telling.end().and_then(|story| story.ok_or(BadEvent::NotOpened)))
}
