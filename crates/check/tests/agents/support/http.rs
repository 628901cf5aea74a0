//! A web server of threads, small enough to be wrong on purpose in every way that there is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use league_wire::endpoint::Endpoint;

/// A request.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) body: Vec<u8>,
    /// Whether the caller hung up before its end.
    pub(crate) broke_off: bool,
}

/// An answer.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: String,
    /// Whether the connection is closed afterwards, said or not.
    pub(crate) close: bool,
}

impl Reply {
    pub(crate) fn json(status: u16, body: String) -> Self {
        Self { status, content_type: "application/json", body, close: false }
    }
}

/// How the server itself misbehaves.
#[derive(Clone, Copy, Default)]
pub(crate) struct Manners {
    /// Reads a body in one go, whatever of it is there.
    pub(crate) reads_once: bool,
    /// Serves one connection after the other.
    pub(crate) one_at_a_time: bool,
    /// Closes without a word after each answer, having promised to stay.
    pub(crate) hangs_up: bool,
    /// Reads bodies of any length.
    pub(crate) greedy: bool,
}

/// A server at work; it ends when it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    over: Arc<AtomicBool>,
}

impl Server {
    /// Serves `answer`, which ends the server by giving nothing.
    pub(crate) fn start(manners: Manners, answer: impl Fn(Request) -> Option<Reply> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let (answer, ended) = (Arc::new(answer), Arc::clone(&over));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let (answer, ended) = (Arc::clone(&answer), Arc::clone(&ended));
                let attend = move || {
                    // Whoever fell over is gone before its caller notices.
                    let _held = stream.try_clone();
                    if serve(stream, manners, &*answer).is_none() {
                        ended.store(true, Ordering::SeqCst);
                        // Nobody is let in any more: the listener goes with the next one that knocks.
                        drop(TcpStream::connect(address));
                    }
                };
                if manners.one_at_a_time {
                    attend();
                } else {
                    thread::spawn(attend);
                }
            }
        });
        Self { address, over }
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        format!("http://{}/mcp", self.address).parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
    }
}

/// Serves a connection to its end; nothing when the server is to end with it.
fn serve(stream: TcpStream, manners: Manners, answer: &dyn Fn(Request) -> Option<Reply>) -> Option<()> {
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) => return Some(()),
                Ok(_) if line == "\r\n" => break,
                Ok(_) => lines.push(line.trim().to_ascii_lowercase()),
            }
        }
        let method = lines.first().and_then(|line| line.split(' ').next()).unwrap_or_default().to_uppercase();
        let length = lines.iter().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        let length: usize = length.unwrap_or(0);
        if length > 64 * 1024 && !manners.greedy {
            let mut rest = vec![0; length];
            drop(reader.read_exact(&mut rest));
            write(&mut writer, &Reply::json(413, String::from("{\"error\": \"too long\"}")))?;
            return Some(());
        }
        let mut body = vec![0; length];
        let mut broke_off = false;
        if manners.reads_once && length > 0 {
            let read = reader.read(&mut body).unwrap_or(0);
            body.truncate(read);
        } else if reader.read_exact(&mut body).is_err() {
            broke_off = true;
        }
        let reply = answer(Request { method, body, broke_off })?;
        if write(&mut writer, &reply).is_none() || manners.hangs_up || reply.close {
            return Some(());
        }
    }
}

fn write(writer: &mut TcpStream, reply: &Reply) -> Option<()> {
    let head = format!(
        "HTTP/1.1 {} Whatever\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n",
        reply.status,
        reply.content_type,
        reply.body.len()
    );
    // In one piece, so that nobody sees half an answer.
    writer.write_all([head.as_bytes(), reply.body.as_bytes()].concat().as_slice()).ok()
}
