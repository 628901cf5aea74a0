//! A minimal HTTP client: one exchange per connection.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn call(endpoint: &str, method: &str, params: &Value) -> Value {
    call_by_name(endpoint, authority(endpoint).0, method, params)
}

/// Calls under another name of the host.
pub(crate) fn call_by_name(endpoint: &str, host: &str, method: &str, params: &Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": 1});
    posted(endpoint, host, &body)
}

pub(crate) fn post(endpoint: &str, body: &Value) -> Value {
    posted(endpoint, authority(endpoint).0, body)
}

fn posted(endpoint: &str, host: &str, body: &Value) -> Value {
    let (_, answer) = exchange(endpoint, host, "POST", "Content-Type: application/json\r\n", &body.to_string());
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Gets a page, or posts a form to it. Returns the status and the whole answer.
pub(crate) fn page(address: &str, form: Option<&str>) -> (u16, String) {
    let (method, body) = form.map_or(("GET", ""), |form| ("POST", form));
    exchange(address, authority(address).0, method, "", body)
}

pub(crate) fn until(endpoint: &str, method: &str, params: &Value, wanted: impl Fn(&Value) -> bool) {
    let end = Instant::now() + LIMIT;
    loop {
        let answer = call(endpoint, method, params);
        if wanted(&answer) {
            return;
        }
        assert!(Instant::now() < end, "{method} {params}: {answer}");
        // No signal tells when the state of an agent changes.
        sleep(Duration::from_millis(10));
    }
}

fn authority(url: &str) -> (&str, &str) {
    url.strip_prefix("http://").unwrap().split_once('/').unwrap()
}

fn exchange(url: &str, host: &str, method: &str, headers: &str, body: &str) -> (u16, String) {
    let (address, path) = authority(url);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let head = format!("{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}");
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}
