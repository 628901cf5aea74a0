//! A connection that records how far its last request got.
//!
//! A pooled connection may have died since its last use, and often that shows only after the request was sent. The client may send
//! the request again only if the old connection had answered before and has sent no byte since. A new connection without an answer
//! is the peer's own failure.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::net::Stream;

const FRESH: u8 = 0;
/// The last operation that moved bytes was a read.
const ANSWERED: u8 = 1;
/// Bytes were read, and then bytes were written.
const SENT_AGAIN: u8 = 2;

/// Outlives its connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionHistory(Arc<AtomicU8>);

impl ConnectionHistory {
    /// An earlier request was answered, and no byte arrived after the last one.
    pub(crate) fn went_silent(&self) -> bool {
        self.0.load(Ordering::Acquire) == SENT_AGAIN
    }

    fn read(&self) {
        self.0.store(ANSWERED, Ordering::Release);
    }

    fn wrote(&self) {
        if self.0.load(Ordering::Acquire) != FRESH {
            self.0.store(SENT_AGAIN, Ordering::Release);
        }
    }
}

pub(crate) struct TrackedStream {
    stream: Box<dyn Stream>,
    history: ConnectionHistory,
}

impl TrackedStream {
    pub(crate) fn new(stream: Box<dyn Stream>) -> Self {
        Self { stream, history: ConnectionHistory::default() }
    }

    pub(crate) fn history(&self) -> ConnectionHistory {
        self.history.clone()
    }
}

impl AsyncRead for TrackedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let outcome = Pin::new(&mut *self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.history.read();
        }
        outcome
    }
}

/// Not vectored: head and body of a request are small and go out in one write.
impl AsyncWrite for TrackedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.history.wrote();
        Pin::new(&mut *self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_shutdown(cx)
    }
}
