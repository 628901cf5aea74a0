//! Hides credentials in everything that is stored, because transcripts are public.
//!
//! Only the values of secret members change; all other bytes stay as they were sent. JSON inside JSON strings, as in MCP
//! answers, is searched as well. The code builds no tree.

use std::borrow::Cow;

use league_protocol::token::redacted;
use memchr::memchr;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

const SECRETS: [&str; 2] = ["auth_token", "join_key"];

/// Levels of JSON inside JSON strings. No honest message nests deeper.
const MAX_NESTING: u32 = 4;

/// Many JSON parsers refuse deeper documents, and with them the file around.
const MAX_DEPTH: usize = 64;

/// Text that is not JSON is left out, because it may contain secrets in any form.
pub fn redact(text: impl AsRef<[u8]>) -> String {
    Box::<str>::from(redact_raw(text)).into()
}

pub fn redact_raw(text: impl AsRef<[u8]>) -> Box<RawValue> {
    let bytes = text.as_ref();
    let cleaned = std::str::from_utf8(bytes).ok().map(|text| clean(text, MAX_NESTING));
    // One parse at the end is enough: strings replace whole values only.
    match cleaned.map(|cleaned| (cleaned.depth, RawValue::from_string(cleaned.text.into_owned()))) {
        Some((depth, Ok(_))) if depth > MAX_DEPTH => {
            note(&format!("… {} bytes of JSON, nested too deeply", bytes.len()))
        }
        Some((_, Ok(json))) => json,
        Some((_, Err(_))) | None => note(&format!("… {} bytes that are not JSON", bytes.len())),
    }
}

fn note(words: &str) -> Box<RawValue> {
    serde_json::value::to_raw_value(words).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

struct Cleaned<'a> {
    text: Cow<'a, str>,
    depth: usize,
}

#[derive(Default)]
struct Depth {
    open: usize,
    deepest: usize,
}

impl Depth {
    /// `byte` is outside of strings.
    fn count(&mut self, byte: u8) {
        match byte {
            b'[' | b'{' => {
                self.open += 1;
                self.deepest = self.deepest.max(self.open);
            }
            b']' | b'}' => self.open = self.open.saturating_sub(1),
            _ => {}
        }
    }
}

/// Jumps from string to string; in JSON a quote always delimits a string. Other input gives garbage, which the caller
/// refuses.
fn clean(json: &str, nesting: u32) -> Cleaned<'_> {
    let (mut cleaned, mut copied, mut position) = (String::new(), 0, 0);
    let mut depth = Depth::default();
    // Most messages have no escapes: no string of theirs holds another one, and every name stands as it is.
    let has_escapes = memchr(b'\\', json.as_bytes()).is_some();
    while let Some(byte) = json.as_bytes().get(position) {
        if *byte != b'"' {
            depth.count(*byte);
            position += 1;
            continue;
        }
        let string = position..end_of_string(json, position);
        position = string.end;
        let (value, replacement) = match start_of_value(json, position) {
            None if has_escapes => (string.clone(), embedded(&json[string], nesting)),
            None => continue,
            Some(start) if is_secret(&json[string], has_escapes) => {
                let value = start..end_of_value(json, start);
                (value.clone(), hidden(&json[value]))
            }
            Some(start) => {
                position = start;
                continue;
            }
        };
        if let Some(replacement) = replacement {
            cleaned.reserve(json.len() - copied);
            cleaned.push_str(&json[copied..value.start]);
            cleaned.push_str(&replacement);
            (copied, position) = (value.end, value.end);
        }
    }
    let text = if copied == 0 {
        Cow::Borrowed(json)
    } else {
        cleaned.push_str(&json[copied..]);
        Cow::Owned(cleaned)
    };
    Cleaned { text, depth: depth.deepest }
}

fn end_of_string(json: &str, start: usize) -> usize {
    let (bytes, mut position) = (json.as_bytes(), start + 1);
    while let Some(found) = memchr(b'"', &bytes[position..]) {
        let before = &bytes[position..position + found];
        position += found + 1;
        let backslashes = || before.iter().rev().take_while(|byte| **byte == b'\\').count();
        if before.last() != Some(&b'\\') || backslashes().is_multiple_of(2) {
            return position;
        }
    }
    json.len()
}

/// `None` if the string that ends at `position` is no member's name.
fn start_of_value(json: &str, position: usize) -> Option<usize> {
    let bytes = json.as_bytes();
    let colon = skip_whitespace(bytes, position);
    (bytes.get(colon) == Some(&b':')).then(|| skip_whitespace(bytes, colon + 1))
}

fn skip_whitespace(json: &[u8], mut position: usize) -> usize {
    // Other control characters are no JSON, so the caller refuses them.
    while json.get(position).is_some_and(|byte| *byte <= b' ') {
        position += 1;
    }
    position
}

fn end_of_value(json: &str, start: usize) -> usize {
    let (mut position, mut open) = (start, 0_usize);
    while let Some(byte) = json.as_bytes().get(position) {
        match byte {
            b'"' => position = end_of_string(json, position),
            b'[' | b'{' => (position, open) = (position + 1, open + 1),
            // Closes the object around a number or a literal.
            b']' | b'}' if open == 0 => return position,
            b']' | b'}' => (position, open) = (position + 1, open - 1),
            b',' if open == 0 => return position,
            _ => {
                position += 1;
                continue;
            }
        }
        if open == 0 {
            return position;
        }
    }
    json.len()
}

/// `written` is the raw string, with its quotes.
fn is_secret(written: &str, has_escapes: bool) -> bool {
    let stands = SECRETS.iter().any(|name| written.len() == name.len() + 2 && written[1..].starts_with(name));
    stands || has_escapes && written.contains('\\') && decoded(written).is_some_and(|name| SECRETS.contains(&&*name))
}

fn decoded(written: &str) -> Option<String> {
    serde_json::from_str(written).ok()
}

/// `None` for `null`, which is no secret.
fn hidden(written: &str) -> Option<String> {
    if written.starts_with("null") {
        return None;
    }
    let shown = decoded(written).map_or_else(|| String::from("…"), |secret| redacted(&secret));
    serde_json::to_string(&shown).ok()
}

/// `None` when the string holds no JSON with secrets.
fn embedded(written: &str, nesting: u32) -> Option<String> {
    // A brace may be escaped.
    if !written.bytes().any(|byte| matches!(byte, b'{' | b'\\')) {
        return None;
    }
    let text = decoded(written)?;
    serde_json::from_str::<IgnoredAny>(&text).ok()?;
    if nesting == 0 {
        return Some(String::from("\"…\""));
    }
    match clean(&text, nesting - 1).text {
        Cow::Borrowed(_) => None,
        Cow::Owned(cleaned) => serde_json::to_string(&cleaned).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn credentials_go_and_everything_else_stays_to_the_byte() {
        for (text, expected) in [
            (r#"{"auth_token":"tok-P01-abcdef","x" : 1.50}"#, r#"{"auth_token":"tok-P01-…","x" : 1.50}"#),
            (r#"{ "a": [ {"join_key" :  "sesame" } ] }"#, r#"{ "a": [ {"join_key" :  "…" } ] }"#),
            (r#"{"auth_token": null, "b": "auth_token"}"#, r#"{"auth_token": null, "b": "auth_token"}"#),
            (r#"{"auth_token": {"b": ["}", "c"]}, "d": "\/\u00e9"}"#, r#"{"auth_token": "…", "d": "\/\u00e9"}"#),
            (r#"{"auth_token":["tok-P01-abcdef"]}"#, r#"{"auth_token":"…"}"#),
            (r#"{"join_key": 4711, "x": {"auth_token":true}}"#, r#"{"join_key": "…", "x": {"auth_token":"…"}}"#),
            (r#"["auth_token", "x"]"#, r#"["auth_token", "x"]"#),
            (r#"{"auth\u005ftoken": "secret\"x"}"#, r#"{"auth\u005ftoken": "…"}"#),
            ("{\"text\":\"{\\\"auth_token\\\": \\\"s\\\"}\"}", "{\"text\":\"{\\\"auth_token\\\": \\\"…\\\"}\"}"),
            ("not JSON: tok-P01-abcdef", "\"… 24 bytes that are not JSON\""),
            ("", "\"… 0 bytes that are not JSON\""),
            (
                r#"{"join_key":"a","auth_token" : "","x":{"join_key":"b"}}"#,
                r#"{"join_key":"…","auth_token" : "…","x":{"join_key":"…"}}"#,
            ),
            (r#"{"auth_token":"open"#, "\"… 19 bytes that are not JSON\""),
            (r#"{"x"auth_token":"s"}"#, "\"… 20 bytes that are not JSON\""),
        ] {
            assert_eq!(redact(text), expected);
        }
        assert_eq!(redact([0xFF, 0xFE]), "\"… 2 bytes that are not JSON\"");
    }

    #[test]
    fn what_is_nested_too_deeply_for_others_is_only_counted() {
        let nested = |depth: usize| format!("{}\"[[[[\"{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(redact(nested(64)), nested(64));
        assert_eq!(redact(nested(65)), "\"… 136 bytes of JSON, nested too deeply\"");
        assert!(redact(nested(30_000)).len() < 100);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let text =
            prop_oneof![".{0,12}", Just(String::from("{\"auth_token\":\"tok-P01-SECRET\"}")), "[\"\\\\{}:, ]{0,8}"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            text.prop_map(Value::from),
        ];
        let key = prop_oneof![Just(String::from("auth_token")), Just(String::from("join_key")), ".{0,6}"];
        leaf.prop_recursive(4, 48, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(key.clone(), inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// The reference implementation: builds a tree.
    fn obvious(value: &mut Value, secret: bool) {
        match value {
            Value::String(text) if secret => *text = redacted(text),
            Value::Null => {}
            other if secret => *other = Value::from("…"),
            Value::String(text) => {
                if let Ok(mut inner) = serde_json::from_str::<Value>(text) {
                    let before = inner.clone();
                    obvious(&mut inner, false);
                    if inner != before {
                        *text = inner.to_string();
                    }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| obvious(value, false)),
            Value::Object(members) => {
                members.iter_mut().for_each(|(key, value)| obvious(value, SECRETS.contains(&key.as_str())));
            }
            Value::Bool(_) | Value::Number(_) => {}
        }
    }

    proptest! {
        #[test]
        fn what_comes_out_is_what_the_obvious_way_gives(mut value in any_json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let cleaned: Value = serde_json::from_str(&redact(text.unwrap())).unwrap();
            obvious(&mut value, false);
            prop_assert_eq!(cleaned, value);
        }

        #[test]
        fn any_bytes_give_json(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            serde_json::from_str::<IgnoredAny>(&redact(&bytes)).unwrap();
        }

        #[test]
        fn json_that_was_cut_or_scrambled_gives_json(value in any_json(), cut in any::<prop::sample::Index>()) {
            let text = value.to_string();
            let mut bytes = text.into_bytes();
            let place = cut.index(bytes.len());
            bytes[place] = b'"';
            serde_json::from_str::<IgnoredAny>(&redact(&bytes)).unwrap();
            serde_json::from_str::<IgnoredAny>(&redact(&bytes[..place])).unwrap();
        }
    }

    #[test]
    fn json_within_json_within_json_hides_as_well() {
        let mut text = json!({ "auth_token": "tok-P01-SECRET" }).to_string();
        for _ in 0..7 {
            text = json!({ "text": text }).to_string();
            assert!(!redact(&text).contains("SECRET"), "{}", redact(&text));
        }
    }
}
