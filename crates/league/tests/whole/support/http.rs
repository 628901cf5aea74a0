//! As little HTTP as a test needs to say something to an agent, or to be one: one exchange per connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// No answer takes longer; a peer that does has hung.
const LIMIT: Duration = Duration::from_secs(60);

/// Calls `method` of the agent at `endpoint`, and hands back the whole answer.
pub(crate) fn call(endpoint: &str, method: &str, params: &Value) -> Value {
    post(endpoint, &json!({"jsonrpc": "2.0", "method": method, "params": params, "id": 1}))
}

/// Posts `body` to the agent at `endpoint`, and hands back the whole answer.
pub(crate) fn post(endpoint: &str, body: &Value) -> Value {
    let place = endpoint.strip_prefix("http://").unwrap();
    let (host, path) = place.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    send(&mut stream, &format!("POST /{path} HTTP/1.1\r\nHost: {host}"), body);
    receive(&stream).unwrap()
}

/// Asks for a page, or sends it a form: its status, and all that was answered.
pub(crate) fn page(address: &str, form: Option<&str>) -> (u16, String) {
    let place = address.strip_prefix("http://").unwrap();
    let (host, path) = place.split_once('/').unwrap();
    let (method, body) = form.map_or(("GET", ""), |form| ("POST", form));
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let length = body.len();
    let head = format!("{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}");
    stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

/// Calls `method` of the agent at `endpoint` until the answer is as `wanted`.
pub(crate) fn until(endpoint: &str, method: &str, params: &Value, wanted: impl Fn(&Value) -> bool) {
    let end = Instant::now() + LIMIT;
    loop {
        let answer = call(endpoint, method, params);
        if wanted(&answer) {
            return;
        }
        assert!(Instant::now() < end, "{method} {params}: {answer}");
        // Nobody tells when it is; agents only answer.
        sleep(Duration::from_millis(10));
    }
}

/// Sends a message that begins like this and has this body.
pub(crate) fn send(stream: &mut TcpStream, first: &str, body: &Value) {
    let body = body.to_string();
    let kind = "Content-Type: application/json\r\nConnection: close";
    // A peer that does not wait for the answer is not to be minded.
    drop(write!(stream, "{first}\r\n{kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
}

/// The body of the message that is waiting; nothing when the peer went away without one.
pub(crate) fn receive(stream: &TcpStream) -> Option<Value> {
    let (_, body) = message(&mut BufReader::new(stream))?;
    serde_json::from_slice(&body).ok()
}

/// The first line and the body of the message that is waiting; nothing when the peer went away without one.
pub(crate) fn message(reader: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let (head, body) = whole(reader)?;
    Some((head.lines().next()?.to_owned() + "\r\n", body))
}

/// All of the head and the body of the message that is waiting; nothing when the peer went away without one.
pub(crate) fn whole(reader: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        if line.trim_end().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    (!head.is_empty()).then_some((head, body))
}
