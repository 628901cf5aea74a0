//! `cargo xtask dist`: the archives for download, below `target/dist`: a zip for Windows, a tarball with a static
//! program for Linux, and their checksums.
//!
//! The same commit gives the same archives. Each is unpacked, and its program plays a league.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::repository::command;
use crate::windows::{self, Wine};
use crate::{Outcome, Repository, files, licenses, say, tools};

/// In the format of `sha256sum --check`.
const CHECKSUMS: &str = "SHA256SUMS";
/// In every archive, with the program and the licenses of its dependencies.
const DOCUMENTS: [&str; 5] = ["README.md", "docs/windows.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];
/// Used if git does not tell the time of the commit; a zip cannot hold an earlier one.
const FIRST_OF_1980: u64 = 315_532_800;

struct Platform {
    target: &'static str,
    program: &'static str,
    /// The file extension of the archive.
    archive: &'static str,
    /// The Debian package with the linker.
    package: &'static str,
    is_windows: bool,
}

const PLATFORMS: [Platform; 2] = [
    Platform {
        target: "x86_64-unknown-linux-musl",
        program: "league",
        archive: "tar.gz",
        package: "musl-tools",
        is_windows: false,
    },
    Platform {
        target: windows::TARGET,
        program: "league.exe",
        archive: "zip",
        package: "gcc-mingw-w64-x86-64-win32",
        is_windows: true,
    },
];

pub(crate) fn make(repository: &Repository) -> Outcome {
    let version = &version(repository)?;
    let dist = repository.target.join("dist");
    files::empty(&dist)?;
    let mut checksums = String::new();
    for platform in PLATFORMS {
        let Platform { target, package, archive, is_windows, .. } = platform;
        let name = format!("league-{version}-{target}");
        say::begin(&name);
        let can_build = match is_windows {
            true => windows::can_build(repository)?,
            false => tools::target(repository, target)? && tools::musl(repository)?,
        };
        if !can_build {
            return Err(format!(
                "{target} needs rustup and Debian's package {package}, which an administrator can install"
            ));
        }
        repository.run(repository.cargo(&format!("build --release --package league --target {target}")))?;
        let folder = dist.join("staged").join(&name);
        fill(repository, &platform, &folder)?;
        let file = format!("{name}.{archive}");
        pack(repository, &platform, &folder, &dist.join(&file))?;
        try_out(repository, &platform, &dist.join(&file), version)?;
        checksums += &format!("{}  {file}\n", checksum(repository, &dist.join(&file))?);
    }
    files::write(&dist.join(CHECKSUMS), &checksums)?;
    fs::remove_dir_all(dist.join("staged")).map_err(|error| format!("cannot remove what was packed: {error}"))?;
    say::passed(&format!("{}:\n{checksums}", dist.display()));
    Ok(())
}

pub(crate) fn version(repository: &Repository) -> Result<String, String> {
    let id = repository.output(repository.cargo("pkgid --package league"));
    let id = id.ok_or("cargo does not know the package league")?;
    Ok(id.rsplit(['#', '@']).next().unwrap_or_default().to_owned())
}

/// In seconds since 1970.
pub(crate) fn commit_time(repository: &Repository) -> u64 {
    let committed = repository.output(command("git log -1 --format=%ct"));
    committed.and_then(|text| text.parse().ok()).unwrap_or(FIRST_OF_1980)
}

/// The same time as text: `2026-01-31T12:00:00Z`.
pub(crate) fn commit_date(repository: &Repository) -> String {
    let mut git = command("git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd");
    git.env("TZ", "UTC");
    repository.output(git).unwrap_or_else(|| String::from("1980-01-01T00:00:00Z"))
}

fn fill(repository: &Repository, platform: &Platform, folder: &Path) -> Outcome {
    files::empty(folder)?;
    let built = repository.target.join(platform.target).join("release").join(platform.program);
    files::copy(&built, &folder.join(platform.program))?;
    for name in DOCUMENTS {
        files::copy(&repository.root.join(name), &folder.join(name))?;
    }
    let licenses = licenses::of_dependencies(repository, platform.target)?;
    files::write(&folder.join("THIRD-PARTY-LICENSES.txt"), licenses)
}

/// Every file gets the time of the commit.
fn pack(repository: &Repository, platform: &Platform, folder: &Path, archive: &Path) -> Outcome {
    let seconds = commit_time(repository);
    if platform.is_windows {
        set_times(folder, SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))?;
        let mut zip = command("python3 -m zipfile --create");
        zip.arg(archive).arg(folder).env("TZ", "UTC");
        return repository.run(zip);
    }
    let (above, name) = (folder.parent().unwrap_or(folder), folder.file_name().unwrap_or_default());
    let mut tar = command("tar --create --sort=name --owner=0 --group=0 --numeric-owner");
    tar.args([&format!("--mtime=@{seconds}"), "--use-compress-program=gzip -9n", "--file"]).arg(archive);
    tar.arg("--directory").arg(above).arg(name);
    repository.run(tar)
}

fn set_times(folder: &Path, time: SystemTime) -> Outcome {
    let failed = |error| format!("cannot set the time of {}: {error}", folder.display());
    for path in files::list(folder)? {
        if path.is_dir() {
            set_times(&path, time)?;
        } else {
            fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(time)).map_err(failed)?;
        }
    }
    fs::File::open(folder).and_then(|directory| directory.set_modified(time)).map_err(failed)
}

fn try_out(repository: &Repository, platform: &Platform, archive: &Path, version: &str) -> Outcome {
    let place = repository.target.join("dist-tried").join(platform.target);
    files::empty(&place)?;
    let mut unpack =
        command(if platform.is_windows { "python3 -m zipfile --extract" } else { "tar --extract --directory" });
    match platform.is_windows {
        true => unpack.arg(archive).arg(&place),
        false => unpack.arg(&place).arg("--file").arg(archive),
    };
    repository.run(unpack)?;
    let program = place.join(format!("league-{version}-{}", platform.target)).join(platform.program);
    let wine = if platform.is_windows { Wine::find(repository)? } else { None };
    if platform.is_windows && wine.is_none() {
        say::skipped(&format!("{} was not tried: that needs Wine (Debian's package wine64)", archive.display()));
        return Ok(());
    }
    wine.as_ref().map_or(Ok(()), Wine::prepare)?;
    let league = |arguments: &[&str]| {
        let mut league = wine.as_ref().map_or_else(|| Command::new(&program), |wine| wine.command(&program));
        league.args(arguments);
        league
    };
    let home = place.join("home");
    let printed = repository.output(league(&["--version"]));
    let played = repository.run(league(&["run", "--seed", "7", "--port", "0", "--home", &home.to_string_lossy()]));
    if let Some(wine) = wine {
        wine.end();
    }
    if printed.as_deref() != Some(&format!("league {version}")) {
        return Err(format!("{} does not print that it is version {version}, but {printed:?}", program.display()));
    }
    played
}

pub(crate) fn checksum(repository: &Repository, archive: &Path) -> Result<String, String> {
    let mut sum = Command::new("sha256sum");
    sum.arg(archive);
    let output = repository.output(sum).ok_or("checksums need `sha256sum`")?;
    Ok(output.split_whitespace().next().unwrap_or_default().to_owned())
}
