//! Dialects of players that were seen in public: what they refuse, how they register, how they answer.

use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speech {
    Direct,
    /// Frame A; knows the choice only as `parity_choose`.
    ParityChoose,
    Types,
    /// Frame C without handshake; `tools/list` names its tools.
    Tools,
    Bare,
    Nested,
    /// Frame A with one method for everything, `handle_message`: the message type decides.
    OneMethod,
    /// Registers by `POST /register`, then frame A.
    Register,
    /// A stock MCP server of the handshake revisions: a session, and answers as events.
    Session,
    /// A stock MCP server of revision 2026-07-28 only: no handshake, everything in each request.
    Stateless,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlayerDialect {
    IntegerIds,
    /// Refuses keys other than `jsonrpc`, `method`, `params` and `id`.
    NoExtraKeys,
    WholeSeconds,
    /// Refuses calls without a token, also from the manager.
    WantsToken,
    /// Refuses senders without a colon, also the manager's; registers with an empty token and needs the whole envelope.
    WantsColon,
    /// Reads only `game_invitation` and `parity_context`.
    ReadsNested,
    WantsGameId,
    /// Refuses an invitation until it knows the end of the previous match.
    WantsTheEnd,
    /// The shortest interval between two calls.
    RateLimit(Duration),
    /// Refuses the first call of each kind with a rate limit.
    BusyAtFirst,

    /// Declares batches at its registration, and answers them.
    AcceptsBatches,
    RefusesBatches,

    /// Its tools have the other names, like `receive_game_invitation`; there are no tools for notices.
    OtherToolNames,
    /// Its tools refuse all other fields.
    FieldsOnly,
    /// Its tools take the message as one argument of this name.
    UnderOneKey(&'static str),

    /// The time from its registration until it listens.
    ListensLater(Duration),
    RegistersOften(usize),
    /// Posts its registration to `/register` under `data`.
    RegistersUnderData,
    /// Registers with only its id and endpoint, as in S2.
    RegistersBriefly,
    Path(&'static str),
    /// Its endpoint has no path, and it listens at none.
    NoPath,
    /// Registers an endpoint without a path, but listens at `/mcp`.
    LeavesPathOut,
    /// Registers `localhost` and listens only on IPv4.
    Localhost,
    KeepsId(&'static str),

    /// Answers `RECEIVED` at once and posts its answer to the referee afterwards.
    PostsAfterwards,
    /// Posts its answer to the referee before it answers `ok`.
    PostsBefore,
    OkToNotices,
    PlaceholderToken,
    /// Shows the token of the call.
    EchoesToken,
    NoToken,
    /// Shows the token of its first registration, although it has registered again since.
    StaleToken,
    NoEnvelope,
    OffsetTime,
    /// Answers with a request: the message is in `params`.
    AnswersInParams,
    AnswersBare,
    ParityChoiceForm,
    /// Answers the call for a choice with `choice`, under this message type.
    ChoiceUnder(&'static str),
    /// Joins by `accepted` or a status, without a message.
    JoinsBriefly(&'static str),
    AnswersGameId,
    AnswersType,
    AnswersInData,
    /// The sender is only its id, and `player_id` is missing, as in S2.
    PlainSender,
    NullError,
    /// Answers correctly, with HTTP status 400.
    Status400,
    ClosesConnections,
    LeavesAtTheEnd,
    /// Exits in the middle of the call LEAGUE_COMPLETED.
    HangsUpAtTheEnd,
}

/// The parameter of a dialect, if the player has this dialect.
macro_rules! parameter {
    ($dialects:expr, $name:ident) => {
        $dialects.iter().find_map(|dialect| {
            if let $crate::player::dialect::PlayerDialect::$name(value) = dialect { Some(*value) } else { None }
        })
    };
}
pub(crate) use parameter;
