//! `cargo xtask dist`: the archives for download, below `target/dist`: a zip for Windows, a tarball with a static
//! program for Linux, and their checksums.
//!
//! The same commit gives the same archives. Each is unpacked, and its program plays a league.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::windows::{self, Wine};
use crate::{Outcome, Repository, licenses, say, tools};

/// In the format of `sha256sum --check`.
const CHECKSUMS: &str = "SHA256SUMS";
/// In every archive, with the program and the licenses of its dependencies.
const DOCUMENTS: [&str; 5] = ["README.md", "docs/windows.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];
/// Used if git does not tell the time of the commit; a zip cannot hold an earlier one.
const FIRST_OF_1980: u64 = 315_532_800;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Platform {
    Linux,
    Windows,
}

impl Platform {
    const ALL: [Self; 2] = [Self::Linux, Self::Windows];

    fn target(self) -> &'static str {
        match self {
            Self::Linux => "x86_64-unknown-linux-musl",
            Self::Windows => windows::TARGET,
        }
    }

    fn program(self) -> &'static str {
        match self {
            Self::Linux => "league",
            Self::Windows => "league.exe",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Linux => "tar.gz",
            Self::Windows => "zip",
        }
    }

    fn prepare(self, repository: &Repository) -> Outcome {
        let ready = match self {
            Self::Linux => tools::target(repository, self.target())? && tools::musl(repository)?,
            Self::Windows => windows::can_build(repository)?,
        };
        let packages = match self {
            Self::Linux => "musl-tools",
            Self::Windows => "gcc-mingw-w64-x86-64-win32",
        };
        match ready {
            true => Ok(()),
            false => Err(format!(
                "{} needs rustup and Debian's package {packages}, which an administrator can install",
                self.target()
            )),
        }
    }
}

pub(crate) fn make(repository: &Repository) -> Outcome {
    let version = version(repository)?;
    let place = repository.target.join("dist");
    emptied(&place)?;
    let mut checksums = String::new();
    for platform in Platform::ALL {
        let name = format!("league-{version}-{}", platform.target());
        say::begin(&name);
        platform.prepare(repository)?;
        repository
            .run(repository.cargo(&format!("build --release --package league --target {}", platform.target())))?;
        let folder = place.join("staged").join(&name);
        fill(repository, platform, &folder)?;
        let archive = place.join(format!("{name}.{}", platform.ending()));
        pack(repository, platform, &folder, &archive)?;
        try_out(repository, platform, &archive, &version)?;
        checksums += &format!("{}  {name}.{}\n", checksum(repository, &archive)?, platform.ending());
    }
    write(&place.join(CHECKSUMS), checksums.as_bytes())?;
    fs::remove_dir_all(place.join("staged")).map_err(|error| format!("cannot remove what was packed: {error}"))?;
    say::passed(&format!("{}:\n{checksums}", place.display()));
    Ok(())
}

fn version(repository: &Repository) -> Result<String, String> {
    let id =
        repository.ask(repository.cargo("pkgid --package league")).ok_or("cargo does not know the package league")?;
    id.rsplit(['#', '@']).next().map(str::to_owned).ok_or_else(|| format!("{id} names no version"))
}

fn fill(repository: &Repository, platform: Platform, folder: &Path) -> Outcome {
    emptied(folder)?;
    let built = repository.target.join(platform.target()).join("release").join(platform.program());
    let mut files = vec![(built, platform.program())];
    files.extend(DOCUMENTS.map(|name| (repository.root.join(name), name)));
    for (from, name) in files {
        let to = folder.join(name);
        to.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .map_err(|error| format!("cannot create {}: {error}", to.display()))?;
        fs::copy(&from, &to).map_err(|error| format!("cannot copy {}: {error}", from.display()))?;
    }
    let licenses = licenses::of_dependencies(repository, platform.target())?;
    write(&folder.join("THIRD-PARTY-LICENSES.txt"), licenses.as_bytes())
}

/// Every file gets the time of the commit.
fn pack(repository: &Repository, platform: Platform, folder: &Path, archive: &Path) -> Outcome {
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%ct"]);
    let seconds = repository.ask(git).and_then(|text| text.parse().ok()).unwrap_or(FIRST_OF_1980);
    let command = match platform {
        Platform::Linux => {
            let (above, name) = (folder.parent().unwrap_or(folder), folder.file_name().unwrap_or_default());
            let mut tar = Command::new("tar");
            tar.args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
            tar.args([&format!("--mtime=@{seconds}"), "--use-compress-program=gzip -9n", "--file"]).arg(archive);
            tar.arg("--directory").arg(above).arg(name);
            tar
        }
        Platform::Windows => {
            date(folder, SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))?;
            let mut zip = Command::new("python3");
            zip.args(["-m", "zipfile", "--create"]).arg(archive).arg(folder).env("TZ", "UTC");
            zip
        }
    };
    repository.run(command)
}

fn date(folder: &Path, time: SystemTime) -> Outcome {
    let fails = |error| format!("cannot set the time of {}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(fails)? {
        let path = entry.map_err(fails)?.path();
        if path.is_dir() {
            date(&path, time)?;
        } else {
            fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(time)).map_err(fails)?;
        }
    }
    fs::File::open(folder).and_then(|directory| directory.set_modified(time)).map_err(fails)
}

fn try_out(repository: &Repository, platform: Platform, archive: &Path, version: &str) -> Outcome {
    let place = repository.target.join("dist-tried").join(platform.target());
    emptied(&place)?;
    let mut unpack = match platform {
        Platform::Linux => Command::new("tar"),
        Platform::Windows => Command::new("python3"),
    };
    match platform {
        Platform::Linux => unpack.arg("--extract").arg("--file").arg(archive).arg("--directory").arg(&place),
        Platform::Windows => unpack.args(["-m", "zipfile", "--extract"]).arg(archive).arg(&place),
    };
    repository.run(unpack)?;
    let folder = place.join(format!("league-{version}-{}", platform.target()));
    let program = folder.join(platform.program());
    let wine = match platform {
        Platform::Linux => None,
        Platform::Windows => {
            let Some(wine) = Wine::find(repository)? else {
                say::skipped(&format!(
                    "{} was not tried: that needs Wine (Debian's package wine64)",
                    archive.display()
                ));
                return Ok(());
            };
            wine.prepare()?;
            Some(wine)
        }
    };
    let command = |arguments: &[&str]| match &wine {
        Some(wine) => wine.command(&program, arguments),
        None => {
            let mut command = Command::new(&program);
            command.args(arguments);
            command
        }
    };
    let home = place.join("home");
    let told = repository.ask(command(&["--version"]));
    let played = repository.run(command(&["run", "--seed", "7", "--port", "0", "--home", &home.to_string_lossy()]));
    if let Some(wine) = wine {
        wine.end();
    }
    if told.as_deref() != Some(&format!("league {version}")) {
        return Err(format!("{} does not say that it is version {version}, but {told:?}", program.display()));
    }
    played
}

fn checksum(repository: &Repository, archive: &Path) -> Result<String, String> {
    let mut sum = Command::new("sha256sum");
    sum.arg(archive);
    let told = repository.ask(sum).ok_or("checksums need `sha256sum`")?;
    told.split_whitespace().next().map(str::to_owned).ok_or_else(|| format!("sha256sum told no checksum: {told}"))
}

fn emptied(folder: &Path) -> Outcome {
    let fails = |error: std::io::Error| format!("cannot empty {}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(fails)?;
    }
    fs::create_dir_all(folder).map_err(fails)
}

fn write(path: &PathBuf, contents: &[u8]) -> Outcome {
    fs::write(path, contents).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
