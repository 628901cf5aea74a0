//! A stream that fails when its peer stalls.
//!
//! Between requests a peer may be silent for the idle limit. Once a head has begun, the rest must arrive within the read limit.
//! While a request is being answered, only a peer that reads no bytes for the idle limit fails.
//! hyper has one limit for the first two cases; a short one would close every pooled connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::connections::{Activity, ConnectionState};
use crate::net::Stream;

#[derive(Clone, Copy, Debug)]
pub(crate) struct IoLimits {
    pub(crate) read: Duration,
    pub(crate) idle: Duration,
}

pub(crate) struct TimeoutStream<S> {
    stream: S,
    limits: IoLimits,
    connection: Arc<ConnectionState>,
    /// When the first bytes arrived after the last answer.
    head_began: Option<Instant>,
    /// Since when the peer has read no bytes.
    blocked: Option<Instant>,
    /// Fires at the deadline or earlier. It is reset only when it fires or is too late, so a request costs no timer.
    alarm: Pin<Box<Sleep>>,
}

impl<S: Stream> TimeoutStream<S> {
    pub(crate) fn new(stream: S, limits: IoLimits, connection: Arc<ConnectionState>) -> Self {
        let alarm = Box::pin(tokio::time::sleep(limits.read.min(limits.idle)));
        Self { stream, limits, connection, head_began: None, blocked: None, alarm }
    }

    fn deadline(&self) -> Option<Instant> {
        let IoLimits { read, idle } = self.limits;
        match self.connection.state() {
            // A new connection is expected to send its request at once.
            (Activity::New, since) => Some(since + read.min(idle)),
            (Activity::Idle, since) => {
                let began = self.head_began.filter(|began| *began >= since);
                Some(began.map_or(since + idle, |began| began + read))
            }
            (Activity::Reading | Activity::Answering, _) => self.blocked.map(|since| since + idle),
        }
    }

    fn or_timeout<T>(&mut self, cx: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            return outcome;
        }
        let Some(deadline) = self.deadline() else { return Poll::Pending };
        if self.alarm.deadline() > deadline {
            self.alarm.as_mut().reset(deadline);
        }
        loop {
            ready!(self.alarm.as_mut().poll(cx));
            if Instant::now() >= deadline {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer has stalled")));
            }
            self.alarm.as_mut().reset(deadline);
        }
    }

    fn wrote<T>(&mut self, cx: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        self.blocked = if outcome.is_ready() { None } else { self.blocked.or_else(|| Some(Instant::now())) };
        self.or_timeout(cx, outcome)
    }
}

impl<S: Stream> AsyncRead for TimeoutStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_read(cx, buf);
        if outcome.is_ready()
            && let (Activity::Idle, since) = self.connection.state()
            && self.head_began.is_none_or(|began| began < since)
        {
            self.head_began = Some(Instant::now());
        }
        self.or_timeout(cx, outcome)
    }
}

impl<S: Stream> AsyncWrite for TimeoutStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.wrote(cx, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.wrote(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(cx);
        self.wrote(cx, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.wrote(cx, outcome)
    }
}
