//! `league run`: a whole league in one process, with real HTTP between its parts.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use league_core::rules::seed::Seed;
use league_core::season::config::Config;
use league_core::season::{Phase, Season};
use league_manager::{Desk, Heralds};
use league_player::chance::Chance;
use league_player::player::{Player, Settings as PlayerSettings};
use league_player::strategy::registry::strategy;
use league_protocol::id::{GameType, PlayerId, RefereeId};
use league_referee::{Referee, Settings as RefereeSettings};
use league_store::home::Home;
use league_store::journal::JournalLimits;
use league_store::journal::Scribe;
use league_store::views::writer::ViewWriter;
use league_wire::admission::Rejected;
use league_wire::agent::Agent;
use league_wire::endpoint::Endpoint;
use league_wire::server::serve;
use league_wire::settings::Settings as ServerSettings;
use league_wire::tally::Tally;
use league_wire::world::World;
use smol_str::{SmolStr, format_smolstr};
use tokio::sync::mpsc;

use crate::agents::{cause, in_runtime, lost, park};
use crate::cli::Run;
use crate::config::Configured;
use crate::figures::{Figures, Played};
use crate::listen::Bound;
use crate::machine::{Start, peak_memory_mb};
use crate::open::{self, Managed, Opened};
use crate::progress::Progress;
use crate::secure::Secure;
use crate::shards::{Core, Shards};
use crate::signals::told_to_end;
use crate::table;
use crate::thinking::thinker;

/// How many matches one hosted referee runs at a time.
const CAPACITY: u32 = 256;
/// The first player listens so many ports above the manager.
const PLAYERS_AT: u16 = 101;

pub(crate) fn run(options: &Run) -> Result<()> {
    in_runtime(play(options))
}

async fn play(options: &Run) -> Result<()> {
    let began = Instant::now();
    let world = World::real();
    let home = Home::at(&options.home);
    let strategies = strategies(options)?;
    let configured = Configured::read(&home, options.league_id.clone())?.with_tls(options.tls.files())?;
    let tally = options.figures.as_ref().map(|_| Arc::new(Tally::default()));
    let secure = Secure::read(&configured.tls)?.tallied(tally.clone());
    for kind in strategies.iter().collect::<BTreeSet<_>>() {
        // What is missing is said before anything is begun.
        thinker(kind, &secure)?;
    }
    let league = match &options.league_id {
        Some(league) => league.clone(),
        None => open::unfinished(&home, &configured.league.league_id)?,
    };
    let rules = Config { league_id: league.clone(), ..configured.league };
    let mut opened = Opened::open(home.clone(), rules, &world).await?;
    if opened.season().phase() == Phase::LeagueCompleted {
        opened.mend().await?;
        eprintln!("{league} in {} is over; this is how it ended.", home.root().display());
        return show(options, opened.season());
    }
    if opened.resumed {
        eprintln!("Going on with {league}, round {}.", opened.season().current_round().map_or(0, |round| round.0));
    }

    // The seed alone decides, whatever the league is called.
    let seed = options.seed.map(|seed| Seed::new(seed, SEEDED.parse().unwrap_or_else(|_| league.clone())));
    let host = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let first = options.port.unwrap_or(configured.network.manager_port);
    let port = |offset: u16| if first == 0 { Ok(0) } else { first.checked_add(offset).context("no such port") };
    let front = Bound::to(host, first, "the manager")?;
    let at = front.endpoint(secure.scheme())?;
    let mut shards = Shards::start(|| secure.client())?;
    let referees = (1..=options.referees).map(|number| {
        let bound = Bound::to(host, port(u16::try_from(number)?)?, &format!("referee {number}"))?;
        Ok((number, bound, shards.next()))
    });
    let referees = referees.collect::<Result<Vec<_>>>()?;
    let players = strategies.into_iter().zip(1..).map(|(kind, number): (SmolStr, u32)| {
        let bound = Bound::to(host, port(PLAYERS_AT + u16::try_from(number - 1)?)?, &format!("player {number}"))?;
        Ok((number, kind, bound, shards.next()))
    });
    let players = players.collect::<Result<Vec<_>>>()?;
    let heralds = heralds(&shards, &players, secure.scheme())?;
    let settings = league_manager::Settings {
        heralds,
        here: Some(front.address),
        expect_players: Some(options.players + options.guests),
        expect_referees: Some(options.referees),
        seed: seed.clone(),
        patience: configured.timeouts.response,
        rates: configured.rates.manager,
        strikes: configured.rates.strikes(),
        ..league_manager::Settings::default()
    };
    opened.is_at(&at)?;
    let Managed { manager, views, dashboard, mending, work } =
        opened.manage(settings, secure.client(), world.clone())?;
    let expected = if options.guests > 0 { format!(", {} guests to come", options.guests) } else { String::new() };
    eprintln!("{league}: {} players{expected}, {} referees, manager at {at}", options.players, options.referees);
    let site = at.at("/");
    eprintln!("Watch it at {site}");
    let mut desk_work = tokio::spawn(work);
    let front = front.into_tokio()?;
    let shown = ServerSettings { pages: Some(Arc::new(dashboard)), visits: configured.rates.visits, ..secure.server() };
    tokio::spawn(serve(front, Arc::new(manager.clone()), shown, std::future::pending()));

    let (rejected, mut rejections) = mpsc::unbounded_channel::<Rejected>();
    let scribe = Scribe::start(JournalLimits::default()).context("the agents' logs cannot be written")?;
    let hosted = Hosted { manager: at, secure, world: world.clone(), home: home.clone(), scribe, rejected };
    for (number, bound, core) in referees {
        hosted.referee(&core, number, bound, views.clone())?;
    }
    for (number, kind, bound, core) in players {
        hosted.player(&core, number, &kind, bound, seed.clone())?;
    }

    let progress = Progress::follow(manager.desk().clone(), options.json);
    let begun = tokio::spawn(start_of(manager.desk().clone()));
    let league_work = manager.conduct();
    tokio::select! {
        ended = league_work => if let Err(stopped) = ended {
            return Err(cause(stopped, &mut desk_work).await);
        },
        closed = &mut desk_work => return Err(lost(&closed?)),
        Some(rejected) = rejections.recv() => bail!("{rejected}"),
        () = told_to_end() => {
            progress.stop();
            park(&manager, &views).await;
            hosted.scribe.flush();
            return Ok(());
        }
    }
    progress.stop();
    mending.await?;
    // The agents live on until the process ends, and say nothing more.
    hosted.scribe.flush();
    let season = manager.desk().look(|season, _| season.clone()).await?;
    show(options, &season)?;
    let (matches, took) = (season.matches_completed(), began.elapsed());
    if let (Some(path), Some(tally)) = (&options.figures, &tally) {
        let Run { players, guests, referees, .. } = *options;
        let players = players + guests;
        let played = Played { players, referees, matches: matches.into(), all: took, playing: begun.await? };
        Figures::of(played, tally).write(path)?;
    }
    let memory = peak_memory_mb().map_or_else(String::new, |megabytes| format!(", {megabytes} MB at most"));
    eprintln!("{matches} matches in {took:.2?}{memory}. Everything is in {}.", home.root().display());
    eprintln!("Check every draw and result: league verify --home {} --league-id {league}", home.root().display());
    if options.stay {
        eprintln!("Serving until Ctrl-C. Watch it at {site}");
        told_to_end().await;
    }
    Ok(())
}

/// A herald for each core, who speaks to the players that live on it.
fn heralds(shards: &Shards, players: &[(u32, SmolStr, Bound, Core)], scheme: &str) -> Result<Heralds> {
    let mut heralds = Heralds::default();
    for core in shards.cores() {
        let here = players.iter().filter(|(.., home)| home.is(core)).map(|(.., bound, _)| bound.endpoint(scheme));
        heralds.add(core.runtime.clone(), core.client.clone(), here.collect::<Result<Vec<_>>>()?);
    }
    Ok(heralds)
}

/// When the league began to be played.
async fn start_of(desk: Desk) -> Start {
    let mut changes = desk.changes();
    loop {
        changes.mark_unchanged();
        let begun = desk.look(|season, _| season.current_round().is_some()).await;
        if begun.unwrap_or(true) || changes.changed().await.is_err() {
            return Start::now();
        }
    }
}

/// What the seed of `--seed` is derived under.
const SEEDED: &str = "seeded";

/// The kinds of players, as many as there are players: the given ones in turns.
fn strategies(options: &Run) -> Result<Vec<SmolStr>> {
    let given = if options.strategies.is_empty() { &options.usual()[..] } else { &options.strategies[..] };
    for kind in given {
        strategy(kind)?;
    }
    Ok(given.iter().cycle().take(options.players as usize).map(SmolStr::new).collect())
}

fn show(options: &Run, season: &Season) -> Result<()> {
    let standings = season.standings();
    if options.json {
        println!("{}", serde_json::to_string_pretty(&standings)?);
    } else {
        println!("{}", table::standings(&standings));
    }
    if let Some(champion) = season.champion() {
        eprintln!("Champion: {} ({}) with {} points.", champion.display_name, champion.player_id, champion.points);
    }
    Ok(())
}

/// Starts agents on the shards.
struct Hosted {
    manager: Endpoint,
    secure: Secure,
    world: World,
    home: Home,
    scribe: Scribe,
    rejected: mpsc::UnboundedSender<Rejected>,
}

impl Hosted {
    fn referee(&self, core: &Core, number: u32, bound: Bound, views: ViewWriter) -> Result<()> {
        let settings = RefereeSettings {
            name: format_smolstr!("Referee {number}"),
            wish: Some(RefereeId::numbered(number)),
            manager: self.manager.clone(),
            contact: bound.endpoint(self.secure.scheme())?,
            capacity: CAPACITY,
            games: vec![GameType::even_odd()],
            join_key: None,
            journal: Some((self.scribe.clone(), self.home.clone())),
            patience: Duration::from_secs(10),
            pause: Duration::from_millis(50),
        };
        let (world, server, rejected) = (self.world.clone(), self.secure.server(), self.rejected.clone());
        core.run(move |client| async move {
            let referee = Referee::new(settings, client, Some(views), world);
            let register = referee.clone();
            host(referee, bound, server, async move { register.register().await.map(|_| ()) }, &rejected).await;
        });
        Ok(())
    }

    fn player(&self, core: &Core, number: u32, kind: &SmolStr, bound: Bound, seed: Option<Seed>) -> Result<()> {
        let settings = PlayerSettings {
            name: format_smolstr!("{kind} {number}"),
            wish: Some(PlayerId::numbered(number)),
            manager: self.manager.clone(),
            contact: bound.endpoint(self.secure.scheme())?,
            join_key: None,
            home: Some(self.home.clone()),
            scribe: Some(self.scribe.clone()),
            // What was played before would make a repeated league another one.
            recalls: seed.is_none(),
            chance: seed.map_or(Chance::System, Chance::Seeded),
            patience: Duration::from_secs(10),
            pause: Duration::from_millis(50),
        };
        let thinker = thinker(kind, &self.secure)?;
        let (world, server, rejected) = (self.world.clone(), self.secure.server(), self.rejected.clone());
        core.run(move |client| async move {
            let player = Player::new(settings, thinker, client, world);
            let register = player.clone();
            host(player, bound, server, async move { register.register().await.map(|_| ()) }, &rejected).await;
        });
        Ok(())
    }
}

/// Serves an agent for good, and registers it meanwhile.
async fn host<A: Agent>(
    agent: A,
    bound: Bound,
    server: ServerSettings,
    register: impl Future<Output = Result<(), Rejected>>,
    rejected: &mpsc::UnboundedSender<Rejected>,
) {
    let listener = match bound.into_tokio() {
        Ok(listener) => listener,
        Err(error) => {
            tracing::error!(%error, "a port was lost");
            return;
        }
    };
    let registering = async {
        if let Err(rejection) = register.await {
            // Whoever listened for it has ended already.
            drop(rejected.send(rejection));
        }
    };
    let serving = serve(listener, Arc::new(agent), server, std::future::pending());
    let (served, ()) = tokio::join!(serving, registering);
    if let Err(error) = served {
        tracing::error!(%error, "an agent could not be served");
    }
}
