//! `/live`: the first page, as it changes. Its parts are rendered once for all who watch, at most a few times a second.
//!
//! A part carries the number of the event since which it looks like this. Whoever watches gets the parts that are newer than what it
//! has: a slow one skips what was in between, and one that was cut off says where it was. Nothing is queued for anybody.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::unfold;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use league_wire::pages::Body;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::events::{SILENCE, STILL_HERE};
use crate::packed::{self, Message};
use crate::pages::league;
use crate::stage::Seat;
use crate::story::Story;

/// A part of the first page.
#[derive(Clone, Debug)]
struct Part {
    /// Since which event it looks like this.
    since: u64,
    html: String,
    message: Arc<Message>,
}

/// The first page in parts.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    seq: u64,
    parts: Vec<Part>,
    /// What comes behind them.
    end: Arc<Message>,
}

/// The parts as they are now; those that have not changed stay what they were.
pub(crate) fn make(story: &Story, before: &Parts) -> Parts {
    let seq = story.seq();
    let parts = league::parts(story).into_iter().enumerate().map(|(place, (name, html))| {
        match before.parts.get(place).filter(|part| part.html == html) {
            Some(same) => same.clone(),
            None => {
                let data = json!({ "part": name, "html": html });
                let message = Message::new(format!("event: part\ndata: {data}\n\n"));
                Part { since: seq, html, message: Arc::new(message) }
            }
        }
    });
    // The id comes last, so that whoever is cut off before it asks for all of it again.
    let end = Message::new(format!("id: {seq}\nevent: seq\ndata: {seq}\n\n"));
    Parts { seq, parts: parts.collect(), end: Arc::new(end) }
}

impl Parts {
    /// Everything that is newer than `seen`, and what it brings the page to; only the latter for the quiet.
    fn news(&self, seen: u64, manner: Manner) -> Option<Vec<Bytes>> {
        let newer: Vec<&Part> = self.parts.iter().filter(|part| part.since > seen).collect();
        (!newer.is_empty()).then(|| {
            let told = newer.into_iter().filter(|_| !manner.quiet).map(|part| &part.message);
            told.chain([&self.end]).map(|message| message.bytes(manner.packed)).collect()
        })
    }
}

/// How somebody wants to be told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Only that there is something new, not what.
    pub(crate) quiet: bool,
    /// Packed: a tenth of the bytes.
    pub(crate) packed: bool,
}

struct Watcher {
    _seat: Seat,
    seen: u64,
    manner: Manner,
    waiting: std::vec::IntoIter<Bytes>,
    parts: watch::Receiver<Arc<Parts>>,
    closing: watch::Receiver<bool>,
}

/// The parts that are newer than event `seen`, without end.
pub(crate) fn stream(seat: Seat, seen: u64, manner: Manner) -> Body {
    let (mut parts, closing) = (seat.stage.parts.subscribe(), seat.stage.closing.subscribe());
    parts.mark_changed();
    let hello = Message::new("retry: 1000\n\n").bytes(manner.packed);
    let head = manner.packed.then(|| Bytes::from_static(packed::HEAD));
    let waiting = head.into_iter().chain([hello]).collect::<Vec<_>>().into_iter();
    let watcher = Watcher { _seat: seat, seen, manner, waiting, parts, closing };
    let messages = unfold(watcher, |mut watcher| async move {
        let message = watcher.next().await?;
        Some((Ok::<_, Infallible>(Frame::data(message)), watcher))
    });
    StreamBody::new(messages).boxed_unsync()
}

impl Watcher {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(message) = self.waiting.next() {
                return Some(message);
            }
            tokio::select! {
                changed = timeout(SILENCE, self.parts.changed()) => match changed {
                    Ok(changed) => changed.ok()?,
                    Err(_) => return Some(Message::new(STILL_HERE).bytes(self.manner.packed)),
                },
                _ = self.closing.changed() => return None,
            }
            let parts = self.parts.borrow_and_update().clone();
            if let Some(news) = parts.news(self.seen, self.manner) {
                self.seen = parts.seq;
                self.waiting = news.into_iter();
            }
        }
    }
}
