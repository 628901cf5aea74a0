//! A private PostgreSQL server of one test, which it may stop, and a proxy in front of it that cuts or delays.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::Duration;

use tempfile::TempDir;

use crate::support::ports;

const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";
const PASSWORD: &str = "s3cret-of-the-tests";

pub(crate) struct TestServer {
    directory: TempDir,
    port: u16,
}

impl TestServer {
    pub(crate) fn start() -> Self {
        let server = Self { directory: tempfile::tempdir().unwrap(), port: ports::free() };
        let password = server.directory.path().join("password");
        std::fs::write(&password, PASSWORD).unwrap();
        if is_root() {
            run(Command::new("chown").args(["--recursive", "postgres:postgres"]).arg(server.directory.path()));
        }
        let mut create = program("initdb");
        create.args(["--username=league", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        run(create.arg("--pwfile").arg(&password).arg("--pgdata").arg(server.data()));
        server.resume();
        server
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    pub(crate) fn resume(&self) {
        let mut start = program("pg_ctl");
        start.args(["start", "--wait", "--silent", "--log"]).arg(self.directory.path().join("server.log"));
        start.arg("--pgdata").arg(self.data()).arg("--options");
        let options = format!("-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories=", self.port);
        run(start.arg(options));
    }

    /// As after a power cut: the server recovers when it is started again.
    pub(crate) fn stop_immediately(&self) {
        let mut stop = program("pg_ctl");
        run(stop.args(["stop", "--wait", "--silent", "--mode", "immediate", "--pgdata"]).arg(self.data()));
    }

    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    pub(crate) fn url(&self) -> String {
        url(self.address())
    }

    /// The first column of the first row, as text.
    pub(crate) fn ask(&self, query: &str) -> String {
        self.try_ask(query).unwrap_or_else(|error| panic!("{query}: {error}"))
    }

    pub(crate) fn try_ask(&self, query: &str) -> Result<String, String> {
        let mut psql = Command::new(Path::new(PROGRAMS).join("psql"));
        let output = psql.args(["--no-align", "--tuples-only", "--quiet", "--command", query, &self.url()]);
        let output = output.output().unwrap();
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let mut stop = program("pg_ctl");
        stop.args(["stop", "--wait", "--silent", "--mode", "immediate", "--pgdata"]).arg(self.data());
        drop(stop.stdout(Stdio::null()).stderr(Stdio::null()).status());
    }
}

pub(crate) fn url(address: SocketAddr) -> String {
    format!("postgres://league:{PASSWORD}@{address}/postgres")
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.starts_with(b"0\n"))
}

/// PostgreSQL refuses to run as root.
fn program(name: &str) -> Command {
    let path = Path::new(PROGRAMS).join(name);
    if !is_root() {
        return Command::new(path);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(path);
    command
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
