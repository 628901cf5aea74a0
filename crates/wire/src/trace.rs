//! Trace contexts across processes, sent as the W3C header `traceparent`.
//!
//! A match is one trace: the manager begins it with its order, the referee continues it, and every call carries it. Without a
//! [`Tracer`] there are no traces.

use std::sync::OnceLock;

use http::{HeaderMap, HeaderValue};
use league_protocol::id::MatchId;
use league_protocol::table::Method;
use tracing::Span;

pub const TARGET: &str = "league::match";

const HEADER: &str = "traceparent";

pub trait Tracer: Send + Sync + 'static {
    /// `None` if `span` belongs to no trace.
    fn context_of(&self, span: &Span) -> Option<HeaderValue>;

    /// Makes `span` continue a context. The span must not have been entered yet. An invalid context changes nothing.
    fn continue_from(&self, span: &Span, context: &HeaderValue);
}

static TRACER: OnceLock<Box<dyn Tracer>> = OnceLock::new();

/// Only the first call has an effect.
pub fn install(tracer: impl Tracer) {
    drop(TRACER.set(Box::new(tracer)));
}

/// Continues the trace of the order and outlives the order's span.
pub fn match_span(match_id: &MatchId, attempt: u32) -> Span {
    let Some(tracer) = TRACER.get() else { return Span::none() };
    let context = tracer.context_of(&Span::current());
    let name = format!("match {match_id}");
    // A root span, because a parent lasts as long as its last child.
    let span = tracing::info_span!(target: TARGET, parent: None, "match", otel.name = name, %match_id, attempt);
    if let Some(context) = context {
        tracer.continue_from(&span, &context);
    }
    span
}

pub(crate) fn call_span(method: Method) -> Span {
    if TRACER.get().is_none() || Span::current().is_none() {
        return Span::none();
    }
    tracing::info_span!(target: TARGET, "call", otel.name = method.row().name, otel.kind = "client")
}

pub(crate) fn answer_span(headers: &HeaderMap, method: Method) -> Span {
    let (Some(tracer), Some(context)) = (TRACER.get(), headers.get(HEADER)) else { return Span::none() };
    let name = method.row().name;
    let span = tracing::info_span!(target: TARGET, parent: None, "answer", otel.name = name, otel.kind = "server");
    tracer.continue_from(&span, context);
    span
}

pub(crate) fn inject(headers: &mut HeaderMap) {
    if let Some(context) = TRACER.get().and_then(|tracer| tracer.context_of(&Span::current())) {
        headers.insert(HEADER, context);
    }
}
