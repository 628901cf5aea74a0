//! A network of hosts within this machine: each is a network namespace with its own addresses, host name and hosts
//! file.
//!
//! The namespace has no name. It belongs to a process that waits for its standard input to close, so it ends with the
//! test, even if the test fails or is killed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::Process;

const HOSTS: &str = "127.0.0.1 localhost
192.168.1.10 teacher-laptop.local teacher-laptop
192.168.1.10 elsewhere.example
192.168.1.12 players.local
";

/// The hosts of the README, behind one switch.
pub(crate) struct Network {
    pub(crate) switch: Host,
    pub(crate) manager: Host,
    pub(crate) referees: Host,
    pub(crate) players: Host,
}

impl Network {
    /// The last parts of the addresses are in 192.168.1.0/24 and fd00::/64.
    pub(crate) fn new() -> Self {
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
        Self { switch, manager, referees, players }
    }

    /// A host at 10.0.0.2 behind a router at 192.168.1.1, which translates addresses: the others cannot call it.
    pub(crate) fn behind_nat(&self) -> (Host, Host) {
        let (router, inside) = (Host::new("router"), Host::new("inside"));
        self.join("port1", &router);
        router.does("ip address add 192.168.1.1/24 dev eth0");
        router.does("ip link set eth0 up");
        router.does(&format!("ip link add name inner type veth peer name eth0 netns {}", inside.id()));
        router.does("ip address add 10.0.0.1/24 dev inner");
        router.does("ip link set inner up");
        router.does("sysctl --quiet --write net.ipv4.ip_forward=1");
        router.does("iptables --table nat --append POSTROUTING --out-interface eth0 --jump MASQUERADE");
        inside.does("ip address add 10.0.0.2/24 dev eth0");
        inside.does("ip link set eth0 up");
        inside.does("ip route add default via 10.0.0.1");
        (router, inside)
    }

    /// One more host, at 192.168.1.`last`.
    pub(crate) fn further(&self, last: u8) -> Host {
        let host = Host::new(&format!("further{last}"));
        self.join(&format!("port{last}"), &host);
        host.does(&format!("ip address add 192.168.1.{last}/24 dev eth0"));
        host.does("ip link set eth0 up");
        host
    }

    fn join(&self, port: &str, host: &Host) {
        self.switch.does(&format!("ip link add name {port} type veth peer name eth0 netns {}", host.id()));
        self.switch.does(&format!("ip link set {port} master br0 up"));
    }
}

pub(crate) struct Host {
    holder: Child,
    files: TempDir,
}

impl Host {
    /// In no network yet.
    pub(crate) fn new(name: &str) -> Self {
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

    pub(crate) fn home(&self) -> PathBuf {
        self.files.path().to_owned()
    }

    /// `nsenter` runs what follows on this host.
    fn entering(&self, directory: &Path) -> Vec<String> {
        let target = self.id().to_string();
        let inside = ["--target", &target, "--net", "--uts", "--mount", "sh", "-c", "cd \"$0\" && exec \"$@\""];
        inside.into_iter().map(str::to_owned).chain([directory.to_str().unwrap().to_owned()]).collect()
    }

    pub(crate) fn command(&self, command: &Command) -> Command {
        let directory = command.get_current_dir().map_or_else(|| self.home(), Path::to_owned);
        let mut entered = Command::new("nsenter");
        entered.args(self.entering(&directory)).arg(command.get_program()).args(command.get_args());
        entered.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        entered
    }

    pub(crate) fn start(&self, command: &Command) -> Process {
        Process::of(self.command(command))
    }

    pub(crate) fn league(&self, line: &str) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_league"));
        command.args(line.split_whitespace());
        self.start(&command)
    }

    /// Whether the line succeeds.
    pub(crate) fn can(&self, line: &str) -> bool {
        self.run(line).status.success()
    }

    fn run(&self, line: &str) -> Output {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap());
        command.args(words);
        self.command(&command).output().unwrap()
    }

    pub(crate) fn does(&self, line: &str) {
        let output = self.run(line);
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
