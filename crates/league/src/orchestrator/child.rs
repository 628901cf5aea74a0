//! The process of an agent: its output and its exit.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child as Process, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

const MAX_LINE: u64 = 1024;
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const ORDERLY: Duration = Duration::from_secs(5);

/// Killed when dropped.
pub(super) struct Child {
    process: Process,
    output: oneshot::Receiver<()>,
    last: Arc<Mutex<String>>,
}

pub(super) struct Ended {
    /// None after a signal.
    pub(super) code: Option<i32>,
    /// The exit code or the signal, and the last line of output.
    pub(super) how: String,
}

impl Child {
    /// Shows stderr with `label` before each line.
    pub(super) fn start(mut command: Command, label: &str) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        command.stdin(Stdio::null()).stderr(writer);
        // In its own process group, so that its children are stopped with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let process = command.spawn()?;
        // Closes this process's end of the pipe; otherwise the pipe would stay open.
        drop(command);
        let (close, output) = oneshot::channel();
        let last = Arc::new(Mutex::new(String::new()));
        let (kept, label) = (Arc::clone(&last), label.to_owned());
        thread::Builder::new().name(format!("output-{label}")).spawn(move || {
            show(reader, &label, &kept);
            drop(close);
        })?;
        Ok(Self { process, output, last })
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(super) async fn ended(&mut self) -> io::Result<Ended> {
        // Resolves with an error when the output is closed.
        drop((&mut self.output).await);
        loop {
            if let Some(status) = self.process.try_wait()? {
                return Ok(self.describe(status));
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    fn describe(&self, status: ExitStatus) -> Ended {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let how = if last.is_empty() { status.to_string() } else { format!("{status}: {last}") };
        Ended { code: status.code(), how }
    }

    pub(super) async fn end(mut self) {
        if self.send_terminate() {
            let until = Instant::now() + ORDERLY;
            while Instant::now() < until {
                if matches!(self.process.try_wait(), Ok(Some(_))) {
                    return;
                }
                sleep(POLL_INTERVAL).await;
            }
        }
        self.kill();
    }

    /// Returns false if this system has no SIGTERM.
    #[cfg(unix)]
    fn send_terminate(&self) -> bool {
        use rustix::process::{Pid, Signal, kill_process_group};
        kill_process_group(Pid::from_child(&self.process), Signal::TERM).is_ok()
    }

    #[cfg(not(unix))]
    fn send_terminate(&self) -> bool {
        false
    }

    fn kill(&mut self) {
        #[cfg(unix)]
        if matches!(self.process.try_wait(), Ok(None)) {
            use rustix::process::{Pid, Signal, kill_process_group};
            // It may have exited just now.
            let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
        }
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            self.kill();
        }
    }
}

/// Removes control characters, and keeps the last line.
fn show(reader: impl Read, label: &str, last: &Mutex<String>) {
    let mut reader = BufReader::new(reader);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = String::from_utf8_lossy(&bytes);
                let line: String = text.trim_end().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                eprintln!("{label} | {line}");
                if !line.is_empty() {
                    *last.lock().unwrap_or_else(PoisonError::into_inner) = line;
                }
            }
        }
    }
}
