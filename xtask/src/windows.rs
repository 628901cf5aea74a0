//! The Windows program: built with MinGW, tested under Wine. Wine's prefix is below the target directory, and every
//! process in it ends with the step.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::repository::command;
use crate::{Outcome, Repository, files, say, steps, tools};

pub(crate) const TARGET: &str = "x86_64-pc-windows-gnu";

const MINGW: &str = "x86_64-w64-mingw32-gcc";
/// Debian's package installs its programs outside of the path.
const WINES: [&str; 3] = ["/usr/lib/wine/wine64", "wine64", "wine"];
const SERVERS: [&str; 2] = ["/usr/lib/wine/wineserver", "wineserver"];
/// A Windows DLL that Wine 8 lacks.
const PRNG: &str = "crates/league/tests/whole/windows/process_prng.c";

const MISSING: &str = "needs rustup, MinGW and Wine (Debian's packages gcc-mingw-w64-x86-64-win32 and wine64, which root can have installed by \
                       this command)";

pub(crate) fn check(repository: &Repository) -> Outcome {
    let found = if can_build(repository)? { Wine::find(repository)? } else { None };
    let Some(wine) = found else {
        say::skipped(&format!("the Windows program was not tested: that {MISSING}"));
        return Ok(());
    };
    repository.run(cross(repository, "build --package league --features league-player/test-strategies"))?;
    wine.prepare()?;
    let mut store = cross(repository, "test --package league-store --lib");
    // Windows 10 replaces a file while others read it; Wine 8 waits until they have closed it.
    store.args(["--", "--skip", "a_reader_never_sees_half_a_file"]);
    store.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", &wine.loader);
    wine.set_environment(&mut store);
    let stored = repository.run(store);
    let mut tests = steps::ignored(repository, &["windows::"])?;
    wine.set_environment(&mut tests);
    tests.env("LEAGUE_WINE", &wine.loader);
    tests.env("LEAGUE_WINDOWS", repository.target.join(TARGET).join("debug/league.exe"));
    let tested = stored.and_then(|()| repository.run(tests));
    wine.end();
    tested
}

/// An unoptimised build without debug information takes a third of the time.
fn cross(repository: &Repository, words: &str) -> Command {
    let mut command = repository.cargo(&format!("{words} --target {TARGET}"));
    command.args(["--config", "profile.dev.package.'*'.opt-level=0"]).env("CARGO_PROFILE_DEV_DEBUG", "false");
    command.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUSTFLAGS", "-D warnings");
    command
}

pub(crate) fn can_build(repository: &Repository) -> Result<bool, String> {
    Ok(tools::target(repository, TARGET)?
        && tools::package_if_root(repository, MINGW, "gcc-mingw-w64-x86-64-win32", "MinGW links Windows programs")?)
}

pub(crate) struct Wine<'r> {
    repository: &'r Repository,
    loader: PathBuf,
    server: PathBuf,
    root: PathBuf,
}

impl<'r> Wine<'r> {
    pub(crate) fn find(repository: &'r Repository) -> Result<Option<Self>, String> {
        let installed = |programs: &[&str]| {
            let runs = |program: &&str| repository.output(command(&format!("{program} --version"))).is_some();
            programs.iter().copied().find(runs).map(PathBuf::from)
        };
        if installed(&WINES).is_none()
            && !tools::package_if_root(repository, WINES[0], "wine64", "Windows programs run under Wine")?
        {
            return Ok(None);
        }
        let root = repository.target.join("wine");
        Ok(installed(&WINES).zip(installed(&SERVERS)).map(|(loader, server)| Self { repository, loader, server, root }))
    }

    pub(crate) fn prepare(&self) -> Outcome {
        files::create(&self.root)?;
        let mut compiler = command(&format!("{MINGW} -O2 -s -shared {PRNG} -ladvapi32 -o"));
        compiler.arg(self.root.join("bcryptprimitives.dll"));
        self.repository.run(compiler)?;
        if self.root.join("prefix/system.reg").exists() {
            return Ok(());
        }
        let mut boot = self.command(Path::new("wineboot"));
        boot.arg("--init");
        self.repository.run(boot)
    }

    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(&self.loader);
        command.arg(program);
        self.set_environment(&mut command);
        command
    }

    /// Sets Wine's variables: its prefix, the directory of our DLL, and no diagnostics.
    fn set_environment(&self, command: &mut Command) {
        command
            .env("WINEPREFIX", self.root.join("prefix"))
            .env("WINEPATH", &self.root)
            .env("WINEDEBUG", "-all")
            .env("WINEDLLOVERRIDES", "mscoree,mshtml,winemenubuilder.exe=");
    }

    /// Waits until every process of the prefix has ended.
    pub(crate) fn end(&self) {
        for flag in ["--kill", "--wait"] {
            let mut server = Command::new(&self.server);
            server.arg(flag);
            self.set_environment(&mut server);
            // Exit code 1 means that no process was running.
            let _ = self.repository.output(server);
        }
    }
}
