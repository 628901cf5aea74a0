//! A connection that remembers how far its last question got.
//!
//! A pooled connection may have died since its last use, and often that shows only when the question is already out. Asking
//! again on a fresh connection is right exactly when this one had answered before and has not said a byte since: a fresh
//! connection that says nothing is the peer's own failure.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::net::Stream;

const FRESH: u8 = 0;
/// The last thing that happened was that something was read.
const HEARD: u8 = 1;
/// Something was read, and then something was written.
const ASKED_AGAIN: u8 = 2;

/// What is known about a connection, also after its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionHistory(Arc<AtomicU8>);

impl ConnectionHistory {
    /// Whether an earlier question was answered and the last one met with silence.
    pub(crate) fn went_silent(&self) -> bool {
        self.0.load(Ordering::Acquire) == ASKED_AGAIN
    }

    fn read(&self) {
        self.0.store(HEARD, Ordering::Release);
    }

    fn wrote(&self) {
        if self.0.load(Ordering::Acquire) != FRESH {
            self.0.store(ASKED_AGAIN, Ordering::Release);
        }
    }
}

pub(crate) struct TrackedStream {
    stream: Box<dyn Stream>,
    past: ConnectionHistory,
}

impl TrackedStream {
    pub(crate) fn new(stream: Box<dyn Stream>) -> Self {
        Self { stream, past: ConnectionHistory::default() }
    }

    /// What is known about it, now and after its end.
    pub(crate) fn past(&self) -> ConnectionHistory {
        self.past.clone()
    }
}

impl AsyncRead for TrackedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let outcome = Pin::new(&mut *self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.past.read();
        }
        outcome
    }
}

/// Not vectored: head and body of a question are small, and copied together they are one plain write.
impl AsyncWrite for TrackedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.past.wrote();
        Pin::new(&mut *self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_shutdown(cx)
    }
}
