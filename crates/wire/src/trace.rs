//! What belongs together across processes: the context of a trace, which travels as W3C's `traceparent`.
//!
//! A match is one trace: the manager begins it with its order, the referee goes on with it, and every call that is made meanwhile carries
//! it along. Who makes traces of spans is somebody else's business, and without a [`Tracer`] nothing happens here: a call of a league
//! that nobody traces costs a look at an empty place.

use std::sync::OnceLock;

use http::{HeaderMap, HeaderValue};
use league_protocol::id::MatchId;
use league_protocol::table::Method;
use tracing::Span;

/// The target of the spans that traces are made of.
pub const TARGET: &str = "league::match";

/// The header in which the context of a trace travels.
const HEADER: &str = "traceparent";

/// Who knows to which trace a span belongs.
pub trait Tracer: Send + Sync + 'static {
    /// The context of `span` as the header has it; nothing where it belongs to no trace.
    fn written(&self, span: &Span) -> Option<HeaderValue>;

    /// Makes `span`, which nobody has entered yet, go on from a context. One that cannot be read changes nothing.
    fn join(&self, span: &Span, context: &HeaderValue);
}

static TRACER: OnceLock<Box<dyn Tracer>> = OnceLock::new();

/// From now on calls carry their traces along. The first tracer stays.
pub fn install(tracer: impl Tracer) {
    drop(TRACER.set(Box::new(tracer)));
}

/// The span of an attempt at a match, which goes on with the trace of whoever asked for it, and outlives that.
pub fn of_match(match_id: &MatchId, attempt: u32) -> Span {
    let Some(tracer) = TRACER.get() else { return Span::none() };
    let asked = tracer.written(&Span::current());
    let name = format!("match {match_id}");
    // Not a child by itself: the span that asks would last as long as its last child.
    let span = tracing::info_span!(target: TARGET, parent: None, "match", otel.name = name, %match_id, attempt);
    if let Some(asked) = asked {
        tracer.join(&span, &asked);
    }
    span
}

/// The span of a call that is part of something.
pub(crate) fn calling(method: Method) -> Span {
    if TRACER.get().is_none() || Span::current().is_none() {
        return Span::none();
    }
    tracing::info_span!(target: TARGET, "call", otel.name = method.row().name, otel.kind = "client")
}

/// The span of an answer to a call that is part of something.
pub(crate) fn answering(headers: &HeaderMap, method: Method) -> Span {
    let (Some(tracer), Some(context)) = (TRACER.get(), headers.get(HEADER)) else { return Span::none() };
    let name = method.row().name;
    let span = tracing::info_span!(target: TARGET, parent: None, "answer", otel.name = name, otel.kind = "server");
    tracer.join(&span, context);
    span
}

/// Has a request carry along what it is part of.
pub(crate) fn carry(headers: &mut HeaderMap) {
    if let Some(context) = TRACER.get().and_then(|tracer| tracer.written(&Span::current())) {
        headers.insert(HEADER, context);
    }
}
