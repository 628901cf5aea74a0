//! In-memory connections to the agents under test, and peers for their own calls.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use league_wire::net::{Connecting, Connector, Listener, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// In bytes. Larger than any input, so that a writer never waits for its reader.
pub const BUFFER: usize = 512 * 1024;

#[derive(Debug)]
pub struct MemoryListener(UnboundedReceiver<DuplexStream>);

#[derive(Clone, Debug)]
pub struct MemoryConnector(UnboundedSender<DuplexStream>);

pub fn listener() -> (MemoryConnector, MemoryListener) {
    let (sender, receiver) = unbounded_channel();
    (MemoryConnector(sender), MemoryListener(receiver))
}

impl MemoryConnector {
    pub fn connect(&self) -> DuplexStream {
        let (ours, theirs) = duplex(BUFFER);
        // A stopped agent gives no answer, which the target reports.
        drop(self.0.send(theirs));
        ours
    }
}

impl Listener for MemoryListener {
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

/// Refuses every connection.
#[derive(Clone, Copy, Debug)]
pub struct RefusingConnector;

impl Connector for RefusingConnector {
    fn connect<'a>(&'a self, _: &'a str, _: u16) -> Connecting<'a> {
        Box::pin(async { Err(io::Error::from(io::ErrorKind::ConnectionRefused)) })
    }
}

/// A peer that sends the same bytes on every connection and then keeps it open.
#[derive(Clone, Debug)]
pub struct FixedAnswerPeer(pub Arc<[u8]>);

impl Connector for FixedAnswerPeer {
    fn connect<'a>(&'a self, _: &'a str, _: u16) -> Connecting<'a> {
        let answer = Arc::clone(&self.0);
        Box::pin(async move {
            let (ours, mut theirs) = duplex(BUFFER);
            tokio::spawn(async move {
                let mut request = [0; 4096];
                // Bytes before the request would be no answer.
                if theirs.read(&mut request).await.is_err() || theirs.write_all(&answer).await.is_err() {
                    return;
                }
                while theirs.read(&mut request).await.is_ok_and(|read| read > 0) {}
            });
            Ok(Box::new(ours) as Box<dyn Stream>)
        })
    }
}
