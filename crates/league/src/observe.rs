//! What this process says about itself while it works: its talk on stderr and, where it was built for that, traces for a collector.

use tracing_subscriber::EnvFilter;

use crate::cli::Command;

/// Lasts as long as anything is to be observed; what is left is handed over when it is dropped.
#[derive(Debug)]
pub(crate) struct Observed {
    #[cfg(feature = "otel")]
    _traces: Option<crate::traces::Traces>,
}

/// What is said, by the variable `LEAGUE_LOG`; warnings when it is not set.
fn filter() -> EnvFilter {
    EnvFilter::try_from_env("LEAGUE_LOG").unwrap_or_else(|_| EnvFilter::new("warn"))
}

/// Begins to observe this process.
#[cfg(feature = "otel")]
pub(crate) fn begin(command: &Command) -> Observed {
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;
    use tracing_subscriber::{Layer, fmt, registry};

    let talk = fmt::layer().with_writer(std::io::stderr).without_time().with_filter(filter());
    let (spans, traces) = crate::traces::layer(role(command)).unzip();
    registry().with(talk).with(spans).init();
    Observed { _traces: traces }
}

/// Begins to observe this process.
#[cfg(not(feature = "otel"))]
pub(crate) fn begin(_: &Command) -> Observed {
    tracing_subscriber::fmt().with_env_filter(filter()).with_writer(std::io::stderr).without_time().init();
    Observed {}
}

/// What a process is that does this: it tells processes apart in traces.
#[cfg(feature = "otel")]
fn role(command: &Command) -> &'static str {
    match command {
        Command::Run(_) => "league",
        Command::Manager(_) => "manager",
        Command::Referee(_) => "referee",
        Command::Player(_) => "player",
        Command::Show(_)
        | Command::Standings(_)
        | Command::Schedule(_)
        | Command::Matches(_)
        | Command::Match { .. }
        | Command::Agents(_)
        | Command::Status(_)
        | Command::Start(_)
        | Command::Stop(_)
        | Command::Reopen(_)
        | Command::Withdraw { .. }
        | Command::Verify(_)
        | Command::Simulate(_)
        | Command::Bench(_)
        | Command::Ceiling(_)
        | Command::Check(_) => "operator",
    }
}
