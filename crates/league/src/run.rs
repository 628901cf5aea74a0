//! `league run`: a whole league in one process, with real HTTP between its agents.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use league_core::rules::seed::Seed;
use league_core::season::config::LeagueConfig;
use league_core::season::{LeaguePhase, Season};
use league_manager::LeagueHandle;
use league_player::chance::Chance;
use league_player::player::{Player, PlayerSettings};
use league_player::strategy::registry::{strategies_for, strategy};
use league_protocol::id::{GameType, LeagueId, PlayerId, RefereeId};
use league_referee::{Referee, RefereeSettings};
use league_store::home::Home;
use league_store::journal::{JournalLevel, JournalWriter};
use league_store::views::histories::HistoryWriter;
use league_store::views::writer::ViewWriter;
use league_wire::agent::Agent;
use league_wire::call_tally::CallTally;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use league_wire::lan;
use league_wire::registration::Rejected;
use league_wire::server::serve;
use league_wire::settings::ServerSettings;
use serde_json::json;
use smol_str::{SmolStr, format_smolstr};
use tokio::sync::mpsc;

use crate::agents::{closed_error, in_runtime, save_for_restart, stop_error};
use crate::cli::Run;
use crate::closing;
use crate::config::Configured;
use crate::figures::{self, Played, Start, peak_memory_mb};
use crate::invitation::Invitation;
use crate::keys::{GivenKeys, Keys};
use crate::listen::Bound;
use crate::logs;
use crate::open::{self, FileWriters, ManagedLeague, OpenLeague};
use crate::orchestrator;
use crate::progress::{Expected, Progress};
use crate::reachable::Reachable;
use crate::secure::Secure;
use crate::shards::{Core, Shards};
use crate::show;
use crate::signals::shutdown_signal;
use crate::strategies::strategy_runner;
use crate::system_log::SystemLog;
use crate::words::counted;

const CAPACITY: u32 = 256;
/// Offset of the first player's port from the manager's.
const PLAYERS_AT: usize = 101;

pub(crate) fn run(options: &Run) -> Result<()> {
    if let Some(file) = &options.config {
        return orchestrator::run(options, file);
    }
    in_runtime(play(options))
}

async fn play(options: &Run) -> Result<()> {
    let home = options.store.home(&options.home)?;
    let mut configured = Configured::read(&home, options.league_id.as_ref(), &options.tls)?;
    configured.league.game_type = options.game.clone().unwrap_or(configured.league.game_type);
    if let Some(format) = &options.format {
        configured.league = configured.league.with_format(format.clone());
    }
    configured.league = configured.league.with_games(options.games_per_match);
    configured.league.check_games()?;
    let kinds = strategies(options, &configured.league.game_type)?;
    let tally = options.figures.as_ref().map(|_| Arc::new(CallTally::default()));
    let secure =
        Secure::read(&configured.tls)?.behind(configured.network.trusted_proxies.clone()).tallied(tally.clone());
    for kind in kinds.iter().collect::<BTreeSet<_>>() {
        strategy_runner(kind, &secure)?;
    }
    let league = match &options.league_id {
        Some(league) => league.clone(),
        None => open::unfinished(&home, &configured.league.league_id)?,
    };
    home.prepare_for_agent()?;
    let first = options.port.unwrap_or(configured.network.manager_port);
    let begun = home.has_league(&league)?;
    // The ports are taken before the league begins: a port in use must leave nothing behind.
    let places = if begun { None } else { Some(ReservedPorts::take(options, first, begun)?) };
    let log = SystemLog::open(&home)?;
    let rules = LeagueConfig { league_id: league.clone(), max_referee_capacity: CAPACITY, ..configured.league.clone() };
    let seed = options.seed.map(|seed| Seed::new(seed, league.clone()));
    let opened = OpenLeague::open(home.clone(), rules, seed.as_ref(), &Environment::real()).await?;
    let LeagueConfig { game_type: plays, format, games_per_match: games, .. } = opened.season().config();
    if options.game.as_ref().is_some_and(|wanted| wanted != plays) {
        bail!("{league} in {} plays {plays}; name a new league with --league-id", home.root().display());
    }
    if options.format.as_ref().is_some_and(|wanted| wanted != format) {
        bail!("{league} in {} has the format {format}; name a new league with --league-id", home.root().display());
    }
    if options.games_per_match.is_some_and(|wanted| wanted != games.get()) {
        let root = home.root().display();
        bail!("{league} in {root} has {games} games per match; name a new league with --league-id");
    }
    if opened.season().phase() == LeaguePhase::LeagueCompleted {
        opened.repair().await?;
        eprintln!("{league} in {} is over; this is how it ended.", home.root().display());
        return print_standings(options, opened.season(), &home);
    }
    if opened.resumed {
        eprintln!("Going on with {league}, round {}.", opened.season().current_round().map_or(0, |round| round.0));
    }
    let places = match places {
        Some(places) => places,
        None => ReservedPorts::take(options, first, begun)?,
    };
    let strategies = strategies(options, &opened.season().config().game_type)?;
    let run = LeagueRun { options, home, configured, secure, tally, league: league.clone(), log: &log };
    let done = run.play(opened, places, strategies).await;
    if let Err(error) = &done {
        log.error("LEAGUE_FAILED", format!("{league} failed: {error:#}"), &json!({"league_id": league}));
    }
    done
}

struct ReservedPorts {
    manager: Bound,
    referees: Vec<Bound>,
    players: Vec<Bound>,
}

impl ReservedPorts {
    /// Takes the ports from `first` on; free ones if it is 0. A busy port of a referee or a player is replaced, unless
    /// the league was `begun`: the season knows its agents by their ports.
    fn take(options: &Run, first: u16, begun: bool) -> Result<Self> {
        let host = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let agent = |offset: usize, whose: String| {
            let port = match first {
                0 => 0,
                first => u16::try_from(offset).ok().and_then(|offset| first.checked_add(offset)).unwrap_or(0),
            };
            if begun { Bound::to(host, port, &whose) } else { Bound::near(host, port, &whose) }
        };
        let manager = Bound::to(host, first, "the manager")?;
        let referees = (1..=options.referees as usize).map(|number| agent(number, format!("referee {number}")));
        let referees = referees.collect::<Result<Vec<_>>>()?;
        let players =
            (0..options.players as usize).map(|index| agent(PLAYERS_AT + index, format!("player {}", index + 1)));
        Ok(Self { manager, referees, players: players.collect::<Result<Vec<_>>>()? })
    }
}

struct LeagueRun<'a> {
    options: &'a Run,
    home: Home,
    configured: Configured,
    secure: Secure,
    tally: Option<Arc<CallTally>>,
    league: LeagueId,
    log: &'a SystemLog,
}

impl LeagueRun<'_> {
    async fn play(self, mut opened: OpenLeague, places: ReservedPorts, strategies: Vec<SmolStr>) -> Result<()> {
        let Self { options, home, configured, secure, tally, league, log } = self;
        let (began, environment) = (Instant::now(), Environment::real());
        let game = opened.season().config().game_type.clone();
        // With one line per message, logging would be most of the work of a league on one machine.
        let logs = logs::limits(JournalLevel::Info)?;
        // Only the seed decides, not the name of the league.
        let seed = options.seed.map(|seed| Seed::new(seed, SEEDED.parse().unwrap_or_else(|_| league.clone())));
        let front = places.manager;
        let at = front.endpoint(secure.scheme())?;
        let mut shards = Shards::start(|| secure.client())?;
        let referees: Vec<_> =
            (1..).zip(places.referees).map(|(number, bound): (u32, _)| (number, bound, shards.next())).collect();
        let players: Vec<_> = (1..)
            .zip(strategies.into_iter().zip(places.players))
            .map(|(number, (kind, bound)): (u32, _)| (number, kind, bound, shards.next()))
            .collect();
        let settings = league_manager::ManagerSettings {
            here: Some(front.address),
            contact: Some(at.to_string()),
            own_addresses: lan::own_addresses,
            expect_players: Some(options.players + options.guests),
            expect_referees: Some(options.referees),
            pace: options.pace.unwrap_or_default(),
            seed: seed.clone(),
            answer_limit: configured.timeouts.response,
            rates: configured.rates.manager,
            strikes: configured.rates.strikes(),
            ..league_manager::ManagerSettings::default()
        };
        opened.publish_address(&at)?;
        let invitation = Invitation {
            reachable: &Reachable::find(&front, secure.scheme(), &[]).await?,
            keys: &Keys::choose(&GivenKeys::default(), front.address.ip(), &environment)?,
            has_token: false,
            expect_players: settings.expect_players,
            expect_referees: settings.expect_referees,
        };
        let writers = FileWriters::start(&home, logs)?;
        let ManagedLeague { manager, views, dashboard, repairing, work } = opened.manage(
            settings,
            &writers,
            (invitation.room(), String::from("/")),
            secure.client(),
            environment.clone(),
        )?;
        let guests = match options.guests {
            0 => String::new(),
            guests => format!(", {} to come", counted(guests, "guest")),
        };
        let (playing, refereeing) = (counted(options.players, "player"), counted(options.referees, "referee"));
        eprintln!("{league}: {playing}{guests}, {refereeing}, manager at {at}");
        let site = at.beside("");
        eprintln!("Watch it at {site}");
        log.info(
            "LEAGUE_STARTED",
            format!("{league}: {playing}{guests}, {refereeing}"),
            &json!({"league_id": league, "manager": at.to_string()}),
        );
        let mut league_handle = tokio::spawn(work);
        let front = front.into_tokio()?;
        let settings =
            ServerSettings { pages: Some(Arc::new(dashboard)), page_rate: configured.rates.visits, ..secure.server() };
        tokio::spawn(serve(front, Arc::new(manager.clone()), settings, std::future::pending()));

        let (rejected, mut rejections) = mpsc::unbounded_channel::<Rejected>();
        let journal_writer = JournalWriter::start(logs).context("the agents' logs cannot be written")?;
        let histories = HistoryWriter::start().context("the players' histories cannot be written")?;
        let (at, home) = (&at, &home);
        let hosted = HostedAgents { game, at, home, secure, environment, journal_writer, histories, rejected };
        for (number, bound, core) in referees {
            let (id, endpoint) = (RefereeId::numbered(number), bound.endpoint(hosted.secure.scheme())?.to_string());
            log.info("AGENT_STARTED", format!("{id} at {endpoint}"), &json!({"id": id, "endpoint": endpoint}));
            hosted.referee(&core, number, bound, views.clone())?;
        }
        for (number, kind, bound, core) in players {
            let (id, endpoint) = (PlayerId::numbered(number), bound.endpoint(hosted.secure.scheme())?.to_string());
            let data = json!({"id": id, "endpoint": endpoint, "strategy": kind});
            log.info("AGENT_STARTED", format!("{id} plays {kind} at {endpoint}"), &data);
            hosted.player(&core, number, &kind, bound, seed.clone())?;
        }

        let expected = Expected {
            players: Some(options.players + options.guests),
            guests: options.guests,
            referees: Some(options.referees),
            manager: at.clone(),
        };
        let progress = Progress::follow(manager.league_handle().clone(), expected, options.json);
        let start = tokio::spawn(start_of(manager.league_handle().clone()));
        let league_work = manager.conduct();
        tokio::select! {
            ended = league_work => if let Err(stopped) = ended {
                progress.stop();
                return Err(stop_error(stopped, &mut league_handle).await);
            },
            closed = &mut league_handle => {
                progress.stop();
                return Err(closed_error(&closed?));
            }
            Some(rejected) = rejections.recv() => {
                progress.stop();
                bail!("{rejected}");
            }
            () = shutdown_signal() => {
                progress.stop();
                save_for_restart(&manager, &views).await;
                hosted.histories.flush();
                hosted.journal_writer.flush();
                manager.flush_log();
                log.info("LEAGUE_STOPPED", format!("{league} was told to end"), &json!({"league_id": league}));
                return Ok(());
            }
        }
        progress.stop();
        repairing.await?;
        // The agents run until the process exits, and print nothing more.
        hosted.histories.flush();
        hosted.journal_writer.flush();
        manager.flush_log();
        let season = manager.league_handle().read(|season, _| season.clone()).await?;
        print_standings(options, &season, home)?;
        let (matches, took) = (season.matches_completed(), began.elapsed());
        closing::technical_losses(home, &season).iter().for_each(|line| eprintln!("{line}"));
        let played = counted(matches, "match");
        let data = json!({"league_id": league, "matches": matches, "seconds": took.as_secs_f64()});
        log.info("LEAGUE_COMPLETED", format!("{league} is over: {played} in {took:.2?}"), &data);
        if let (Some(path), Some(tally)) = (&options.figures, &tally) {
            let Run { players, guests, referees, .. } = *options;
            let players = players + guests;
            let played = Played { players, referees, matches: matches.into(), all: took, playing: start.await? };
            figures::write(path, &played, tally)?;
        }
        let memory = peak_memory_mb().map_or_else(String::new, |megabytes| format!(", {megabytes} MB at most"));
        eprintln!("{played} in {took:.2?}{memory}. Everything is in {}.", home.root().display());
        let which = show::flags(home, &league);
        eprintln!("Check every draw and result: league verify{which}");
        if options.stay {
            eprintln!("Serving until Ctrl-C. Watch it at {site}");
            shutdown_signal().await;
        } else {
            eprintln!("Look at it in a browser:      league show{which}");
        }
        Ok(())
    }
}

async fn start_of(league_handle: LeagueHandle) -> Start {
    let mut changes = league_handle.changes();
    loop {
        changes.mark_unchanged();
        let begun = league_handle.read(|season, _| season.current_round().is_some()).await;
        if begun.unwrap_or(true) || changes.changed().await.is_err() {
            return Start::now();
        }
    }
}

const SEEDED: &str = "seeded";

const DEFAULT_STRATEGIES: [&str; 4] = ["random", "frequency", "pattern", "markov"];

/// Assigns the given strategies in turn.
fn strategies(options: &Run, game: &GameType) -> Result<Vec<SmolStr>> {
    let known = strategies_for(game);
    let defaults = if *game == GameType::even_odd() { &DEFAULT_STRATEGIES[..] } else { &known };
    let given: Vec<&str> = options.strategies.iter().map(String::as_str).collect();
    for kind in &given {
        if !strategy(kind)?.games().contains(game) {
            bail!("the strategy {kind} does not play {game}; these do: {}", known.join(", "));
        }
    }
    let given = if given.is_empty() { defaults } else { &given };
    Ok(given.iter().cycle().take(options.players as usize).map(SmolStr::new).collect())
}

fn print_standings(options: &Run, season: &Season, home: &Home) -> Result<()> {
    show::final_standings(options.json, season, home)?;
    if let Some(champion) = season.champion() {
        eprintln!("Champion: {} ({}) with {} points.", champion.display_name, champion.player_id, champion.points);
    }
    Ok(())
}

struct HostedAgents<'a> {
    game: GameType,
    /// The manager's endpoint.
    at: &'a Endpoint,
    home: &'a Home,
    secure: Secure,
    environment: Environment,
    journal_writer: JournalWriter,
    histories: HistoryWriter,
    rejected: mpsc::UnboundedSender<Rejected>,
}

impl HostedAgents<'_> {
    fn referee(&self, core: &Core, number: u32, bound: Bound, views: ViewWriter) -> Result<()> {
        let settings = RefereeSettings {
            name: format_smolstr!("Referee {number}"),
            requested_id: Some(RefereeId::numbered(number)),
            manager: self.at.clone(),
            contact: bound.endpoint(self.secure.scheme())?,
            capacity: CAPACITY,
            pulls: false,
            games: vec![self.game.clone()],
            join_key: None,
            operator: None,
            journal: Some((self.journal_writer.clone(), self.home.clone())),
            home: Some(self.home.clone()),
            give_up_after: None,
            answer_limit: Duration::from_secs(10),
            pause: Duration::from_millis(50),
        };
        let (environment, server, rejected) = (self.environment.clone(), self.secure.server(), self.rejected.clone());
        core.run(move |client| async move {
            let referee = Referee::new(settings, client, Some(views), environment);
            let register = referee.clone();
            host(referee, bound, server, async move { register.register().await.map(|_| ()) }, &rejected).await;
        });
        Ok(())
    }

    fn player(&self, core: &Core, number: u32, kind: &SmolStr, bound: Bound, seed: Option<Seed>) -> Result<()> {
        let strategy_runner = strategy_runner(kind, &self.secure)?;
        let settings = PlayerSettings {
            // A player with a language model is named after the model.
            name: format_smolstr!("{} {number}", strategy_runner.model().unwrap_or(kind)),
            requested_id: Some(PlayerId::numbered(number)),
            manager: self.at.clone(),
            contact: bound.endpoint(self.secure.scheme())?,
            join_key: None,
            home: Some(self.home.clone()),
            journal_writer: Some(self.journal_writer.clone()),
            histories: Some(self.histories.clone()),
            give_up_after: None,
            // Memories of earlier leagues would change a repeated one.
            loads_history: seed.is_none(),
            chance: seed.map_or(Chance::System, Chance::Seeded),
            answer_limit: Duration::from_secs(10),
            pause: Duration::from_millis(50),
        };
        let (environment, server, rejected) = (self.environment.clone(), self.secure.server(), self.rejected.clone());
        core.run(move |client| async move {
            let player = Player::new(settings, strategy_runner, client, environment);
            let register = player.clone();
            host(player, bound, server, async move { register.register().await.map(|_| ()) }, &rejected).await;
        });
        Ok(())
    }
}

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
            // The receiver may have ended already.
            drop(rejected.send(rejection));
        }
    };
    let serving = serve(listener, Arc::new(agent), server, std::future::pending());
    let (served, ()) = tokio::join!(serving, registering);
    if let Err(error) = served {
        tracing::error!(%error, "an agent could not be served");
    }
}
