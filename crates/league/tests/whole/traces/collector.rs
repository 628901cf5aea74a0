//! A minimal collector of OpenTelemetry traces: OTLP over HTTP with protobuf. It reads only the fields that the tests
//! need.

use league_test_agents::http_server::{HttpReply, HttpServer};

#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) role: String,
    pub(crate) name: String,
    pub(crate) trace: String,
    pub(crate) id: String,
    /// Empty for the root of a trace.
    pub(crate) parent: String,
}

pub(crate) struct Collector(HttpServer);

impl Collector {
    pub(crate) fn open() -> Self {
        let server = HttpServer::stub(|request| {
            assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/traces"));
            HttpReply::text(200, "")
        });
        Self(server.unwrap())
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.0.address)
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        self.0.requests().iter().flat_map(|request| read(&request.body)).collect()
    }
}

/// The spans of an ExportTraceServiceRequest: `resource_spans` 1 of `resource` 1 and `scope_spans` 2, with `spans` 2.
fn read(request: &[u8]) -> Vec<Span> {
    let mut spans = Vec::new();
    for resource_spans in parts(request, 1) {
        let role = parts(resource_spans, 1).into_iter().find_map(role).unwrap_or_default();
        for span in parts(resource_spans, 2).into_iter().flat_map(|scope| parts(scope, 2)) {
            let hex = |field| parts(span, field).concat().iter().map(|byte| format!("{byte:02x}")).collect();
            let name = parts(span, 5).first().map(|text| String::from_utf8_lossy(text).into_owned());
            let name = name.unwrap_or_default();
            spans.push(Span { role: role.clone(), name, trace: hex(1), id: hex(2), parent: hex(4) });
        }
    }
    spans
}

/// The attribute `league.role` of a resource: `attributes` 1 of `key` 1 and `value` 2, a `string_value` 1.
fn role(resource: &[u8]) -> Option<String> {
    let attributes = parts(resource, 1);
    let found = attributes.into_iter().find(|pair| parts(pair, 1).first() == Some(&&b"league.role"[..]))?;
    let value = parts(found, 2).first().and_then(|value| parts(value, 1).first().copied())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

fn parts(mut message: &[u8], wanted: u64) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = number(&mut message);
        let skipped = match key & 7 {
            0 => {
                number(&mut message);
                0
            }
            1 => 8,
            2 => usize::try_from(number(&mut message)).unwrap(),
            5 => 4,
            other => panic!("no message has parts of the kind {other}"),
        };
        let (part, rest) = message.split_at(skipped);
        if key >> 3 == wanted && key & 7 == 2 {
            found.push(part);
        }
        message = rest;
    }
    found
}

/// A varint: seven bits per byte.
fn number(message: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (byte, rest) = message.split_first().unwrap();
        *message = rest;
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return value;
        }
    }
}
