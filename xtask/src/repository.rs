//! The checkout, and the one way to run a command in it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;

/// For release builds that are neither shipped nor timed: optimising across crates takes longer than the rest of the
/// build.
pub(crate) const QUICK_RELEASE: [(&str, &str); 2] =
    [("CARGO_PROFILE_RELEASE_LTO", "off"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "4")];

pub(crate) struct Repository {
    pub(crate) root: PathBuf,
    /// Also the only place into which tools are installed.
    pub(crate) target: PathBuf,
    cargo: OsString,
}

impl Repository {
    pub(crate) fn here() -> Result<Self, String> {
        let lost = || String::from("start this as `cargo xtask`: cargo tells where the repository is");
        // Read at run time: checkouts may share one target directory.
        let manifest = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).ok_or_else(lost)?;
        // <target>/<profile>/xtask, however the target directory was chosen.
        let program = env::current_exe().map_err(|e| format!("{}: {e}", lost()))?;
        Ok(Self {
            root: manifest.parent().ok_or_else(lost)?.to_owned(),
            target: program.ancestors().nth(2).ok_or_else(lost)?.to_owned(),
            cargo: env::var_os("CARGO").ok_or_else(lost)?,
        })
    }

    pub(crate) fn cargo(&self, words: &str) -> Command {
        let mut command = Command::new(&self.cargo);
        command.args(words.split_whitespace());
        command
    }

    /// The path of a program of the release build.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.built("release", name)
    }

    /// The path of a program of the build for tests.
    pub(crate) fn debug_program(&self, name: &str) -> PathBuf {
        self.built("debug", name)
    }

    fn built(&self, profile: &str, name: &str) -> PathBuf {
        self.target.join(profile).join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }

    /// Prints `command` first; fails unless it succeeds.
    pub(crate) fn run(&self, mut command: Command) -> Outcome {
        let shown = shown(&command);
        eprintln!("    {shown}");
        // Without input: no command may wait for a person.
        match command.current_dir(&self.root).stdin(Stdio::null()).status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("`{shown}` failed: {status}")),
            Err(e) => Err(format!("`{shown}` could not be started: {e}")),
        }
    }

    /// The output of `command`; `None` if it fails or does not exist.
    pub(crate) fn output(&self, mut command: Command) -> Option<String> {
        let output = command.current_dir(&self.root).stdin(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

/// Splits `words` at white space: the program, then its arguments.
pub(crate) fn command(words: &str) -> Command {
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or(command.get_program());
    let settings = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={} ", name.to_string_lossy(), quoted(&value?.to_string_lossy()))));
    let arguments = command.get_args().map(|argument| format!(" {}", quoted(&argument.to_string_lossy())));
    settings.chain([program.to_string_lossy().into_owned()]).chain(arguments).collect()
}

fn quoted(text: &str) -> String {
    if text.contains(' ') { format!("'{text}'") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_a_user_types_it() {
        let mut command = command("/usr/bin/cargo doc --no-deps");
        command.env("RUSTDOCFLAGS", "-D warnings").env_remove("CARGO");
        assert_eq!(shown(&command), "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
    }
}
