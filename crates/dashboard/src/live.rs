//! `/live`: the first page, as it changes. Its parts are rendered once for all who watch, at most a few times a second.
//!
//! A part carries the number of the event since which it looks like this. Whoever watches gets the parts that are newer than what it
//! has: a slow one skips what was in between, and one that was cut off says where it was. Nothing is queued for anybody. Almost everybody
//! has what was there a moment ago, so what has changed since then is one message, made once: a crowd costs a write for each, and no more.

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

/// A part of the first page.
#[derive(Clone, Debug)]
struct Part {
    /// Since which event it looks like this.
    since: u64,
    /// Since which making: what referees tell of a match is news without being an event.
    made: u64,
    html: String,
    message: Arc<StreamMessage>,
}

#[derive(Debug, Default)]
pub(crate) struct Parts {
    seq: u64,
    /// How often parts have been made.
    made: u64,
    parts: Vec<Part>,
    end: Arc<StreamMessage>,
    /// All that has changed since the parts before these, and the end.
    step: Arc<StreamMessage>,
}

/// The parts as they are now; those that have not changed stay what they were.
pub(crate) fn make(story: &LeagueSnapshot, phases: &Phases, room: Option<&WaitingRoom>, before: &Parts) -> Parts {
    let (seq, made) = (story.seq(), before.made + 1);
    let parts: Vec<Part> = league::parts(story, phases, room)
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
    // The id comes last, so that whoever is cut off before it asks for all of it again.
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
    /// Everything that is newer than `seen`, and what it brings the page to; only the latter for the quiet.
    fn news(&self, seen: SeenParts, manner: StreamOptions) -> Option<Bytes> {
        let is_newer = |part: &&Part| match seen {
            SeenParts::Event(seq) => part.since > seq,
            SeenParts::Making(made) => part.made > made,
        };
        let newer = || self.parts.iter().filter(is_newer);
        newer().next()?;
        Some(match manner.quiet {
            true => self.end.bytes(manner.packed),
            false if seen == SeenParts::Making(self.made.wrapping_sub(1)) => self.step.bytes(manner.packed),
            false => joined(newer().map(|part| &part.message).chain([&self.end]), manner.packed),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SeenParts {
    /// Everything up to this event, elsewhere or before it was cut off.
    Event(u64),
    /// Everything up to this making, here.
    Making(u64),
}

/// How somebody wants to be told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamOptions {
    /// Only that there is something new, not what.
    pub(crate) quiet: bool,
    /// Packed: a tenth of the bytes.
    pub(crate) packed: bool,
}

struct Watcher {
    _seat: ViewerSlot,
    seen: SeenParts,
    manner: StreamOptions,
    /// What is said before anything else.
    first: Option<Bytes>,
    parts: watch::Receiver<Arc<Parts>>,
    closing: watch::Receiver<bool>,
}

/// The parts that are newer than event `seen`, without end.
pub(crate) fn stream(seat: ViewerSlot, seen: u64, manner: StreamOptions) -> Body {
    let (mut parts, closing) = (seat.parts().subscribe(), seat.stage.closing.subscribe());
    parts.mark_changed();
    let hello = StreamMessage::new("retry: 1000\n\n").bytes(manner.packed);
    let head = if manner.packed { gzip::HEAD } else { &[] };
    let first = Some(Bytes::from([head, &hello].concat()));
    let seen = SeenParts::Event(seen);
    let watcher = Watcher { _seat: seat, seen, manner, first, parts, closing };
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
                    Err(_) => return Some(StreamMessage::new(STILL_HERE).bytes(self.manner.packed)),
                },
                _ = self.closing.changed() => return None,
            }
            let parts = self.parts.borrow_and_update().clone();
            let news = parts.news(self.seen, self.manner);
            self.seen = match self.seen {
                // Made while nobody watched: what comes next is compared with what this one has.
                SeenParts::Event(seq) if parts.seq < seq => self.seen,
                SeenParts::Event(_) | SeenParts::Making(_) => SeenParts::Making(parts.made),
            };
            if news.is_some() {
                return news;
            }
        }
    }
}
