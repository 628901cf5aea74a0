//! `league completions` and `league man`, generated from the commands, and the groups of `league --help`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::Cli;

/// Every command that is not hidden is in exactly one group.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Play", &["run", "manager", "serve", "referee", "player"]),
    ("Look", &["show", "leagues", "standings", "schedule", "matches", "match", "agents", "status", "export", "copy"]),
    ("Operate", &["create", "start", "stop", "reopen", "withdraw", "alerts", "resolve", "forget-dialect", "keys"]),
    ("Check", &["check", "verify", "simulate"]),
    ("Set up", &["completions", "man", "help"]),
];

pub(crate) fn command() -> Command {
    let mut command = Cli::command();
    command.build();
    let mut listed = String::new();
    let width = command.get_subcommands().map(|sub| sub.get_name().len()).max().unwrap_or(0);
    for (group, names) in GROUPS {
        // Writing to a string cannot fail.
        let _ = writeln!(listed, "{group}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let _ = writeln!(listed, "  {name:width$}  {}", about.map(ToString::to_string).unwrap_or_default());
        }
        listed.push('\n');
    }
    let template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}Options:\n{{options}}{{after-help}}");
    Cli::command().help_template(template)
}

pub(crate) fn completions(shell: Shell) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "league", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
}

pub(crate) fn man(directory: Option<&Path>) -> Result<()> {
    let Some(directory) = directory else {
        print!("{}", String::from_utf8_lossy(&page(Cli::command())?));
        return Ok(());
    };
    if !directory.is_dir() {
        bail!("{} is not a directory; make it first", directory.display());
    }
    let mut command = Cli::command();
    command.build();
    let mut pages = vec![(String::from("league"), Cli::command())];
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        // `build` gives a display name without spaces, and `man` finds the page by it.
        pages.push((format!("league-{}", sub.get_name()), sub.clone()));
    }
    for (name, command) in &pages {
        let path = directory.join(format!("{name}.1"));
        fs::write(&path, page(command.clone())?).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let (count, directory) = (pages.len(), directory.display());
    eprintln!("{count} pages are in {directory}. Read one with: man {directory}/league.1");
    Ok(())
}

fn page(command: Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page).context("the page cannot be made")?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_exactly_one_group() {
        let mut command = Cli::command();
        command.build();
        let visible = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        let mut visible: Vec<&str> = visible.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, visible);
    }
}
