use super::*;

fn after(tried: &[PeerDialect], method: Method, dialect_error: &DialectError) -> DialectAttempt<'static> {
    let tried: &'static [PeerDialect] = Vec::leak(tried.to_vec());
    let dialect_error: &'static DialectError = Box::leak(Box::new(dialect_error.clone()));
    DialectAttempt {
        tried,
        method,
        dialect_error,
        notice: false,
        proven: false,
        tools_read: false,
        pathless: false,
        thorough: false,
    }
}

fn first(dialect_error: &DialectError) -> DialectAttempt<'static> {
    after(&[PeerDialect::default()], Method::GameInvitation, dialect_error)
}

fn shown(next: NextTry) -> String {
    match next {
        NextTry::Send(dialect) => dialect.to_string(),
        NextTry::ReadTools => String::from("look"),
        NextTry::Unknown => String::from("unknown"),
        NextTry::Stop => String::from("stop"),
    }
}

#[test]
fn the_next_try_uses_the_frame_that_the_error_names() {
    for (dialect_error, next) in [
        (DialectError::WantsBare, "D"),
        (DialectError::WantsMessage, "E"),
        (DialectError::WantsColon, "A, sender with a colon"),
        (DialectError::Mcp, "look"),
        (DialectError::BadArguments, "E"),
        (DialectError::Nothing, "B"),
        (DialectError::Other, "stop"),
        (DialectError::NoSuchPlace, "stop"),
    ] {
        assert_eq!(shown(first(&dialect_error).next()), next, "{dialect_error:?}");
    }
}

#[test]
fn the_root_path_is_tried_only_for_an_endpoint_without_path() {
    assert_eq!(shown(DialectAttempt { pathless: true, ..first(&DialectError::NoSuchPlace) }.next()), "A at /");
    let both = after(
        &[PeerDialect::default(), PeerDialect::default().at_root()],
        Method::ChooseParity,
        &DialectError::NoSuchPlace,
    );
    assert_eq!(shown(DialectAttempt { pathless: true, ..both }.next()), "stop");
}

#[test]
fn an_unknown_name_is_followed_by_the_most_likely_form() {
    let default = PeerDialect::default;
    let receiving = default().calling(Method::GameInvitation, "receive_game_invitation");
    let (invitation, choice, over) = (Method::GameInvitation, Method::ChooseParity, Method::NotifyMatchResult);
    let (proven, tools_read) = (true, true);
    let invitation_as = |name: &str| format!("A, handle_game_invitation as {name}");
    for (dialect, method, mentioned, proven, tools_read, next) in [
        // A proven peer has another name for the call.
        (default(), choice, None, proven, !tools_read, "A, choose_parity as parity_choose".into()),
        // An unproven peer may be an MCP server. Without tools, aliases are tried.
        (default(), invitation, None, !proven, !tools_read, "look".into()),
        (default(), invitation, None, !proven, tools_read, invitation_as("game_invitation")),
        // A manager may dispatch on message types.
        (default(), Method::RegisterPlayer, None, !proven, tools_read, "B".into()),
        // The error mentions the right name.
        (
            default(),
            invitation,
            Some("receive_game_invitation"),
            !proven,
            !tools_read,
            invitation_as("receive_game_invitation"),
        ),
        (default(), invitation, Some("GAME_INVITATION"), !proven, !tools_read, "B".into()),
        // Aliases in the style of known names come first.
        (
            receiving.clone(),
            over,
            None,
            proven,
            !tools_read,
            format!("{receiving}, notify_match_result as receive_game_over"),
        ),
        // A peer that registers by type may listen by name.
        (PeerDialect::from(Frame::Typed), invitation, None, !proven, tools_read, "A".into()),
    ] {
        let error = DialectError::UnknownName(mentioned.map(SmolStr::new));
        let attempt = DialectAttempt { proven, tools_read, ..after(&[dialect], method, &error) };
        assert_eq!(shown(attempt.next()), next, "{method:?} {error:?}");
    }
}

#[test]
fn after_a_failed_tool_call_the_tool_list_is_read() {
    let tool = PeerDialect::from(Frame::Tool);
    for dialect_error in
        [DialectError::UnknownName(None), DialectError::BadArguments, DialectError::Mcp, DialectError::WantsMessage]
    {
        let attempt = after(std::slice::from_ref(&tool), Method::ChooseParity, &dialect_error);
        assert_eq!(attempt.next(), NextTry::ReadTools, "{dialect_error:?}");
        assert_eq!(DialectAttempt { proven: true, ..attempt }.next(), NextTry::ReadTools, "{dialect_error:?}");
    }
}

#[test]
fn no_form_is_tried_twice_and_the_search_ends() {
    for dialect_error in [
        DialectError::UnknownName(None),
        DialectError::Nothing,
        DialectError::BadArguments,
        DialectError::WantsRpc,
        DialectError::Mcp,
    ] {
        let mut tried = vec![PeerDialect::default()];
        while let NextTry::Send(dialect) =
            (DialectAttempt { tools_read: true, ..after(&tried, Method::GameInvitation, &dialect_error) }).next()
        {
            assert!(!tried.contains(&dialect));
            tried.push(dialect);
        }
        assert!(tried.len() <= 8, "{dialect_error:?}: {}", tried.len());
    }
}

#[test]
fn a_notice_is_tried_under_one_other_name_only() {
    let unknown = DialectError::UnknownName(None);
    let notice =
        |tried: &[PeerDialect], method| DialectAttempt { notice: true, ..after(tried, method, &unknown) }.next();
    for (dialect, method, name) in [
        (PeerDialect::default(), Method::NotifyRound, "announce_round"),
        (PeerDialect::default(), Method::NotifyRoundCompleted, "ROUND_COMPLETED"),
        (PeerDialect::from(Frame::Typed), Method::NotifyRound, "notify_round"),
        (PeerDialect::from(Frame::Typed), Method::NotifyRoundCompleted, "notify_round_completed"),
    ] {
        let NextTry::Send(other) = notice(std::slice::from_ref(&dialect), method) else {
            panic!("{name} is not tried")
        };
        assert_eq!((other.name_of(method), other.frame()), (name, dialect.frame()));
        assert_eq!(notice(&[dialect, other], method), NextTry::Unknown);
    }
}

#[test]
fn a_failed_notice_changes_the_dialect_only_on_clear_evidence() {
    for (dialect_error, next) in [
        (DialectError::Nothing, "stop"),
        (DialectError::BadArguments, "stop"),
        (DialectError::Other, "stop"),
        (DialectError::Mcp, "look"),
        (DialectError::WantsBare, "D"),
        (DialectError::WantsColon, "A, sender with a colon"),
    ] {
        let attempt = after(&[PeerDialect::default()], Method::NotifyRound, &dialect_error);
        assert_eq!(shown(DialectAttempt { notice: true, ..attempt }.next()), next, "{dialect_error:?}");
    }
}

#[test]
fn a_thorough_search_tries_every_frame_after_any_error() {
    for dialect_error in [
        DialectError::Other,
        DialectError::Nothing,
        DialectError::NoSuchPlace,
        DialectError::WantsBare,
        DialectError::UnknownName(None),
    ] {
        let (mut tried, mut tools_read) = (vec![PeerDialect::default()], false);
        loop {
            let attempt = after(&tried, Method::RegisterPlayer, &dialect_error);
            match (DialectAttempt { thorough: true, tools_read, ..attempt }).next() {
                NextTry::Send(dialect) => tried.push(dialect),
                NextTry::ReadTools => tools_read = true,
                NextTry::Unknown | NextTry::Stop => break,
            }
        }
        for frame in [Frame::Direct, Frame::Typed, Frame::Tool, Frame::Bare, Frame::Nested] {
            assert!(tried.iter().any(|dialect| dialect.frame() == frame), "{dialect_error:?}: {frame} was not tried");
        }
        assert!(tools_read, "{dialect_error:?}: the tools were not asked for");
        let alias = |dialect: &PeerDialect| dialect.name_of(Method::RegisterPlayer) == "league_register";
        assert!(tried.iter().any(alias), "{dialect_error:?}: the other name was not tried");
        assert!(tried.len() <= 20, "{dialect_error:?}: {} forms", tried.len());
    }
}
