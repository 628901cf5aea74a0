//! The dialects of players that were seen in public: what they refuse, how they register, how they answer.

use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speech {
    Direct,
    /// Frame A; it knows the choice as `parity_choose` only.
    ParityChoose,
    Types,
    /// Frame C, without handshake; `tools/list` tells its tools.
    Tools,
    Bare,
    Nested,
    /// Frame A with one method for everything, `handle_message`: the type of the message decides.
    OneMethod,
    /// Registers by `POST /register`, then frame A.
    Register,
    /// A stock MCP server of the handshake revisions: a session, and answers as events.
    Session,
    /// A stock MCP server of revision 2026-07-28 alone: no handshake, everything in each request.
    Stateless,
}

/// One thing that a player does in its own way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlayerDialect {
    /// Refuses ids that are not integers.
    IntegerIds,
    /// Refuses keys beside `jsonrpc`, `method`, `params` and `id`.
    NoExtraKeys,
    /// Refuses timestamps with fractions of a second.
    WholeSeconds,
    /// Refuses calls without a token, also the manager's.
    WantsToken,
    /// Refuses senders without a colon, also the manager's; registers with an empty token and needs the whole envelope.
    WantsColon,
    /// Reads `game_invitation` and `parity_context`, and nothing beside them.
    ReadsNested,
    /// Refuses invitations and choices without `game_id`.
    WantsGameId,
    /// Refuses an invitation while it has not heard of the end of the match before.
    WantsTheEnd,
    /// Refuses calls that come sooner than this after the last one.
    RateLimit(Duration),
    /// Refuses the first call of each kind as too many.
    BusyAtFirst,

    /// Declares at its registration that it accepts batches, and answers them.
    AcceptsBatches,
    /// Declares that it accepts batches, and refuses them.
    RefusesBatches,

    /// Its tools have the other names, like `receive_game_invitation`, and there are no tools for notices.
    OtherToolNames,
    /// Its tools take these few fields and refuse all others.
    FieldsOnly,
    /// Its tools take the message as one argument of this name.
    UnderOneKey(&'static str),

    /// Listens only so long after it has registered.
    ListensLater(Duration),
    RegistersOften(usize),
    /// Posts its registration to `/register` under `data`.
    RegistersUnderData,
    /// Registers with its id and its endpoint alone, as S2 has it.
    RegistersBriefly,
    Path(&'static str),
    /// Its endpoint has no path, and it listens at none.
    NoPath,
    /// Leaves the path out of its endpoint, and listens at `/mcp` all the same.
    LeavesPathOut,
    /// Calls its host `localhost` and listens on IPv4 alone.
    Localhost,
    /// Was started with this id and keeps it.
    KeepsId(&'static str),

    /// Says `RECEIVED` at once and posts its answer to the referee afterwards.
    PostsAfterwards,
    /// Posts its answer to the referee before it says `ok`.
    PostsBefore,
    /// Says `ok` to everything that is no question.
    OkToNotices,
    /// Shows a made-up token.
    PlaceholderToken,
    /// Shows the token that it was shown.
    EchoesToken,
    /// Shows no token in its answers.
    NoToken,
    /// Shows the token of its first registration, although it has registered again since.
    StaleToken,
    /// Leaves the envelope out of its answers.
    NoEnvelope,
    /// Ends its timestamps in `+00:00`.
    OffsetTime,
    /// Answers with a request: the message is in `params`.
    AnswersInParams,
    AnswersBare,
    ParityChoiceForm,
    /// Answers the call for a choice with `choice`, under this type of message.
    ChoiceUnder(&'static str),
    /// Joins by `accepted` or a word of status, without a message.
    JoinsBriefly(&'static str),
    /// Calls the match `game_id` in its answers.
    AnswersGameId,
    /// Calls the type of its answers `type`.
    AnswersType,
    /// Puts its answers into `data`, beside a status.
    AnswersInData,
    /// Writes its id alone as the sender, and no `player_id`, as S2 has it.
    PlainSender,
    /// Adds `"error": null` to its answers.
    NullError,
    /// Answers well, with HTTP status 400.
    Status400,
    /// Closes the connection after each answer.
    ClosesConnections,
    /// Ends once it has answered LEAGUE_COMPLETED.
    LeavesAtTheEnd,
    /// Ends when it hears LEAGUE_COMPLETED, in the middle of the call.
    HangsUpAtTheEnd,
}
