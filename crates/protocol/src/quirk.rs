//! What a peer does differently and gets away with: noted on the agent, shown by the checker and the dashboard.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! quirks {
    ($($(#[$doc:meta])* $name:ident: $what:literal, $advice:literal;)*) => {
        /// One difference that does no harm.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Quirk {
            $($(#[$doc])* $name,)*
        }

        impl Quirk {
            /// Every quirk that is known.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// What was seen.
            pub fn what(self) -> &'static str {
                match self { $(Self::$name => $what,)* }
            }

            /// What its author can change.
            pub fn advice(self) -> &'static str {
                match self { $(Self::$name => $advice,)* }
            }
        }
    };
}

quirks! {
    /// No `protocol`.
    NoProtocol: "no protocol in the envelope", "send \"protocol\": \"league.v2\" in every message";
    /// No `message_type`.
    NoMessageType: "no message_type in the envelope", "name the message in message_type";
    /// No `sender`.
    NoSender: "no sender in the envelope", "send \"sender\": \"player:P01\" with your own id";
    /// No `timestamp`.
    NoTimestamp: "no timestamp in the envelope", "send the time in UTC, like 2025-01-15T10:30:00Z";
    /// No `conversation_id`.
    NoConversation: "no conversation_id in the envelope", "echo the conversation_id of the message you answer";
    /// A `protocol` that is not ours, in an answer.
    OddProtocol: "a protocol other than league.v2", "send \"protocol\": \"league.v2\" in every message";
    /// A sender that is not `kind:id`.
    OddSender: "a sender that is not kind:id", "write player:P01, referee:REF01 or league_manager";
    /// A timestamp that is not UTC, in an answer.
    OddTime: "timestamps that are not UTC", "send the time in UTC, like 2025-01-15T10:30:00Z";
    /// Fractions of a second.
    FractionalTime: "timestamps with fractions of a second", "write whole seconds: some peers refuse fractions";
    /// `+00:00` in place of `Z`.
    OffsetTime: "timestamps that end in +00:00", "end timestamps in Z";
    /// Flat registration fields.
    FlatRegistration: "registration fields outside player_meta", "put them into player_meta or referee_meta";
    /// Meta fields that had to be filled in.
    BareRegistration: "registration without name, version or games", "send display_name, version and game_types";
    /// The method is a message type.
    TypeAsMethod: "calls methods by their message type", "call the method by its tool name";
    /// A method name of other make.
    AliasMethod: "calls methods by another name", "use the names of the call table";
    /// A message without JSON-RPC around it.
    BareMessage: "sends messages without JSON-RPC", "wrap the message as params of a JSON-RPC request";
    /// The message in `params.message`.
    NestedMessage: "puts the message into params.message", "put the message itself into params";
    /// The answer stands in `params`.
    AnswerInParams: "answers with a request", "put the answer into result";
    /// The answer is not in a JSON-RPC result.
    BareAnswer: "answers without JSON-RPC", "answer with jsonrpc, id and result";
    /// The answer is JSON in a text block.
    AnswerInText: "answers as text in MCP content", "also send structuredContent";
    /// The answer stands in `data`.
    AnswerInData: "puts the answer into data", "put the answer into result";
    /// An error member that is null.
    NullError: "sends \"error\": null", "leave error out of an answer";
    /// A join without `accept`.
    NoAccept: "joins without accept", "send \"accept\": true";
    /// A join told by a status word.
    StatusJoin: "joins by a status word", "answer with GAME_JOIN_ACK and \"accept\": true";
    /// The PARITY_CHOICE form.
    ParityChoiceForm: "answers with PARITY_CHOICE", "answer with CHOOSE_PARITY_RESPONSE and parity_choice";
    /// No token in an answer.
    NoToken: "no auth_token in answers", "send your auth_token, or the pass derived from it";
    /// A token that is not the one that was issued.
    OddToken: "an auth_token that was never issued to it", "send the token that you got at registration";
    /// A nonce that cannot be used.
    OddNonce: "a draw_nonce that is too long or no text", "send up to 64 bytes of text";
    /// An id of its own making.
    OwnId: "keeps an id of its own", "use the player_id of the registration's answer";
    /// A registration answer with another word than ACCEPTED.
    OddStatus: "says REGISTERED, or another word, for ACCEPTED", "answer with status ACCEPTED or REJECTED";
    /// A request that carries another message's type.
    OddMessageType: "a message_type that belongs to another message", "name the message that is sent";
}

impl fmt::Display for Quirk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what())
    }
}

/// A set of quirks, small enough to carry along with every message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Quirks(u64);

impl Quirks {
    /// Notes `quirk`.
    pub fn note(&mut self, quirk: Quirk) {
        self.0 |= 1 << quirk as u64;
    }

    /// Whether `quirk` was seen.
    pub fn has(self, quirk: Quirk) -> bool {
        self.0 & (1 << quirk as u64) != 0
    }

    /// Whether nothing was seen.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What was seen, in a fixed order.
    pub fn iter(self) -> impl Iterator<Item = Quirk> {
        Quirk::ALL.iter().copied().filter(move |quirk| self.has(*quirk))
    }
}

impl Extend<Quirk> for Quirks {
    fn extend<I: IntoIterator<Item = Quirk>>(&mut self, quirks: I) {
        quirks.into_iter().for_each(|quirk| self.note(quirk));
    }
}

impl FromIterator<Quirk> for Quirks {
    fn from_iter<I: IntoIterator<Item = Quirk>>(quirks: I) -> Self {
        let mut set = Self::default();
        set.extend(quirks);
        set
    }
}

impl fmt::Debug for Quirks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_every_quirk() {
        assert!(Quirk::ALL.len() <= 64);
        let all: Quirks = Quirk::ALL.iter().copied().collect();
        assert_eq!(all.iter().count(), Quirk::ALL.len());
        assert!(Quirks::default().is_empty());
    }
}
