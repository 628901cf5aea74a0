//! `league run --config FILE`: starts or contacts the agents of the file, waits for them, plays the league, restarts agents that die, and
//! stops what it started. See [`crate::config::plan`] for the file.
//!
//! Every started agent has its own process. Agents that already run are only contacted, and keep running.

mod child;
mod supervisor;

use std::cell::Cell;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use futures_util::future::join_all;
use league_core::rules::registry::all_games;
use league_core::season::LeaguePhase;
use league_manager::generate_key;
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, LeagueId, PlayerId};
use league_protocol::message::league_view::{AgentEntry, GetLeague, LeaguePage, LeagueView};
use league_protocol::message::operate::{Empty, LeagueCommand, StatusAnswer};
use league_protocol::message::registration::{AgentMeta, LeagueRegisterRequest, RegisterResponse, RegistrationStatus};
use league_protocol::message::step::RegisterToLeague;
use league_protocol::quirk::Quirks;
use league_protocol::sender::{Role, Sender};
use league_protocol::table::Call;
use league_store::home::Home;
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use serde_json::json;
use smol_str::SmolStr;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};

use crate::agents::in_runtime;
use crate::ask::AgentClient;
use crate::cli::Run;
use crate::config::Configured;
use crate::config::plan::{Plan, Planned, Start};
use crate::secure::Secure;
use crate::signals::shutdown_signal;
use crate::source::Source;
use crate::system_log::SystemLog;
use crate::{open, show, table};
use supervisor::{Report, Supervisor};

const PING_LIMIT: Duration = Duration::from_secs(5);
/// The pause between two calls to an agent that is not ready.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The time in which agents register themselves; S1 5.1 lets the orchestrator register the others.
const REGISTRATION_LIMIT: Duration = Duration::from_secs(3);

pub(crate) fn run(options: &Run, file: &Path) -> Result<()> {
    let (plan, warnings) = Plan::read(file)?;
    warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    let home = Home::open(&options.home)?;
    let configured = Configured::read(&home, options.league_id.as_ref(), &options.tls)?;
    let secure = Secure::read(&configured.tls)?;
    home.prepare_for_agent()?;
    let league = match &options.league_id {
        Some(league) => league.clone(),
        None => open::unfinished(&home, &configured.league.league_id)?,
    };
    let log = SystemLog::open(&home)?;
    let keys = PlannedKeys::of(&plan.manager);
    let mut over = false;
    let done = in_runtime(async {
        let arguments = Arguments { options, plan: &plan, league: &league, keys: &keys };
        let orchestration = Orchestration { plan: &plan, arguments, client: secure.client(), log: &log };
        over = orchestration.play().await?;
        Ok(())
    });
    if let Err(error) = &done {
        log.error("LEAGUE_FAILED", format!("{error:#}"), &json!({"league_id": league}));
    }
    done?;
    if over {
        log.info("LEAGUE_COMPLETED", format!("{league} is over"), &json!({"league_id": league}));
        print_standings(options, &plan, &league)
    } else {
        log.info("LEAGUE_STOPPED", format!("{league} was told to end"), &json!({"league_id": league}));
        eprintln!("Stopped. Start it again with the same file and home and it goes on.");
        Ok(())
    }
}

/// From the home if this program started the manager, else from the manager.
fn print_standings(options: &Run, plan: &Plan, league: &LeagueId) -> Result<()> {
    let started = plan.manager.start != Start::Contact;
    let rows = if started {
        open::read(&Home::at(&options.home), league)?.standings()
    } else {
        Source::at(&plan.manager.endpoint, &options.tls.files())?.standings()?
    };
    let which = if started {
        show::flags(&Home::at(&options.home), league)
    } else {
        format!(" --manager {}", plan.manager.endpoint)
    };
    show::print(options.json, &rows, || table::excerpt(&rows, &which))?;
    if started {
        eprintln!("Check every draw and result: league verify{which}");
        eprintln!("Look at it in a browser:      league show{which}");
    }
    Ok(())
}

/// Any answer counts: an agent of another implementation may not know `ping`.
async fn answers(client: &Client, endpoint: &Endpoint) -> bool {
    let envelope = Envelope {
        sender: Sender::unregistered(Role::Operator, "orchestrator"),
        timestamp: Environment::real().now(),
        conversation_id: ConversationId::named("conv-orchestrator"),
        auth_token: None,
    };
    client.call(endpoint, &PeerDialect::default(), &envelope, &Call::Ping(Empty {}), PING_LIMIT).await.is_ok()
}

#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a> {
    options: &'a Run,
    plan: &'a Plan,
    league: &'a LeagueId,
    keys: &'a PlannedKeys,
}

/// The keys that a manager takes from its environment, and that the agents beside it need. A manager prints a key that it
/// generates only on its terminal, where its referees cannot read it.
#[derive(Debug, Default)]
struct PlannedKeys {
    referee: Option<String>,
    player: Option<String>,
}

impl PlannedKeys {
    /// The keys in the environment. A manager that other machines can reach gets a new referee key if there is none.
    fn of(manager: &Planned) -> Self {
        let given = |name: &str| std::env::var(name).ok().filter(|key| !key.is_empty());
        let needed = manager.start != Start::Contact && !is_local(manager.endpoint.host());
        let generated = || needed.then(|| generate_key(&Environment::real()).reveal().to_owned());
        Self { referee: given(REFEREE_KEY).or_else(generated), player: given(PLAYER_KEY) }
    }

    /// The variables for an agent of this role. No agent gets the key of another role.
    fn variables(&self, role: Role) -> Vec<(&'static str, &str)> {
        let variables = match role {
            Role::Referee => vec![(JOIN_KEY, &self.referee)],
            Role::Player => vec![(JOIN_KEY, &self.player)],
            Role::Manager | Role::Operator => vec![(REFEREE_KEY, &self.referee), (PLAYER_KEY, &self.player)],
        };
        variables.into_iter().filter_map(|(name, key)| Some((name, key.as_deref()?))).collect()
    }
}

const REFEREE_KEY: &str = "LEAGUE_REFEREE_KEY";
const PLAYER_KEY: &str = "LEAGUE_PLAYER_KEY";
const JOIN_KEY: &str = "LEAGUE_JOIN_KEY";

impl Arguments<'_> {
    fn manager(&self) -> String {
        self.plan.manager.endpoint.to_string()
    }

    fn of(&self, agent: &Planned) -> Result<Vec<OsString>> {
        let (plan, endpoint) = (self.plan, &agent.endpoint);
        let mut words: Vec<OsString> = vec![agent.role.to_string().into()];
        let mut add = |flag: &str, value: OsString| words.extend([OsString::from(flag), value]);
        // With a host name the agent listens at its default, loopback.
        if endpoint.host().parse::<std::net::IpAddr>().is_ok() {
            add("--host", endpoint.host().into());
        }
        add("--port", endpoint.port().to_string().into());
        add("--advertise", endpoint.to_string().into());
        add("--home", self.options.home.clone().into());
        let tls = self.options.tls.files();
        for (flag, file) in [("--tls-cert", tls.certificate), ("--tls-key", tls.key), ("--ca", tls.authority)] {
            if let Some(file) = file {
                add(flag, file.into());
            }
        }
        match agent.role {
            Role::Manager => {
                add("--league-id", self.league.as_str().into());
                add("--expect-players", plan.players.len().to_string().into());
                add("--expect-referees", plan.referees.len().to_string().into());
                // Longer than the orchestrator waits, so that it names the missing agents before the manager gives up.
                add("--registration-window", (2 * plan.wait.as_secs() + 5).to_string().into());
                for agent in plan.agents().filter(|agent| agent.start == Start::Contact) {
                    add("--allow-host", agent.endpoint.host().into());
                }
                words.extend(["--exit-when-done".into(), "--json".into()]);
            }
            Role::Referee | Role::Player => {
                add("--manager", self.manager().into());
                if let Some(id) = &agent.id {
                    add(if agent.role == Role::Player { "--player-id" } else { "--referee-id" }, id.as_str().into());
                }
                if let Some(name) = &agent.name {
                    add("--name", name.as_str().into());
                }
                if let Start::Ours(Some(strategy)) = &agent.start {
                    add("--strategy", strategy.as_str().into());
                }
            }
            Role::Operator => bail!("an operator is not an agent of a league"),
        }
        Ok(words)
    }
}

struct Orchestration<'a> {
    plan: &'a Plan,
    arguments: Arguments<'a>,
    client: Client,
    log: &'a SystemLog,
}

impl Orchestration<'_> {
    /// False if the league was stopped.
    async fn play(&self) -> Result<bool> {
        self.expect_free_places().await?;
        let (report, mut reports) = mpsc::unbounded_channel();
        let (stop, stopped) = watch::channel(false);
        let supervisors = self.plan.agents().map(|agent| {
            let (arguments, client, log) = (self.arguments, &self.client, self.log);
            let max_restarts = self.plan.max_restarts;
            Supervisor { agent, arguments, max_restarts, client, log, report: report.clone(), stop: stopped.clone() }
        });
        let supervisors: Vec<Supervisor<'_>> = supervisors.collect();
        let league = async {
            let over = tokio::select! {
                over = self.conduct(&mut reports) => over,
                () = shutdown_signal() => Ok(false),
            };
            // Agents of this program exit when the manager sends the end of the league.
            if matches!(over, Ok(true)) {
                self.wait_for_exits(&mut reports).await;
            }
            stop.send_replace(true);
            over
        };
        let (over, _) = tokio::join!(league, join_all(supervisors.into_iter().map(Supervisor::supervise)));
        over
    }

    async fn expect_free_places(&self) -> Result<()> {
        for agent in self.plan.agents().filter(|agent| agent.start != Start::Contact) {
            let (label, endpoint) = (&agent.label, &agent.endpoint);
            if answers(&self.client, endpoint).await {
                bail!(
                    "{label} cannot be started: an agent answers at {endpoint} already; stop that one, or leave out start, strategy and \
                     command, so that it is only contacted"
                );
            }
        }
        Ok(())
    }

    async fn conduct(&self, reports: &mut mpsc::UnboundedReceiver<Report>) -> Result<bool> {
        let ready = Cell::new(false);
        let waiting = async {
            self.wait_for_answers().await?;
            ready.set(true);
            self.log.info("AGENTS_READY", "all agents answer", &json!({}));
            self.wait_for_end().await
        };
        tokio::select! {
            over = waiting => over.map(|()| true),
            end = self.follow(reports, &ready) => end.map(|()| true),
        }
    }

    async fn wait_for_answers(&self) -> Result<()> {
        let until = Instant::now() + self.plan.wait;
        let agents = self.plan.agents().map(|agent| async move {
            while !answers(&self.client, &agent.endpoint).await {
                if Instant::now() >= until {
                    return Some(agent);
                }
                // No signal says when an agent of any implementation begins to listen.
                sleep(POLL_INTERVAL).await;
            }
            None
        });
        let missing: Vec<&Planned> = join_all(agents).await.into_iter().flatten().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let named = missing.iter().map(|agent| format!("{} at {}", agent.label, agent.endpoint));
        let named = named.collect::<Vec<_>>().join(", ");
        let contacted = missing.iter().any(|agent| agent.start == Start::Contact);
        let advice = if contacted {
            "start them, or give them `start`, a `strategy` or a `command` in the file"
        } else {
            "their lines above say why; wait_sec in the file gives them longer"
        };
        bail!("no answer within {:?} from {named}; {advice}", self.plan.wait)
    }

    /// Returns when the manager has exited with success or the league cannot continue.
    async fn follow(&self, reports: &mut mpsc::UnboundedReceiver<Report>, ready: &Cell<bool>) -> Result<()> {
        let mut referees = self.plan.referees.len();
        while let Some(report) = reports.recv().await {
            match report {
                Report::Left(Role::Manager, _) => return self.expect_over(),
                Report::GivenUp(Role::Manager, _, why) => bail!("the manager cannot be kept running: {why}"),
                Report::GivenUp(_, label, why) if !ready.get() => bail!("{label} cannot be started: {why}"),
                Report::GivenUp(Role::Referee, label, why) => {
                    referees -= 1;
                    if referees == 0 {
                        bail!("no referee is left to play the matches; the last one, {label}, died: {why}");
                    }
                }
                // Its matches are technical losses, and the league continues.
                Report::GivenUp(Role::Player | Role::Operator, ..) | Report::Left(..) => {}
            }
        }
        bail!("all agents have ended, and the league is not over")
    }

    /// A manager that exits with success has ended its league, unless it was stopped.
    fn expect_over(&self) -> Result<()> {
        let Arguments { options, league, .. } = self.arguments;
        let season = open::read(&Home::at(&options.home), league)?;
        if season.phase() == LeaguePhase::LeagueCompleted {
            return Ok(());
        }
        bail!(
            "the manager was told to end before {league} was over; start it again with the same file and home and it goes on"
        )
    }

    async fn wait_for_exits(&self, reports: &mut mpsc::UnboundedReceiver<Report>) {
        let ours = |agent: &&Planned| matches!(agent.start, Start::Ours(_)) && agent.role != Role::Manager;
        let mut left: Vec<SmolStr> = self.plan.agents().filter(ours).map(|agent| agent.label.clone()).collect();
        let leaving = async {
            while !left.is_empty() {
                let Some(Report::Left(_, label) | Report::GivenUp(_, label, _)) = reports.recv().await else { return };
                left.retain(|agent| *agent != label);
            }
        };
        drop(tokio::time::timeout(REGISTRATION_LIMIT, leaving).await);
    }

    async fn wait_for_end(&self) -> Result<()> {
        let caller = AgentClient::new(self.plan.manager.endpoint.clone(), None, self.client.clone());
        self.register(&caller).await;
        if self.plan.manager.start != Start::Contact {
            // The manager starts when all agents are registered, and exits when the league is over.
            return std::future::pending().await;
        }
        let manager = &self.plan.manager.endpoint;
        let status: Result<StatusAnswer> = caller.ask(&Call::StartLeague(LeagueCommand::default())).await;
        match status {
            Ok(_) => self.log.info("LEAGUE_STARTED", format!("the manager at {manager} starts the league"), &json!({})),
            // A manager of another implementation starts by its own rules.
            Err(error) => {
                self.log.warn("LEAGUE_NOT_STARTED", format!("{manager} does not start: {error:#}"), &json!({}));
            }
        }
        loop {
            let query = GetLeague { league_id: None, view: LeagueView::Status, match_id: None, from: 0 };
            let page: Result<LeaguePage> = caller.ask(&Call::GetLeague(query)).await;
            if page.ok().and_then(|page| page.status).is_some_and(|status| status.state == "LEAGUE_COMPLETED") {
                return Ok(());
            }
            // A contacted manager does not report the end.
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Registers the contacted agents that have not registered themselves in time.
    async fn register(&self, caller: &AgentClient) {
        let until = Instant::now() + REGISTRATION_LIMIT;
        let missing = loop {
            let Ok(agents) = registered(caller).await else { return };
            let is_in = |agent: &&Planned| agents.iter().any(|entry| is_same_address(&entry.endpoint, &agent.endpoint));
            let agents = self.plan.referees.iter().chain(&self.plan.players);
            let missing: Vec<&Planned> = agents.filter(|agent| !is_in(agent)).collect();
            if missing.is_empty() || Instant::now() >= until {
                break missing;
            }
            sleep(POLL_INTERVAL).await;
        };
        for agent in missing.into_iter().filter(|agent| agent.start == Start::Contact) {
            let done = match agent.role {
                Role::Player => register_player(caller, agent).await,
                Role::Referee | Role::Manager | Role::Operator => self.register_referee(agent).await,
            };
            let (label, data) = (&agent.label, json!({"id": agent.label, "endpoint": agent.endpoint.to_string()}));
            match done {
                Ok(()) => self.log.info("AGENT_REGISTERED", format!("{label} is registered on its behalf"), &data),
                Err(error) => {
                    let message = format!("{label} did not register and cannot be registered: {error:#}");
                    eprintln!("{message}");
                    self.log.warn("AGENT_NOT_REGISTERED", message, &data);
                }
            }
        }
    }

    /// Only the referee can use the token that it gets, so it has to register itself.
    async fn register_referee(&self, agent: &Planned) -> Result<()> {
        let caller = AgentClient::new(agent.endpoint.clone(), None, self.client.clone());
        let manager_endpoint = Some(self.plan.manager.endpoint.to_string());
        let answer: serde_json::Value =
            caller.ask(&Call::RegisterToLeague(RegisterToLeague { manager_endpoint })).await?;
        if answer["status"] == "ACCEPTED" {
            return Ok(());
        }
        bail!("it answers {answer}")
    }
}

async fn registered(caller: &AgentClient) -> Result<Vec<AgentEntry>> {
    let (mut agents, mut from) = (Vec::new(), 0);
    loop {
        let query = GetLeague { league_id: None, view: LeagueView::Agents, match_id: None, from };
        let page: LeaguePage = caller.ask(&Call::GetLeague(query)).await?;
        agents.extend(page.agents);
        match page.next {
            Some(next) if next > from => from = next,
            Some(_) | None => return Ok(agents),
        }
    }
}

async fn register_player(caller: &AgentClient, agent: &Planned) -> Result<()> {
    let request = LeagueRegisterRequest {
        player_meta: AgentMeta {
            display_name: agent.name.clone().unwrap_or_else(|| agent.label.clone()),
            version: SmolStr::new_static("1.0.0"),
            protocol_version: None,
            game_types: all_games(),
            contact_endpoint: agent.endpoint.to_string(),
            max_concurrent_matches: None,
            pass_scheme: None,
            accepts_batches: false,
            signs_moves: false,
            pulls: false,
        },
        player_id: agent.id.as_ref().and_then(|id| id.parse::<PlayerId>().ok()),
        join_key: None,
        quirks: Quirks::default(),
    };
    let answer: RegisterResponse = caller.ask(&Call::RegisterPlayer(request)).await?;
    match answer.status {
        RegistrationStatus::Accepted => Ok(()),
        RegistrationStatus::Rejected => bail!("{}", answer.reason.as_deref().unwrap_or("the manager gives no reason")),
    }
}

/// All names of loopback are equal.
fn is_same_address(registered: &str, planned: &Endpoint) -> bool {
    let Ok(registered) = registered.parse::<Endpoint>() else { return false };
    let (one, other) = (registered.host(), planned.host());
    registered.port() == planned.port() && (one.eq_ignore_ascii_case(other) || (is_local(one) && is_local(other)))
}

fn is_local(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|host| host.is_loopback())
}
