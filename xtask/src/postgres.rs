//! A private PostgreSQL server for the tests that need one: on a free port, stopped and deleted at the end.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::repository::command;
use crate::{Outcome, Repository, bench, files, say, tools};

const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";
const PASSWORD: &str = "s3cret-of-the-tests";
const MISSING: &str = "PostgreSQL 15 (Debian's package postgresql, which root can have installed by this command)";

pub(crate) fn check(repository: &Repository) -> Outcome {
    if !is_installed(repository)? {
        return Ok(());
    }
    tools::faketime(repository)?;
    let server = Server::start(repository)?;
    let url = server.url();
    let mut tests = tools::linted(repository, "test --workspace --test log --test whole postgres -- --ignored")?;
    tests.env("LEAGUE_POSTGRES", &url);
    repository.run(tests)
}

/// Each test starts a server of its own, because it crashes it.
pub(crate) fn takeovers(repository: &Repository, faults: &str) -> Outcome {
    if !is_installed(repository)? {
        return Ok(());
    }
    let mut tests = tools::linted(repository, "test --workspace --test whole takeovers:: -- --ignored --nocapture")?;
    tests.env("LEAGUE_TAKEOVERS", faults);
    repository.run(tests)
}

/// Results per second on PostgreSQL and on SQLite.
pub(crate) fn stores(repository: &Repository, arguments: &[&str]) -> Outcome {
    if !is_installed(repository)? {
        return Ok(());
    }
    let server = Server::start(repository)?;
    bench::stores(repository, &server.url(), arguments)
}

pub(crate) fn is_installed(repository: &Repository) -> Result<bool, String> {
    let server = format!("{PROGRAMS}/postgres");
    let is_there = tools::package_if_root(repository, &server, "postgresql", "the tests need a PostgreSQL server")?;
    if !is_there {
        say::skipped(&format!("the store in PostgreSQL was not tested: that needs {MISSING}"));
    }
    Ok(is_there)
}

struct Server<'r> {
    repository: &'r Repository,
    root: PathBuf,
    port: u16,
}

impl<'r> Server<'r> {
    fn start(repository: &'r Repository) -> Result<Self, String> {
        // The account of the server cannot read a target directory below a private home.
        let root = std::env::temp_dir().join(format!("league-postgres-{}", std::process::id()));
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let port = free.map_err(|error| format!("there is no free port: {error}"))?.port();
        let server = Self { repository, root, port };
        files::empty(&server.root)?;
        let password = server.root.join("password");
        files::write(&password, PASSWORD)?;
        if server.is_root() {
            let mut own = command("chown --recursive postgres:postgres");
            own.arg(&server.root);
            repository.run(own)?;
        }
        let mut create = server.program("initdb");
        create.args(["--username=league", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--pwfile"]);
        create.arg(&password).arg("--pgdata").arg(server.data());
        if repository.output(create).is_none() {
            return Err(String::from("initdb failed"));
        }
        let mut start = server.program("pg_ctl");
        start.args(["start", "--wait", "--silent", "--log"]).arg(server.root.join("server.log"));
        start.arg("--pgdata").arg(server.data()).arg("--options");
        start.arg(format!("-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories="));
        repository.run(start)?;
        Ok(server)
    }

    fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    fn url(&self) -> String {
        format!("postgres://league:{PASSWORD}@127.0.0.1:{}/postgres", self.port)
    }

    fn is_root(&self) -> bool {
        self.repository.output(command("id -u")).is_some_and(|id| id == "0")
    }

    /// PostgreSQL refuses to run as root.
    fn program(&self, name: &str) -> Command {
        let path = Path::new(PROGRAMS).join(name);
        if !self.is_root() {
            return Command::new(path);
        }
        let mut program = command("setpriv --reuid=postgres --regid=postgres --clear-groups");
        program.arg(path);
        program
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let mut stop = self.program("pg_ctl");
        stop.args(["stop", "--wait", "--silent", "--mode", "immediate", "--pgdata"]).arg(self.data());
        // Fails if the server did not start.
        drop(self.repository.output(stop));
        drop(std::fs::remove_dir_all(&self.root));
    }
}
