//! Any bytes as a request to our manager, referee and player, each of which must answer.
//!
//! Bytes that begin like an HTTP request are sent as they are; others become the body of a valid one. No agent panics, and every
//! valid request gets an answer in time, as JSON of the declared type.

#![no_main]
#![forbid(unsafe_code)]

use std::cell::RefCell;

use league_fuzz::agents::LeagueAgents;
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;

thread_local! {
    static AGENTS: RefCell<LeagueAgents> = RefCell::default();
}

fuzz_target!(|bytes: &[u8]| {
    AGENTS.with_borrow_mut(|agents| {
        if agents.needs_restart() {
            *agents = LeagueAgents::new();
        }
        if [&b"POST "[..], b"GET ", b"HEAD ", b"PUT "].iter().any(|method| bytes.starts_with(method)) {
            for answer in agents.send(bytes) {
                assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."), "{}", text(&answer));
            }
            return;
        }
        let length = bytes.len();
        let mut request = format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:8000\r\ncontent-type: application/json\r\nconnection: close\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {length}\r\n\r\n"
        )
        .into_bytes();
        request.extend_from_slice(bytes);
        for answer in agents.send(&request) {
            let answer = text(&answer);
            let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer}"));
            let fine = if head.contains("application/json") {
                serde_json::from_str::<&RawValue>(body).is_ok()
            } else {
                body.is_empty() || head.contains("text/event-stream")
            };
            assert!(head.starts_with("HTTP/1.1 ") && fine, "{answer}");
        }
    });
});

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
