//! HTTP answers of the site, with the headers that isolate a page.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use league_protocol::display::escaped;
use league_wire::pages::Body;
use maud::Markup;
use serde::Serialize;

/// Nothing from other sites, nothing inline, no framing.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
                      form-action 'self'; base-uri 'self'; frame-ancestors 'none'";

pub(crate) type Reply = Response<Body>;

pub(crate) fn whole(status: StatusCode, media: &'static str, body: impl Into<Bytes>) -> Reply {
    typed(status, media, Full::new(body.into()).boxed_unsync())
}

/// Escapes characters that reorder or hide text: moves, reasons and transcripts come from peers.
pub(crate) fn page(status: StatusCode, markup: Markup) -> Reply {
    let mut reply = whole(status, "text/html; charset=utf-8", escaped(&markup.into_string()).into_owned());
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // Under `no-referrer` browsers send `Origin: null` with our own forms, and the operator's forms would be refused.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

pub(crate) fn json(status: StatusCode, data: &impl Serialize) -> Reply {
    let body = serde_json::to_vec(data).unwrap_or_default();
    let mut reply = whole(status, "application/json", body);
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply
}

pub(crate) fn events(body: Body) -> Reply {
    let mut reply = typed(StatusCode::OK, "text/event-stream", body);
    let headers = reply.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies would otherwise buffer events.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    reply
}

pub(crate) fn see(path: &str) -> Reply {
    let mut reply = whole(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", Bytes::new());
    if let Ok(path) = HeaderValue::from_str(path) {
        reply.headers_mut().insert(header::LOCATION, path);
    }
    reply
}

fn typed(status: StatusCode, media: &'static str, body: Body) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    reply
}
