//! Explains what was wrong with a player's answer and what its author can change: to the player ("you sent `ODD`; send `odd`"), about
//! the player ("Ada sent `ODD`"), and in a few words for a list ("sent `ODD`").
//! It quotes foreign text, short and without control characters. Pages still escape quotes, and never show them to an opponent.

mod reading;

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::answer::PeerError;
use crate::quirk::Quirk;

/// In characters.
pub const QUOTED: usize = 80;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum QuestionKind {
    Join,
    Choice,
    Move,
}

impl QuestionKind {
    pub fn answer(self) -> &'static str {
        match self {
            Self::Join => "GAME_JOIN_ACK",
            Self::Choice => "CHOOSE_PARITY_RESPONSE",
            Self::Move => "GAME_MOVE_RESPONSE",
        }
    }

    pub fn method(self) -> &'static str {
        match self {
            Self::Join => "handle_game_invitation",
            Self::Choice => "choose_parity",
            Self::Move => "make_move",
        }
    }

    pub fn field(self) -> &'static str {
        match self {
            Self::Join => "accept",
            Self::Choice => "parity_choice",
            Self::Move => "move",
        }
    }

    fn wanted(self) -> &'static str {
        match self {
            Self::Join => "send \"accept\": true to play",
            Self::Choice => "send \"parity_choice\": \"even\" or \"odd\"",
            Self::Move => "send \"move\" as a text",
        }
    }
}

/// What went wrong with one answer, or why there was none.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Problem {
    /// No whole answer within the limit.
    Silent {
        /// The limit.
        limit_ms: u64,
    },
    /// An answer after the limit.
    Late {
        /// When it came.
        after_ms: u64,
        /// The limit.
        limit_ms: u64,
    },
    /// No program listens at the address.
    NotListening {
        /// The address.
        endpoint: SmolStr,
    },
    /// The address cannot be reached for another reason.
    Unreachable {
        /// The address.
        endpoint: SmolStr,
        /// What the system says.
        why: SmolStr,
    },
    /// The connection was closed before an answer was whole.
    HungUp,
    /// The answer is longer than the limit for a message.
    TooLong,
    /// An HTML page in place of JSON.
    Html {
        /// The HTTP status.
        status: u16,
    },
    /// Text that is not a JSON object.
    NotJson {
        /// The HTTP status.
        status: u16,
        /// How it begins.
        found: SmolStr,
    },
    /// An HTTP status that refuses, without an error that says more.
    Status {
        /// The HTTP status.
        status: u16,
    },
    /// An error of JSON-RPC, of a tool, or of the league.
    Error {
        /// JSON-RPC's number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<i64>,
        /// Its words.
        found: SmolStr,
        /// The method that was called.
        method: SmolStr,
    },
    /// The right field with a wrong value.
    WrongValue {
        /// The field.
        field: SmolStr,
        /// What it holds.
        found: SmolStr,
        /// What to send.
        wanted: SmolStr,
    },
    /// The value under another name.
    WrongField {
        /// The name that came.
        found: SmolStr,
        /// The right name.
        wanted: SmolStr,
    },
    /// An answer without the field that was asked for.
    NoField {
        /// The field.
        field: SmolStr,
        /// What to send.
        wanted: SmolStr,
    },
    /// Two places of one answer say different things.
    TwoAnswers,
    /// An answer about another match.
    OtherMatch {
        /// The match that was asked about.
        wanted: SmolStr,
    },
    /// The call was acknowledged, and the answer did not follow.
    OnlyAcknowledged {
        /// The message that was waited for.
        wanted: SmolStr,
    },
    /// The answer was posted with a token that does not prove who sent it.
    WrongToken,
    /// The answer was posted without a token, where one is needed.
    NoToken,
    /// An answer that was posted in its name does not count.
    PostRefused {
        /// What it did, as the rest of a sentence that begins with its name.
        what: SmolStr,
        /// What to change.
        advice: SmolStr,
    },
    /// It did not want to play.
    Declined,
    /// A strict league refuses what others take.
    Irregular {
        /// What.
        #[schemars(with = "String")]
        quirk: Quirk,
    },
    /// A move that the rules of its game do not allow.
    Illegal {
        /// The move.
        found: SmolStr,
        /// What is allowed.
        allowed: SmolStr,
    },
    /// Whatever a newer version or another make reports.
    #[serde(other)]
    Unknown,
}

impl Problem {
    pub fn silent(limit: Duration) -> Self {
        Self::Silent { limit_ms: millis(limit) }
    }

    pub fn late(after: Duration, limit: Duration) -> Self {
        Self::Late { after_ms: millis(after), limit_ms: millis(limit) }
    }

    pub fn not_listening(endpoint: impl fmt::Display) -> Self {
        Self::NotListening { endpoint: address(&endpoint) }
    }

    pub fn unreachable(endpoint: impl fmt::Display, why: &str) -> Self {
        Self::Unreachable { endpoint: address(&endpoint), why: quoted(why) }
    }

    pub fn error(question: QuestionKind, error: &PeerError) -> Self {
        let found = match (&error.code, error.words.is_empty()) {
            (Some(code), true) => quoted(code),
            (Some(code), false) if !error.words.contains(code.as_str()) => quoted(&format!("{code} {}", error.words)),
            (Some(_), false) | (None, _) => quoted(&error.words),
        };
        Self::Error { number: error.number, found, method: SmolStr::new_static(question.method()) }
    }

    pub fn post_refused(what: impl fmt::Display, advice: &str) -> Self {
        Self::PostRefused { what: SmolStr::new(what.to_string()), advice: SmolStr::new(advice) }
    }

    /// `allowed` describes the legal moves.
    pub fn illegal(found: &str, allowed: &str) -> Self {
        Self::Illegal { found: quoted(found), allowed: SmolStr::new(allowed) }
    }

    /// Only the operator may see the player's address.
    pub fn without_address(mut self) -> Self {
        if let Self::NotListening { endpoint } | Self::Unreachable { endpoint, .. } = &mut self {
            *endpoint = SmolStr::new_static("the registered address");
        }
        self
    }

    /// A clause that begins a sentence, with `subject` as its subject.
    pub fn sentence_about(&self, subject: &str) -> String {
        match self {
            Self::Silent { limit_ms } => format!("{subject} did not answer within {}", span(*limit_ms)),
            Self::Late { after_ms, limit_ms } => {
                format!("{subject} answered after {}; the limit is {}", span(*after_ms), span(*limit_ms))
            }
            Self::NotListening { endpoint } => format!("nothing listened at {endpoint}"),
            Self::Unreachable { endpoint, why } => format!("there was no connection to {endpoint} ({why})"),
            Self::HungUp => format!("{subject} hung up while answering"),
            Self::TooLong => format!("{subject} sent an answer of more than 64 KiB"),
            Self::Html { status } => format!("{subject} answered with an HTML page (HTTP {status})"),
            Self::NotJson { status, found } if found.is_empty() => {
                format!("{subject} sent an empty answer (HTTP {status})")
            }
            Self::NotJson { status, found } => {
                format!("{subject} sent `{found}`, which is no JSON object (HTTP {status})")
            }
            Self::Status { status } => format!("{subject} answered with HTTP {status}"),
            Self::Error { number, found, .. } => {
                let number = number.map(|number| format!(" {number}")).unwrap_or_default();
                let words = if found.is_empty() { String::new() } else { format!(": \"{found}\"") };
                format!("{subject} answered with error{number}{words}")
            }
            Self::WrongValue { found, .. } => format!("{subject} sent `{found}`"),
            Self::WrongField { found, .. } => format!("{subject} sent `{found}`"),
            Self::NoField { field, .. } => format!("{subject} sent no `{field}`"),
            Self::TwoAnswers => format!("{subject} sent two different choices in one answer"),
            Self::OtherMatch { .. } => format!("{subject} answered about another match"),
            Self::OnlyAcknowledged { wanted } => {
                format!("{subject} acknowledged the call, and no {wanted} followed")
            }
            Self::WrongToken => format!("{subject} answered with a wrong token"),
            Self::NoToken => format!("{subject} posted an answer without a token"),
            Self::PostRefused { what, .. } => format!("{subject} {what}"),
            Self::Declined => format!("{subject} declined the invitation"),
            Self::Irregular { quirk } => format!("{subject} sent what a strict league refuses: {quirk}"),
            Self::Illegal { found, .. } => format!("{subject} sent `{found}`, which is no legal move"),
            Self::Unknown => format!("{subject} gave no answer that counts"),
        }
    }

    pub fn fix(&self) -> String {
        match self {
            Self::Silent { .. } => {
                String::from("answer sooner, or look in your console for what keeps the player waiting")
            }
            Self::Late { .. } => String::from("decide sooner, or answer with a fallback before the limit"),
            Self::NotListening { .. } => String::from("is the player still running?"),
            Self::Unreachable { .. } => {
                String::from("is this the address of the player's machine, and does its firewall let the port through?")
            }
            Self::HungUp => String::from("look for an exception in your console"),
            Self::TooLong => String::from("send the answer alone, without history or logs"),
            Self::Html { .. } => String::from("answer with JSON; is another program listening at this address?"),
            Self::NotJson { .. } => String::from("answer with one JSON object"),
            Self::Status { status } => String::from(status_fix(*status)),
            Self::Error { number, method, found } => error_fix(*number, found, method),
            Self::WrongValue { wanted, .. } => format!("send {wanted}"),
            Self::WrongField { wanted, .. } => format!("call the field `{wanted}`"),
            Self::NoField { wanted, .. } => wanted.to_string(),
            Self::TwoAnswers => String::from("send one choice, in `parity_choice`"),
            Self::OtherMatch { wanted } => format!("answer with \"match_id\": \"{wanted}\", the match of the call"),
            Self::OnlyAcknowledged { wanted } => format!("put the {wanted} into the result of the call"),
            Self::WrongToken | Self::NoToken => {
                String::from("send the auth_token of your latest registration with each answer")
            }
            Self::PostRefused { advice, .. } => advice.to_string(),
            Self::Declined => String::from("send \"accept\": true to play"),
            Self::Irregular { quirk } => quirk.advice().to_owned(),
            Self::Illegal { allowed, .. } => allowed.to_string(),
            Self::Unknown => String::from("look at the match's transcript"),
        }
    }

    /// For a list. It has no address and nothing that the player could not have known.
    pub fn brief(&self) -> String {
        match self {
            Self::Silent { limit_ms } => format!("no answer in {}", span(*limit_ms)),
            Self::Late { after_ms, limit_ms } => format!("answered after {} of {}", span(*after_ms), span(*limit_ms)),
            Self::NotListening { .. } => String::from("nothing listened at its address"),
            Self::Unreachable { .. } => String::from("no connection"),
            Self::HungUp => String::from("hung up while answering"),
            Self::TooLong => String::from("an answer over 64 KiB"),
            Self::Html { .. } => String::from("an HTML page for an answer"),
            Self::NotJson { .. } => String::from("an answer that is not JSON"),
            Self::Status { status } => format!("HTTP {status}"),
            Self::Error { number: Some(number), .. } => format!("error {number}"),
            Self::Error { number: None, .. } => String::from("an error for an answer"),
            Self::WrongValue { found, .. } | Self::WrongField { found, .. } | Self::Illegal { found, .. } => {
                format!("sent `{found}`")
            }
            Self::NoField { field, .. } => format!("no `{field}`"),
            Self::TwoAnswers => String::from("two different choices"),
            Self::OtherMatch { .. } => String::from("answered about another match"),
            Self::OnlyAcknowledged { .. } => String::from("acknowledged, and did not answer"),
            Self::WrongToken => String::from("answered with a wrong token"),
            Self::NoToken => String::from("answered without a token"),
            Self::PostRefused { what, .. } => what.to_string(),
            Self::Declined => String::from("declined the invitation"),
            Self::Irregular { quirk } => quirk.to_string(),
            Self::Unknown => String::from("no answer that counts"),
        }
    }

    /// How specific the advice is. Of several tries at one question only the most specific problem is reported.
    fn weight(&self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::Status { .. } | Self::NotJson { .. } | Self::OnlyAcknowledged { .. } => 1,
            Self::Error { number: Some(-32601 | -32600), .. } | Self::Html { .. } => 2,
            Self::NoField { .. } => 3,
            Self::Error { .. } | Self::OtherMatch { .. } => 4,
            Self::Silent { .. } | Self::Late { .. } | Self::NotListening { .. } | Self::Unreachable { .. } => 5,
            Self::HungUp | Self::TooLong => 5,
            Self::WrongField { .. } | Self::TwoAnswers => 6,
            Self::WrongToken | Self::NoToken | Self::PostRefused { .. } => 6,
            Self::WrongValue { .. } | Self::Declined | Self::Irregular { .. } | Self::Illegal { .. } => 7,
        }
    }

    pub fn most_specific(problems: impl IntoIterator<Item = Self>) -> Option<Self> {
        problems.into_iter().reduce(|best, next| if next.weight() > best.weight() { next } else { best })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asks_to_look =
            matches!(self, Self::NotListening { .. } | Self::Unreachable { .. } | Self::HungUp | Self::Status { .. });
        let separator = if asks_to_look { ": " } else { "; " };
        write!(f, "{}{separator}{}", self.sentence_about("you"), self.fix())
    }
}

fn status_fix(status: u16) -> &'static str {
    match status {
        401 | 403 | 407 => "let the referee in: it has no password of yours",
        404 | 410 => "answer POST at the path that you registered, usually /mcp",
        405 => "answer POST, not only GET",
        400 | 422 => "take any JSON object: your web framework refused the message before your code saw it",
        406 | 415 => "take and send Content-Type application/json",
        413 => "take bodies of up to 64 KiB",
        429 => "answer every call of a match, however soon it comes",
        300..=399 => "answer at the registered address itself, without a redirect",
        500..=599 => "look for an exception in your console",
        _ => "answer with HTTP 200 and JSON",
    }
}

fn error_fix(number: Option<i64>, words: &str, method: &str) -> String {
    let peer = PeerError { number, code: None, words: words.to_owned() };
    let words = words.to_ascii_lowercase();
    if number == Some(-32700) || words.contains("parse error") {
        return String::from("read the body of the request as JSON, in UTF-8");
    }
    if words.contains("another match") {
        return String::from("answer with the match_id of the call");
    }
    if number == Some(-32602) || words.contains("validation") || words.contains("required") {
        return format!("take every field of `{method}`, also those that you do not use");
    }
    if peer.is_misunderstanding() {
        return format!("answer the method `{method}`");
    }
    String::from("look for its cause in your console")
}

fn address(endpoint: &impl fmt::Display) -> SmolStr {
    endpoint.to_string().chars().filter(|c| !c.is_control()).take(2 * QUOTED).collect()
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Such as `30 s`, `31.2 s`, `250 ms`.
fn span(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        _ if ms.is_multiple_of(1_000) => format!("{} s", ms / 1_000),
        _ => {
            // Rounded up, so that a late answer never looks punctual.
            let tenths = ms.div_ceil(100);
            format!("{}.{} s", tenths / 10, tenths % 10)
        }
    }
}

/// Tokens and passes have longer runs of letters and digits, words do not.
const LONGEST_WORD: usize = 31;

/// Foreign text, short and on one line, safe between backquotes. Text that looks like a credential is removed.
pub fn quoted(text: &str) -> SmolStr {
    let is_hidden = |c: char| {
        c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
    };
    let mut short = String::new();
    let mut run = 0;
    for c in text.chars().take(4 * QUOTED) {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '/' | '=') {
            run += 1;
        } else {
            run = 0;
        }
        if run > LONGEST_WORD {
            if run == LONGEST_WORD + 1 {
                short.truncate(short.len() - LONGEST_WORD);
                short.push('…');
            }
            continue;
        }
        short.push(match c {
            '`' => '\'',
            c if is_hidden(c) => ' ',
            c => c,
        });
    }
    if short.chars().count() > QUOTED || text.chars().nth(4 * QUOTED).is_some() {
        short = short.chars().take(QUOTED).chain(['…']).collect();
    }
    SmolStr::new(short)
}
