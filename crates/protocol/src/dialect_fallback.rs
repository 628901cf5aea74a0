//! Chooses the next form after one that the peer did not understand.
//! A match against an unknown peer may waste one call of each kind, so the choice uses the peer's error, its earlier answers and its
//! tool list.

use smol_str::SmolStr;

use crate::dialect::{ArgumentShape, PeerDialect};
use crate::dialect_error::DialectError;
use crate::frame::Frame;
use crate::sender::Role;
use crate::table::Method;

/// Method names of agents that dispatch on the message type.
const ONE_NAMES: [&str; 3] = ["handle_message", "mcp_message", "message"];

#[derive(Clone, Copy, Debug)]
pub struct DialectAttempt<'a> {
    /// The forms tried for this message, the most recent last.
    pub tried: &'a [PeerDialect],
    pub method: Method,
    pub dialect_error: &'a DialectError,
    /// Many peers acknowledge every notice, so an acknowledged notice proves little.
    pub notice: bool,
    /// The peer has given a proper answer in this frame, so only the name can be wrong.
    pub proven: bool,
    pub tools_read: bool,
    pub pathless: bool,
    /// Try every form, because the peer is an unknown manager or the checker tests it.
    pub thorough: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextTry {
    Send(PeerDialect),
    ReadTools,
    Unknown,
    Stop,
}

impl DialectAttempt<'_> {
    pub fn next(&self) -> NextTry {
        let Some(last) = self.tried.last() else { return NextTry::Stop };
        if self.notice
            && let Some(next) = self.next_for_notice(last)
        {
            return next;
        }
        let (read_tools, forms) = self.plan(last);
        if read_tools && !self.tools_read {
            return NextTry::ReadTools;
        }
        let planned = forms.into_iter().find(|dialect| !self.tried.contains(dialect)).map(NextTry::Send);
        planned
            .or_else(|| self.any_other(last))
            .unwrap_or_else(|| if self.notice { NextTry::Stop } else { self.canonical() })
    }

    /// The last try of a question: another agent may have taught a wrong dialect. No player is charged for a notice.
    fn canonical(&self) -> NextTry {
        let canonical = PeerDialect::default();
        if self.tried.contains(&canonical) { NextTry::Stop } else { NextTry::Send(canonical) }
    }

    /// Without evidence: every frame, then the tools of an MCP server, then the other names in each frame.
    fn any_other(&self, last: &PeerDialect) -> Option<NextTry> {
        if !self.thorough {
            return None;
        }
        let untried = |dialect: &PeerDialect| !self.tried.contains(dialect);
        let plain = [Frame::Direct, Frame::Typed, Frame::Bare, Frame::Nested].map(|frame| last.in_frame(frame));
        if let Some(dialect) = plain.into_iter().find(untried) {
            return Some(NextTry::Send(dialect));
        }
        if !self.tools_read {
            return Some(NextTry::ReadTools);
        }
        let [direct, nested, tool] = [Frame::Direct, Frame::Nested, Frame::Tool].map(|frame| last.in_frame(frame));
        let one_name = ONE_NAMES.map(|name| direct.with_one_name(name));
        let names = [&direct, &tool, &nested].into_iter().flat_map(|dialect| self.aliases(dialect)).collect::<Vec<_>>();
        std::iter::once(tool).chain(one_name).chain(names).find(untried).map(NextTry::Send)
    }

    /// A notice is tried under one other name in the same frame.
    fn next_for_notice(&self, last: &PeerDialect) -> Option<NextTry> {
        match self.dialect_error {
            DialectError::Nothing => Some(NextTry::Stop),
            DialectError::BadArguments | DialectError::UnknownName(_)
                if last.frame() == Frame::Tool && !self.tools_read =>
            {
                None
            }
            DialectError::BadArguments => Some(NextTry::Stop),
            DialectError::UnknownName(_) => {
                // GAME_OVER is tried under every name, because some players join no other match before it arrives.
                let enough = self.tried.len() > 1 && self.method != Method::NotifyMatchResult;
                let mut others = self.aliases(last);
                others.extend(self.method.row().message.map(|name| last.calling(self.method, name)));
                let other = others.into_iter().find(|other| !enough && !self.tried.contains(other));
                Some(other.map_or(NextTry::Unknown, NextTry::Send))
            }
            DialectError::Mcp
            | DialectError::WantsBare
            | DialectError::WantsMessage
            | DialectError::WantsRpc
            | DialectError::WantsColon
            | DialectError::NoSuchPlace
            | DialectError::Other => None,
        }
    }

    /// Whether to read the tools first, and the forms to try in order.
    fn plan(&self, last: &PeerDialect) -> (bool, Vec<PeerDialect>) {
        let in_frames = |frames: &[Frame]| frames.iter().map(|frame| last.in_frame(*frame)).collect::<Vec<_>>();
        match self.dialect_error {
            DialectError::Other => (false, Vec::new()),
            DialectError::NoSuchPlace => (false, if self.pathless { vec![last.at_root()] } else { Vec::new() }),
            DialectError::Mcp => (true, in_frames(&[Frame::Tool])),
            DialectError::WantsBare => (false, in_frames(&[Frame::Bare])),
            DialectError::WantsRpc => (false, in_frames(&[Frame::Direct, Frame::Typed])),
            DialectError::WantsColon => (false, vec![last.with_colon()]),
            DialectError::WantsMessage if last.frame() == Frame::Tool => {
                (true, vec![last.shaped(self.method, ArgumentShape::Under(SmolStr::new_static("message")))])
            }
            DialectError::WantsMessage => (false, in_frames(&[Frame::Nested])),
            DialectError::UnknownName(hint) => self.other_names(last, hint.as_deref()),
            DialectError::BadArguments if last.frame() == Frame::Tool => (true, Vec::new()),
            DialectError::BadArguments if self.proven => (false, Vec::new()),
            DialectError::BadArguments => (false, in_frames(&[Frame::Nested, Frame::Bare, Frame::Direct])),
            DialectError::Nothing if self.proven => (false, self.aliases(last)),
            DialectError::Nothing => match last.frame() {
                Frame::Tool => (true, in_frames(&[Frame::Direct, Frame::Typed, Frame::Bare])),
                Frame::Direct | Frame::Register => (false, in_frames(&[Frame::Typed, Frame::Bare, Frame::Nested])),
                Frame::Typed | Frame::Bare | Frame::Nested => {
                    (false, in_frames(&[Frame::Direct, Frame::Bare, Frame::Typed, Frame::Nested]))
                }
            },
        }
    }

    /// For an unknown name. A peer about which nothing else is known may speak MCP; one that has understood something in this frame
    /// has another name for this call.
    fn other_names(&self, last: &PeerDialect, hint: Option<&str>) -> (bool, Vec<PeerDialect>) {
        let typed = self.method.row().message;
        let hinted = hint.map(|name| match last.frame() {
            Frame::Direct | Frame::Typed if Some(name) == typed && !self.proven => last.in_frame(Frame::Typed),
            Frame::Direct | Frame::Typed | Frame::Tool | Frame::Bare | Frame::Nested | Frame::Register => {
                last.calling(self.method, name)
            }
        });
        let mut forms: Vec<_> = hinted.into_iter().collect();
        let read_tools = forms.is_empty() && !self.proven;
        if last.has_one_name() {
            // The peer may register under one name and accept others.
            forms.push(last.in_frame(last.frame()));
        }
        let [named, typed_frame, tool] = [Frame::Direct, Frame::Typed, Frame::Tool].map(|frame| last.in_frame(frame));
        match last.frame() {
            Frame::Direct | Frame::Typed | Frame::Register if !self.proven => {
                // A peer that registered in this frame probably uses another name; a manager has not registered.
                if self.method.row().to == [Role::Manager] {
                    forms.extend([typed_frame.clone(), tool.clone()]);
                }
                if last.frame() == Frame::Typed {
                    forms.push(named.clone());
                }
                let known = if last.frame() == Frame::Direct { last } else { &named };
                forms.extend(self.aliases(known));
                forms.extend([typed_frame, tool]);
            }
            Frame::Bare => forms.push(last.in_frame(Frame::Direct)),
            Frame::Direct | Frame::Typed | Frame::Tool | Frame::Nested | Frame::Register => {
                forms.extend(self.aliases(last));
                forms.extend(typed.map(|name| last.calling(self.method, name)));
            }
        }
        (read_tools || last.frame() == Frame::Tool, forms)
    }

    /// Names in the style that the peer already uses come first.
    fn aliases(&self, last: &PeerDialect) -> Vec<PeerDialect> {
        let row = self.method.row();
        let receives = crate::table::TABLE.iter().any(|row| last.name_of(row.method).starts_with("receive_"));
        let mut names: Vec<_> = row.aliases.iter().chain(std::iter::once(&row.name)).collect();
        // A peer that does not dispatch on types probably uses the usual names.
        let by_types = last.frame() == Frame::Typed;
        names.sort_by_key(|name| (by_types && **name != row.name, receives && !name.starts_with("receive_")));
        names.into_iter().map(|name| last.calling(self.method, name)).collect()
    }
}

#[cfg(test)]
mod tests;
