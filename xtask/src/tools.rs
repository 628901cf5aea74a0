//! Tools that do not come with cargo: used when they are there, else fetched, and never into anybody's home.

use std::path::Path;
use std::process::Command;

use crate::{Outcome, Repository};

/// Pinned: another version may see other things.
const MACHETE: &str = "0.9.2";

/// Makes sure of `cargo <subcommand>`, which the toolchain's `component` brings.
pub(crate) fn component(repository: &Repository, subcommand: &str, component: &str) -> Outcome {
    if repository.ask(repository.cargo(&format!("{subcommand} --version"))).is_some() {
        return Ok(());
    }
    let mut rustup = Command::new("rustup");
    rustup.args(["component", "add", component]);
    repository.run(rustup)
}

/// Whether tests can run side by side across crates.
pub(crate) fn has_nextest(repository: &Repository) -> bool {
    repository.ask(repository.cargo("nextest --version")).is_some()
}

/// The command that finds unused dependencies, installed when it was not there.
pub(crate) fn machete(repository: &Repository) -> Result<Command, String> {
    let tools = repository.target.join("tools");
    let ours = tools.join("bin").join(format!("cargo-machete{}", std::env::consts::EXE_SUFFIX));
    for present in [Path::new("cargo-machete"), &ours] {
        if repository.ask(bare(present, "--version")).as_deref() == Some(MACHETE) {
            return Ok(bare(present, "--skip-target-dir"));
        }
    }
    // Unoptimised it is there in a third of the time, and still done within a second.
    let mut install = repository.cargo("install cargo-machete --debug --locked --version");
    install.arg(MACHETE).arg("--root").arg(&tools);
    repository.run(install)?;
    Ok(bare(&ours, "--skip-target-dir"))
}

/// Makes sure of the browser that the pages are looked at with: Debian's own, because its makers see to it.
pub(crate) fn browser(repository: &Repository) -> Outcome {
    let mut asked = Command::new("chromium");
    asked.arg("--version");
    if repository.ask(asked).is_some() {
        return Ok(());
    }
    let apt = |arguments: &[&str]| {
        let mut apt = Command::new("apt-get");
        apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        repository.run(apt)
    };
    apt(&["update", "--quiet"])
        .and_then(|()| apt(&["install", "--quiet", "--yes", "--no-install-recommends", "chromium"]))
        .map_err(|error| format!("{error}; the tests of the pages need `chromium`, which an administrator can install"))
}

/// Started by itself: from `CARGO` it would conclude that its first argument is its own name.
fn bare(program: &Path, argument: &str) -> Command {
    let mut command = Command::new(program);
    command.arg(argument).env_remove("CARGO");
    command
}
