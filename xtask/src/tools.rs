//! Tools that do not come with cargo: used when they are there, else fetched, and never into anybody's home.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Outcome, Repository};

/// Pinned: another version may see other things.
const MACHETE: &str = "0.9.2";
const DENY: &str = "0.20.2";

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
    let machete = installed(repository, "cargo-machete", MACHETE)?;
    Ok(bare(&machete, &["--skip-target-dir"]))
}

/// The command that looks at what the dependencies are and where they come from, installed when it was not there.
///
/// Advisories are left out: their database is a repository somewhere else, and a check that needs it fails where it is not
/// reached. `cargo deny check advisories` asks for them alone.
pub(crate) fn deny(repository: &Repository) -> Result<Command, String> {
    let deny = installed(repository, "cargo-deny", DENY)?;
    Ok(bare(&deny, &["--all-features", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"]))
}

/// The program called `name` in this version: the one that is there, or one that is fetched.
fn installed(repository: &Repository, name: &str, version: &str) -> Result<PathBuf, String> {
    let tools = repository.target.join("tools");
    let ours = tools.join("bin").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    for present in [PathBuf::from(name), ours.clone()] {
        let said = repository.ask(bare(&present, &["--version"]));
        if said.is_some_and(|said| said.split_whitespace().next_back() == Some(version)) {
            return Ok(present);
        }
    }
    // Unoptimised and without notes for debuggers it is there in a third of the time, and still done within a second.
    let mut install = repository.cargo("install --debug --locked --version");
    install.env("CARGO_PROFILE_DEV_DEBUG", "false").arg(version).arg("--root").arg(&tools).arg(name);
    repository.run(install)?;
    Ok(ours)
}

/// Makes sure of the browser that the pages are looked at with: Debian's own, because its makers see to it.
pub(crate) fn browser(repository: &Repository) -> Outcome {
    package(repository, "chromium --version", "chromium", "the tests of the pages need `chromium`")
}

/// Makes sure of a C++ compiler, which the fuzzer's own library is written for.
pub(crate) fn cxx(repository: &Repository) -> Outcome {
    package(repository, "c++ --version", "g++", "fuzzing needs a C++ compiler")
}

/// Makes sure of the program that counts instructions.
pub(crate) fn valgrind(repository: &Repository) -> Outcome {
    package(repository, "valgrind --version", "valgrind", "counting instructions needs `valgrind`")
}

/// Whether the tests across several machines can be run: they make network namespaces. Where they cannot, why.
pub(crate) fn namespaces(repository: &Repository) -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err(String::from("network namespaces are Linux's"));
    }
    package(repository, "ip -V", "iproute2", "hosts of a test are connected by `ip`")?;
    // All that such a test does to make its hosts.
    const TRIAL: &str = "ip link add name br0 type bridge && ip link add name port0 type veth peer name eth0 \
                         && hostname trial && mount --bind /etc/hosts /etc/hosts";
    let mut trial = Command::new("unshare");
    trial.args(["--net", "--uts", "--mount", "sh", "-c", TRIAL]);
    match repository.ask(trial) {
        Some(_) => Ok(()),
        None => {
            Err(String::from("network namespaces are not allowed here; an administrator can make them (unshare --net)"))
        }
    }
}

/// Makes sure that `target` can be compiled for; false where rustup is not there to fetch its library.
pub(crate) fn target(repository: &Repository, target: &str) -> Result<bool, String> {
    let mut asked = Command::new("rustup");
    asked.args(["target", "list", "--installed"]);
    let Some(installed) = repository.ask(asked) else { return Ok(false) };
    if installed.lines().any(|line| line == target) {
        return Ok(true);
    }
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", target]);
    repository.run(rustup).map(|()| true)
}

/// Makes sure of `program`, which Debian's `package` brings; false when it is missing and only an administrator could install it.
pub(crate) fn package_if_root(repository: &Repository, program: &str, name: &str, why: &str) -> Result<bool, String> {
    let answers = |program: &str, argument: &str| {
        let mut asked = Command::new(program);
        asked.arg(argument);
        repository.ask(asked)
    };
    let is_root = || answers("id", "-u").is_some_and(|id| id == "0") && answers("apt-get", "--version").is_some();
    if answers(program, "--version").is_none() && !is_root() {
        return Ok(false);
    }
    package(repository, &format!("{program} --version"), name, why).map(|()| true)
}

/// Makes sure of the C compiler for static Linux programs; false when only an administrator could install it.
pub(crate) fn musl(repository: &Repository) -> Result<bool, String> {
    package_if_root(repository, "musl-gcc", "musl-tools", "static Linux programs are compiled with `musl-gcc`")
}

/// Makes sure of a program, which answers to `asked` and which Debian's `package` brings.
fn package(repository: &Repository, asked: &str, package: &str, why: &str) -> Outcome {
    let mut words = asked.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    if repository.ask(command).is_some() {
        return Ok(());
    }
    let apt = |arguments: &[&str]| {
        let mut apt = Command::new("apt-get");
        apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        repository.run(apt)
    };
    apt(&["update", "--quiet"])
        .and_then(|()| apt(&["install", "--quiet", "--yes", "--no-install-recommends", package]))
        .map_err(|error| format!("{error}; {why}, which an administrator can install (package {package})"))
}

/// Started by itself: from `CARGO` it would conclude that its first argument is its own name.
fn bare(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("CARGO");
    command
}
