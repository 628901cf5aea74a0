//! The context of a trace across processes, which travels as W3C's `traceparent`.
//!
//! A match is one trace: the manager begins it with its order, the referee continues it, and every call carries it. A [`Tracer`]
//! makes the traces; without one nothing is done.

use std::sync::OnceLock;

use http::{HeaderMap, HeaderValue};
use league_protocol::id::MatchId;
use league_protocol::table::Method;
use tracing::Span;

/// The target of traced spans.
pub const TARGET: &str = "league::match";

const HEADER: &str = "traceparent";

pub trait Tracer: Send + Sync + 'static {
    /// The context of `span` as a header; `None` if it belongs to no trace.
    fn written(&self, span: &Span) -> Option<HeaderValue>;

    /// Makes `span`, which was not entered yet, continue a context. An invalid context changes nothing.
    fn join(&self, span: &Span, context: &HeaderValue);
}

static TRACER: OnceLock<Box<dyn Tracer>> = OnceLock::new();

/// Sets the tracer; the first one stays.
pub fn install(tracer: impl Tracer) {
    drop(TRACER.set(Box::new(tracer)));
}

/// The span of a match attempt: continues the trace of the order, and outlives it.
pub fn of_match(match_id: &MatchId, attempt: u32) -> Span {
    let Some(tracer) = TRACER.get() else { return Span::none() };
    let asked = tracer.written(&Span::current());
    let name = format!("match {match_id}");
    // No child: a span lasts as long as its last child.
    let span = tracing::info_span!(target: TARGET, parent: None, "match", otel.name = name, %match_id, attempt);
    if let Some(asked) = asked {
        tracer.join(&span, &asked);
    }
    span
}

/// The span of a call.
pub(crate) fn calling(method: Method) -> Span {
    if TRACER.get().is_none() || Span::current().is_none() {
        return Span::none();
    }
    tracing::info_span!(target: TARGET, "call", otel.name = method.row().name, otel.kind = "client")
}

/// The span of an answer.
pub(crate) fn answering(headers: &HeaderMap, method: Method) -> Span {
    let (Some(tracer), Some(context)) = (TRACER.get(), headers.get(HEADER)) else { return Span::none() };
    let name = method.row().name;
    let span = tracing::info_span!(target: TARGET, parent: None, "answer", otel.name = name, otel.kind = "server");
    tracer.join(&span, context);
    span
}

/// Adds the context to a request.
pub(crate) fn carry(headers: &mut HeaderMap) {
    if let Some(context) = TRACER.get().and_then(|tracer| tracer.written(&Span::current())) {
        headers.insert(HEADER, context);
    }
}
