use serde_json::json;

use super::*;

fn kept(dialect: &PeerDialect) -> PeerDialect {
    serde_json::from_value(serde_json::to_value(dialect).unwrap()).unwrap()
}

#[test]
fn a_dialect_is_read_back_as_it_was_written() {
    let tools = json!({"tools": [
        {"name": "receive_game_invitation", "inputSchema": {"properties": {"message": {"type": "object"}}}},
        {"name": "choose_parity", "inputSchema": {"properties": {"match_id": {}, "deadline": {}}}},
    ]});
    for dialect in [
        PeerDialect::default(),
        PeerDialect::from(Frame::Typed),
        PeerDialect::default().calling(Method::ChooseParity, "parity_choose").posting(),
        PeerDialect::from(Frame::Nested).at_root().with_colon().without(Method::NotifyRound),
        PeerDialect::of_tools(McpStyle::Session, &tools).unwrap(),
        PeerDialect::of_tools(McpStyle::Stateless, &tools).unwrap(),
    ] {
        assert_eq!(kept(&dialect), dialect, "{dialect}");
    }
    assert_eq!(serde_json::to_value(PeerDialect::default()).unwrap(), json!({"frame": "A"}));
}

#[test]
fn a_stored_dialect_with_invalid_entries_is_read_without_them() {
    let long = "x".repeat(MAX_NAME + 1);
    let written = json!({
        "frame": "Z", "era": "session",
        "methods": {"choose_parity": {"name": long}, "no_such_method": {"name": "x"}, "notify_round": {"under": long}},
    });
    assert!(serde_json::from_value::<PeerDialect>(written).unwrap().is_canonical());
}

#[test]
fn a_dialect_is_printed_in_a_few_words() {
    let cases = [
        (PeerDialect::default(), "A"),
        (PeerDialect::default().calling(Method::ChooseParity, "parity_choose"), "A, choose_parity as parity_choose"),
        (PeerDialect::from(Frame::Typed), "B"),
        (PeerDialect { era: McpStyle::Session, ..PeerDialect::from(Frame::Tool) }, "C session"),
        (PeerDialect { era: McpStyle::Stateless, ..PeerDialect::from(Frame::Tool) }, "C 2026-07-28"),
        (PeerDialect::from(Frame::Bare).posting().at_root(), "D at /, posts"),
    ];
    for (dialect, words) in cases {
        assert_eq!(dialect.to_string(), words);
    }
}

#[test]
fn a_registration_at_the_register_path_means_the_canonical_frame() {
    assert_eq!(
        PeerDialect::of_registration(Frame::Register, &ReceivedEnvelope::default(), None),
        PeerDialect::default()
    );
    assert_eq!(PeerDialect::of_registration(Frame::Bare, &ReceivedEnvelope::default(), None).frame(), Frame::Bare);
}

#[test]
fn a_typed_registration_with_an_empty_token_wants_colons_in_senders() {
    let empty = ReceivedEnvelope { empty_token: true, ..ReceivedEnvelope::default() };
    assert!(PeerDialect::of_registration(Frame::Typed, &empty, None).wants_colon());
    assert!(!PeerDialect::of_registration(Frame::Direct, &empty, None).wants_colon());
    assert!(!PeerDialect::of_registration(Frame::Typed, &ReceivedEnvelope::default(), None).wants_colon());
}

#[test]
fn calling_a_method_by_its_canonical_name_is_no_difference() {
    let other = PeerDialect::default().calling(Method::ChooseParity, "parity_choose");
    assert!(other.calling(Method::ChooseParity, "choose_parity").is_canonical());
    assert_eq!(PeerDialect::from(Frame::Typed).calling(Method::ChooseParity, "CHOOSE_PARITY_CALL").to_string(), "B");
}

#[test]
fn dialects_learned_by_two_agents_are_merged() {
    let manager = PeerDialect::default().without(Method::NotifyRound);
    let referee = PeerDialect::default().calling(Method::ChooseParity, "parity_choose").posting();
    let both = manager.learning(&referee);
    assert!(both.posts() && !both.knows(Method::NotifyRound));
    assert_eq!(both.name_of(Method::ChooseParity), "parity_choose");
    let other_frame = manager.learning(&PeerDialect::from(Frame::Nested));
    assert!(other_frame.knows(Method::NotifyRound), "names and gaps belong to a frame");
}

#[test]
fn a_tool_list_gives_the_name_and_argument_shape_of_every_call() {
    let object = |properties: serde_json::Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required});
    let listing = json!({"tools": [
        {"name": "receiveGameInvitation", "inputSchema": object(json!({"payload": {"type": "object"}}), &["payload"])},
        {"name": "parity_choose", "inputSchema": {
            "type": "object", "properties": {"match_id": {"type": "string"}, "deadline": {}}, "additionalProperties": false}},
        {"name": "notify_match_result", "inputSchema": {"type": "object", "additionalProperties": true}},
        {"name": "something_else", "inputSchema": {}},
    ]});
    let dialect = PeerDialect::of_tools(McpStyle::AtOnce, &listing).unwrap();
    assert_eq!(dialect.name_of(Method::GameInvitation), "receiveGameInvitation");
    assert_eq!(*dialect.shape_of(Method::GameInvitation), ArgumentShape::Under("payload".into()));
    assert_eq!(dialect.name_of(Method::ChooseParity), "parity_choose");
    assert_eq!(
        *dialect.shape_of(Method::ChooseParity),
        ArgumentShape::Fields(vec!["deadline".into(), "match_id".into()])
    );
    assert_eq!(*dialect.shape_of(Method::NotifyMatchResult), ArgumentShape::Whole);
    assert!(dialect.knows(Method::NotifyMatchResult) && !dialect.knows(Method::NotifyRound));
}

#[test]
fn a_tool_with_one_message_field_gets_fields() {
    let schema = json!({"properties": {"match_id": {"type": "string"}}, "required": ["match_id"]});
    let listing = json!({"tools": [{"name": "handle_game_invitation", "inputSchema": schema}]});
    let dialect = PeerDialect::of_tools(McpStyle::AtOnce, &listing).unwrap();
    assert_eq!(*dialect.shape_of(Method::GameInvitation), ArgumentShape::Fields(vec!["match_id".into()]));
}

#[test]
fn a_catch_all_tool_is_used_for_every_call() {
    let schema = json!({"properties": {"message": {"type": "object"}}});
    let listing = json!({"tools": [{"name": "mcp_message", "inputSchema": schema}]});
    let dialect = PeerDialect::of_tools(McpStyle::AtOnce, &listing).unwrap();
    assert_eq!(dialect.name_of(Method::ChooseParity), "mcp_message");
    assert!(PeerDialect::of_tools(McpStyle::AtOnce, &json!({"tools": [{"name": "weather"}]})).is_none());
}
