//! `/live`: streams the changed parts of the first page, rendered once for all viewers, a few times a second.
//!
//! A part carries the number of the event that changed it. A viewer gets the parts that are newer than its own, so a slow
//! viewer skips versions and no queue grows. Most viewers are one version behind, so that change is one shared message.

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
use crate::gzip::{self, StreamMessage};
use crate::league_snapshot::LeagueSnapshot;
use crate::pages::league;
use crate::phases::Phases;
use crate::shared_state::ViewerSlot;
use crate::waiting_room::WaitingRoom;

#[derive(Clone, Debug)]
struct Part {
    since: u64,
    /// The rendering that changed it: phases of matches change without an event.
    made: u64,
    html: String,
    message: Arc<StreamMessage>,
}

#[derive(Debug, Default)]
pub(crate) struct Parts {
    seq: u64,
    made: u64,
    parts: Vec<Part>,
    end: Arc<StreamMessage>,
    /// All changes since the previous rendering, and the end.
    step: Arc<StreamMessage>,
}

/// Parts that have not changed keep their numbers.
pub(crate) fn make(snapshot: &LeagueSnapshot, phases: &Phases, room: Option<&WaitingRoom>, before: &Parts) -> Parts {
    let (seq, made) = (snapshot.seq(), before.made + 1);
    let parts: Vec<Part> = league::parts(snapshot, phases, room)
        .into_iter()
        .enumerate()
        .map(|(place, (name, html))| match before.parts.get(place).filter(|part| part.html == html) {
            Some(same) => same.clone(),
            None => {
                let data = json!({ "part": name, "html": html });
                let message = StreamMessage::new(format!("event: part\ndata: {data}\n\n"));
                Part { since: seq, made, html, message: Arc::new(message) }
            }
        })
        .collect();
    // The id comes last, so that a client that is cut off earlier gets all parts again.
    let end = Arc::new(StreamMessage::new(format!("id: {seq}\nevent: seq\ndata: {seq}\n\n")));
    let changed = parts.iter().filter(|part| part.made == made).map(|part| &part.message);
    let step = StreamMessage::new(joined(changed.chain([&end]), false));
    Parts { seq, made, parts, end, step: Arc::new(step) }
}

fn joined<'a>(messages: impl Iterator<Item = &'a Arc<StreamMessage>>, packed: bool) -> Bytes {
    let pieces: Vec<Bytes> = messages.map(|message| message.bytes(packed)).collect();
    pieces.concat().into()
}

impl Parts {
    /// Returns the parts that are newer than `seen`; a quiet client gets only the number.
    fn news(&self, seen: SeenParts, options: StreamOptions) -> Option<Bytes> {
        let is_newer = |part: &&Part| match seen {
            SeenParts::Event(seq) => part.since > seq,
            SeenParts::Making(made) => part.made > made,
        };
        let newer = || self.parts.iter().filter(is_newer);
        newer().next()?;
        Some(match options.quiet {
            true => self.end.bytes(options.packed),
            false if seen == SeenParts::Making(self.made.wrapping_sub(1)) => self.step.bytes(options.packed),
            false => joined(newer().map(|part| &part.message).chain([&self.end]), options.packed),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SeenParts {
    /// The client has all parts up to this event, from the page or an earlier connection.
    Event(u64),
    /// The client has all parts up to this rendering, from this stream.
    Making(u64),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamOptions {
    /// Announces changes without their content.
    pub(crate) quiet: bool,
    /// Compressed: a tenth of the bytes.
    pub(crate) packed: bool,
}

struct Watcher {
    _slot: ViewerSlot,
    seen: SeenParts,
    options: StreamOptions,
    first: Option<Bytes>,
    parts: watch::Receiver<Arc<Parts>>,
    closing: watch::Receiver<bool>,
}

pub(crate) fn stream(slot: ViewerSlot, seen: u64, options: StreamOptions) -> Body {
    let (mut parts, closing) = (slot.parts().subscribe(), slot.state.closing.subscribe());
    parts.mark_changed();
    let hello = StreamMessage::new("retry: 1000\n\n").bytes(options.packed);
    let head = if options.packed { gzip::HEAD } else { &[] };
    let first = Some(Bytes::from([head, &hello].concat()));
    let seen = SeenParts::Event(seen);
    let watcher = Watcher { _slot: slot, seen, options, first, parts, closing };
    let messages = unfold(watcher, |mut watcher| async move {
        let message = watcher.next().await?;
        Some((Ok::<_, Infallible>(Frame::data(message)), watcher))
    });
    StreamBody::new(messages).boxed_unsync()
}

impl Watcher {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(first) = self.first.take() {
                return Some(first);
            }
            tokio::select! {
                changed = timeout(SILENCE, self.parts.changed()) => match changed {
                    Ok(changed) => changed.ok()?,
                    Err(_) => return Some(StreamMessage::new(STILL_HERE).bytes(self.options.packed)),
                },
                _ = self.closing.changed() => return None,
            }
            let parts = self.parts.borrow_and_update().clone();
            let news = parts.news(self.seen, self.options);
            self.seen = match self.seen {
                // These parts were rendered before this client's page, when there were no viewers.
                SeenParts::Event(seq) if parts.seq < seq => self.seen,
                SeenParts::Event(_) | SeenParts::Making(_) => SeenParts::Making(parts.made),
            };
            if news.is_some() {
                return news;
            }
        }
    }
}
