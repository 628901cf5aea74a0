//! The dialect of a peer, stored as the difference from the canonical form.
//!
//! The manager guesses it from the registration ([`PeerDialect::of_registration`]), and [`crate::dialect_fallback`] corrects the guess.
//! It travels to referees with a match, returns with the report, and is kept in the log. Peers supply it, so its size is bounded.

mod lesson;
mod tools;
mod wire_format;

use std::fmt;

pub use lesson::BadLesson;
use smol_str::SmolStr;

use crate::envelope::ReceivedEnvelope;
use crate::frame::Frame;
use crate::table::{Method, MethodSpelling};

pub const MAX_NAME: usize = 64;
pub const MAX_FIELDS: usize = 64;

/// For peers that require a colon in every sender.
pub const COLON_SENDER: &str = "league_manager:LM01";

/// Optional notices: a peer that refuses one of these does not get it again.
pub const NOTICES: [Method; 7] = [
    Method::NotifyRound,
    Method::NotifyMatchResult,
    Method::NotifyGameError,
    Method::UpdateStandings,
    Method::NotifyRoundCompleted,
    Method::NotifyLeagueCompleted,
    Method::NotifyLeagueError,
];

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum McpStyle {
    #[default]
    AtOnce,
    /// After a handshake, in its session if there is one.
    Session,
    /// Revision 2026-07-28: no handshake, everything in each request.
    Stateless,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum ArgumentShape {
    #[default]
    Whole,
    Fields(Vec<SmolStr>),
    /// The whole message as one argument of this name.
    Under(SmolStr),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct CallDialect {
    method: Method,
    name: Option<SmolStr>,
    shape: ArgumentShape,
    unknown: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PeerDialect {
    frame: Frame,
    era: McpStyle,
    /// The endpoint names no path, and the peer listens at `/`.
    at_root: bool,
    /// The peer acknowledges a call and posts its answer later.
    posts: bool,
    /// The peer requires a colon in the manager's sender too.
    colon: bool,
    /// The peer dispatches on the message type and knows every call by this name.
    one_name: Option<Box<str>>,
    calls: Vec<CallDialect>,
}

impl Default for PeerDialect {
    fn default() -> Self {
        let (frame, era) = (Frame::Direct, McpStyle::AtOnce);
        Self { frame, era, at_root: false, posts: false, colon: false, one_name: None, calls: Vec::new() }
    }
}

impl From<Frame> for PeerDialect {
    /// A peer never listens in frame R, so that becomes the canonical frame.
    fn from(frame: Frame) -> Self {
        let frame = if frame == Frame::Register { Frame::Direct } else { frame };
        Self { frame, ..Self::default() }
    }
}

impl PeerDialect {
    /// The first guess: a peer probably listens in the frame in which it registers, except for `/register`. A player that registers by
    /// message type with an empty token requires a colon in senders. A peer that registers under an unknown name, `one_name`, dispatches
    /// on the message type and expects the same of its peers.
    pub fn of_registration(frame: Frame, head: &ReceivedEnvelope, one_name: Option<&str>) -> Self {
        let one_name = one_name.filter(|name| name.len() <= MAX_NAME).map(Box::from);
        Self { colon: frame == Frame::Typed && head.empty_token, one_name, ..Self::from(frame) }
    }

    /// Reads the `result` of `tools/list`; `None` if no tool belongs to a league call.
    pub fn of_tools(era: McpStyle, listing: &serde_json::Value) -> Option<Self> {
        let calls = tools::calls(listing)?;
        Some(Self { era, calls, ..Self::from(Frame::Tool) })
    }

    pub fn frame(&self) -> Frame {
        self.frame
    }

    pub fn era(&self) -> McpStyle {
        self.era
    }

    pub fn is_canonical(&self) -> bool {
        *self == Self::default()
    }

    pub fn is_at_root(&self) -> bool {
        self.at_root
    }

    pub fn posts(&self) -> bool {
        self.posts
    }

    pub fn wants_colon(&self) -> bool {
        self.colon
    }

    /// True unless the peer has refused `method` as unknown.
    pub fn knows(&self, method: Method) -> bool {
        !self.call(method).is_some_and(|call| call.unknown)
    }

    pub fn name_of(&self, method: Method) -> &str {
        let spelling = if self.frame == Frame::Typed { MethodSpelling::MessageType } else { MethodSpelling::Name };
        let own = self.call(method).and_then(|call| call.name.as_deref());
        own.or(self.one_name.as_deref()).unwrap_or_else(|| method.spelled(spelling))
    }

    pub fn shape_of(&self, method: Method) -> &ArgumentShape {
        self.call(method).map_or(&ArgumentShape::Whole, |call| &call.shape)
    }

    #[must_use]
    pub fn with_one_name(&self, name: &str) -> Self {
        let one_name = (name.len() <= MAX_NAME).then(|| name.into());
        Self { one_name, ..self.clone() }
    }

    pub fn has_one_name(&self) -> bool {
        self.one_name.is_some()
    }

    /// Drops the names, because they belong to the old frame.
    #[must_use]
    pub fn in_frame(&self, frame: Frame) -> Self {
        let Self { at_root, posts, colon, .. } = *self;
        Self { at_root, posts, colon, ..Self::from(frame) }
    }

    #[must_use]
    pub fn with_tools_of(&self, listed: Self) -> Self {
        let Self { at_root, posts, colon, .. } = *self;
        Self { at_root, posts, colon, ..listed }
    }

    #[must_use]
    pub fn calling(&self, method: Method, name: &str) -> Self {
        let canonical = name == self.without_call(method).name_of(method);
        let name = (!canonical && name.len() <= MAX_NAME).then(|| SmolStr::new(name));
        self.with(CallDialect { name, unknown: false, ..self.call_or_new(method) })
    }

    #[must_use]
    pub fn shaped(&self, method: Method, shape: ArgumentShape) -> Self {
        self.with(CallDialect { shape, unknown: false, ..self.call_or_new(method) })
    }

    #[must_use]
    pub fn without(&self, method: Method) -> Self {
        self.with(CallDialect { unknown: true, ..self.call_or_new(method) })
    }

    #[must_use]
    pub fn at_root(&self) -> Self {
        Self { at_root: true, ..self.clone() }
    }

    #[must_use]
    pub fn posting(&self) -> Self {
        Self { posts: true, ..self.clone() }
    }

    #[must_use]
    pub fn with_colon(&self) -> Self {
        Self { colon: true, ..self.clone() }
    }

    /// Merges what another agent learned about the same peer. In the same frame the newer value wins for each call; in another frame
    /// only the learned names remain. Flags stay set.
    #[must_use]
    pub fn learning(&self, learned: &Self) -> Self {
        let mut merged = if (self.frame, self.era) == (learned.frame, learned.era) {
            learned.calls.iter().fold(self.clone(), |known, call| known.with(call.clone()))
        } else {
            learned.clone()
        };
        merged.one_name.clone_from(&learned.one_name);
        merged.at_root |= self.at_root | learned.at_root;
        merged.posts |= self.posts | learned.posts;
        merged.colon |= self.colon | learned.colon;
        merged
    }

    fn call(&self, method: Method) -> Option<&CallDialect> {
        self.calls.iter().find(|call| call.method == method)
    }

    fn call_or_new(&self, method: Method) -> CallDialect {
        self.call(method).cloned().unwrap_or(CallDialect {
            method,
            name: None,
            shape: ArgumentShape::Whole,
            unknown: false,
        })
    }

    fn without_call(&self, method: Method) -> Self {
        let mut other = self.clone();
        other.calls.retain(|call| call.method != method);
        other
    }

    fn with(&self, call: CallDialect) -> Self {
        let mut other = self.without_call(call.method);
        if call.name.is_some() || call.shape != ArgumentShape::Whole || call.unknown {
            other.calls.push(call);
            other.calls.sort_by_key(|call| call.method as usize);
        }
        other
    }
}

impl fmt::Display for PeerDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.frame)?;
        match self.era {
            McpStyle::AtOnce => {}
            McpStyle::Session => f.write_str(" session")?,
            McpStyle::Stateless => f.write_str(" 2026-07-28")?,
        }
        if self.at_root {
            f.write_str(" at /")?;
        }
        if self.posts {
            f.write_str(", posts")?;
        }
        if self.colon {
            f.write_str(", sender with a colon")?;
        }
        if let Some(name) = &self.one_name {
            write!(f, ", all as {name}")?;
        }
        for call in &self.calls {
            if let Some(name) = &call.name {
                write!(f, ", {} as {name}", call.method.row().name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
