//! A minimal HTTP client: one exchange per connection.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{LIMIT, poll};

pub(crate) fn call(endpoint: &str, method: &str, params: &Value) -> Value {
    call_by_name(endpoint, authority(endpoint).0, method, params)
}

/// Calls under another name of the host.
pub(crate) fn call_by_name(endpoint: &str, host: &str, method: &str, params: &Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": 1});
    post(endpoint, host, &body)
}

pub(crate) fn post(endpoint: &str, host: &str, body: &Value) -> Value {
    let (_, response) = exchange(endpoint, host, "POST", "Content-Type: application/json\r\n", &body.to_string());
    serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// With these headers instead of the usual type of content. Each ends with CRLF.
pub(crate) fn call_with(endpoint: &str, headers: &str, method: &str, params: &Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": 1});
    let (_, response) = exchange(endpoint, authority(endpoint).0, "POST", headers, &body.to_string());
    serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Gets a page, or posts a form to it. Returns the status and the whole response.
pub(crate) fn page(address: &str, form: Option<&str>) -> (u16, String) {
    let (method, body) = form.map_or(("GET", ""), |form| ("POST", form));
    exchange(address, authority(address).0, method, "", body)
}

/// Posts with these headers. Each ends with CRLF.
pub(crate) fn post_text(address: &str, headers: &str, body: &str) -> (u16, String) {
    exchange(address, authority(address).0, "POST", headers, body)
}

/// Repeats the call until its answer fits, and returns that answer.
pub(crate) fn until(endpoint: &str, method: &str, params: &Value, fits: impl Fn(&Value) -> bool) -> Value {
    poll(&format!("{method} {params}"), || Some(call(endpoint, method, params)).filter(|answer| fits(answer)))
}

/// Waits until the match has this state at its referee.
pub(crate) fn until_match(referee: &str, match_id: &str, key: &str, value: impl Into<Value>) -> Value {
    let value = value.into();
    let of_match = json!({"match_id": match_id});
    until(referee, "get_match_state", &of_match, |answer| answer["result"][key] == value)["result"].clone()
}

/// Leads a stepped match to its end.
pub(crate) fn lead(referee: &str, match_id: &str) {
    lead_as(referee, match_id, None);
}

/// With the operator's token, where the league has one.
pub(crate) fn lead_as(referee: &str, match_id: &str, token: Option<&str>) {
    for step in ["collect_choices", "draw_number", "finalize_match"] {
        until_match(referee, match_id, "waiting_for", step);
        let answer = call(referee, step, &json!({"match_id": match_id, "auth_token": token}));
        assert_eq!(answer["result"]["match_id"], match_id, "{answer}");
    }
}

pub(crate) fn authority(url: &str) -> (&str, &str) {
    url.strip_prefix("http://").unwrap().split_once('/').unwrap()
}

fn exchange(url: &str, host: &str, method: &str, headers: &str, body: &str) -> (u16, String) {
    let (address, path) = authority(url);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let head = format!("{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}");
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    (response.split(' ').nth(1).unwrap().parse().unwrap(), response)
}
