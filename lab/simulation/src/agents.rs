//! The programs of the simulated processes: the real manager, referees and players, assembled as in the commands of
//! `league`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use league_core::rules::seed::Seed;
use league_core::season::Season;
use league_manager::{LeagueHandle, Manager, ManagerSettings, Standby};
use league_player::chance::Chance;
use league_player::player::{Player, PlayerSettings};
use league_player::strategy::registry::strategy;
use league_player::strategy_runner::StrategyRunner;
use league_protocol::id::{PlayerId, RefereeId};
use league_protocol::message::operate::DisputeDecision;
use league_protocol::time::Timestamp;
use league_referee::{Referee, RefereeSettings};
use league_store::home::Home;
use league_store::log::election::{Election, ElectionStep};
use league_store::log::{EventLog, replay};
use league_wire::agent::Agent;
use league_wire::client::{Client, ClientSettings};
use league_wire::environment::Environment;
use league_wire::net::{Connector, Listener};
use league_wire::registration::Rejected;
use league_wire::relay::{Leader, Relay};
use league_wire::server::serve;
use league_wire::settings::ServerSettings;
use smol_str::format_smolstr;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::disk::Disk;
use crate::hostile::Adversaries;
use crate::hostile::player::pester;
use crate::hostile::tamper::{TamperedConnector, TamperedListener};
use crate::process::Exit;
use crate::process_id::ProcessId;
use crate::rng::Rng;
use crate::scenario::{DECIDED_AFTER, Scenario};
use crate::shared_store::{Fence, POLL, SharedLog, SharedStore};
use crate::socket::SimConnector;

pub const WINDOW: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(100);
/// How often the checker compares the manager's season.
const PROBE: Duration = Duration::from_millis(130);
const GRACE: Duration = Duration::from_secs(1);
const EPOCH: i64 = 1_767_225_600_000;

/// What a process tells the checker, in addition to its messages.
#[derive(Clone, Debug)]
pub enum Signal {
    /// The manager opened its log: its season and the number of events.
    Resumed(Box<Season>, u64),
    /// The season of a manager, and the number of durable events when the checker asked for it.
    Season(Box<Season>, ProcessId, u64),
    /// An agent is registered.
    Admitted(ProcessId),
    /// The manager has told all agents that the league is over.
    Concluded,
}

#[derive(Clone, Debug)]
pub struct RunContext {
    pub scenario: Arc<Scenario>,
    pub disk: Disk,
    /// Of a league with two managers.
    pub store: Option<SharedStore>,
    /// The home for the players' history, if they keep one.
    pub home: Option<PathBuf>,
    /// The error of each clock, in milliseconds.
    pub clocks: Arc<Vec<AtomicI64>>,
    pub adversaries: Adversaries,
    signals: Arc<Mutex<Vec<Signal>>>,
}

impl RunContext {
    pub fn new(scenario: Arc<Scenario>, disk: Disk, fence: Fence, home: Option<PathBuf>) -> Self {
        let clocks = Arc::new(scenario.processes().map(|_| AtomicI64::new(0)).collect());
        let adversaries = Adversaries::of(&scenario);
        let store = scenario.standby.map(|lost| disk.shared(scenario.seed, fence, lost));
        Self { scenario, disk, store, home, clocks, adversaries, signals: Arc::default() }
    }

    /// Whether this process is the manager, or the one of two that leads.
    pub fn leads(&self, process: ProcessId) -> bool {
        self.store.as_ref().is_none_or(|store| store.holder() == Some(process))
    }

    pub fn signals(&self) -> Vec<Signal> {
        std::mem::take(&mut *self.signals.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn signal(&self, signal: Signal) {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner).push(signal);
    }

    /// Clock and random numbers of a process, different after each restart.
    fn environment(&self, connector: &SimConnector, life: u64) -> Environment {
        let (clock, clocks, index) = (connector.clock, Arc::clone(&self.clocks), connector.process.index());
        let rng = Mutex::new(Rng::new(self.scenario.seed, &[5, u64::from(connector.process.0), life]));
        Environment::new(
            move || {
                let wrong = clocks.get(index).map_or(0, |wrong| wrong.load(Ordering::Relaxed));
                Timestamp::from_unix_millis(EPOCH + wrong + i64::try_from(clock.now().0).unwrap_or_default())
            },
            move || rng.lock().unwrap_or_else(PoisonError::into_inner).bytes(),
        )
    }

    fn client(&self, connector: &SimConnector, environment: &Environment) -> Client {
        let environment = environment.clone();
        let plain = connector.clone();
        let connector: Arc<dyn Connector> = match self.adversaries.of_process(connector.process) {
            Some(adversary) => Arc::new(TamperedConnector { connector: plain, adversary }),
            None => Arc::new(plain),
        };
        let managers = self.scenario.standby.map(|_| [ProcessId::MANAGER, ProcessId::STANDBY]).into_iter().flatten();
        Client::new(ClientSettings {
            connector,
            clock: Arc::new(move || environment.now()),
            managers: managers.filter_map(|manager| manager.endpoint().ok()).collect(),
            ..ClientSettings::default()
        })
    }

    /// Follows the other manager until its lease is free.
    async fn wait_to_lead(
        &self,
        store: &SharedStore,
        connector: &SimConnector,
        environment: &Environment,
    ) -> Result<SharedLog, Exit> {
        let relay = Arc::new(Relay::new(self.client(connector, environment)));
        let settings = ServerSettings { relay: Some(Arc::clone(&relay)), ..ServerSettings::default() };
        let standby = Standby::new(self.scenario.rules.league_id.clone(), environment.clone());
        let _server = Served::start(connector.listen(), standby, settings);
        let mut election = Election::default();
        loop {
            match store.compete(&mut election, connector.process, connector.clock.now()) {
                ElectionStep::Lead { epoch } => {
                    return Ok(store.log(election, epoch, connector.process, connector.clock));
                }
                ElectionStep::Stop => return Err(Exit::Failed(String::from("the store has lost a lease"))),
                ElectionStep::Follow | ElectionStep::Take => {
                    let leader = store.holder().filter(|leader| *leader != connector.process);
                    let endpoint = leader.and_then(|leader| leader.endpoint().ok());
                    relay.set_leader(endpoint.map(|endpoint| Leader { endpoint, relay_key: None }));
                    tokio::time::sleep(POLL).await;
                }
            }
        }
    }

    fn seed(&self) -> Seed {
        Seed::new(self.scenario.seed, self.scenario.rules.league_id.clone())
    }

    pub async fn manage(self, connector: SimConnector, life: u64) -> Exit {
        let scenario = Arc::clone(&self.scenario);
        let environment = self.environment(&connector, life);
        let log: Box<dyn EventLog> = match &self.store {
            None => Box::new(self.disk.open()),
            Some(store) => match self.wait_to_lead(store, &connector, &environment).await {
                Ok(log) => Box::new(log),
                Err(exit) => return exit,
            },
        };
        let (season, head) = match replay(&log, |_, _| {}).map(|(replay, head)| (replay.finish(), head)) {
            Ok((Ok(season), head)) => (season, head),
            Ok((Err(_), head)) => {
                let lots = if scenario.seeded { self.seed().lot_secret() } else { environment.random() };
                let (season, opened) = Season::open(scenario.rules.clone().with_lots(lots), environment.now());
                match log.append(head, vec![opened]).await {
                    Ok(head) => (season, head),
                    Err(error) => return Exit::Failed(error.to_string()),
                }
            }
            Err(error) => return Exit::Failed(error.to_string()),
        };
        self.signal(Signal::Resumed(Box::new(season.clone()), head.seq));
        let settings = ManagerSettings {
            expect_players: u32::try_from(scenario.strategies.len()).ok(),
            expect_referees: Some(u32::from(scenario.referees)),
            registration_window: Some(WINDOW),
            answer_limit: scenario.answer_limit,
            referee_check_interval: scenario.referee_check_interval,
            pace: scenario.pace,
            seed: scenario.seeded.then(|| self.seed()),
            ..ManagerSettings::default()
        };
        let rules = season.config().clone();
        let (league_handle, work) = LeagueHandle::open(season, head, log, environment.clone(), |_| ());
        let client = self.client(&connector, &environment);
        let manager = Manager::new(&rules, settings, league_handle, client, None, environment);
        let _server = self.serve(&connector, manager.clone());
        let probe = manager.league_handle().clone();
        let (probing, process) = (self.clone(), connector.process);
        tokio::spawn(async move {
            let durable = || probing.disk.reader().head().map_or(0, |head| head.seq);
            let mut before = durable();
            while let Ok(season) = probe.read(|season, _| season.clone()).await {
                probing.signal(Signal::Season(Box::new(season), process, before));
                tokio::time::sleep(PROBE).await;
                before = durable();
            }
        });
        if let Some((number, later)) = scenario.withdrawal {
            tokio::spawn(withdraw(manager.clone(), PlayerId::numbered(number), later));
        }
        tokio::spawn(decide_disputes(manager.clone(), scenario.decision));
        let conducting = async {
            match manager.conduct().await {
                Ok(()) => {
                    self.signal(Signal::Concluded);
                    std::future::pending().await
                }
                Err(stopped) => Exit::Failed(stopped.to_string()),
            }
        };
        tokio::select! {
            biased;
            closed = work => Exit::Failed(closed.to_string()),
            stopped = conducting => stopped,
        }
    }

    pub async fn officiate(self, connector: SimConnector, life: u64, number: u32) -> Exit {
        let scenario = &self.scenario;
        let environment = self.environment(&connector, life);
        let (Ok(manager), Ok(contact)) = (ProcessId::MANAGER.endpoint(), connector.process.endpoint()) else {
            return Exit::Failed(String::from("the places have no endpoints"));
        };
        let settings = RefereeSettings {
            requested_id: Some(RefereeId::numbered(number)),
            capacity: scenario.capacity,
            pulls: scenario.pulling.includes(number),
            games: vec![scenario.rules.game_type.clone()],
            answer_limit: scenario.answer_limit,
            pause: PAUSE,
            ..RefereeSettings::new(format_smolstr!("Referee {number}"), manager, contact)
        };
        let referee = Referee::new(settings, self.client(&connector, &environment), None, environment);
        let server = self.serve(&connector, referee.clone());
        let registered = referee.register().await.map(|_| ());
        self.take_part(registered, referee.until_done(), connector.process, server).await
    }

    /// A hostile referee may abandon its matches and start again.
    pub async fn officiate_hostile(self, connector: SimConnector, life: u64, number: u32) -> Exit {
        for again in 0.. {
            let officiating = self.clone().officiate(connector.clone(), 1000 * life + again, number);
            tokio::select! {
                biased;
                exit = officiating => return exit,
                () = self.adversaries.restart.notified() => {}
            }
        }
        Exit::Done
    }

    pub async fn play(self, connector: SimConnector, life: u64, number: u32) -> Exit {
        let scenario = &self.scenario;
        let environment = self.environment(&connector, life);
        let (Ok(manager), Ok(contact)) = (ProcessId::MANAGER.endpoint(), connector.process.endpoint()) else {
            return Exit::Failed(String::from("the places have no endpoints"));
        };
        let index = usize::try_from(number).unwrap_or_default().saturating_sub(1);
        let kind = scenario.strategies.get(index).copied().unwrap_or("random");
        let Ok(strategy) = strategy(kind) else { return Exit::Failed(format!("there is no strategy {kind}")) };
        let settings = PlayerSettings {
            requested_id: Some(PlayerId::numbered(number)),
            home: self.home.clone().map(Home::at),
            loads_history: self.home.is_some(),
            chance: Chance::Seeded(self.seed()),
            answer_limit: scenario.answer_limit,
            pause: PAUSE,
            ..PlayerSettings::new(format_smolstr!("{kind} {number}"), manager, contact)
        };
        let strategy_runner = StrategyRunner::new(strategy).on_the_callers_task();
        let player = Player::new(settings, strategy_runner, self.client(&connector, &environment), environment);
        if let Some(hostile) = self.adversaries.players.get(&connector.process)
            && let Ok(manager) = ProcessId::MANAGER.endpoint()
        {
            let client =
                Client::new(ClientSettings { connector: Arc::new(connector.clone()), ..ClientSettings::default() });
            tokio::spawn(pester(Arc::clone(hostile), client, manager));
        }
        let server = self.serve(&connector, player.clone());
        let registered = player.register().await.map(|_| ());
        self.take_part(registered, player.until_done(), connector.process, server).await
    }

    fn serve<A: Agent>(&self, connector: &SimConnector, agent: A) -> Served {
        let listener = connector.listen();
        match self.adversaries.of_process(connector.process) {
            Some(adversary) => {
                Served::start(TamperedListener { listener, adversary }, agent, ServerSettings::default())
            }
            None => Served::start(listener, agent, ServerSettings::default()),
        }
    }

    async fn take_part(
        &self,
        registered: Result<(), Rejected>,
        until_done: impl Future<Output = ()>,
        process: ProcessId,
        server: Served,
    ) -> Exit {
        if let Err(rejected) = registered {
            return Exit::TurnedAway(rejected.reason().to_owned());
        }
        self.signal(Signal::Admitted(process));
        until_done.await;
        server.close().await;
        Exit::Done
    }
}

struct Served {
    work: AbortOnDrop,
    close: oneshot::Sender<()>,
}

/// Its process may start it again.
struct AbortOnDrop(JoinHandle<std::io::Result<()>>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Served {
    fn start<A: Agent>(listener: impl Listener, agent: A, settings: ServerSettings) -> Self {
        let (close, closed) = oneshot::channel();
        let shutdown = async move {
            // An error only means that the sender was dropped.
            drop(closed.await);
        };
        let settings = ServerSettings { grace: GRACE, ..settings };
        Self { work: AbortOnDrop(tokio::spawn(serve(listener, Arc::new(agent), settings, shutdown))), close }
    }

    /// Lets running requests finish, so that the peer that announced the end gets its answer.
    async fn close(self) {
        drop(self.close);
        let mut work = self.work;
        drop((&mut work.0).await);
    }
}

/// The operator withdraws a player during the league, and again after a restart of the manager.
async fn withdraw(manager: Manager, player: PlayerId, later: Duration) {
    let mut changes = manager.league_handle().changes();
    while let Ok(begun) = manager.league_handle().read(|season, _| season.current_round().is_some()).await {
        if begun {
            tokio::time::sleep(later).await;
            // Refused when the league is over.
            drop(manager.withdraw(player).await);
            return;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}

/// The operator decides about each match that waits for a decision.
async fn decide_disputes(manager: Manager, decision: DisputeDecision) {
    let waiting = |season: &Season| -> Vec<_> {
        season.alerts().filter(|(.., waits)| *waits).map(|(match_id, ..)| match_id.clone()).collect()
    };
    while let Ok(waiting) = manager.league_handle().read(move |season, _| waiting(season)).await {
        tokio::time::sleep(DECIDED_AFTER).await;
        for match_id in waiting {
            // Refused if it was decided meanwhile.
            drop(manager.resolve_dispute(match_id, decision).await);
        }
    }
}
