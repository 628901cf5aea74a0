//! `league` or another program in its own process, killed when dropped.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::mem;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::spawn;
use std::time::{Duration, Instant};

use super::{LIMIT, assert_contains};

const LEAGUE: &str = env!("CARGO_BIN_EXE_league");

pub(crate) struct Process {
    /// Kept for a restart.
    command: Command,
    child: Child,
    stderr: Receiver<String>,
    /// All of stdout, once it is closed.
    stdout: Receiver<String>,
    /// The lines of stderr that were read so far.
    lines: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Exit {
    /// None after a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Process {
    pub(crate) fn start<A: AsRef<OsStr>>(arguments: &[A]) -> Self {
        let mut command = Command::new(LEAGUE);
        command.args(arguments);
        Self::of(command)
    }

    pub(crate) fn start_in<A: AsRef<OsStr>>(directory: &str, environment: &[(&str, &str)], arguments: &[A]) -> Self {
        let mut command = Command::new(LEAGUE);
        command.args(arguments).current_dir(directory).envs(environment.iter().copied());
        Self::of(command)
    }

    pub(crate) fn limited<A: AsRef<OsStr>>(limits: &str, arguments: &[A]) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{limits}; exec \"$0\" \"$@\""), LEAGUE]).args(arguments);
        Self::of(command)
    }

    pub(crate) fn of(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (send_line, stderr) = channel();
        let (send_text, stdout) = channel();
        // The receiver may be gone already.
        spawn(move || BufReader::new(err).lines().map_while(Result::ok).try_for_each(|line| send_line.send(line)));
        spawn(move || {
            let mut text = String::new();
            drop(BufReader::new(out).read_to_string(&mut text));
            send_text.send(text)
        });
        Self { command, child, stderr, stdout, lines: Vec::new() }
    }

    /// Waits for a line of stderr that contains `part`.
    pub(crate) fn wait_for_line(&mut self, part: &str) -> String {
        self.wait_for_any(&[part])
    }

    /// Waits for a line of stderr that contains one of `parts`.
    pub(crate) fn wait_for_any(&mut self, parts: &[&str]) -> String {
        let until = Instant::now() + LIMIT;
        loop {
            match self.stderr.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => self.lines.push(line),
                Err(error) => panic!("{:?} did not print {parts:?} ({error}): {:?}", self.command, self.lines),
            }
            if let Some(line) = self.lines.last().filter(|line| parts.iter().any(|part| line.contains(part))) {
                return line.clone();
            }
        }
    }

    /// Waits until a manager prints its address.
    pub(crate) fn address(&mut self) -> String {
        self.wait_for_line("manager is at http").rsplit(' ').next().unwrap().to_owned()
    }

    /// Waits until a manager that keeps serving has ended its league.
    pub(crate) fn wait_for_end_of_league(&mut self) {
        self.wait_for_line("The league is over. Serving until Ctrl-C.");
    }

    pub(crate) fn wait(mut self) -> Exit {
        self.wait_within(LIMIT)
    }

    pub(crate) fn wait_within(&mut self, limit: Duration) -> Exit {
        let stdout = match self.stdout.recv_timeout(limit) {
            Ok(text) => text,
            Err(RecvTimeoutError::Timeout) => {
                self.lines.extend(self.stderr.try_iter());
                panic!("{:?} did not exit within {limit:?}: {:#?}", self.command, self.lines);
            }
            Err(RecvTimeoutError::Disconnected) => String::new(),
        };
        let code = self.child.wait().unwrap().code();
        self.lines.extend(self.stderr.iter());
        Exit { code, stdout, stderr: mem::take(&mut self.lines).join("\n") }
    }

    pub(crate) fn signal_and_restart(&mut self, signal: &str, limit: Duration) -> Exit {
        self.signal(signal);
        let exit = self.wait_within(limit);
        self.restart();
        exit
    }

    /// Sends SIGKILL and starts the same command again.
    pub(crate) fn kill_and_restart(&mut self) {
        self.kill();
        self.restart();
    }

    fn restart(&mut self) {
        *self = Self::of(mem::replace(&mut self.command, Command::new(LEAGUE)));
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn has_exited(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Exit {
    pub(crate) fn success(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// Expects exit code 1, and these parts on stderr.
    pub(crate) fn fails_with(self, parts: &[&str]) -> String {
        assert_eq!(self.code, Some(1), "{}{}", self.stdout, self.stderr);
        assert_contains(&self.stderr, parts);
        self.stderr
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Expects every process to exit with success.
pub(crate) fn wait_for_all(processes: impl IntoIterator<Item = Process>) {
    processes.into_iter().for_each(|process| drop(process.wait().success()));
}
