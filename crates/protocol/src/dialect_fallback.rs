//! Which form to try next when one was not understood.
//!
//! A match against a stranger may cost one wasted call of each kind, so the second guess is made with all that is known: what the
//! peer complained of, what it understood before, and what a look at its tools can tell. Never climbed after a timeout, a broken
//! connection or an answer that was understood: this is called with neither.

use smol_str::SmolStr;

use crate::dialect::{ArgumentShape, PeerDialect};
use crate::dialect_error::DialectError;
use crate::frame::Frame;
use crate::sender::Role;
use crate::table::Method;

/// The names under which agents take every message, and go by its type.
const ONE_NAMES: [&str; 3] = ["handle_message", "mcp_message", "message"];

/// What is known when a form was not understood.
#[derive(Clone, Copy, Debug)]
pub struct DialectAttempt<'a> {
    /// The forms that were tried with this message, the last one last.
    pub tried: &'a [PeerDialect],
    pub method: Method,
    pub rebuff: &'a DialectError,
    /// Whether it only informs. Many peers say yes to everything, so that nothing bold is concluded from notices.
    pub notice: bool,
    /// Whether the peer has given a proper answer in this frame: then only the name can be wrong.
    pub proven: bool,
    /// Whether its tools have been asked for already.
    pub looked: bool,
    /// Whether its endpoint names no path.
    pub pathless: bool,
    /// Whether every form is worth a try, whatever came back: the peer is a manager of which nothing is known, or is being checked.
    pub thorough: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextTry {
    Say(PeerDialect),
    /// Find out whether it is an MCP server and which tools it has, then ask again.
    Look,
    /// It is a notice that the peer does not know: it is not to be told it again.
    Unknown,
    /// Nothing else is worth a try.
    Stop,
}

impl DialectAttempt<'_> {
    pub fn next(&self) -> NextTry {
        let Some(last) = self.tried.last() else { return NextTry::Stop };
        if self.notice
            && let Some(next) = self.modestly(last)
        {
            return next;
        }
        let (look, then) = self.plan(last);
        if look && !self.looked {
            return NextTry::Look;
        }
        let planned = then.into_iter().find(|manner| !self.tried.contains(manner)).map(NextTry::Say);
        planned.or_else(|| self.any_other(last)).unwrap_or(NextTry::Stop)
    }

    /// What is left when nothing points to a form: every frame, the tools of an MCP server, and then the other names in each frame.
    fn any_other(&self, last: &PeerDialect) -> Option<NextTry> {
        if !self.thorough {
            return None;
        }
        let untried = |manner: &PeerDialect| !self.tried.contains(manner);
        let plain = [Frame::Direct, Frame::Typed, Frame::Bare, Frame::Nested].map(|frame| last.in_frame(frame));
        if let Some(manner) = plain.into_iter().find(untried) {
            return Some(NextTry::Say(manner));
        }
        if !self.looked {
            return Some(NextTry::Look);
        }
        let [direct, nested, tool] = [Frame::Direct, Frame::Nested, Frame::Tool].map(|frame| last.in_frame(frame));
        let one_name = ONE_NAMES.map(|name| direct.with_one_name(name));
        let names = [&direct, &tool, &nested].into_iter().flat_map(|manner| self.aliases(manner)).collect::<Vec<_>>();
        std::iter::once(tool).chain(one_name).chain(names).find(untried).map(NextTry::Say)
    }

    /// What is done about a notice, where that is less than for a question: another name in the same frame is tried, once.
    fn modestly(&self, last: &PeerDialect) -> Option<NextTry> {
        match self.rebuff {
            DialectError::Nothing => Some(NextTry::Stop),
            DialectError::BadArguments | DialectError::UnknownName(_)
                if last.frame() == Frame::Tool && !self.looked =>
            {
                None
            }
            DialectError::BadArguments => Some(NextTry::Stop),
            DialectError::UnknownName(_) => {
                // The end of a match is worth every name: some players join no other before they have heard of it.
                let enough = self.tried.len() > 1 && self.method != Method::NotifyMatchResult;
                let mut others = self.aliases(last);
                others.extend(self.method.row().message.map(|name| last.calling(self.method, name)));
                let other = others.into_iter().find(|other| !enough && !self.tried.contains(other));
                Some(other.map_or(NextTry::Unknown, NextTry::Say))
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

    /// Whether to look at the tools first, and the forms to try in order.
    fn plan(&self, last: &PeerDialect) -> (bool, Vec<PeerDialect>) {
        let in_frames = |frames: &[Frame]| frames.iter().map(|frame| last.in_frame(*frame)).collect::<Vec<_>>();
        match self.rebuff {
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

    /// The call is not known by this name. A peer of which nothing else is known may be speaking MCP, which its tools tell; one
    /// that has understood something in this frame has another name for this.
    fn other_names(&self, last: &PeerDialect, hint: Option<&str>) -> (bool, Vec<PeerDialect>) {
        let typed = self.method.row().message;
        let hinted = hint.map(|name| match last.frame() {
            Frame::Direct | Frame::Typed if Some(name) == typed && !self.proven => last.in_frame(Frame::Typed),
            Frame::Direct | Frame::Typed | Frame::Tool | Frame::Bare | Frame::Nested | Frame::Register => {
                last.calling(self.method, name)
            }
        });
        let mut forms: Vec<_> = hinted.into_iter().collect();
        let look = forms.is_empty() && !self.proven;
        if last.has_one_name() {
            // It registered under one name, and has others for what it is told.
            forms.push(last.in_frame(last.frame()));
        }
        let [named, typed_frame, tool] = [Frame::Direct, Frame::Typed, Frame::Tool].map(|frame| last.in_frame(frame));
        match last.frame() {
            Frame::Direct | Frame::Typed | Frame::Register if !self.proven => {
                // Who registered in this frame most likely has another name for this; of a manager nothing is known yet.
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
        (look || last.frame() == Frame::Tool, forms)
    }

    /// The other names of the call, those first that are formed like a name which this peer is known to use.
    fn aliases(&self, last: &PeerDialect) -> Vec<PeerDialect> {
        let row = self.method.row();
        let receives = crate::table::TABLE.iter().any(|row| last.name_of(row.method).starts_with("receive_"));
        let mut names: Vec<_> = row.aliases.iter().chain(std::iter::once(&row.name)).collect();
        // Whoever does not go by types after all most likely goes by the usual names.
        let by_types = last.frame() == Frame::Typed;
        names.sort_by_key(|name| (by_types && **name != row.name, receives && !name.starts_with("receive_")));
        names.into_iter().map(|name| last.calling(self.method, name)).collect()
    }
}

#[cfg(test)]
mod tests;
