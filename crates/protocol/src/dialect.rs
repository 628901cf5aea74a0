//! How a peer is spoken to: what was learned about it, once, and is kept with it.
//!
//! The default is the canonical form, and costs nothing: everything else is a difference from it. A manner is guessed from a
//! registration ([`PeerDialect::of_registration`]), corrected by [`crate::dialect_fallback`] where the guess was wrong, handed to referees
//! with a match and back with its report, and kept in the log. It comes from strangers, so it is bounded.

mod tools;
mod wire_format;

use std::fmt;

use smol_str::SmolStr;

use crate::envelope::ReceivedEnvelope;
use crate::frame::Frame;
use crate::table::{Method, MethodSpelling};

/// The longest name of a method, a tool or a field that is remembered.
pub const MAX_NAME: usize = 64;
/// The most fields of a tool that are remembered.
pub const MAX_FIELDS: usize = 64;

/// The manager's sender for peers that want a colon in every sender.
pub const COLON_SENDER: &str = "league_manager:LM01";

/// What nobody must know: a peer that refused one of these is not told it again.
pub const NOTICES: [Method; 7] = [
    Method::NotifyRound,
    Method::NotifyMatchResult,
    Method::NotifyGameError,
    Method::UpdateStandings,
    Method::NotifyRoundCompleted,
    Method::NotifyLeagueCompleted,
    Method::NotifyLeagueError,
];

/// How tools are called at a peer that speaks MCP.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum McpStyle {
    #[default]
    AtOnce,
    /// After a handshake, in the session that it gave, if it gave one.
    Session,
    /// Revision 2026-07-28: no handshake, everything in each request.
    Stateless,
}

/// What a tool takes as its arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum ArgumentShape {
    #[default]
    Whole,
    /// These fields of it, and no other.
    Fields(Vec<SmolStr>),
    /// The whole message as the argument of this name.
    Under(SmolStr),
}

/// What is different about one call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct CallDialect {
    method: Method,
    name: Option<SmolStr>,
    shape: ArgumentShape,
    unknown: bool,
}

/// How a peer is spoken to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PeerDialect {
    frame: Frame,
    era: McpStyle,
    /// Its endpoint names no path, and it listens at `/`.
    at_root: bool,
    /// It acknowledges questions, and posts its answers afterwards.
    posts: bool,
    /// It wants a colon in the manager's sender too.
    colon: bool,
    /// The one name by which it knows every call, where it goes by the types of messages.
    one_name: Option<Box<str>>,
    /// The calls that differ, each once.
    ways: Vec<CallDialect>,
}

impl Default for PeerDialect {
    fn default() -> Self {
        let (frame, era) = (Frame::Direct, McpStyle::AtOnce);
        Self { frame, era, at_root: false, posts: false, colon: false, one_name: None, ways: Vec::new() }
    }
}

impl From<Frame> for PeerDialect {
    /// The names and shapes of the call table, in this frame. Nobody listens in R.
    fn from(frame: Frame) -> Self {
        let frame = if frame == Frame::Register { Frame::Direct } else { frame };
        Self { frame, ..Self::default() }
    }
}

impl PeerDialect {
    /// The first guess: whoever registers in a frame probably listens in it. Who posts to `/register` has said nothing about
    /// that. A player that registers by the message's type with an empty token is particular about senders. One that registers
    /// under a name of no table, `one_name`, has the type of a message decide, and expects the same.
    pub fn of_registration(frame: Frame, head: &ReceivedEnvelope, one_name: Option<&str>) -> Self {
        let one_name = one_name.filter(|name| name.len() <= MAX_NAME).map(Box::from);
        Self { colon: frame == Frame::Typed && head.empty_token, one_name, ..Self::from(frame) }
    }

    /// A peer that speaks MCP, in this era, as it lists its tools: the `result` of `tools/list`. Nothing where no tool is one
    /// of ours.
    pub fn of_tools(era: McpStyle, listing: &serde_json::Value) -> Option<Self> {
        let ways = tools::ways(listing)?;
        Some(Self { era, ways, ..Self::from(Frame::Tool) })
    }

    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// How tools are called, where the frame is C.
    pub fn era(&self) -> McpStyle {
        self.era
    }

    pub fn is_canonical(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it listens at `/` although its endpoint names no path.
    pub fn is_at_root(&self) -> bool {
        self.at_root
    }

    /// Whether answers are posted after a bare acknowledgement.
    pub fn posts(&self) -> bool {
        self.posts
    }

    /// Whether senders without a colon are refused.
    pub fn wants_colon(&self) -> bool {
        self.colon
    }

    /// Whether the peer may know `method`: nothing says that it does not.
    pub fn knows(&self, method: Method) -> bool {
        !self.way(method).is_some_and(|way| way.unknown)
    }

    /// What the peer calls `method`.
    pub fn name_of(&self, method: Method) -> &str {
        let spelling = if self.frame == Frame::Typed { MethodSpelling::MessageType } else { MethodSpelling::Name };
        let own = self.way(method).and_then(|way| way.name.as_deref());
        own.or(self.one_name.as_deref()).unwrap_or_else(|| method.spelled(spelling))
    }

    /// What the tool for `method` takes.
    pub fn shape_of(&self, method: Method) -> &ArgumentShape {
        self.way(method).map_or(&ArgumentShape::Whole, |way| &way.shape)
    }

    /// The same, with one name for everything.
    #[must_use]
    pub fn with_one_name(&self, name: &str) -> Self {
        let one_name = (name.len() <= MAX_NAME).then(|| name.into());
        Self { one_name, ..self.clone() }
    }

    /// Whether it is called by one name for everything.
    pub fn has_one_name(&self) -> bool {
        self.one_name.is_some()
    }

    /// The same peer in another frame. Names belong to a frame, and are forgotten.
    #[must_use]
    pub fn in_frame(&self, frame: Frame) -> Self {
        let Self { at_root, posts, colon, .. } = *self;
        Self { at_root, posts, colon, ..Self::from(frame) }
    }

    /// The same peer as `climbed` found its tools.
    #[must_use]
    pub fn with_tools_of(&self, climbed: Self) -> Self {
        let Self { at_root, posts, colon, .. } = *self;
        Self { at_root, posts, colon, ..climbed }
    }

    /// The same, with another name for `method`.
    #[must_use]
    pub fn calling(&self, method: Method, name: &str) -> Self {
        let canonical = name == self.without_way(method).name_of(method);
        let name = (!canonical && name.len() <= MAX_NAME).then(|| SmolStr::new(name));
        self.with(CallDialect { name, unknown: false, ..self.way_or_new(method) })
    }

    /// The same, with other arguments for `method`.
    #[must_use]
    pub fn shaped(&self, method: Method, shape: ArgumentShape) -> Self {
        self.with(CallDialect { shape, unknown: false, ..self.way_or_new(method) })
    }

    /// The same, not knowing `method`.
    #[must_use]
    pub fn without(&self, method: Method) -> Self {
        self.with(CallDialect { unknown: true, ..self.way_or_new(method) })
    }

    /// The same at `/`.
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

    /// What is known after `learned` came from somebody who spoke with the same peer. In the same frame both are right, the
    /// newer one about what both speak of; otherwise the newer one is.
    #[must_use]
    pub fn learning(&self, learned: &Self) -> Self {
        let mut merged = if (self.frame, self.era) == (learned.frame, learned.era) {
            learned.ways.iter().fold(self.clone(), |known, way| known.with(way.clone()))
        } else {
            learned.clone()
        };
        merged.one_name.clone_from(&learned.one_name);
        merged.at_root |= self.at_root | learned.at_root;
        merged.posts |= self.posts | learned.posts;
        merged.colon |= self.colon | learned.colon;
        merged
    }

    fn way(&self, method: Method) -> Option<&CallDialect> {
        self.ways.iter().find(|way| way.method == method)
    }

    fn way_or_new(&self, method: Method) -> CallDialect {
        self.way(method).cloned().unwrap_or(CallDialect {
            method,
            name: None,
            shape: ArgumentShape::Whole,
            unknown: false,
        })
    }

    fn without_way(&self, method: Method) -> Self {
        let mut other = self.clone();
        other.ways.retain(|way| way.method != method);
        other
    }

    fn with(&self, way: CallDialect) -> Self {
        let mut other = self.without_way(way.method);
        if way.name.is_some() || way.shape != ArgumentShape::Whole || way.unknown {
            other.ways.push(way);
            other.ways.sort_by_key(|way| way.method as usize);
        }
        other
    }
}

impl fmt::Display for PeerDialect {
    /// In a few words, for people.
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
        for way in &self.ways {
            if let Some(name) = &way.name {
                write!(f, ", {} as {name}", way.method.row().name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
