//! The answer as a stream of one event, for a client that accepts only streams.

use bytes::Bytes;
use http::{HeaderMap, header};

use crate::dispatch::{Media, Reply};

pub(crate) fn fit(reply: Reply, headers: &HeaderMap) -> Reply {
    if reply.body.is_empty() || !accepts_only_streams(headers) {
        return reply;
    }
    // The JSON has no line breaks, so it is one line of data.
    let body: Bytes = [b"event: message\ndata: ", &reply.body[..], b"\n\n"].concat().into();
    Reply { body, media: Media::Events, ..reply }
}

/// Without an `Accept` header the client accepts both.
fn accepts_only_streams(headers: &HeaderMap) -> bool {
    let mut streams = false;
    for value in headers.get_all(header::ACCEPT) {
        for range in value.to_str().unwrap_or_default().split(',') {
            match range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
                "application/json" | "application/*" | "*/*" => return false,
                "text/event-stream" => streams = true,
                _ => {}
            }
        }
    }
    streams
}
