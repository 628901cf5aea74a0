//! Compares headers with the parts of the body that they repeat. A proxy may route by them, so a difference may be an attack.

use std::borrow::Cow;

use data_encoding::BASE64;
use http::HeaderMap;

pub(crate) type Mismatch = String;

pub(crate) fn version(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-protocol-version")?.to_str().ok().map(str::trim)
}

/// Fails unless the header `name` occurs exactly once and has the value `said`.
pub(crate) fn require(headers: &HeaderMap, name: &str, expected: &str) -> Result<(), Mismatch> {
    match single_value(headers, name)? {
        None => Err(format!("the header {name} is missing; it repeats {expected:?} of the body")),
        Some(value) => match decoded(value) {
            Some(value) if value == expected => Ok(()),
            Some(value) => Err(format!("the header {name} says {:?} and the body {expected:?}", clipped(&value))),
            None => Err(format!("the header {name} is not the base64 that it says it is")),
        },
    }
}

fn single_value<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Mismatch> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match value.to_str() {
            Ok(text) => Ok(Some(text.trim())),
            Err(_) => Err(format!("the header {name} holds more than visible ASCII")),
        },
        (Some(_), Some(_)) => Err(format!("the header {name} is there twice")),
    }
}

/// Decodes the base64 that clients use for characters that a header cannot hold.
fn decoded(value: &str) -> Option<Cow<'_, str>> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        None => Some(Cow::Borrowed(value)),
        Some(wrapped) => {
            let bytes = BASE64.decode(wrapped.as_bytes()).ok()?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }
    }
}

fn clipped(text: &str) -> String {
    text.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_base64_value_is_decoded_before_it_is_compared() {
        for (value, expected, good) in [
            ("shutdown", "shutdown", true),
            ("  shutdown ", "shutdown", true),
            ("SHUTDOWN", "shutdown", false),
            ("=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界", true),
            ("=?base64?SGVsbG8?=", "Hello", false),
            ("=?base64?SGVs!!!bG8=?=", "Hello", false),
            ("=?base64?SGVsbG8=", "=?base64?SGVsbG8=", true),
            ("SGVsbG8=", "Hello", false),
            ("=?BASE64?SGVsbG8=?=", "Hello", false),
        ] {
            assert_eq!(require(&headers(&[("mcp-name", value)]), "Mcp-Name", expected).is_ok(), good, "{value}");
        }
    }

    #[test]
    fn a_missing_or_repeated_header_is_refused() {
        assert!(require(&headers(&[]), "Mcp-Name", "x").is_err());
        assert!(require(&headers(&[("mcp-name", "x"), ("mcp-name", "x")]), "Mcp-Name", "x").is_err());
    }
}
