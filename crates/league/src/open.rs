//! Opening a league in a home: taking its lock, reading its log, and going on where it was.

use std::sync::Arc;

use anyhow::{Context, Result};
use league_core::season::config::Config;
use league_core::season::{Phase, Season};
use league_dashboard::{Archive, Dashboard};
use league_manager::chronicle::line;
use league_manager::desk::Closed;
use league_manager::{Desk, Manager, Settings};
use league_protocol::id::LeagueId;
use league_store::home::Home;
use league_store::journal::Journal;
use league_store::lock::Lock;
use league_store::log::{EventLog, Log};
use league_store::views::restore::{Restored, expect_no_less, restore};
use league_store::views::writer::{ViewLimits, ViewWriter};
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::world::World;

use crate::operator::AtManager;

/// A league that is open here and nowhere else.
pub(crate) struct Opened {
    season: Season,
    log: Log,
    lock: Lock,
    home: Home,
    /// Whether it had been begun before.
    pub(crate) resumed: bool,
}

impl Opened {
    /// Opens the league of `rules` in `home`; what it played before stands, and its own rules with it.
    pub(crate) async fn open(home: Home, rules: Config, world: &World) -> Result<Self> {
        let league = rules.league_id.clone();
        home.prepare(&league)?;
        let lock = Lock::take(home.lock(&league), world.now())?;
        let path = home.database(&league);
        // Looked at before it is opened for writing, which would tidy up what is left of a damaged one.
        let seen = if path.exists() { Log::read_if_any(&path)? } else { Vec::new() };
        expect_no_less(&home, &league, &seen)?;
        let (log, events) = Log::open(path)?;
        let resumed = !events.is_empty();
        if !resumed {
            let (season, opened) = Season::open(rules, world.now());
            log.append(vec![opened]).await?;
            return Ok(Self { season, log, lock, home, resumed });
        }
        let season = Season::replay(&events).with_context(|| format!("the log of {league} cannot be replayed"))?;
        // Files are views: what is missing or damaged is written again, and what cannot be written stops nobody.
        match restore(&home, &events, ViewLimits::default(), world.now()) {
            Ok(restored) => tell(&restored),
            Err(error) => tracing::warn!(%error, "the files of the league cannot be completed"),
        }
        Ok(Self { season, log, lock, home, resumed })
    }

    /// Tells others who want this league where its manager is.
    pub(crate) fn is_at(&mut self, address: &Endpoint) -> Result<()> {
        Ok(self.lock.tell(address.to_string())?)
    }

    /// The league as it stands.
    pub(crate) fn season(&self) -> &Season {
        &self.season
    }

    /// Puts a manager in charge.
    pub(crate) fn manage(self, mut settings: Settings, client: Client, world: World) -> Result<Managed> {
        let journal = Journal::open(self.home.league_journal(&self.season.config().league_id))
            .context("the league's log cannot be written")?;
        settings.home = Some(self.home.clone());
        let views =
            ViewWriter::start(self.home.clone(), ViewLimits::default()).context("the files cannot be written")?;
        let rules = self.season.config().clone();
        let archive = Archive::of(self.home.clone(), rules.league_id.clone());
        let (token, strikes) = (settings.operator.clone(), Arc::clone(&settings.strikes));
        let shown = league_dashboard::Settings { token, strikes, ..league_dashboard::Settings::default() };
        let (dashboard, feed, showing) = Dashboard::open(archive, shown).context("the pages cannot be made")?;
        let (desk, work) = Desk::open(self.season, self.log, world.clone(), move |event| {
            feed.tell(event);
            journal.write(line(event));
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
        Ok(Managed { manager, views, dashboard, work })
    }
}

/// Says what was not as it should be, and is again.
fn tell(restored: &Restored) {
    for path in &restored.damaged {
        eprintln!("{} was damaged or missing; it is written again from the log.", path.display());
    }
    if restored.written > 0 {
        eprintln!("Match files written again from the log: {}; what was said in them is not in it.", restored.written);
    }
}

/// A league with its manager in charge.
pub(crate) struct Managed {
    /// The manager.
    pub(crate) manager: Manager,
    /// Who writes the files.
    pub(crate) views: ViewWriter,
    /// What it looks like.
    pub(crate) dashboard: Dashboard,
    /// The desk at work; the league is open as long as this is.
    pub(crate) work: std::pin::Pin<Box<dyn Future<Output = Closed> + Send>>,
}

/// The first of `name`, `name_2`, `name_3` … that is not finished in this home: unfinished leagues are gone on with.
pub(crate) fn unfinished(home: &Home, name: &LeagueId) -> Result<LeagueId> {
    for number in 1_u32.. {
        let league: LeagueId = if number == 1 { name.clone() } else { format!("{name}_{number}").parse()? };
        let path = home.database(&league);
        if !path.exists() {
            return Ok(league);
        }
        let over = Season::replay(&Log::read(&path)?).is_ok_and(|season| season.phase() == Phase::LeagueCompleted);
        if !over {
            return Ok(league);
        }
    }
    Ok(name.clone())
}

/// The season of a league as its log tells it, whoever is running it.
pub(crate) fn read(home: &Home, league: &LeagueId) -> Result<Season> {
    home.expect(league)?;
    let events = Log::read(&home.database(league))?;
    Season::replay(&events).with_context(|| format!("the log of {league} cannot be replayed"))
}

/// The league of this home whose log was written last.
pub(crate) fn newest(home: &Home) -> Result<LeagueId> {
    let leagues = home.root().join("data").join("leagues");
    let missing = || format!("there is no league in {}; say where with --home", home.root().display());
    let mut found: Vec<(std::time::SystemTime, LeagueId)> = Vec::new();
    for entry in std::fs::read_dir(&leagues).with_context(missing)? {
        let name = entry?.file_name();
        let Some(league) = name.to_str().and_then(|name| name.parse::<LeagueId>().ok()) else { continue };
        if let Ok(written) = std::fs::metadata(home.database(&league)).and_then(|file| file.modified()) {
            found.push((written, league));
        }
    }
    found.into_iter().max().map(|(_, league)| league).with_context(missing)
}
