//! A network of hosts within this machine: each is a network namespace with its own addresses, host name and hosts
//! file.
//!
//! The namespace has no name. It belongs to a process that waits for its standard input to close, so it ends with the
//! test, even if the test fails or is killed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::support::Process;

const HOSTS: &str = "127.0.0.1 localhost
192.168.1.10 teacher-laptop.local teacher-laptop
192.168.1.10 elsewhere.example
192.168.1.12 players.local
";

/// The hosts of the README, behind one switch.
pub(super) struct Network {
    _switch: Host,
    pub(super) manager: Host,
    pub(super) referees: Host,
    pub(super) players: Host,
}

impl Network {
    /// The last parts of the addresses are in 192.168.1.0/24 and fd00::/64.
    pub(super) fn new() -> Self {
        let switch = Host::new("switch");
        switch.does("ip link add name br0 type bridge");
        switch.does("ip link set br0 up");
        let [manager, referees, players] =
            [("teacher-laptop", 10), ("referees", 11), ("players", 12)].map(|(name, last)| {
                let host = Host::new(name);
                switch.does(&format!("ip link add name port{last} type veth peer name eth0 netns {}", host.id()));
                switch.does(&format!("ip link set port{last} master br0 up"));
                host.does(&format!("ip address add 192.168.1.{last}/24 dev eth0"));
                host.does(&format!("ip address add fd00::{last}/64 dev eth0 nodad"));
                host.does("ip link set eth0 up");
                host
            });
        Self { _switch: switch, manager, referees, players }
    }
}

pub(super) struct Host {
    holder: Child,
    files: TempDir,
}

impl Host {
    /// In no network yet.
    pub(super) fn new(name: &str) -> Self {
        let mut holder = Command::new("unshare")
            .args(["--net", "--uts", "--mount", "sh", "-c", "echo ready; read -r _"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let ready = BufReader::new(holder.stdout.take().unwrap()).lines().next();
        let host = Self { holder, files: tempfile::tempdir().unwrap() };
        assert!(
            ready.is_some(),
            "namespaces are not allowed here; cargo xtask ci leaves these tests out then, and says so"
        );
        let hosts = host.files.path().join("hosts");
        fs::write(&hosts, HOSTS).unwrap();
        host.does(&format!("mount --bind {} /etc/hosts", hosts.display()));
        host.does(&format!("hostname {name}"));
        host.does("ip link set lo up");
        host
    }

    fn id(&self) -> u32 {
        self.holder.id()
    }

    pub(super) fn home(&self) -> PathBuf {
        self.files.path().to_owned()
    }

    /// `nsenter` runs what follows on this host.
    fn entering(&self, directory: &Path) -> Vec<String> {
        let target = self.id().to_string();
        let inside = ["--target", &target, "--net", "--uts", "--mount", "sh", "-c", "cd \"$0\" && exec \"$@\""];
        inside.into_iter().map(str::to_owned).chain([directory.to_str().unwrap().to_owned()]).collect()
    }

    pub(super) fn command(&self, command: &Command) -> Command {
        let directory = command.get_current_dir().map_or_else(|| self.home(), Path::to_owned);
        let mut entered = Command::new("nsenter");
        entered.args(self.entering(&directory)).arg(command.get_program()).args(command.get_args());
        entered.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        entered
    }

    pub(super) fn start(&self, command: &Command) -> Process {
        Process::of(self.command(command))
    }

    pub(super) fn league(&self, line: &str) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_league"));
        command.args(line.split_whitespace());
        self.start(&command)
    }

    fn does(&self, line: &str) {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap());
        command.args(words);
        let output = self.command(&command).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // The namespaces end with the holder and the processes in them, which end first.
        drop(self.holder.kill());
        drop(self.holder.wait());
    }
}
