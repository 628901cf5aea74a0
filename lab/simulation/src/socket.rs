//! The network as a process sees it: implements the traits of `league_wire`.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use league_wire::net::{Connecting, Connector, Listener, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::faults::Direction;
use crate::net::{ConnectionId, Net};
use crate::process_id::{PORT, ProcessId};
use crate::sim_time::SimTime;

#[derive(Clone, Debug)]
pub struct Shared(Arc<Mutex<Net>>);

impl Shared {
    pub fn new(net: Net) -> Self {
        Self(Arc::new(Mutex::new(net)))
    }

    pub fn lock(&self) -> MutexGuard<'_, Net> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maps the clock of a process's runtime to the time of the run.
#[derive(Clone, Copy, Debug)]
pub struct ProcessClock {
    pub born: SimTime,
    /// The runtime's clock at that moment.
    pub origin: tokio::time::Instant,
}

impl ProcessClock {
    pub fn now(&self) -> SimTime {
        self.born + self.origin.elapsed()
    }
}

#[derive(Clone, Debug)]
pub struct SimConnector {
    pub net: Shared,
    pub process: ProcessId,
    pub clock: ProcessClock,
}

impl SimConnector {
    pub fn listen(&self) -> SimListener {
        self.net.lock().listen(self.process);
        SimListener(self.clone())
    }
}

impl Connector for SimConnector {
    fn connect<'a>(&'a self, host: &'a str, _port: u16) -> Connecting<'a> {
        Box::pin(async move {
            let to =
                ProcessId::of(host).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no such place"))?;
            let id = self.net.lock().connect(self.process, to, self.clock.now());
            // A caller that gives up drops it.
            let socket = Socket { connector: self.clone(), id, direction: Direction::There };
            let taken = poll_fn(|cx| match self.net.lock().answered(id, cx.waker()) {
                Some(taken) => Poll::Ready(taken),
                None => Poll::Pending,
            });
            if taken.await {
                Ok(Box::new(socket) as Box<dyn Stream>)
            } else {
                Err(io::Error::new(io::ErrorKind::ConnectionRefused, "refused"))
            }
        })
    }
}

#[derive(Debug)]
pub struct SimListener(SimConnector);

impl Listener for SimListener {
    type Stream = Socket;

    async fn accept(&mut self) -> io::Result<(Socket, SocketAddr)> {
        let connector = &self.0;
        let (id, from) = poll_fn(|cx| {
            let mut net = connector.net.lock();
            match net.listeners[connector.process.index()].pending.pop_front() {
                Some(id) => Poll::Ready((id, net.client_of(id))),
                None => {
                    net.listeners[connector.process.index()].waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await;
        let port = 20_000 + u16::try_from(id % 40_000).unwrap_or_default();
        Ok((Socket { connector: connector.clone(), id, direction: Direction::Back }, from.socket(port)))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.0.process.socket(PORT))
    }
}

#[derive(Debug)]
pub struct Socket {
    connector: SimConnector,
    id: ConnectionId,
    /// The direction of what is sent from here.
    direction: Direction,
}

fn reset() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "the connection was reset")
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut net = self.connector.net.lock();
        let Some(end) = net.end(self.id, self.direction) else { return Poll::Ready(Err(reset())) };
        if end.reset {
            return Poll::Ready(Err(reset()));
        }
        let count = end.inbox.len().min(buf.remaining());
        if count == 0 && !end.finished {
            end.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        for byte in end.inbox.drain(..count) {
            buf.put_slice(&[byte]);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut net = self.connector.net.lock();
        if net.end(self.id, self.direction).is_none_or(|end| end.reset) {
            return Poll::Ready(Err(reset()));
        }
        net.send(self.id, self.direction, self.connector.clock.now(), buf);
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.connector.net.lock().finish(self.id, self.direction, self.connector.clock.now());
        Poll::Ready(Ok(()))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.connector.net.lock().leave(self.id, self.direction, self.connector.clock.now());
    }
}
