//! Connections that lead nowhere but to the target itself.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use league_wire::net::{Connecting, Connector, Listener, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// More than any input, so that whoever writes never waits for a reader.
pub const ROOM: usize = 512 * 1024;

/// Where visitors come in.
#[derive(Debug)]
pub struct Door(UnboundedReceiver<DuplexStream>);

/// What visitors come in by.
#[derive(Clone, Debug)]
pub struct Way(UnboundedSender<DuplexStream>);

/// A door and the way to it.
pub fn door() -> (Way, Door) {
    let (way, door) = unbounded_channel();
    (Way(way), Door(door))
}

impl Way {
    /// A connection through the door.
    pub fn enter(&self) -> DuplexStream {
        let (ours, theirs) = duplex(ROOM);
        // A house that is gone answers nothing, and that is noticed.
        drop(self.0.send(theirs));
        ours
    }
}

impl Listener for Door {
    type Stream = DuplexStream;

    async fn accept(&mut self) -> io::Result<(DuplexStream, SocketAddr)> {
        match self.0.recv().await {
            Some(stream) => Ok((stream, SocketAddr::from(([127, 0, 0, 1], 40_000)))),
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(SocketAddr::from(([127, 0, 0, 1], 8000)))
    }
}

/// Where nobody is.
#[derive(Clone, Copy, Debug)]
pub struct Nowhere;

impl Connector for Nowhere {
    fn connect<'a>(&'a self, _: &'a str, _: u16) -> Connecting<'a> {
        Box::pin(async { Err(io::Error::from(io::ErrorKind::ConnectionRefused)) })
    }
}

/// A peer that says the same on every connection, whatever it is asked, and then holds the line.
#[derive(Clone, Debug)]
pub struct Parrot(pub Arc<[u8]>);

impl Connector for Parrot {
    fn connect<'a>(&'a self, _: &'a str, _: u16) -> Connecting<'a> {
        let said = Arc::clone(&self.0);
        Box::pin(async move {
            let (ours, mut theirs) = duplex(ROOM);
            tokio::spawn(async move {
                let mut heard = [0; 4096];
                // It waits for the question: what comes before one is no answer.
                if theirs.read(&mut heard).await.is_err() || theirs.write_all(&said).await.is_err() {
                    return;
                }
                while theirs.read(&mut heard).await.is_ok_and(|read| read > 0) {}
            });
            Ok(Box::new(ours) as Box<dyn Stream>)
        })
    }
}
