//! Keeps one agent running: starts it, restarts it when it dies, and stops it with the league.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use league_protocol::sender::Role;
use league_wire::client::Client;
use serde_json::json;
use smol_str::SmolStr;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use super::child::{Child, Ended};
use super::{Arguments, PLAYER_KEY, REFEREE_KEY, answers};
use crate::config::plan::{Planned, Start};
use crate::system_log::SystemLog;
use crate::words::counted;

const PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(8);
const HEARTBEAT: Duration = Duration::from_secs(5);
/// An agent is dead after this many pings without an answer.
const MAX_MISSED: u32 = 3;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Report {
    Left(Role, SmolStr),
    GivenUp(Role, SmolStr, String),
}

pub(super) struct Supervisor<'a> {
    pub(super) agent: &'a Planned,
    pub(super) arguments: Arguments<'a>,
    pub(super) max_restarts: u32,
    pub(super) client: &'a Client,
    pub(super) log: &'a SystemLog,
    pub(super) report: mpsc::UnboundedSender<Report>,
    pub(super) stop: watch::Receiver<bool>,
}

impl Supervisor<'_> {
    /// A contacted agent is only watched and never restarted.
    pub(super) async fn supervise(mut self) {
        if self.agent.start == Start::Contact {
            let mut stop = self.stop.clone();
            tokio::select! {
                () = self.watch_contacted() => {}
                _ = stop.wait_for(|stop| *stop) => {}
            }
            return;
        }
        let (mut restarts, mut pause) = (0, PAUSE);
        loop {
            let why = match self.run(restarts).await {
                Outcome::Stopped => return,
                Outcome::Left(how) => {
                    let label = &self.agent.label;
                    self.log.info("AGENT_ENDED", format!("{label} ended: {how}"), &json!({"id": label}));
                    return self.send(Report::Left(self.agent.role, label.clone()));
                }
                Outcome::Failed(why) => return self.give_up(restarts, why),
                Outcome::Died(why) if restarts == self.max_restarts => return self.give_up(restarts, why),
                Outcome::Died(why) => why,
            };
            let label = &self.agent.label;
            restarts += 1;
            let message = format!("{label} died ({why}); it is started again ({restarts} of {})", self.max_restarts);
            eprintln!("{message}");
            self.log.warn("AGENT_DIED", message, &json!({"id": label, "restart": restarts}));
            tokio::select! {
                () = sleep(pause) => {}
                _ = self.stop.wait_for(|stop| *stop) => return,
            }
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    fn give_up(&self, restarts: u32, why: String) {
        let label = &self.agent.label;
        let message = format!("{label} is given up after {}: {why}", counted(restarts, "restart"));
        eprintln!("{message}");
        self.log.error("AGENT_GIVEN_UP", message, &json!({"id": label, "restarts": restarts}));
        self.send(Report::GivenUp(self.agent.role, label.clone(), why));
    }

    fn send(&self, report: Report) {
        // The receiver may be gone at the end of the league.
        drop(self.report.send(report));
    }

    async fn run(&mut self, restarts: u32) -> Outcome {
        let Planned { label, endpoint, .. } = self.agent;
        let mut child = match self.start() {
            Ok(child) => child,
            Err(error) => return Outcome::Died(format!("{error:#}")),
        };
        let event = if restarts == 0 { "AGENT_STARTED" } else { "AGENT_RESTARTED" };
        let message = format!("{label} runs as process {} at {endpoint}", child.pid());
        eprintln!("{message}");
        self.log.info(event, message, &json!({"id": label, "pid": child.pid(), "endpoint": endpoint.to_string()}));
        let mut stop = self.stop.clone();
        tokio::select! {
            ended = child.ended() => match ended {
                Ok(Ended { code: Some(0), how }) => Outcome::Left(how),
                // This program exits with 1 when it cannot continue: a restart would fail again.
                Ok(Ended { code: Some(1), how }) if matches!(self.agent.start, Start::Ours(_)) => Outcome::Failed(how),
                Ok(Ended { how, .. }) => Outcome::Died(how),
                Err(error) => Outcome::Died(error.to_string()),
            },
            () = wait_for_silence(self.client, self.agent) => {
                child.end().await;
                Outcome::Died(String::from("it no longer answers"))
            }
            _ = stop.wait_for(|stop| *stop) => {
                child.end().await;
                Outcome::Stopped
            }
        }
    }

    fn start(&self) -> Result<Child> {
        let mut command = match &self.agent.start {
            Start::Ours(_) | Start::Contact => {
                let program = std::env::current_exe().context("this program cannot be found")?;
                let mut command = Command::new(program);
                command.args(self.arguments.of(self.agent)?).stdout(Stdio::null());
                command
            }
            Start::Command { words, directory } => {
                let (program, arguments) = words.split_first().context("the command is empty")?;
                let mut command = Command::new(program);
                command.args(arguments).current_dir(directory).stdout(Stdio::null());
                command
            }
        };
        command.env("LEAGUE_MANAGER", self.arguments.manager());
        // A child does not inherit the key of another role.
        command.env_remove(REFEREE_KEY).env_remove(PLAYER_KEY);
        command.envs(self.arguments.keys.variables(self.agent.role));
        Child::start(command, &self.agent.label).with_context(|| format!("{} cannot be started", self.agent.label))
    }

    async fn watch_contacted(&self) {
        let Planned { label, endpoint, .. } = self.agent;
        let mut away = false;
        loop {
            sleep(HEARTBEAT).await;
            let answers = answers(self.client, endpoint).await;
            if answers == away {
                away = !answers;
                let data = json!({"id": label, "endpoint": endpoint.to_string()});
                if away {
                    let message = format!("{label} at {endpoint} no longer answers; start it again");
                    eprintln!("{message}");
                    self.log.warn("AGENT_AWAY", message, &data);
                } else {
                    self.log.info("AGENT_BACK", format!("{label} at {endpoint} answers again"), &data);
                }
            }
        }
    }
}

enum Outcome {
    Stopped,
    Left(String),
    /// A restart would not help.
    Failed(String),
    Died(String),
}

async fn wait_for_silence(client: &Client, agent: &Planned) {
    let mut missed = 0;
    while !answers(client, &agent.endpoint).await {
        sleep(HEARTBEAT / 10).await;
    }
    loop {
        sleep(HEARTBEAT).await;
        missed = if answers(client, &agent.endpoint).await { 0 } else { missed + 1 };
        if missed == MAX_MISSED {
            return;
        }
    }
}
