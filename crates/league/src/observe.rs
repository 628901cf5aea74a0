//! Diagnostics of this process: events on stderr and, with the feature `otel`, traces for a collector.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::Command;
use crate::console::EscapedStderr;

/// Sends the remaining traces when it is dropped.
#[derive(Debug)]
pub(crate) struct Observed {
    #[cfg(feature = "otel")]
    _traces: Option<crate::traces::Traces>,
}

/// The filter in `LEAGUE_LOG`: `info`, or `warn,league_wire=debug`; warnings by default. Filters by span fields would
/// add half a megabyte of regular expressions to the binary.
fn filter() -> Targets {
    let filter = std::env::var("LEAGUE_LOG").ok().filter(|text| !text.is_empty()).and_then(|text| text.parse().ok());
    filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN))
}

/// Errors on stderr are not reported: the library would panic when stderr is closed.
#[cfg(feature = "otel")]
pub(crate) fn begin(command: &Command) -> Observed {
    use tracing_subscriber::Layer;

    let events = fmt::layer()
        .with_writer(|| EscapedStderr)
        .with_ansi(false)
        .without_time()
        .log_internal_errors(false)
        .with_filter(filter());
    let (spans, traces) = crate::traces::layer(role(command)).unzip();
    tracing_subscriber::registry().with(events).with(spans).init();
    Observed { _traces: traces }
}

#[cfg(not(feature = "otel"))]
pub(crate) fn begin(_: &Command) -> Observed {
    let events = fmt::layer().with_writer(|| EscapedStderr).with_ansi(false).without_time().log_internal_errors(false);
    tracing_subscriber::registry().with(filter()).with(events).init();
    Observed {}
}

#[cfg(feature = "otel")]
fn role(command: &Command) -> &'static str {
    if matches!(command, Command::Run(_)) {
        "league"
    } else if matches!(command, Command::Manager(_)) {
        "manager"
    } else if matches!(command, Command::Referee(_)) {
        "referee"
    } else if matches!(command, Command::Player(_)) {
        "player"
    } else {
        "operator"
    }
}
