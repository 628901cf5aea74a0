//! Headers that repeat what the body says.
//!
//! Whoever stands between client and server may route by them, so a server that reads the body holds one against the
//! other: two sources of truth that differ are an attack, or will be one.

use std::borrow::Cow;

use data_encoding::BASE64;
use http::HeaderMap;
use serde_json::{Map, Value};

/// What is wrong with a header, for the client's author.
pub(crate) type Mismatch = String;

/// The revision that a request names in its header.
pub(crate) fn version(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-protocol-version")?.to_str().ok().map(str::trim)
}

/// Demands that the header `name` is there, once, and says `said`.
pub(crate) fn demand(headers: &HeaderMap, name: &str, said: &str) -> Result<(), Mismatch> {
    match only(headers, name)? {
        None => Err(format!("the header {name} is missing; it repeats {said:?} of the body")),
        Some(value) => match decoded(value) {
            Some(value) if value == said => Ok(()),
            Some(value) => Err(format!("the header {name} says {:?} and the body {said:?}", clipped(&value))),
            None => Err(format!("the header {name} is not the base64 that it says it is")),
        },
    }
}

/// Holds the `Mcp-Param-…` headers that a tool's schema asks for against the arguments.
pub(crate) fn demand_arguments(
    headers: &HeaderMap,
    schema: &Value,
    arguments: &Map<String, Value>,
) -> Result<(), Mismatch> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (field, property) in properties {
        let Some(suffix) = property.get("x-mcp-header").and_then(Value::as_str) else { continue };
        let name = format!("Mcp-Param-{suffix}");
        match arguments.get(field) {
            None | Some(Value::Null) => {
                if only(headers, &name)?.is_some() {
                    return Err(format!("the header {name} is there and the argument {field} is not"));
                }
            }
            Some(Value::String(text)) => demand(headers, &name, text)?,
            Some(Value::Number(number)) => {
                let given = only(headers, &name)?.and_then(|value| value.parse::<f64>().ok());
                if given.is_none() || given != number.as_f64() {
                    return Err(format!("the header {name} is not the number {number} of the body"));
                }
            }
            Some(other @ (Value::Bool(_) | Value::Array(_) | Value::Object(_))) => {
                demand(headers, &name, &other.to_string())?;
            }
        }
    }
    Ok(())
}

/// The one value of a header.
fn only<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Mismatch> {
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

/// A value, out of the base64 in which clients wrap what a header cannot hold.
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
    fn a_wrapped_value_is_unwrapped_before_it_is_compared() {
        for (value, said, good) in [
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
            assert_eq!(demand(&headers(&[("mcp-name", value)]), "Mcp-Name", said).is_ok(), good, "{value}");
        }
    }

    #[test]
    fn a_header_is_there_exactly_once() {
        assert!(demand(&headers(&[]), "Mcp-Name", "x").is_err());
        assert!(demand(&headers(&[("mcp-name", "x"), ("mcp-name", "x")]), "Mcp-Name", "x").is_err());
    }

    #[test]
    fn arguments_are_compared_by_their_type_and_absent_ones_have_no_header() {
        let schema = serde_json::json!({ "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "count": { "type": "integer", "x-mcp-header": "Count" },
            "dry": { "type": "boolean", "x-mcp-header": "Dry" },
            "query": { "type": "string" },
        } });
        let arguments = |value: Value| value.as_object().unwrap().clone();
        let all = arguments(serde_json::json!({ "region": "eu", "count": 42, "dry": false, "query": "q" }));
        let good = [("mcp-param-region", "eu"), ("mcp-param-count", "42.0"), ("mcp-param-dry", "false")];
        assert_eq!(demand_arguments(&headers(&good), &schema, &all), Ok(()));
        assert!(demand_arguments(&headers(&good[1..]), &schema, &all).is_err());
        assert!(demand_arguments(&headers(&[good[0], ("mcp-param-count", "41"), good[2]]), &schema, &all).is_err());
        let none = arguments(serde_json::json!({ "region": null }));
        assert_eq!(demand_arguments(&headers(&[]), &schema, &none), Ok(()));
        assert!(demand_arguments(&headers(&good[..1]), &schema, &none).is_err());
    }
}
