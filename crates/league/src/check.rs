//! `league check`: grades an agent of anybody's, and says what to change.

use std::fs;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use league_check::accept::Accepted;
use league_check::junit::junit;
use league_check::people::for_people;
use league_check::{Guess, Options, Set};
use league_manager::Inspector;
use league_protocol::sender::Role;

use crate::agents::in_runtime;
use crate::cli::{Check, CheckedRole};

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

/// Who looks at players for a manager that lets in only those that are fit.
pub(crate) fn inspector() -> Inspector {
    Inspector::new(|endpoint| Box::pin(async move { league_check::fit_to_register(&endpoint).await }))
}

/// Whether the agent is fit to take part.
async fn check(options: &Check) -> Result<bool> {
    let set = match &options.set {
        None => Set::newest(),
        Some(name) => Set::named(name).with_context(|| {
            let known: Vec<_> = Set::all().iter().map(|set| set.name).collect();
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
    let settings = Options {
        set,
        patience: Duration::from_secs_f64(options.timeout.unwrap_or(30.0)),
        listen: (options.host, options.listen.unwrap_or(0)).into(),
        advertise: options.advertise.clone(),
        ..Options::default()
    };
    let endpoint = &options.endpoint;
    let guess = match options.role {
        Some(role) => Guess { role: role.into(), because: String::from("as you say") },
        None => league_check::role(endpoint).await,
    };
    let mut report = match guess.role {
        Role::Player | Role::Operator => league_check::player(endpoint, &settings).await,
        Role::Referee => league_check::referee(endpoint, &settings).await,
        Role::Manager if options.role.is_none() => bail!(
            "{endpoint} is a manager. Checking it registers a few agents with it that never play, so it is done only when you say \
             so: add --role manager, and take a league that you can throw away"
        ),
        Role::Manager => league_check::manager(endpoint, &settings).await,
    };
    report.role_because = guess.because;
    report.accept(&accepted);
    if let Some(path) = &options.junit {
        fs::write(path, junit(&report)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", for_people(&report));
    }
    Ok(report.is_fit())
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
