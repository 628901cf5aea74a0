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
        looked: false,
        pathless: false,
        thorough: false,
    }
}

fn first(dialect_error: &DialectError) -> DialectAttempt<'static> {
    after(&[PeerDialect::default()], Method::GameInvitation, dialect_error)
}

fn said(next: NextTry) -> String {
    match next {
        NextTry::Say(dialect) => dialect.to_string(),
        NextTry::Look => String::from("look"),
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
        assert_eq!(said(first(&dialect_error).next()), next, "{dialect_error:?}");
    }
}

#[test]
fn the_root_path_is_tried_only_for_an_endpoint_without_path() {
    assert_eq!(said(DialectAttempt { pathless: true, ..first(&DialectError::NoSuchPlace) }.next()), "A at /");
    let both = after(
        &[PeerDialect::default(), PeerDialect::default().at_root()],
        Method::ChooseParity,
        &DialectError::NoSuchPlace,
    );
    assert_eq!(said(DialectAttempt { pathless: true, ..both }.next()), "stop");
}

#[test]
fn a_proven_peer_that_does_not_know_a_name_is_tried_with_an_alias() {
    let attempt = after(&[PeerDialect::default()], Method::ChooseParity, &DialectError::UnknownName(None));
    assert_eq!(said(DialectAttempt { proven: true, ..attempt }.next()), "A, choose_parity as parity_choose");
}

#[test]
fn an_unproven_peer_that_does_not_know_a_name_is_asked_for_its_tools_first() {
    let attempt = first(&DialectError::UnknownName(None));
    assert_eq!(attempt.next(), NextTry::Look);
    let looked = DialectAttempt { looked: true, ..attempt };
    assert_eq!(said(looked.next()), "A, handle_game_invitation as game_invitation");
}

#[test]
fn after_an_unknown_name_a_manager_is_called_by_message_type() {
    let attempt = after(&[PeerDialect::default()], Method::RegisterPlayer, &DialectError::UnknownName(None));
    assert_eq!(said(DialectAttempt { looked: true, ..attempt }.next()), "B");
}

#[test]
fn the_next_try_uses_the_name_that_the_error_mentions() {
    let alias = first(&DialectError::UnknownName(Some("receive_game_invitation".into())));
    assert_eq!(said(alias.next()), "A, handle_game_invitation as receive_game_invitation");
    let typed = first(&DialectError::UnknownName(Some("GAME_INVITATION".into())));
    assert_eq!(said(typed.next()), "B");
}

#[test]
fn aliases_in_the_style_of_known_names_come_first() {
    let known = PeerDialect::default().calling(Method::GameInvitation, "receive_game_invitation");
    let attempt = after(&[known], Method::NotifyMatchResult, &DialectError::UnknownName(None));
    let next = DialectAttempt { proven: true, ..attempt }.next();
    assert!(
        matches!(&next, NextTry::Say(dialect) if dialect.name_of(Method::NotifyMatchResult) == "receive_game_over")
    );
}

#[test]
fn a_peer_that_registered_by_type_is_tried_by_name_next() {
    let attempt = after(&[PeerDialect::from(Frame::Typed)], Method::GameInvitation, &DialectError::UnknownName(None));
    assert_eq!(said(DialectAttempt { looked: true, ..attempt }.next()), "A");
}

#[test]
fn after_a_failed_tool_call_the_tool_list_is_read() {
    let tool = PeerDialect::from(Frame::Tool);
    for dialect_error in
        [DialectError::UnknownName(None), DialectError::BadArguments, DialectError::Mcp, DialectError::WantsMessage]
    {
        let attempt = after(std::slice::from_ref(&tool), Method::ChooseParity, &dialect_error);
        assert_eq!(attempt.next(), NextTry::Look, "{dialect_error:?}");
        assert_eq!(DialectAttempt { proven: true, ..attempt }.next(), NextTry::Look, "{dialect_error:?}");
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
        while let NextTry::Say(dialect) =
            (DialectAttempt { looked: true, ..after(&tried, Method::GameInvitation, &dialect_error) }).next()
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
        let NextTry::Say(other) = notice(std::slice::from_ref(&dialect), method) else { panic!("{name} is not tried") };
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
        assert_eq!(said(DialectAttempt { notice: true, ..attempt }.next()), next, "{dialect_error:?}");
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
        let (mut tried, mut looked) = (vec![PeerDialect::default()], false);
        loop {
            let attempt = after(&tried, Method::RegisterPlayer, &dialect_error);
            match (DialectAttempt { thorough: true, looked, ..attempt }).next() {
                NextTry::Say(dialect) => tried.push(dialect),
                NextTry::Look => looked = true,
                NextTry::Unknown | NextTry::Stop => break,
            }
        }
        for frame in [Frame::Direct, Frame::Typed, Frame::Tool, Frame::Bare, Frame::Nested] {
            assert!(tried.iter().any(|dialect| dialect.frame() == frame), "{dialect_error:?}: {frame} was not tried");
        }
        assert!(looked, "{dialect_error:?}: the tools were not asked for");
        let alias = |dialect: &PeerDialect| dialect.name_of(Method::RegisterPlayer) == "league_register";
        assert!(tried.iter().any(alias), "{dialect_error:?}: the other name was not tried");
        assert!(tried.len() <= 20, "{dialect_error:?}: {} forms", tried.len());
    }
}
