//! Gzip for clients that accept it.
//!
//! A stream message is compressed once and shared by all viewers. Each message ends with a full flush, so compressed
//! messages can follow each other in any order after one header.

use std::io::Write;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::write::GzEncoder;
use flate2::{Compress, Compression, FlushCompress, Status};
use http::{HeaderMap, HeaderValue, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Body as _;

use crate::reply::Reply;

/// A gzip header: deflate, no name, no time, unknown system.
pub(crate) const HEAD: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
const LEAST: u64 = 1024;

/// Compressed when the first viewer needs it.
#[derive(Debug, Default)]
pub(crate) struct StreamMessage {
    plain: Bytes,
    packed: OnceLock<Bytes>,
}

impl StreamMessage {
    pub(crate) fn new(plain: impl Into<Bytes>) -> Self {
        Self { plain: plain.into(), packed: OnceLock::new() }
    }

    pub(crate) fn bytes(&self, packed: bool) -> Bytes {
        if packed { self.packed.get_or_init(|| piece(&self.plain)).clone() } else { self.plain.clone() }
    }
}

fn piece(plain: &[u8]) -> Bytes {
    let mut packer = Compress::new(Compression::fast(), false);
    let mut out = Vec::with_capacity(plain.len() / 4 + 128);
    loop {
        let taken = usize::try_from(packer.total_in()).unwrap_or(usize::MAX).min(plain.len());
        let status = packer.compress_vec(&plain[taken..], &mut out, FlushCompress::Full);
        if out.len() < out.capacity() || !matches!(status, Ok(Status::Ok)) {
            return out.into();
        }
        out.reserve(plain.len() / 4 + 128);
    }
}

pub(crate) fn is_wanted(headers: &HeaderMap) -> bool {
    let named = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    named.split(',').any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim().eq_ignore_ascii_case("gzip") && !matches!(quality.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

/// Leaves streams alone, which compress themselves, and short answers.
pub(crate) async fn packed(reply: Reply) -> Reply {
    if reply.body().size_hint().exact().is_none_or(|size| size < LEAST) {
        return reply;
    }
    let (mut parts, body) = reply.into_parts();
    let Ok(whole) = body.collect().await;
    let whole = whole.to_bytes();
    let mut packer = GzEncoder::new(Vec::with_capacity(whole.len() / 4), Compression::fast());
    let body = match packer.write_all(&whole).and_then(|()| packer.finish()) {
        Ok(smaller) => {
            parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            Bytes::from(smaller)
        }
        Err(_) => whole,
    };
    parts.headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    Reply::from_parts(parts, Full::new(body).boxed_unsync())
}

pub(crate) fn marked(mut reply: Reply) -> Reply {
    reply.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    reply
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn compressed_messages_in_any_order_form_one_stream() {
        let texts =
            ["a".repeat(100_000), (0..9_000).map(|n| format!("{n} ")).collect(), String::from("b"), String::new()];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 1, 0, 2]] {
            let mut stream = HEAD.to_vec();
            let mut plain = String::new();
            for place in order {
                stream.extend_from_slice(&StreamMessage::new(texts[place].clone()).bytes(true));
                plain.push_str(&texts[place]);
            }
            let mut unpacked = vec![0; plain.len()];
            GzDecoder::new(&stream[..]).read_exact(&mut unpacked).unwrap();
            assert_eq!(String::from_utf8(unpacked).unwrap(), plain);
        }
        assert!(piece(texts[0].as_bytes()).len() < 2000);
    }

    #[test]
    fn only_clients_that_accept_gzip_get_it() {
        let wanted = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, text.parse().unwrap());
            is_wanted(&headers)
        };
        assert!(wanted("gzip, deflate, br") && wanted("br;q=1.0, GZIP;q=0.8"));
        assert!(!wanted("br") && !wanted("gzip;q=0") && !is_wanted(&HeaderMap::new()));
    }
}
