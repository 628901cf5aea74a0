//! `league` or another program in its own process, killed when dropped.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::spawn;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

const LEAGUE: &str = env!("CARGO_BIN_EXE_league");

fn owned<A: AsRef<str>>(arguments: &[A]) -> Vec<String> {
    arguments.iter().map(|argument| argument.as_ref().to_owned()).collect()
}

pub(crate) struct Process {
    child: Child,
    program: PathBuf,
    arguments: Vec<String>,
    /// The directory and the variables; by default those of this process.
    place: Option<PathBuf>,
    environment: Vec<(String, String)>,
    lines: Receiver<String>,
    /// All of stdout, once it is closed.
    out: Receiver<String>,
    heard: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Ended {
    /// None after a signal.
    pub(crate) code: Option<i32>,
    /// Stdout.
    pub(crate) out: String,
    /// Stderr.
    pub(crate) talk: String,
}

impl Process {
    pub(crate) fn start<A: AsRef<str>>(arguments: &[A]) -> Self {
        Self::begin(LEAGUE.into(), None, Vec::new(), owned(arguments))
    }

    pub(crate) fn start_in<A: AsRef<str>>(directory: &str, environment: &[(&str, &str)], arguments: &[A]) -> Self {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self::begin(LEAGUE.into(), Some(directory.into()), environment, owned(arguments))
    }

    pub(crate) fn of(command: &Command) -> Self {
        let text = |text: &OsStr| text.to_str().unwrap().to_owned();
        let environment = command.get_envs().filter_map(|(name, value)| Some((text(name), text(value?)))).collect();
        let arguments = command.get_args().map(text).collect();
        Self::begin(command.get_program().into(), command.get_current_dir().map(Path::to_owned), environment, arguments)
    }

    pub(crate) fn limited<A: AsRef<str>>(limits: &str, arguments: &[A]) -> Self {
        let script = ["-c".to_owned(), format!("{limits}; exec \"$0\" \"$@\""), LEAGUE.to_owned()];
        Self::begin("sh".into(), None, Vec::new(), [script.to_vec(), owned(arguments)].concat())
    }

    fn begin(
        program: PathBuf,
        place: Option<PathBuf>,
        environment: Vec<(String, String)>,
        arguments: Vec<String>,
    ) -> Self {
        let mut command = Command::new(&program);
        if let Some(directory) = &place {
            command.current_dir(directory);
        }
        let mut child = command
            .args(&arguments)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (say, lines) = channel();
        let (tell, out) = channel();
        // The receiver may be gone already.
        spawn(move || BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| say.send(line)));
        spawn(move || {
            let mut text = String::new();
            drop(BufReader::new(stdout).read_to_string(&mut text));
            tell.send(text)
        });
        Self { child, program, arguments, place, environment, lines, out, heard: Vec::new() }
    }

    /// Waits for a line of stderr that contains `part`.
    pub(crate) fn says(&mut self, part: &str) -> String {
        let until = Instant::now() + LIMIT;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) if line.contains(part) => {
                    self.heard.push(line.clone());
                    return line;
                }
                Ok(line) => self.heard.push(line),
                Err(why) => panic!("{:?} did not say {part:?} ({why}): {:?}", self.arguments, self.heard),
            }
        }
    }

    pub(crate) fn address(&mut self) -> String {
        let line = self.says("the manager is at http");
        line.rsplit(' ').next().unwrap().to_owned()
    }

    pub(crate) fn ended(self) -> Ended {
        self.ended_within(LIMIT)
    }

    pub(crate) fn ended_within(mut self, limit: Duration) -> Ended {
        self.end(limit)
    }

    pub(crate) fn terminate_and_restart(&mut self, limit: Duration) -> Ended {
        self.terminate();
        let ended = self.end(limit);
        *self = self.another();
        ended
    }

    fn end(&mut self, limit: Duration) -> Ended {
        let out = match self.out.recv_timeout(limit) {
            Ok(out) => out,
            Err(RecvTimeoutError::Timeout) => {
                self.heard.extend(self.lines.try_iter());
                panic!("{:?} did not end within {limit:?}: {:#?}", self.arguments, self.heard);
            }
            Err(RecvTimeoutError::Disconnected) => String::new(),
        };
        let code = self.child.wait().unwrap().code();
        self.heard.extend(self.lines.iter());
        Ended { code, out, talk: std::mem::take(&mut self.heard).join("\n") }
    }

    /// Sends SIGKILL and keeps the arguments.
    pub(crate) fn kill_and_restart(&mut self) {
        self.kill();
        *self = self.another();
    }

    fn another(&self) -> Self {
        Self::begin(self.program.clone(), self.place.clone(), self.environment.clone(), self.arguments.clone())
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) {
        let sent = Command::new("kill").args(["-TERM", &self.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// All of stderr, after the exit.
    pub(crate) fn heard(mut self) -> String {
        self.heard.extend(self.lines.iter());
        self.heard.join("\n")
    }

    pub(crate) fn is_over(&mut self) -> bool {
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

impl Ended {
    /// Expects success.
    pub(crate) fn well(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.talk);
        self
    }

    /// Expects a failure; returns stderr.
    pub(crate) fn badly(self) -> String {
        assert_eq!(self.code, Some(1), "{}{}", self.out, self.talk);
        self.talk
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap()
    }
}
