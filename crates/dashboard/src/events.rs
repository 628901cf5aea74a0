//! `/api/v1/events`: every durable event from any point on, without gaps or duplicates.
//!
//! An event's number in the log is its id. A client that reconnects sends the last id (`Last-Event-ID`) and gets the next
//! event. Old events come from the log.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::unfold;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use league_core::season::event::Event;
use league_protocol::time::Timestamp;
use league_store::export::public_fact;
use league_wire::pages::Body;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::shared_state::ViewerSlot;

const STEP: usize = 256;
/// Proxies close silent connections, so a quiet stream sends a comment after this time.
pub(crate) const SILENCE: Duration = Duration::from_secs(15);
pub(crate) const STILL_HERE: &[u8] = b": still here\n\n";

/// An event without credentials.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PublicEvent {
    /// Its number in the log, from one.
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) kind: String,
    pub(crate) fact: Map<String, Value>,
}

impl PublicEvent {
    pub(crate) fn of(seq: u64, event: &Event) -> Self {
        Self { seq, at: event.at, kind: event.fact.kind().to_owned(), fact: public_fact(&event.fact) }
    }
}

pub(crate) fn message(seq: u64, event: &Event) -> Bytes {
    let event = PublicEvent::of(seq, event);
    let data = serde_json::to_string(&event).unwrap_or_default();
    format!("id: {seq}\nevent: {}\ndata: {data}\n\n", event.kind).into()
}

struct Reader {
    slot: ViewerSlot,
    after: u64,
    waiting: VecDeque<Bytes>,
    /// The client has received all events at least once.
    current: bool,
    head: watch::Receiver<u64>,
    closing: watch::Receiver<bool>,
}

pub(crate) fn stream(slot: ViewerSlot, after: u64) -> Body {
    let (head, closing) = (slot.state.head.subscribe(), slot.state.closing.subscribe());
    let reader = Reader { slot, after, waiting: VecDeque::new(), current: false, head, closing };
    // Sent at once, so that the client sees the stream open.
    let first = futures_util::stream::iter([Ok::<_, Infallible>(Frame::data(Bytes::from_static(b": welcome\n\n")))]);
    let rest = unfold(reader, |mut reader| async move {
        let message = reader.next().await?;
        Some((Ok(Frame::data(message)), reader))
    });
    StreamBody::new(futures_util::StreamExt::chain(first, rest)).boxed_unsync()
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(message) = self.waiting.pop_front() {
                return Some(message);
            }
            if *self.closing.borrow() {
                return None;
            }
            if *self.head.borrow_and_update() > self.after {
                self.fetch().await?;
                continue;
            }
            self.current = true;
            tokio::select! {
                changed = timeout(SILENCE, self.head.changed()) => match changed {
                    Ok(changed) => changed.ok()?,
                    Err(_) => return Some(Bytes::from_static(STILL_HERE)),
                },
                _ = self.closing.changed() => return None,
            }
        }
    }

    /// Reads recent events from memory and older ones from the log. A client that was up to date and then fell behind the
    /// memory is disconnected; it can reconnect.
    async fn fetch(&mut self) -> Option<()> {
        let state = &self.slot.state;
        match state.latest(self.after, STEP) {
            Some(latest) if !latest.is_empty() => {
                self.after = latest.last()?.seq;
                self.waiting.extend(latest.iter().map(|event| event.message()));
            }
            Some(_) | None if self.current => return None,
            Some(_) | None => {
                let kept = state.archive.events(self.after, STEP).await.ok()?;
                self.after = kept.last()?.0.seq;
                self.waiting.extend(kept.iter().map(|(head, event)| message(head.seq, event)));
            }
        }
        Some(())
    }
}
