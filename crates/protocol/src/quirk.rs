//! Harmless deviations of peers. The manager records them, and the checker and the dashboard show them.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::{Error as Unknown, StrDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::ErrorCode;

macro_rules! quirks {
    ($($name:ident: $what:literal, $advice:literal;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Quirk {
            $($name,)*
        }

        impl Quirk {
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            pub fn what(self) -> &'static str {
                match self { $(Self::$name => $what,)* }
            }

            pub fn advice(self) -> &'static str {
                match self { $(Self::$name => $advice,)* }
            }
        }
    };
}

quirks! {
    NoProtocol: "no protocol in the envelope", "send \"protocol\": \"league.v2\" in every message";
    NoMessageType: "no message_type in the envelope", "name the message in message_type";
    NoSender: "no sender in the envelope", "send \"sender\": \"player:P01\" with your own id";
    NoTimestamp: "no timestamp in the envelope", "send the time in UTC, like 2025-01-15T10:30:00Z";
    NoConversation: "no conversation_id in the envelope", "echo the conversation_id of the message you answer";
    OddProtocol: "a protocol other than league.v2", "send \"protocol\": \"league.v2\" in every message";
    OddSender: "a sender that is not kind:id", "write player:P01, referee:REF01 or league_manager";
    OddTime: "timestamps that are not UTC", "send the time in UTC, like 2025-01-15T10:30:00Z";
    FractionalTime: "timestamps with fractions of a second", "write whole seconds: some peers refuse fractions";
    OffsetTime: "timestamps that end in +00:00", "end timestamps in Z";
    FlatRegistration: "registration fields outside player_meta", "put them into player_meta or referee_meta";
    BareRegistration: "registration without name, version or games", "send display_name, version and game_types";
    TypeAsMethod: "calls methods by their message type", "call the method by its tool name";
    AliasMethod: "calls methods by another name", "use the names of the call table";
    BareMessage: "sends messages without JSON-RPC", "wrap the message as params of a JSON-RPC request";
    NestedMessage: "puts the message into params.message", "put the message itself into params";
    AnswerInParams: "answers with a request", "put the answer into result";
    BareAnswer: "answers without JSON-RPC", "answer with jsonrpc, id and result";
    AnswerInText: "answers as text in MCP content", "also send structuredContent";
    AnswerInData: "puts the answer into data", "put the answer into result";
    NullError: "sends \"error\": null", "leave error out of an answer";
    NoAccept: "joins without accept", "send \"accept\": true";
    StatusJoin: "joins by a status word", "answer with GAME_JOIN_ACK and \"accept\": true";
    ParityChoiceForm: "answers with PARITY_CHOICE", "answer with CHOOSE_PARITY_RESPONSE and parity_choice";
    ChoiceField: "sends choice in place of parity_choice", "call the field parity_choice; choice may stand beside it";
    GameIdField: "sends game_id in place of match_id", "call the field match_id; game_id may stand beside it";
    NoToken: "no auth_token in answers", "send your auth_token, or the pass derived from it";
    OddToken: "an auth_token that was never issued to it", "send the token that you got at registration";
    OddNonce: "a draw_nonce that is too long or no text", "send up to 64 bytes of text";
    OwnId: "keeps an id of its own", "use the player_id of the registration's answer";
    OddStatus: "says REGISTERED, or another word, for ACCEPTED", "answer with status ACCEPTED or REJECTED";
    OddMessageType: "a message_type that belongs to another message", "name the message that is sent";
    PostsAnswers: "acknowledges questions and posts its answers afterwards", "put the answer into the result of the call";
    SaysOkToAnything: "says ok to what it does not understand", "answer unknown methods with error -32601";
    UnknownNotice: "does not know all notices", "answer notices of the call table with an acknowledgement";
    RateLimits: "limits how often it is called", "answer every call of a match: a referee does not call more often than the rules say";
    ListensLate: "registers before it listens", "listen first, then register";
    LeavesAtTheEnd: "ends in the middle of LEAGUE_COMPLETED", "answer LEAGUE_COMPLETED before you end";
    TakesNoOrders: "takes its matches from announcements or by asking", "answer start_match";
    OtherScore: "reports scores that are not the points of this league", "report the points that START_MATCH names in scoring";
    RegistersOften: "registers several times", "register once, and keep the token";
}

impl Quirk {
    /// The code with which a strict league refuses the quirk.
    pub fn code(self) -> ErrorCode {
        use ErrorCode::{E002, E003, E011, E012, E018, E021};
        const CODES: [(Quirk, ErrorCode); 13] = [
            (Quirk::NoProtocol, E003),
            (Quirk::NoMessageType, E003),
            (Quirk::NoSender, E003),
            (Quirk::NoTimestamp, E003),
            (Quirk::NoConversation, E003),
            (Quirk::NoAccept, E003),
            (Quirk::BareRegistration, E003),
            (Quirk::NoToken, E011),
            (Quirk::OddToken, E012),
            (Quirk::OddProtocol, E018),
            (Quirk::OddTime, E021),
            (Quirk::FractionalTime, E021),
            (Quirk::OffsetTime, E021),
        ];
        CODES.into_iter().find(|(known, _)| *known == self).map_or(E002, |(_, code)| code)
    }
}

impl fmt::Display for Quirk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what())
    }
}

/// One bit per quirk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Quirks(u64);

impl Quirks {
    pub fn note(&mut self, quirk: Quirk) {
        self.0 |= 1 << quirk as u64;
    }

    pub fn has(self, quirk: Quirk) -> bool {
        self.0 & (1 << quirk as u64) != 0
    }

    #[must_use]
    pub fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = Quirk> {
        Quirk::ALL.iter().copied().filter(move |quirk| self.has(*quirk))
    }
}

/// A list of names. Reading skips unknown names, because another version may have more.
impl Serialize for Quirks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Quirks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let any = serde_json::Value::deserialize(deserializer)?;
        let names = any.as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
        let known = |name| Quirk::deserialize(StrDeserializer::<Unknown>::new(name)).ok();
        Ok(names.filter_map(known).collect())
    }
}

impl JsonSchema for Quirks {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Quirks")
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<String>::json_schema(generator)
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
        let written = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Quirks>(&written).unwrap(), all);
        let newer: Quirks = serde_json::from_str(r#"["posts_answers", "not_invented_yet"]"#).unwrap();
        assert_eq!(newer.iter().collect::<Vec<_>>(), [Quirk::PostsAnswers]);
    }
}
