//! A stream that gives up on a peer that has stopped.
//!
//! Between requests a peer may be silent for the idle limit; once a head has begun, the rest of it must be there within the
//! read limit; while a request is being answered its own limits hold, and here only that what is said is taken within the idle
//! limit. hyper has one limit for the first two, and a short one would cost every pooled connection its life.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::connections::{Activity, ConnectionState};
use crate::net::Stream;

/// Counts the beginnings and ends of requests: odd while one is being answered.
#[derive(Clone, Debug)]
pub(crate) struct RequestActivity {
    count: Arc<AtomicU32>,
    place: ConnectionState,
}

impl RequestActivity {
    /// The turns of the connection at `place`.
    pub(crate) fn new(place: ConnectionState) -> Self {
        Self { count: Arc::default(), place }
    }

    pub(crate) fn begin_or_end(&self) {
        let before = self.count.fetch_add(1, Ordering::Relaxed);
        self.place.is(if before.is_multiple_of(2) { Activity::Asking } else { Activity::Resting });
    }

    pub(crate) fn place(&self) -> &ConnectionState {
        &self.place
    }

    /// All of the question is there.
    pub(crate) fn heard(&self) {
        self.place.is(Activity::Waiting);
    }

    fn now(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }
}

/// How long a peer may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IoLimits {
    pub(crate) read: Duration,
    pub(crate) idle: Duration,
}

pub(crate) struct TimeoutStream<S> {
    stream: S,
    limits: IoLimits,
    turn: RequestActivity,
    seen: u32,
    in_head: bool,
    deadline: Instant,
    /// Whether the peer has stopped to take what is said, while a request is being answered.
    blocked: bool,
    /// Wakes at the deadline or before it; moved only when it would wake too late, so that a request costs no timer.
    alarm: Pin<Box<Sleep>>,
}

impl<S: Stream> TimeoutStream<S> {
    pub(crate) fn new(stream: S, limits: IoLimits, turn: RequestActivity) -> Self {
        // The first request is owed at once: whoever connects has something to say.
        let deadline = Instant::now() + limits.read.min(limits.idle);
        let (seen, alarm) = (turn.now(), Box::pin(tokio::time::sleep_until(deadline)));
        Self { stream, limits, turn, seen, in_head: true, deadline, blocked: false, alarm }
    }

    fn heard(&mut self) {
        if self.turn.now() == self.seen && !self.in_head {
            self.in_head = true;
            self.deadline = Instant::now() + self.limits.read;
        }
    }

    /// Fails once the peer has been waited for long enough.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let turn = self.turn.now();
        if turn % 2 == 1 {
            return if self.blocked { self.ring(cx) } else { Poll::Pending };
        }
        if turn != self.seen {
            self.seen = turn;
            self.in_head = false;
            self.deadline = Instant::now() + self.limits.idle;
        }
        self.ring(cx)
    }

    fn ring(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        if self.alarm.deadline() > self.deadline {
            self.alarm.as_mut().reset(self.deadline);
        }
        loop {
            ready!(self.alarm.as_mut().poll(cx));
            if Instant::now() >= self.deadline {
                return Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "the peer has stopped"));
            }
            self.alarm.as_mut().reset(self.deadline);
        }
    }

    /// What came of saying something: a peer that does not take it is waited for from then on.
    fn said<T>(&mut self, cx: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.blocked = false;
        } else if !self.blocked && self.turn.now() % 2 == 1 {
            self.blocked = true;
            self.deadline = Instant::now() + self.limits.idle;
        }
        self.or_give_up(cx, outcome)
    }

    fn or_give_up<T>(&mut self, cx: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match outcome {
            Poll::Ready(outcome) => Poll::Ready(outcome),
            Poll::Pending => self.wait(cx).map(Err),
        }
    }
}

impl<S: Stream> AsyncRead for TimeoutStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_read(cx, buf);
        if outcome.is_ready() {
            self.heard();
        }
        self.or_give_up(cx, outcome)
    }
}

impl<S: Stream> AsyncWrite for TimeoutStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.said(cx, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.said(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(cx);
        self.said(cx, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.said(cx, outcome)
    }
}
