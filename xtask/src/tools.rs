//! Tools that do not come with cargo: used if present, else installed below the target directory or by apt.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::repository::command;
use crate::{Outcome, Repository};

/// Pinned: another version may find other problems.
const MACHETE: &str = "0.9.2";
const DENY: &str = "0.20.2";

pub(crate) fn component(repository: &Repository, subcommand: &str, component: &str) -> Outcome {
    match repository.output(repository.cargo(&format!("{subcommand} --version"))) {
        Some(_) => Ok(()),
        None => repository.run(command(&format!("rustup component add {component}"))),
    }
}

/// Compiles the workspace with clippy as the compiler, so that one build is both linted and tested. `cargo clippy`
/// before `cargo test` would compile every dependency twice: 457 s of a cold run on two cores.
pub(crate) fn linted(repository: &Repository, words: &str) -> Result<Command, String> {
    component(repository, "clippy", "clippy")?;
    let sysroot = repository.output(command("rustc --print sysroot")).ok_or("rustc does not print its sysroot")?;
    let mut command = repository.cargo(words);
    let driver = format!("clippy-driver{}", std::env::consts::EXE_SUFFIX);
    command.env("RUSTC_WORKSPACE_WRAPPER", Path::new(&sysroot).join("bin").join(driver));
    // cargo-clippy passes `-D warnings` on in this form.
    command.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    Ok(command)
}

/// nextest runs the tests of all crates concurrently; `cargo test` runs one crate after the other.
pub(crate) fn has_nextest(repository: &Repository) -> bool {
    repository.output(repository.cargo("nextest --version")).is_some()
}

pub(crate) fn machete(repository: &Repository) -> Result<Command, String> {
    let machete = installed(repository, "cargo-machete", MACHETE)?;
    Ok(bare(&machete, &["--skip-target-dir"]))
}

/// Without advisories, whose database may be unreachable: `cargo deny check advisories` reads them.
pub(crate) fn deny(repository: &Repository) -> Result<Command, String> {
    let deny = installed(repository, "cargo-deny", DENY)?;
    Ok(bare(&deny, &["--all-features", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"]))
}

fn installed(repository: &Repository, name: &str, version: &str) -> Result<PathBuf, String> {
    let tools = repository.target.join("tools");
    let ours = tools.join("bin").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    for present in [PathBuf::from(name), ours.clone()] {
        let printed = repository.output(bare(&present, &["--version"]));
        if printed.is_some_and(|printed| printed.split_whitespace().next_back() == Some(version)) {
            return Ok(present);
        }
    }
    // An unoptimised build takes a third of the time and still runs within a second.
    let mut install = repository.cargo("install --debug --locked --version");
    install.env("CARGO_PROFILE_DEV_DEBUG", "false").arg(version).arg("--root").arg(&tools).arg(name);
    repository.run(install)?;
    Ok(ours)
}

pub(crate) fn browser(repository: &Repository) -> Outcome {
    package(repository, "chromium --version", "chromium", "the tests of the pages need `chromium`")
}

pub(crate) fn cxx(repository: &Repository) -> Outcome {
    package(repository, "c++ --version", "g++", "fuzzing needs a C++ compiler")
}

pub(crate) fn valgrind(repository: &Repository) -> Outcome {
    package(repository, "valgrind --version", "valgrind", "counting instructions needs `valgrind`")
}

pub(crate) fn systemd(repository: &Repository) -> Outcome {
    package(repository, "systemd-analyze --version", "systemd", "units are checked with `systemd-analyze`")
}

pub(crate) fn promtool(repository: &Repository) -> Outcome {
    package(repository, "promtool --version", "prometheus", "alerts are checked with `promtool`")
}

pub(crate) fn skopeo(repository: &Repository) -> Outcome {
    package(repository, "skopeo --version", "skopeo", "images are checked with `skopeo`")
}

pub(crate) fn faketime(repository: &Repository) -> Outcome {
    package(repository, "faketime --version", "faketime", "a test moves the clock of a PostgreSQL server")
}

pub(crate) fn umoci(repository: &Repository) -> Outcome {
    package(repository, "umoci --version", "umoci", "images are unpacked with `umoci`")
}

/// The error says why network namespaces are not possible.
pub(crate) fn namespaces(repository: &Repository) -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err(String::from("network namespaces are Linux's"));
    }
    package(repository, "ip -V", "iproute2", "`ip` connects the hosts of a test")?;
    package(repository, "iptables --version", "iptables", "`iptables` drops packets between the hosts of a test")?;
    const TRIAL: &str = "ip link add name br0 type bridge && ip link add name port0 type veth peer name eth0 \
                         && hostname trial && mount --bind /etc/hosts /etc/hosts";
    let mut trial = Command::new("unshare");
    trial.args(["--net", "--uts", "--mount", "sh", "-c", TRIAL]);
    match repository.output(trial) {
        Some(_) => Ok(()),
        None => {
            Err(String::from("network namespaces are not allowed here; an administrator can make them (unshare --net)"))
        }
    }
}

/// rustup installs the library of `target` if it can.
pub(crate) fn target(repository: &Repository, target: &str) -> Result<bool, String> {
    let Some(installed) = repository.output(command("rustup target list --installed")) else { return Ok(false) };
    if installed.lines().any(|line| line == target) {
        return Ok(true);
    }
    repository.run(command(&format!("rustup target add {target}"))).map(|()| true)
}

/// Installs Debian's package if the user is root.
pub(crate) fn package_if_root(repository: &Repository, program: &str, name: &str, why: &str) -> Result<bool, String> {
    let output = |words: &str| repository.output(command(words));
    let is_root = || output("id -u").is_some_and(|id| id == "0") && output("apt-get --version").is_some();
    if output(&format!("{program} --version")).is_none() && !is_root() {
        return Ok(false);
    }
    package(repository, &format!("{program} --version"), name, why).map(|()| true)
}

pub(crate) fn musl(repository: &Repository) -> Result<bool, String> {
    package_if_root(repository, "musl-gcc", "musl-tools", "static Linux programs are compiled with `musl-gcc`")
}

/// If the command `probe` fails, apt installs Debian's package.
fn package(repository: &Repository, probe: &str, package: &str, why: &str) -> Outcome {
    if repository.output(command(probe)).is_some() {
        return Ok(());
    }
    let apt = |words: &str| {
        let mut apt = command(&format!("apt-get {words}"));
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        repository.run(apt)
    };
    apt("update --quiet")
        .and_then(|()| apt(&format!("install --quiet --yes --no-install-recommends {package}")))
        .map_err(|error| format!("{error}; {why}, which an administrator can install (package {package})"))
}

/// Without `CARGO`: if it is set, a cargo subcommand takes its first argument for its own name.
fn bare(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("CARGO");
    command
}
