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
    use PlayerDialect as H;
    use Speech as S;
    let mut kinds = vec![
        // Frames.
        kind("Exact", S::Direct, &[H::IntegerIds, H::NoExtraKeys, H::WholeSeconds], "A", &[]),
        kind("Renamed", S::ParityChoose, &[H::WantsTheEnd], "A, choose_parity as parity_choose", &[]),
        kind("Typed", S::Types, &[H::RegistersOften(3)], "B", &["type_as_method", "registers_often"]),
        kind("Bare", S::Bare, &[H::NoEnvelope], "D", &["bare_message", "no_message_type", "no_sender"]),
        kind("Nested", S::Nested, &[H::OkToNotices], "E", &["nested_message"]),
        kind("One method", S::OneMethod, &[H::EchoesToken], "A, all as handle_message", &["alias_method", "odd_token"]),
        kind("Register", S::Register, &[H::Localhost], "A", &["flat_registration"]),
        kind("Register data", S::Register, &[H::RegistersUnderData], "A", &["flat_registration"]),
        // MCP servers.
        kind("Tools", S::Tools, &[H::OtherToolNames, H::FieldsOnly], "C", &["unknown_notice"]),
        kind("Session", S::Session, &[H::ClosesConnections], "C session", &["answer_in_text"]),
        kind("Stateless", S::Stateless, &[H::UnderOneKey("payload")], "C 2026-07-28", &["answer_in_text"]),
        // Posted answers.
        kind("Poster", S::Direct, &[H::PostsAfterwards], "A, posts", &["posts_answers"]),
        kind("Early poster", S::Types, &[H::PostsBefore], "B, posts", &["posts_answers"]),
        kind(
            "Stale poster",
            S::Direct,
            &[H::PostsAfterwards, H::RegistersOften(2), H::StaleToken],
            "A, posts",
            &["posts_answers", "odd_token"],
        ),
        kind(
            "Tokenless poster",
            S::Nested,
            &[H::PostsAfterwards, H::NoToken],
            "E, posts",
            &["posts_answers", "no_token"],
        ),
        kind(
            "S2 poster",
            S::Bare,
            &[
                H::RegistersBriefly,
                H::KeepsId("P77"),
                H::PostsAfterwards,
                H::ParityChoiceForm,
                H::NoToken,
                H::PlainSender,
                H::OffsetTime,
            ],
            "D, posts",
            &["posts_answers", "no_token", "parity_choice_form", "odd_sender"],
        ),
        kind(
            "Choice poster",
            S::Direct,
            &[H::PostsAfterwards, H::ChoiceUnder("RESPONSE_PARITY_CHOOSE"), H::AnswersGameId],
            "A, posts",
            &["posts_answers", "choice_field"],
        ),
        // Unusual answers.
        kind("Choice", S::Direct, &[H::ChoiceUnder("RESPONSE_PARITY_CHOOSE")], "A", &["choice_field"]),
        kind("Choice field", S::Types, &[H::ChoiceUnder("CHOOSE_PARITY_RESPONSE")], "B", &["choice_field"]),
        kind(
            "Shouting",
            S::Nested,
            &[H::ParityChoiceForm, H::PlaceholderToken],
            "E",
            &["parity_choice_form", "odd_token"],
        ),
        kind("Game id", S::Direct, &[H::AnswersGameId, H::WantsGameId, H::NullError], "A", &["null_error"]),
        kind(
            "Flat",
            S::Direct,
            &[H::AnswersBare, H::JoinsBriefly("JOINED"), H::NoToken],
            "A",
            &["bare_answer", "status_join"],
        ),
        kind("In data", S::Direct, &[H::AnswersInData, H::AnswersType], "A", &["answer_in_data"]),
        kind("In params", S::Direct, &[H::AnswersInParams, H::JoinsBriefly("accepted")], "A", &["answer_in_params"]),
        // Unusual addresses, refusals and exits.
        kind("Elsewhere", S::Direct, &[H::Path("/agents/parity/rpc"), H::Status400], "A", &[]),
        kind("No path", S::Direct, &[H::NoPath, H::RateLimit(APART)], "A at /", &["rate_limits"]),
        kind("Path left out", S::Types, &[H::LeavesPathOut, H::BusyAtFirst], "B", &["rate_limits"]),
        kind("Particular", S::Direct, &[H::WantsColon, H::WantsToken, H::HangsUpAtTheEnd], "A", &["leaves_at_the_end"]),
        kind("Leaving", S::Direct, &[H::ReadsNested, H::LeavesAtTheEnd], "A", &[]),
    ];
    kinds.push(kind("Late", S::Direct, &[H::ListensLater(LATER)], "A", &["listens_late"]));
    kinds
}
