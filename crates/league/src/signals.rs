//! Being told to end: Ctrl-C, or the signal by which services are ended.
//!
//! The first time everything is brought to an orderly end, which takes a few seconds at most. Whoever says it twice does not want to
//! wait for that.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// An orderly end takes no longer.
pub(crate) const ORDERLY: Duration = Duration::from_secs(4);
/// The exit code of a process that was told twice.
const AT_ONCE: u8 = 130;

/// Waits for the first signal. From then on a second one ends the process at once, whatever it is doing.
pub(crate) async fn told_to_end() {
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    either(&mut interrupt, &mut terminate).await;
    tokio::spawn(async move {
        either(&mut interrupt, &mut terminate).await;
        eprintln!("Told twice: ended at once. What was acknowledged is kept.");
        std::process::exit(AT_ONCE.into());
    });
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
