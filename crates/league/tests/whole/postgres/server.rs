//! A private PostgreSQL server of one test, which it may stop, with a disk that it may fill, a clock that it may set, or a
//! host of its own, and a proxy in front of it that cuts or delays.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::Duration;

use tempfile::TempDir;

use crate::several_machines::network::Host;
use crate::support::ports;

const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
const PASSWORD: &str = "s3cret-of-the-tests";

pub(crate) struct TestServer {
    directory: TempDir,
    port: u16,
    /// A file system of this size.
    megabytes: Option<u32>,
    has_own_clock: bool,
    host: Option<Host>,
}

impl TestServer {
    pub(crate) fn start() -> Self {
        Self::new(None, false, None)
    }

    /// Needs root.
    pub(crate) fn with_disk(megabytes: u32) -> Self {
        Self::new(Some(megabytes), false, None)
    }

    /// With a clock that [`Self::set_clock`] sets. Needs Debian's package `faketime`.
    pub(crate) fn with_clock() -> Self {
        Self::new(None, true, None)
    }

    /// At every address of `host`.
    pub(crate) fn on(host: Host) -> Self {
        Self::new(None, false, Some(host))
    }

    fn new(megabytes: Option<u32>, has_own_clock: bool, host: Option<Host>) -> Self {
        let server =
            Self { directory: tempfile::tempdir().unwrap(), port: ports::free(), megabytes, has_own_clock, host };
        let place = server.directory.path();
        if let Some(megabytes) = megabytes {
            let options = format!("size={megabytes}m");
            run(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "league-test"]).arg(place));
        }
        let password = place.join("password");
        fs::write(&password, PASSWORD).unwrap();
        server.set_clock(0);
        if is_root() {
            run(Command::new("chown").args(["--recursive", "postgres:postgres"]).arg(place));
        }
        let mut create = server.program("initdb");
        create.args(["--username=league", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        create.args(["--wal-segsize=1", "--pwfile"]).arg(&password).arg("--pgdata").arg(server.data());
        server.run(create);
        if server.host.is_some() {
            let rules = server.data().join("pg_hba.conf");
            let others = "host all all 192.168.1.0/24 scram-sha-256\n";
            fs::write(&rules, fs::read_to_string(&rules).unwrap() + others).unwrap();
        }
        server.resume();
        server
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn clock(&self) -> PathBuf {
        self.directory.path().join("clock")
    }

    /// How many seconds the clock of the server is ahead.
    pub(crate) fn set_clock(&self, ahead: i64) {
        // Renamed, so that the server never reads half of it.
        let written = self.directory.path().join("next-clock");
        fs::write(&written, format!("{ahead:+}")).unwrap();
        fs::rename(written, self.clock()).unwrap();
    }

    fn ballast(&self) -> PathBuf {
        self.directory.path().join("ballast")
    }

    pub(crate) fn fill_disk(&self) {
        let mut ballast = fs::File::create(self.ballast()).unwrap();
        let written = loop {
            if let Err(error) = ballast.write_all(&[0; 4096]) {
                break error;
            }
        };
        assert_eq!(written.kind(), ErrorKind::StorageFull);
    }

    pub(crate) fn free_disk(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }

    /// PostgreSQL refuses to run as root.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(if is_root() { "setpriv" } else { "env" });
        if is_root() {
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "env"]);
        }
        if self.has_own_clock {
            // Only here: the library makes files that belong to the first account that loads it.
            command
                .arg(format!("LD_PRELOAD={FAKETIME}"))
                .arg(format!("FAKETIME_TIMESTAMP_FILE={}", self.clock().display()));
            command.args(["FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"]);
        }
        command.arg(Path::new(PROGRAMS).join(name));
        command
    }

    /// On the host of the server.
    fn run(&self, command: Command) {
        match &self.host {
            Some(host) => run(&mut host.command(&command)),
            None => run(&mut { command }),
        }
    }

    pub(crate) fn resume(&self) {
        let mut start = self.program("pg_ctl");
        start.args(["start", "--wait", "--silent", "--log"]).arg(self.directory.path().join("server.log"));
        start.arg("--pgdata").arg(self.data()).arg("--options");
        let address = if self.host.is_some() { "*" } else { "127.0.0.1" };
        start.arg(format!("-c listen_addresses={address} -c port={} -c unix_socket_directories=", self.port));
        self.run(start);
    }

    pub(crate) fn is_running(&self) -> bool {
        let mut status = self.program("pg_ctl");
        status.arg("status").arg("--pgdata").arg(self.data());
        status.stdout(Stdio::null()).status().unwrap().success()
    }

    /// As after a power cut: the server recovers when it is started again.
    pub(crate) fn stop_immediately(&self) {
        self.run(self.immediate_stop());
    }

    fn immediate_stop(&self) -> Command {
        let mut stop = self.program("pg_ctl");
        stop.args(["stop", "--wait", "--silent", "--mode", "immediate", "--pgdata"]).arg(self.data());
        stop
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address_at([127, 0, 0, 1].into())
    }

    fn address_at(&self, address: IpAddr) -> SocketAddr {
        SocketAddr::new(address, self.port)
    }

    pub(crate) fn url(&self) -> String {
        url(self.address())
    }

    pub(crate) fn url_at(&self, address: IpAddr) -> String {
        url(self.address_at(address))
    }

    /// The first column of the first row, as text.
    pub(crate) fn ask(&self, query: &str) -> String {
        self.try_ask(query).unwrap_or_else(|error| panic!("{query}: {error}"))
    }

    pub(crate) fn try_ask(&self, query: &str) -> Result<String, String> {
        let mut psql = Command::new(Path::new(PROGRAMS).join("psql"));
        psql.args(["--no-align", "--tuples-only", "--quiet", "--command", query, &self.url()]);
        if let Some(host) = &self.host {
            psql = host.command(&psql);
        }
        let output = psql.output().unwrap();
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // Fails if the server has ended.
        drop(self.immediate_stop().stdout(Stdio::null()).stderr(Stdio::null()).status());
        if self.megabytes.is_some() {
            drop(Command::new("umount").arg(self.directory.path()).status());
        }
    }
}

pub(crate) fn url(address: SocketAddr) -> String {
    format!("postgres://league:{PASSWORD}@{address}/postgres")
}

pub(crate) fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.starts_with(b"0\n"))
}

fn run(command: &mut Command) {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}");
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Passing {
    /// Bytes pass after this time.
    After(Duration),
    /// Connections are closed and refused.
    Cut,
}

/// The way from one manager to the database.
pub(crate) struct DatabaseProxy {
    address: SocketAddr,
    passing: Arc<Mutex<Passing>>,
    open: Arc<Mutex<Vec<TcpStream>>>,
    /// From which the server was called.
    ports: Arc<Mutex<BTreeSet<u16>>>,
}

impl DatabaseProxy {
    pub(crate) fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let passing = Arc::new(Mutex::new(Passing::After(Duration::ZERO)));
        let open = Arc::<Mutex<Vec<TcpStream>>>::default();
        let ports = Arc::<Mutex<BTreeSet<u16>>>::default();
        let proxy = Self { address, passing: Arc::clone(&passing), open: Arc::clone(&open), ports: Arc::clone(&ports) };
        spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if *passing.lock().unwrap() == Passing::Cut {
                    continue;
                }
                let Ok(upstream) = TcpStream::connect(server) else { continue };
                ports.lock().unwrap().insert(upstream.local_addr().unwrap().port());
                open.lock().unwrap().extend([client.try_clone().unwrap(), upstream.try_clone().unwrap()]);
                let (there, back) = ((client.try_clone().unwrap(), upstream.try_clone().unwrap()), (upstream, client));
                for (from, to) in [there, back] {
                    let passing = Arc::clone(&passing);
                    spawn(move || copy(from, to, &passing));
                }
            }
        });
        proxy
    }

    pub(crate) fn url(&self) -> String {
        url(self.address)
    }

    pub(crate) fn has_called_from(&self, port: u16) -> bool {
        self.ports.lock().unwrap().contains(&port)
    }

    pub(crate) fn set(&self, passing: Passing) {
        *self.passing.lock().unwrap() = passing;
        if passing == Passing::Cut {
            self.open.lock().unwrap().drain(..).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
        }
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream, passing: &Mutex<Passing>) {
    let mut bytes = [0; 65536];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        let passing = *passing.lock().unwrap();
        match passing {
            Passing::After(delay) => sleep(delay),
            Passing::Cut => break,
        }
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    drop((from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both)));
}
