//! `league check`: grades an agent and says what to change.

use std::convert::Infallible;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs};

use anyhow::{Context, Result, bail};
use league_check::accept::Accepted;
use league_check::junit::junit;
use league_check::text_report::{Colours, render};
use league_check::{CheckOptions, GuessedRole, RuleSet};
use league_manager::Inspector;
use league_protocol::id::GameType;
use league_protocol::sender::Role;
use tokio::sync::watch;

use crate::agents::in_runtime;
use crate::cli::{Check, CheckedRole};
use crate::console::to_stdout_unescaped;

const REPORT_INTERVAL: Duration = Duration::from_secs(5);

pub(crate) fn run(options: &Check) -> Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    in_runtime(async {
        if !check(options).await? {
            code = ExitCode::FAILURE;
        }
        Ok(())
    })?;
    Ok(code)
}

pub(crate) fn inspector(game: GameType) -> Inspector {
    Inspector::new(move |endpoint| {
        let game = game.clone();
        Box::pin(async move { league_check::fit_to_register(&endpoint, &game).await })
    })
}

async fn check(options: &Check) -> Result<bool> {
    let set = match &options.set {
        None => RuleSet::newest(),
        Some(name) => RuleSet::named(name).with_context(|| {
            let known: Vec<_> = RuleSet::all().iter().map(|set| set.name).collect();
            format!("there is no set {name}; there is {}", known.join(", "))
        })?,
    };
    let accepted = match &options.accept {
        None => Accepted::default(),
        Some(path) => {
            let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            Accepted::read(&text, set).with_context(|| path.display().to_string())?
        }
    };
    let progress = watch::Sender::new("");
    let current = progress.subscribe();
    let settings = CheckOptions {
        set,
        game: options.game.clone().unwrap_or_else(GameType::even_odd),
        max_wait: Duration::from_secs_f64(options.timeout.unwrap_or(30.0)),
        listen: (options.host, options.listen.unwrap_or(0)).into(),
        advertise: options.advertise.clone(),
        progress,
        ..CheckOptions::default()
    };
    let endpoint = &options.endpoint;
    let guess = match options.role {
        Some(role) => GuessedRole { role: role.into(), because: String::from("as you say") },
        None => league_check::role(endpoint).await,
    };
    if guess.role == Role::Manager && options.role.is_none() {
        bail!(
            "{endpoint} is a manager. Checking it registers a few agents with it that never play, so it is done only when you say \
             so: add --role manager, and take a league that you can throw away"
        );
    }
    let checked = async {
        match guess.role {
            Role::Player | Role::Operator => league_check::player(endpoint, &settings).await,
            Role::Referee => league_check::referee(endpoint, &settings).await,
            Role::Manager => league_check::manager(endpoint, &settings).await,
        }
    };
    let mut report = tokio::select! {
        report = checked => report,
        never = print_waiting(&current) => match never {},
    };
    report.role_because = guess.because;
    report.accept(&accepted);
    if let Some(path) = &options.junit {
        fs::write(path, junit(&report)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report.with_verdict())?);
    } else {
        let terminal = io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        match terminal {
            // The checker has escaped what the agent sent, and the colours must stay.
            true => to_stdout_unescaped(&render(&report, Colours::Ansi)),
            false => print!("{}", render(&report, Colours::None)),
        }
    }
    Ok(report.is_fit())
}

async fn print_waiting(current: &watch::Receiver<&'static str>) -> Infallible {
    let began = Instant::now();
    loop {
        tokio::time::sleep(REPORT_INTERVAL).await;
        let what = *current.borrow();
        let what = if what.is_empty() { String::from("its first answer") } else { format!("the answer to {what}") };
        eprintln!("Still checking after {} s; waiting for {what}.", began.elapsed().as_secs());
    }
}

impl From<CheckedRole> for Role {
    fn from(role: CheckedRole) -> Self {
        match role {
            CheckedRole::Player => Self::Player,
            CheckedRole::Referee => Self::Referee,
            CheckedRole::Manager => Self::Manager,
        }
    }
}
