//! What is sent to a manager, a referee and a player of ours: any bytes, each of whom must answer.
//!
//! Bytes that begin like a request are sent as they are, heads and all; others are the body of a proper one. Nobody panics,
//! nobody keeps a proper request waiting, and what is said to it is JSON that says so.

#![no_main]
#![forbid(unsafe_code)]

use std::cell::RefCell;

use league_fuzz::house::House;
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;

thread_local! {
    static HOUSE: RefCell<House> = RefCell::default();
}

fuzz_target!(|bytes: &[u8]| {
    HOUSE.with_borrow_mut(|house| {
        if house.is_old() {
            *house = House::new();
        }
        if [&b"POST "[..], b"GET ", b"HEAD ", b"PUT "].iter().any(|method| bytes.starts_with(method)) {
            for said in house.ask(bytes) {
                assert!(said.is_empty() || said.starts_with(b"HTTP/1."), "{}", text(&said));
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
        for said in house.ask(&request) {
            let said = text(&said);
            let (head, body) = said.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {said}"));
            let fine = if head.contains("application/json") {
                serde_json::from_str::<&RawValue>(body).is_ok()
            } else {
                body.is_empty() || head.contains("text/event-stream")
            };
            assert!(head.starts_with("HTTP/1.1 ") && fine, "{said}");
        }
    });
});

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
