//! The signals that end a process: Ctrl-C and SIGTERM. On Windows: Ctrl-C, Ctrl-Break, closing the console, logging off, shutting down.
//!
//! The first signal starts an orderly shutdown, which takes a few seconds at most. The second one stops the process immediately.

use std::time::Duration;

/// Windows kills a process 5 s after its console was closed.
pub(crate) const ORDERLY: Duration = Duration::from_secs(4);
const AT_ONCE: u8 = 130;

/// Waits for the first signal. After it, a second one stops the process immediately.
pub(crate) async fn shutdown_signal() {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            eprintln!("league: signals cannot be received ({error}); Ctrl-C stops this process immediately");
            return std::future::pending().await;
        }
    };
    signals.next().await;
    tokio::spawn(async move {
        signals.next().await;
        eprintln!("Stopped immediately. What was acknowledged is kept.");
        std::process::exit(AT_ONCE.into());
    });
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(windows)]
struct Signals {
    interrupt: tokio::signal::windows::CtrlC,
    pause: tokio::signal::windows::CtrlBreak,
    close: tokio::signal::windows::CtrlClose,
    logoff: tokio::signal::windows::CtrlLogoff,
    shutdown: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};
        Ok(Self {
            interrupt: ctrl_c()?,
            pause: ctrl_break()?,
            close: ctrl_close()?,
            logoff: ctrl_logoff()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.pause.recv() => {}
            _ = self.close.recv() => {}
            _ = self.logoff.recv() => {}
            _ = self.shutdown.recv() => {}
        }
    }
}
