//! `league manager`, `league referee`, `league player`: one agent in its own process.
//!
//! Any start order works: agents keep trying until the manager is there.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use league_core::rules::seed::Seed;
use league_manager::league_actor::LeagueClosed;
use league_manager::{LeagueStopped, Manager, generate_key};
use league_player::chance::Chance;
use league_player::player::{Player, PlayerSettings};
use league_player::strategy::registry::strategies_for;
use league_protocol::message::start_match::MatchMode;
use league_protocol::sender::Role;
use league_protocol::token::Credential;
use league_referee::{Referee, RefereeSettings};
use league_store::home::Home;
use league_store::journal::{JournalLevel, JournalWriter};
use league_store::views::histories::HistoryWriter;
use league_store::views::writer::{ViewLimits, ViewWriter};
use league_wire::agent::Agent;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use league_wire::lan;
use league_wire::server::serve;
use league_wire::settings::ServerSettings;
use smol_str::SmolStr;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::check;
use crate::cli::{ManagerOptions, Place, PlayerOptions, RefereeOptions};
use crate::closing;
use crate::config::Configured;
use crate::config::agents::permitted;
use crate::descriptors;
use crate::invitation::Invitation;
use crate::keys::{GivenKeys, KeptKeys, Keys, given, strong};
use crate::listen::Bound;
use crate::logs;
use crate::news::ExpectedPlayers;
use crate::nickname::{nickname, random_nickname};
use crate::open::{FileWriters, ManagedLeague, OpenLeague, locked};
use crate::progress::{Expected, Progress};
use crate::reachable::Reachable;
use crate::secure::Secure;
use crate::show;
use crate::signals::{ORDERLY, shutdown_signal};
use crate::standby::{FollowedLeague, StandbyPlace, wait_to_lead};
use crate::strategies::strategy_runner;

const REGISTRATION_PAUSE: Duration = Duration::from_millis(200);
/// A reachable manager has answered by then; after it the agent prints what it waits for.
const SILENT_WAIT: Duration = Duration::from_secs(1);
/// Tasks between two polls of timers and sockets. With the default of 61 a busy agent would notice a deadline several
/// milliseconds late.
pub(crate) const EVENTS: u32 = 16;
pub(crate) const GRACE: Duration = Duration::from_secs(1);
/// How long a referee continues its running matches when it has to exit.
const FINISH_LIMIT: Duration = Duration::from_secs(3);

/// Runs `work` on this thread. An agent is many small tasks that wait for each other: moving them between threads costs
/// more than running them. Strategies, the log and files have their own threads.
pub(crate) fn in_runtime(work: impl Future<Output = Result<()>>) -> Result<()> {
    descriptors::expect_enough()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .event_interval(EVENTS)
        .enable_all()
        .build()
        .context("a runtime could not be started")?;
    let done = runtime.block_on(work);
    // A stalled strategy must not keep the process from exiting.
    runtime.shutdown_background();
    done
}

pub(crate) fn listen(place: &Place, configured: Option<u16>, whose: &str) -> Result<Bound> {
    Bound::to(place.host, place.port.or(configured).unwrap_or(0), whose)
}

async fn contact(place: &Place, bound: &Bound, secure: &Secure, manager: &Endpoint) -> Result<(Endpoint, Vec<String>)> {
    if let Some(contact) = place.advertise.first() {
        return Ok((contact.clone(), place.advertise.iter().map(|named| named.host().to_owned()).collect()));
    }
    if bound.address.ip().is_loopback() {
        return Ok((bound.endpoint(secure.scheme())?, Vec::new()));
    }
    let (found, names) = tokio::join!(lan::advertised(bound.address, secure.scheme(), manager), lan::own_names());
    let found = found?;
    let is_loopback = found.host().parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if bound.address.ip().is_unspecified() && is_loopback {
        eprintln!(
            "This machine has no address but loopback, so others cannot reach {found}; --advertise names another URL."
        );
    }
    Ok((found, names.into_iter().map(|(name, _)| name).collect()))
}

pub(crate) struct RunningServer {
    pub(crate) work: JoinHandle<std::io::Result<()>>,
    close: oneshot::Sender<()>,
}

impl RunningServer {
    pub(crate) fn start<A: Agent>(
        bound: Bound,
        allowed_hosts: Vec<String>,
        agent: A,
        settings: ServerSettings,
    ) -> Result<Self> {
        let listener = bound.into_tokio()?;
        let settings = ServerSettings { grace: GRACE, allowed_hosts, ..settings };
        let (close, closed) = oneshot::channel();
        let shutdown = async move {
            // An error only means that the sender was dropped.
            drop(closed.await);
        };
        Ok(Self { work: tokio::spawn(serve(listener, Arc::new(agent), settings, shutdown)), close })
    }

    /// Lets running requests finish in the background.
    pub(crate) fn detach(self) {
        drop(self.close);
    }

    /// Lets running requests finish, so that the manager gets the answer to its last notice.
    async fn close(self) -> Result<()> {
        drop(self.close);
        Ok(self.work.await??)
    }
}

async fn announce_wait<T>(registering: impl Future<Output = T>, manager: &Endpoint) -> T {
    let mut registering = pin!(registering);
    match tokio::time::timeout(SILENT_WAIT, &mut registering).await {
        Ok(registered) => registered,
        Err(_) => {
            eprintln!("Waiting for the manager at {manager}; LEAGUE_LOG=info tells why.");
            registering.await
        }
    }
}

fn with_advice(stopped: LeagueStopped) -> anyhow::Error {
    match stopped {
        LeagueStopped::TooFew { .. } => {
            anyhow!("{stopped}; start them meanwhile, or give them more time with --registration-window")
        }
        LeagueStopped::Refused(_) => stopped.into(),
    }
}

/// If the log cannot be written, that is the cause of every later refusal.
pub(crate) async fn stop_error(stopped: LeagueStopped, league_handle: &mut JoinHandle<LeagueClosed>) -> anyhow::Error {
    if matches!(stopped, LeagueStopped::Refused(_))
        && let Ok(Ok(closed)) = tokio::time::timeout(GRACE, league_handle).await
        && !matches!(closed, LeagueClosed::Stopped)
    {
        return closed_error(&closed);
    }
    with_advice(stopped)
}

pub(crate) fn closed_error(closed: &LeagueClosed) -> anyhow::Error {
    match closed {
        LeagueClosed::Stopped | LeagueClosed::Broken(_) => anyhow!("the league stopped: {closed}"),
        LeagueClosed::Deposed(_) => {
            anyhow!("{closed}. Start it again with --standby, and it follows the manager that leads now")
        }
        LeagueClosed::Gone(_) => anyhow!(
            "the league stopped: {closed}. No later result counts. If another manager runs on this home, stop it. If the log is gone, put \
             a copy in its place (`league verify` tells whether it is good). Then start the manager again"
        ),
        LeagueClosed::Log(_) => anyhow!(
            "the league stopped: {closed}. What was acknowledged is kept, and nothing else counts; mend that (is the disk full?) and \
             start it again with the same home: it goes on"
        ),
    }
}

/// Prepares a league for a later restart, and says so.
pub(crate) async fn save_for_restart(manager: &Manager, views: &ViewWriter) {
    let progress = save(manager, views).await.unwrap_or_default();
    eprintln!("Stopped{progress}; all of that is kept. Start it again with the same home and it goes on.");
}

/// All decisions are durable, and files are as complete as possible. Returns how far the league is.
pub(crate) async fn save(manager: &Manager, views: &ViewWriter) -> Option<String> {
    let saving = async {
        // The manager answers after everything before it is durable.
        let status = manager.league_handle().read(|season, _| season.status()).await;
        if let Err(fault) = manager.file().await {
            tracing::warn!(reason = fault.message, "the league's files are not complete");
        }
        if let Err(error) = views.flush().await {
            tracing::warn!(%error, "the league's files are not complete");
        }
        status
    };
    let status = tokio::time::timeout(ORDERLY, saving).await.ok()?.ok()?;
    Some(format!(", {} of {} matches played", status.matches_completed, status.total_matches))
}

pub(crate) async fn run_manager(options: &ManagerOptions) -> Result<()> {
    let environment = Environment::real();
    let home = options.league.open()?;
    let configured = Configured::read(&home, options.league.league_id.as_ref(), &options.place.tls)?;
    let secure = Secure::read(&configured.tls)?.behind(options.place.proxies(&configured.network));
    let mut rules = configured.league;
    let league = rules.league_id.clone();
    rules.limits = options.limits.override_limits(rules.limits);
    rules.game_type = options.game.clone().unwrap_or(rules.game_type);
    if let Some(format) = &options.format {
        rules = rules.with_format(format.clone());
    }
    rules = rules.with_games(options.games_per_match);
    rules.check_games()?;
    let seed = options.seed.map(|seed| Seed::new(seed, league.clone()));
    // Everything that depends on the manager's address is known before the first client connects.
    let bind = || listen(&options.place, Some(configured.network.manager_port), "the manager");
    let advertised = &options.place.advertise;
    let relay_key = generate_key(&environment);
    let (mut opened, bound, reachable) = if options.standby {
        let (lock, bound) = (locked(&home, &league, &environment)?, bind()?);
        let reachable = Reachable::find(&bound, secure.scheme(), advertised).await?;
        let followed = FollowedLeague {
            home: &home,
            league: &league,
            contact: &reachable.contact,
            relay_key: &relay_key,
            client: &secure.client(),
            root: "/",
        };
        let place = StandbyPlace {
            followed,
            bound: bound.again()?,
            allowed_hosts: reachable.names.clone(),
            server: ServerSettings { page_rate: configured.rates.visits, ..secure.server() },
        };
        let Some(followed) = wait_to_lead(place).await? else {
            eprintln!("Stopped. The standby led nothing.");
            return Ok(());
        };
        eprintln!("No other manager leads {league}; this one does now.");
        let opened = OpenLeague::take_over(home.clone(), lock, followed, rules, seed.as_ref(), &environment).await?;
        (opened, bound, reachable)
    } else {
        let opened = OpenLeague::open(home.clone(), rules, seed.as_ref(), &environment).await?;
        let bound = bind()?;
        let reachable = Reachable::find(&bound, secure.scheme(), advertised).await?;
        (opened, bound, reachable)
    };
    if opened.resumed {
        let state = opened.season().phase().as_str();
        eprintln!("Going on with {league} ({state}).");
    }
    let label = opened.season().config().label();
    let contact = reachable.contact.clone();
    let bound_to = bound.address.ip();
    let stored = match home.store() {
        Some(store) => Some(KeptKeys { digests: store.digests(&league)?, come_first: options.standby }),
        None => None,
    };
    let operator = strong(options.secrets.operator_token.as_ref(), "--operator-token")?.map(Credential::digest);
    let operator = KeptKeys::choose(stored.as_ref(), |stored| &stored.operator, operator, "--operator-token");
    let chosen = GivenKeys {
        referee: options.secrets.referee_key.as_ref(),
        player: options.secrets.player_key.as_ref(),
        players_need_key: options.secrets.players_need_key,
        stored,
    };
    let keys = Keys::choose(&chosen, bound_to, &environment)?;
    opened.announce(operator.as_ref(), &keys, &contact, &relay_key)?;
    let (expect_players, expect_referees) = (options.expect_players, options.expect_referees);
    let has_token = operator.is_some();
    let invitation = Invitation { reachable: &reachable, keys: &keys, has_token, expect_players, expect_referees };
    let settings = league_manager::ManagerSettings {
        expect_players,
        expect_referees,
        registration_window: Some(Duration::from_secs(options.registration_window)),
        seed,
        operator,
        referee_key: keys.digest(Role::Referee),
        player_key: keys.digest(Role::Player),
        here: Some(bound.address),
        contact: Some(contact.to_string()),
        own_addresses: lan::own_addresses,
        allowed_hosts: options.allow_host.clone(),
        mode: if options.stepped { MatchMode::Stepped } else { MatchMode::Flowing },
        answer_limit: configured.timeouts.response,
        inspector: options.require_check.then(|| check::inspector(opened.season().config().game_type.clone())),
        rates: configured.rates.manager,
        strikes: configured.rates.strikes(),
        ..league_manager::ManagerSettings::default()
    };
    opened.publish_address(&contact)?;
    let listed = configured.agents.players.iter().filter(|player| player.active);
    let listed = listed.map(|player| (player.id.clone(), player.name.clone().unwrap_or_default())).collect();
    let news =
        if options.json { None } else { Some(opened.news(ExpectedPlayers { players: expect_players, listed })?) };
    let writers = FileWriters::start(&home, logs::limits(JournalLevel::Debug)?)?;
    let ManagedLeague { manager, views, dashboard, repairing, work } =
        opened.manage(settings, &writers, (invitation.room(), String::from("/")), secure.client(), environment)?;
    let settings = ServerSettings {
        pages: Some(Arc::new(dashboard)),
        page_rate: configured.rates.visits,
        relay_key: Some(relay_key.digest()),
        ..secure.server()
    };
    let mut server = RunningServer::start(bound, reachable.names.clone(), manager.clone(), settings)?;
    eprintln!("{label}: the manager is at {contact}");
    eprintln!("{}", invitation.printed());
    if !bound_to.is_loopback() && !contact.is_secure() {
        eprintln!("Over HTTP, machines between the agents can read tokens; --tls-cert and --tls-key serve HTTPS.");
    }
    let mut league_handle = tokio::spawn(work);
    let expected = Expected { players: expect_players, guests: 0, referees: expect_referees, manager: contact.clone() };
    let progress = Progress::follow(manager.league_handle().clone(), expected, options.json);
    if let Some(news) = &news {
        news.above(progress.bar());
    }
    // A finished league only repeats its end, for agents that missed it.
    tokio::select! {
        ended = manager.conduct() => if let Err(stopped) = ended {
            return Err(stop_error(stopped, &mut league_handle).await);
        },
        closed = &mut league_handle => return Err(closed_error(&closed?)),
        served = &mut server.work => served??,
        () = shutdown_signal() => {
            progress.stop();
            server.close().await?;
            save_for_restart(&manager, &views).await;
            return Ok(());
        }
    }
    if let Some(news) = &news {
        news.flush();
    }
    progress.stop();
    let season = manager.league_handle().read(|season, _| season.clone()).await?;
    let closing = closing::of_league(&home, &season);
    show::final_standings(options.json, &season, &home)?;
    closing.iter().for_each(|line| eprintln!("{line}"));
    if options.exit_when_done {
        return Ok(repairing.await?);
    }
    eprintln!("The league is over. Serving until Ctrl-C.");
    shutdown_signal().await;
    Ok(())
}

pub(crate) async fn run_referee(options: &RefereeOptions) -> Result<()> {
    let home = Home::open(&options.join.home)?;
    let configured = Configured::read(&home, options.join.league_id.as_ref(), &options.join.place.tls)?;
    let secure = Secure::read(&configured.tls)?.behind(options.join.place.proxies(&configured.network));
    let known = configured.agents.referee(options.referee_id.as_ref());
    let offered = options.game.clone().map_or_else(|| configured.games.clone(), |game| vec![game]);
    let games = match known {
        Some(known) => permitted(known.id.as_str(), known.active, &known.game_types, &offered)?,
        None => offered,
    };
    home.prepare_for_agent()?;
    let port = options.referee_id.as_ref().and_then(|id| configured.referee_port(id));
    let managers = options.join.managers(&configured);
    let manager = managers[0].clone();
    let bound = listen(&options.join.place, port, "the referee")?;
    let (contact, names) = contact(&options.join.place, &bound, &secure, &manager).await?;
    let views = ViewWriter::start(home.clone(), ViewLimits::default())?;
    let listed = known.and_then(|known| known.name.clone());
    let name = options.join.name.clone().or(listed);
    let environment = Environment::real();
    let name = name.unwrap_or_else(|| match options.pull && options.referee_id.is_none() {
        true => random_nickname(&environment.random()),
        false => default_name("Referee", options.referee_id.as_ref(), &contact),
    });
    let capacity = options.capacity.or_else(|| known.and_then(|known| known.max_concurrent_matches));
    let settings = RefereeSettings {
        name,
        requested_id: options.referee_id.clone(),
        manager: manager.clone(),
        contact: contact.clone(),
        capacity: capacity.unwrap_or(configured.referee.max_concurrent_matches),
        pulls: options.pull,
        games,
        join_key: given(options.join.join_key.as_ref()).cloned(),
        operator: strong(options.operator_token.as_ref(), "--operator-token")?.map(Credential::digest),
        journal: Some((JournalWriter::start(logs::limits(JournalLevel::Debug)?)?, home.clone())),
        give_up_after: options.join.give_up_after,
        home: Some(home),
        answer_limit: configured.timeouts.register_referee,
        pause: REGISTRATION_PAUSE,
    };
    let referee = Referee::new(settings, secure.client_of(&managers), Some(views.clone()), environment);
    let mut server = RunningServer::start(bound, names, referee.clone(), secure.server())?;
    let work = async {
        let id = announce_wait(referee.register(), &manager).await?;
        eprintln!("{id} is ready for {manager}");
        referee.until_done().await;
        eprintln!("{}", referee.closing());
        anyhow::Ok(())
    };
    tokio::select! {
        done = work => done?,
        served = &mut server.work => served??,
        () = shutdown_signal() => match finish_matches(&referee).await {
            0 => eprintln!("Stopped; no match was left. Start it again and it registers again."),
            left => eprintln!("Stopped; matches left, to be played again: {left}. Start it again and it registers again."),
        }
    }
    views.flush().await?;
    server.close().await
}

/// Waits a short time for running matches; returns how many are left.
async fn finish_matches(referee: &Referee) -> usize {
    let running = referee.running();
    if running > 0 {
        eprintln!(
            "Stopping. Running matches: {running}; they have {FINISH_LIMIT:?} to end. Press Ctrl-C again to stop immediately."
        );
    }
    referee.wind_up(FINISH_LIMIT).await
}

pub(crate) async fn run_player(options: &PlayerOptions) -> Result<()> {
    let home = Home::open(&options.join.home)?;
    let configured = Configured::read(&home, options.join.league_id.as_ref(), &options.join.place.tls)?;
    let secure = Secure::read(&configured.tls)?.behind(options.join.place.proxies(&configured.network));
    let known = configured.agents.player(options.player_id.as_ref());
    let kind = options.strategy.clone().unwrap_or_else(|| configured.player.strategy.to_string());
    let mut strategy_runner = strategy_runner(&kind, &secure)?;
    if let Some(game) = &options.game {
        strategy_runner = strategy_runner.limited_to(std::slice::from_ref(game));
        ensure!(
            !strategy_runner.games().is_empty(),
            "the strategy {kind} does not play {game}; these do: {}",
            strategies_for(game).join(", ")
        );
    }
    if let Some(known) = known {
        let games = permitted(known.id.as_str(), known.active, &known.game_types, strategy_runner.games())?;
        strategy_runner = strategy_runner.limited_to(&games);
    }
    home.prepare_for_agent()?;
    let port = options.player_id.as_ref().and_then(|id| configured.player_port(id));
    let managers = options.join.managers(&configured);
    let manager = managers[0].clone();
    let bound = listen(&options.join.place, port, "the player")?;
    let (contact, names) = contact(&options.join.place, &bound, &secure, &manager).await?;
    let histories = HistoryWriter::start().context("the history cannot be written")?;
    let listed = known.and_then(|known| known.name.clone());
    // A player with a language model is named after the model.
    let noun = strategy_runner.model().unwrap_or("Player");
    let name = options.join.name.clone().or(listed);
    let name = name.unwrap_or_else(|| default_name(noun, options.player_id.as_ref(), &contact));
    let kind = strategy_runner.model().map_or_else(|| kind.clone(), |model| format!("llm:{model}"));
    let settings = PlayerSettings {
        name,
        requested_id: options.player_id.clone(),
        manager: manager.clone(),
        contact: contact.clone(),
        join_key: given(options.join.join_key.as_ref()).cloned(),
        home: Some(home),
        journal_writer: Some(JournalWriter::start(logs::limits(JournalLevel::Debug)?)?),
        histories: Some(histories.clone()),
        give_up_after: options.join.give_up_after,
        loads_history: true,
        chance: Chance::System,
        answer_limit: configured.timeouts.register_player,
        pause: REGISTRATION_PAUSE,
    };
    let player = Player::new(settings, strategy_runner, secure.client_of(&managers), Environment::real());
    player.on_news(|line| eprintln!("{line}"));
    let mut server = RunningServer::start(bound, names, player.clone(), secure.server())?;
    let work = async {
        let id = announce_wait(player.register(), &manager).await?;
        eprintln!("{id} plays {kind} for {manager}");
        player.until_done().await;
        anyhow::Ok(())
    };
    tokio::select! {
        done = work => done?,
        served = &mut server.work => served??,
        () = shutdown_signal() => eprintln!("Stopped. Start it again with the same home and it comes back into its league."),
    }
    histories.flush();
    server.close().await
}

/// The id if the agent asks for one, else a nickname.
fn default_name(kind: &str, id: Option<&impl std::fmt::Display>, contact: &Endpoint) -> SmolStr {
    match id {
        Some(id) => SmolStr::new(format!("{kind} {id}")),
        None => nickname(contact),
    }
}
