//! `cargo xtask ci delivery`: the image, and the files in `deploy/`, each checked by a program of others. Prometheus and
//! systemd bring their own; for compose and Kubernetes there are the published schemas.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::repository::{QUICK_RELEASE, command};
use crate::{Outcome, Repository, files, image, peers, tools};

const LIST: &str = "xtask/delivery";
const IMAGE: &str = "image: localhost/league:";
/// The files that name the image: for compose, and for the managers and the referees in Kubernetes.
const NAMING: usize = 3;
/// The program in the units.
const PROGRAM: &str = "/usr/bin/league";
/// Ten times the exposure that `systemd-analyze security` may find; 100 is a service without any protection.
const MOST_EXPOSURE: &str = "--threshold=20";
/// Ingress and the other kinds have not changed since.
const KUBERNETES: &str = "1.30";

pub(crate) fn check(repository: &Repository) -> Outcome {
    let image = image::make(repository, &QUICK_RELEASE)?;
    image::check(repository, &image)?;
    tags(repository, &image.tag)?;
    units(repository)?;
    alerts(repository)?;
    manifests(repository)
}

fn paths(repository: &Repository, folder: &str, extension: &str) -> Result<Vec<PathBuf>, String> {
    let mut paths = files::list(&repository.root.join("deploy").join(folder))?;
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    if paths.is_empty() { Err(format!("deploy/{folder} has no {extension} files")) } else { Ok(paths) }
}

/// The files name the image of this version.
fn tags(repository: &Repository, tag: &str) -> Outcome {
    let (mut files, mut naming) = (paths(repository, "kubernetes", "yaml")?, 0);
    files.extend(paths(repository, ".", "yaml")?);
    for path in files {
        let text = files::read(&path)?;
        let mut found = text.lines().filter_map(|line| line.trim().strip_prefix(IMAGE)).peekable();
        naming += usize::from(found.peek().is_some());
        if let Some(other) = found.find(|found| *found != tag) {
            return Err(format!("{} names the image {IMAGE}{other}; this is version {tag}", path.display()));
        }
    }
    // The search finds nothing when the files write the image in another way.
    if naming == NAMING {
        Ok(())
    } else {
        Err(format!("{naming} files in deploy name {IMAGE}{tag}; expected {NAMING}"))
    }
}

/// systemd looks for the program, so the units name the one that was built.
fn units(repository: &Repository) -> Outcome {
    tools::systemd(repository)?;
    let place = repository.target.join("delivery");
    files::empty(&place)?;
    let mut copies = Vec::new();
    for unit in paths(repository, "systemd", "service")? {
        let copy = place.join(files::name(&unit));
        let program = repository.program("league");
        files::write(&copy, files::read(&unit)?.replace(PROGRAM, &program.to_string_lossy()))?;
        let mut security = command("systemd-analyze security --offline=true --no-pager");
        security.arg(MOST_EXPOSURE).arg(&copy);
        if repository.output(security).is_none() {
            return Err(format!("{} has less protection than it had: systemd-analyze security", unit.display()));
        }
        copies.push(copy);
    }
    let mut verify = command("systemd-analyze verify --man=no");
    verify.args(copies);
    repository.run(verify)
}

fn alerts(repository: &Repository) -> Outcome {
    tools::promtool(repository)?;
    repository.run(command("promtool check rules deploy/prometheus/rules.yaml"))?;
    repository.run(command("promtool test rules deploy/prometheus/rules.test.yaml"))
}

fn manifests(repository: &Repository) -> Outcome {
    let packages = peers::python_packages(repository, repository.target.join("tools/delivery"), LIST)?;
    let mut compose = python(&packages, "check_jsonschema");
    compose.args(["--builtin-schema", "vendor.compose-spec", "deploy/compose.yaml"]);
    repository.run(compose)?;
    let mut kubernetes = python(&packages, "kubernetes_validate");
    kubernetes.args(["--strict", "--kubernetes-version", KUBERNETES]).args(paths(repository, "kubernetes", "yaml")?);
    repository.run(kubernetes)
}

fn python(packages: &Path, module: &str) -> Command {
    let mut python = Command::new("python3");
    python.args(["-m", module]).env("PYTHONPATH", packages);
    python
}
