//! A proxy that records everything between agents and a manager.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::spawn;

pub(crate) struct Wiretap {
    port: u16,
    recorded: Arc<Mutex<Vec<u8>>>,
}

impl Wiretap {
    pub(crate) fn on(endpoint: &str) -> Self {
        let target = endpoint.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, recorded) = (listener.local_addr().unwrap().port(), Arc::default());
        let tap = Self { port, recorded: Arc::clone(&recorded) };
        spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let Ok(far) = TcpStream::connect(&target) else { continue };
                let (near_copy, far_copy) = (near.try_clone().unwrap(), far.try_clone().unwrap());
                let (requests, responses) = (Arc::clone(&recorded), Arc::clone(&recorded));
                spawn(move || forward(near, far, &requests));
                spawn(move || forward(far_copy, near_copy, &responses));
            }
        });
        tap
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Everything that begins with `prefix` and continues with characters of a token.
    pub(crate) fn words_with_prefix(&self, prefix: &str) -> Vec<String> {
        let recorded = String::from_utf8_lossy(&self.recorded.lock().unwrap()).into_owned();
        let mut words: Vec<String> = recorded.match_indices(prefix).map(|(at, _)| word(&recorded[at..])).collect();
        words.sort();
        words.dedup();
        words
    }
}

fn word(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter)).collect()
}

fn forward(mut from: TcpStream, mut to: TcpStream, recorded: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 8192];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        recorded.lock().unwrap().extend_from_slice(&buffer[..length]);
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    // The other direction may be closed already.
    drop(to.shutdown(Shutdown::Write));
}
