//! One kind of player for every dialect that is in use. Tests let all of them play one league, and check each of them.

use std::time::Duration;

use crate::player::Plan;
use crate::player::dialect::{PlayerDialect, Speech};

#[derive(Clone, Debug)]
pub struct PlayerKind {
    pub plan: Plan,
    /// The dialect that a league must find: the beginning of its text in `league agents`.
    pub form: &'static str,
    /// Quirks that a league must record.
    pub quirks: &'static [&'static str],
}

const APART: Duration = Duration::from_millis(20);

const LATER: Duration = Duration::from_millis(1500);

fn kind(
    name: &str,
    speech: Speech,
    dialects: &[PlayerDialect],
    form: &'static str,
    quirks: &'static [&'static str],
) -> PlayerKind {
    PlayerKind { plan: dialects.iter().cloned().fold(Plan::new(name, speech), Plan::dialect), form, quirks }
}

/// The last one listens only some time after it has registered.
pub fn kinds() -> Vec<PlayerKind> {
    use PlayerDialect::*;
    use Speech::*;
    let mut kinds = vec![
        // Frames.
        kind("Exact", Direct, &[IntegerIds, NoExtraKeys, WholeSeconds], "A", &[]),
        kind("Renamed", ParityChoose, &[WantsTheEnd], "A, choose_parity as parity_choose", &[]),
        kind("Typed", Types, &[RegistersOften(3)], "B", &["type_as_method", "registers_often"]),
        kind("Bare", Bare, &[NoEnvelope], "D", &["bare_message", "no_message_type", "no_sender"]),
        kind("Nested", Nested, &[OkToNotices], "E", &["nested_message"]),
        kind("One method", OneMethod, &[EchoesToken], "A, all as handle_message", &["alias_method", "odd_token"]),
        kind("Register", Register, &[Localhost], "A", &["flat_registration"]),
        kind("Register data", Register, &[RegistersUnderData], "A", &["flat_registration"]),
        // MCP servers.
        kind("Tools", Tools, &[OtherToolNames, FieldsOnly], "C", &["unknown_notice"]),
        kind("Session", Session, &[ClosesConnections], "C session", &["answer_in_text"]),
        kind("Stateless", Stateless, &[UnderOneKey("payload")], "C 2026-07-28", &["answer_in_text"]),
        // Posted answers.
        kind("Poster", Direct, &[PostsAfterwards], "A, posts", &["posts_answers"]),
        kind("Early poster", Types, &[PostsBefore], "B, posts", &["posts_answers"]),
        kind(
            "Stale poster",
            Direct,
            &[PostsAfterwards, RegistersOften(2), StaleToken],
            "A, posts",
            &["posts_answers", "odd_token"],
        ),
        kind("Tokenless poster", Nested, &[PostsAfterwards, NoToken], "E, posts", &["posts_answers", "no_token"]),
        kind(
            "S2 poster",
            Bare,
            &[RegistersBriefly, KeepsId("P77"), PostsAfterwards, ParityChoiceForm, NoToken, PlainSender, OffsetTime],
            "D, posts",
            &["posts_answers", "no_token", "parity_choice_form", "odd_sender"],
        ),
        kind(
            "Choice poster",
            Direct,
            &[PostsAfterwards, ChoiceUnder("RESPONSE_PARITY_CHOOSE"), AnswersGameId],
            "A, posts",
            &["posts_answers", "choice_field"],
        ),
        // Unusual answers.
        kind("Choice", Direct, &[ChoiceUnder("RESPONSE_PARITY_CHOOSE")], "A", &["choice_field"]),
        kind("Choice field", Types, &[ChoiceUnder("CHOOSE_PARITY_RESPONSE")], "B", &["choice_field"]),
        kind("Shouting", Nested, &[ParityChoiceForm, PlaceholderToken], "E", &["parity_choice_form", "odd_token"]),
        kind("Game id", Direct, &[AnswersGameId, WantsGameId, NullError], "A", &["null_error"]),
        kind("Flat", Direct, &[AnswersBare, JoinsBriefly("JOINED"), NoToken], "A", &["bare_answer", "status_join"]),
        kind("In data", Direct, &[AnswersInData, AnswersType], "A", &["answer_in_data"]),
        kind("In params", Direct, &[AnswersInParams, JoinsBriefly("accepted")], "A", &["answer_in_params"]),
        // Unusual addresses, refusals and exits.
        kind("Elsewhere", Direct, &[Path("/agents/parity/rpc"), Status400], "A", &[]),
        kind("No path", Direct, &[NoPath, RateLimit(APART)], "A at /", &["rate_limits"]),
        kind("Path left out", Types, &[LeavesPathOut, BusyAtFirst], "B", &["rate_limits"]),
        kind("Particular", Direct, &[WantsColon, WantsToken, HangsUpAtTheEnd], "A", &["leaves_at_the_end"]),
        kind("Leaving", Direct, &[ReadsNested, LeavesAtTheEnd, OffsetTime], "A", &["offset_time"]),
    ];
    kinds.push(kind("Late", Direct, &[ListensLater(LATER)], "A", &["listens_late"]));
    kinds
}
