//! Traces for OpenTelemetry: spans of matches go over HTTP to the collector in `OTEL_EXPORTER_OTLP_ENDPOINT`.
//!
//! Calls carry the trace context from process to process; this module reads and writes it. Spans are sent in the background, so a slow
//! collector never blocks the league.

use http::HeaderValue;
use league_wire::trace::{self, TARGET, Tracer};
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Level, Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/// Sends the remaining spans when it is dropped.
#[derive(Debug)]
pub(crate) struct Traces(SdkTracerProvider);

impl Drop for Traces {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown() {
            eprintln!("league: the last traces could not be handed over: {error}");
        }
    }
}

/// `None` without a configured collector. `role` distinguishes processes.
pub(crate) fn layer<S>(role: &'static str) -> Option<(impl Layer<S>, Traces)>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    ENDPOINTS.iter().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))?;
    let exporter = SpanExporter::builder().with_http().build();
    let exporter = exporter.inspect_err(|error| eprintln!("league: no traces are made: {error}")).ok()?;
    let resource = Resource::builder().with_service_name("league").with_attribute(KeyValue::new("league.role", role));
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build();
    let spans = tracing_opentelemetry::layer().with_tracer(provider.tracer("league"));
    trace::install(W3c);
    Some((spans.with_filter(Targets::new().with_target(TARGET, Level::INFO)), Traces(provider)))
}

/// The W3C trace context: version, trace, span and flags, in hexadecimal.
struct W3c;

impl Tracer for W3c {
    fn context_of(&self, span: &Span) -> Option<HeaderValue> {
        let context = span.context();
        let found = context.span().span_context().clone();
        let (trace, id, flags) = (found.trace_id(), found.span_id(), found.trace_flags().to_u8());
        let written = || HeaderValue::try_from(format!("00-{trace}-{id}-{flags:02x}")).ok();
        found.is_valid().then(written).flatten()
    }

    fn continue_from(&self, span: &Span, context: &HeaderValue) {
        if let Some(found) = context.to_str().ok().and_then(read) {
            // A span without a trace has no parent.
            drop(span.set_parent(Context::new().with_remote_span_context(found)));
        }
    }
}

/// Later versions may have more fields after the flags.
fn read(text: &str) -> Option<SpanContext> {
    let parts: Vec<&str> = text.trim().split('-').collect();
    let [version, trace, span, flags, ..] = parts[..] else { return None };
    let whole = version.len() == 2 && version != "ff" && trace.len() == 32 && span.len() == 16 && flags.len() == 2;
    if !whole || (version == "00" && parts.len() != 4) {
        return None;
    }
    let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?);
    Some(SpanContext::new(trace, span, flags, true, TraceState::default())).filter(SpanContext::is_valid)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_context_is_read_and_anything_else_is_none() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let found = read(good).unwrap();
        assert_eq!((found.trace_id().to_string().as_str(), found.is_remote()), (&good[3..35], true));
        assert!(read(&good.replacen("00-", "01-", 1)).is_some() && read(&format!("01{}-more", &good[2..])).is_some());
        let zero = "00-00000000000000000000000000000000-00f067aa0ba902b7-01";
        for bad in ["", "00", "00-x-y-01", zero, &good[..54], &format!("{good}-more"), &good.replacen("00-", "ff-", 1)]
        {
            assert!(read(bad).is_none(), "{bad}");
        }
    }
}
