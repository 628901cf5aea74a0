use super::*;
use league_protocol::answer::token_quirk;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::message::standings::StandingsUpdate;

fn manager_sends(
    session: &mut PlayerSession,
    head: &ReceivedEnvelope,
    league: Option<&LeagueId>,
) -> Vec<Result<(), RequestError>> {
    let announced = RoundAnnouncement { league_id: league.cloned(), ..announcement(1, &[(1, 2)]) };
    let update =
        StandingsUpdate { league_id: league.cloned(), round_id: None, standings: Vec::new(), total_players: None };
    let round = RoundCompleted { league_id: league.cloned(), ..completed(1, None) };
    let end = LeagueCompleted { league_id: league.cloned(), ..league_completed() };
    vec![
        session.round_announced(head, &announced).map(drop),
        session.standings_updated(head, &update).map(drop),
        session.round_completed(head, &round).map(drop),
        session.league_completed(head, &end).map(drop),
    ]
}

fn referee_sends(
    session: &mut PlayerSession,
    head: &ReceivedEnvelope,
    match_id: &MatchId,
) -> Vec<Result<(), RequestError>> {
    vec![
        session.invited(head, &invitation(match_id), nonce("x"), Timestamp::EPOCH).map(drop),
        session.move_requested(head, parity_call(match_id).into()).map(drop),
        session.move_requested(head, move_call(match_id, ".........").into()).map(drop),
        session.game_error(head, Some(match_id)).map(drop),
        session.match_over(head, &won(match_id)).map(drop),
    ]
}

#[track_caller]
fn all_refused(answers: Vec<Result<(), RequestError>>, code: ErrorCode, about: &str) {
    for answer in answers {
        assert_eq!(answer.unwrap_err().code, Some(code), "{about}");
    }
}

#[test]
fn the_right_passes_are_accepted() {
    let (mut session, match_id) = (session(), first_of(1));
    assert!(referee_sends(&mut session, &referee_of(&match_id), &match_id).iter().all(Result::is_ok));
    assert!(manager_sends(&mut session, &manager(), Some(&league())).iter().all(Result::is_ok));
    assert!(session.league_error(&manager()).is_ok());
    assert!(session.shut_down(&manager()).is_ok());
}

#[test]
fn a_referee_without_the_right_pass_changes_nothing() {
    let match_id = first_of(1);
    let (key, other_key) = (token().digest(), Token::mint("P02", &[2; 32]).digest());
    let (sender, second) = (Sender::referee(&referee()), RefereeId::numbered(2));
    let pass = |league: &LeagueId, match_id: &MatchId| key.referee_pass(league, match_id, &referee());
    let wrong: Vec<(&str, ReceivedEnvelope)> = vec![
        ("made up", from(sender.clone(), Credential::new("pass-please"))),
        ("the raw token", from(sender.clone(), token())),
        ("another match's", from(sender.clone(), pass(&league(), &first_of(2)))),
        ("another league's", from(sender.clone(), pass(&"elsewhere".parse().unwrap(), &match_id))),
        ("another player's", from(sender.clone(), other_key.referee_pass(&league(), &match_id, &referee()))),
        ("another referee's", from(sender.clone(), key.referee_pass(&league(), &match_id, &second))),
        ("used by another referee", from(Sender::referee(&second), pass(&league(), &match_id))),
        ("the manager's", from(sender.clone(), key.manager_pass(&league()))),
        ("the player's own", from(sender, key.player_pass(&league(), &match_id))),
    ];
    let mut session = session();
    session.round_announced(&manager(), &announcement(1, &[(1, 2)])).unwrap();
    let before = format!("{session:?}");
    for (about, head) in wrong {
        all_refused(referee_sends(&mut session, &head, &match_id), ErrorCode::E012, about);
        assert_eq!(format!("{session:?}"), before, "{about}");
    }
    let missing = ReceivedEnvelope { auth_token: None, ..referee_of(&match_id) };
    all_refused(referee_sends(&mut session, &missing, &match_id), ErrorCode::E011, "missing");
    let no_sender = ReceivedEnvelope { sender: Field::Absent, ..referee_of(&match_id) };
    all_refused(referee_sends(&mut session, &no_sender, &match_id), ErrorCode::E003, "no sender");
    let manager = ReceivedEnvelope { sender: Field::Good(Sender::manager()), ..referee_of(&match_id) };
    all_refused(referee_sends(&mut session, &manager, &match_id), ErrorCode::E002, "no referee");
    assert_eq!(session.game_error(&referee_of(&match_id), None).unwrap_err().code, Some(ErrorCode::E003));
    assert_eq!(format!("{session:?}"), before);
}

#[test]
fn a_manager_without_the_right_pass_changes_nothing() {
    let (key, other_key) = (token().digest(), Token::mint("P02", &[2; 32]).digest());
    let wrong: Vec<(&str, Credential)> = vec![
        ("made up", Credential::new("pass-please")),
        ("the raw token", token().into()),
        ("another league's", key.manager_pass(&"elsewhere".parse().unwrap()).into()),
        ("another player's", other_key.manager_pass(&league()).into()),
        ("a referee's", key.referee_pass(&league(), &first_of(1), &referee()).into()),
    ];
    let mut session = session();
    session.plays(&first_of(1));
    let before = format!("{session:?}");
    for (about, credential) in wrong {
        let head = from(Sender::manager(), credential);
        all_refused(manager_sends(&mut session, &head, Some(&league())), ErrorCode::E012, about);
        assert_eq!(session.shut_down(&head).unwrap_err().code, Some(ErrorCode::E012), "{about}");
        assert_eq!(session.league_error(&head).unwrap_err().code, Some(ErrorCode::E012), "{about}");
        assert_eq!(format!("{session:?}"), before, "{about}");
    }
    let missing = ReceivedEnvelope { auth_token: None, ..manager() };
    all_refused(manager_sends(&mut session, &missing, Some(&league())), ErrorCode::E011, "missing");
    assert_eq!(format!("{session:?}"), before);
}

#[test]
fn without_promised_passes_every_referee_is_accepted() {
    let strangers = [
        ReceivedEnvelope::default(),
        from("somebody".parse().unwrap(), Credential::new("tok-ref-01-xyz789")),
        manager(),
    ];
    let promises = [
        identity(false),
        PlayerIdentity { token: None, ..identity(false) },
        // The player cannot require passes that it cannot compute.
        PlayerIdentity { token: None, ..identity(true) },
        PlayerIdentity { league_id: None, ..identity(true) },
    ];
    for identity in promises {
        for head in &strangers {
            let mut session = session_of(identity.clone());
            assert!(referee_sends(&mut session, head, &first_of(1)).iter().all(Result::is_ok));
            assert!(manager_sends(&mut session, head, Some(&league())).iter().all(Result::is_ok));
            assert!(session.game_error(head, None).is_ok());
            assert!(session.shut_down(head).is_ok());
        }
    }
}

#[test]
fn the_notices_of_another_league_are_refused() {
    for passes in [true, false] {
        let mut session = session_of(identity(passes));
        let before = format!("{session:?}");
        let answers = manager_sends(&mut session, &manager(), Some(&"elsewhere".parse().unwrap()));
        all_refused(answers, ErrorCode::E008, "another league");
        assert_eq!(format!("{session:?}"), before);
        assert!(
            manager_sends(&mut session, &manager(), None).iter().all(Result::is_ok),
            "a message without a league is for this one"
        );
    }
}

#[test]
fn an_unregistered_player_refuses_all_messages() {
    let mut session = PlayerSession::new("Alpha".into(), History::default());
    let before = format!("{session:?}");
    all_refused(referee_sends(&mut session, &referee_of(&first_of(1)), &first_of(1)), ErrorCode::E005, "a referee");
    all_refused(manager_sends(&mut session, &manager(), Some(&league())), ErrorCode::E005, "a manager");
    assert_eq!(session.game_error(&ReceivedEnvelope::default(), None).unwrap_err().code, Some(ErrorCode::E005));
    assert_eq!(session.shut_down(&manager()).unwrap_err().code, Some(ErrorCode::E005));
    assert_eq!(format!("{session:?}"), before);
    let state = session.player_state(None);
    assert_eq!((state.state.as_str(), state.player_id, state.league_id), ("UNREGISTERED", None, None));
}

#[test]
fn the_referee_knows_the_player_by_its_pass() {
    let (identity, match_id) = (identity(true), first_of(1));
    let expected = token().digest().player_pass(&league(), &match_id);
    let given = Credential::from(identity.own_pass(&match_id).unwrap());
    assert_eq!(token_quirk(Some(&given), &expected, &league(), &match_id), None);
    assert!(!given.reveal().contains(token().reveal()));
    let elsewhere = Credential::from(identity.own_pass(&first_of(2)).unwrap());
    assert!(token_quirk(Some(&elsewhere), &expected, &league(), &match_id).is_some());
    assert!(PlayerIdentity { token: None, ..identity.clone() }.own_pass(&match_id).is_none());
    assert!(PlayerIdentity { league_id: None, ..identity }.own_pass(&match_id).is_none());
}

#[test]
fn a_match_goes_on_under_the_passes_that_it_was_begun_with() {
    let (match_id, fresh) = (first_of(1), Token::mint("P01", &[9; 32]));
    let back = PlayerIdentity { token: Some(fresh.clone()), former: vec![token().digest()], ..identity(true) };
    let mut session = session_of(back.clone());
    let fresh_referee =
        from(Sender::referee(&referee()), fresh.digest().referee_pass(&league(), &match_id, &referee()));
    for head in [referee_of(&match_id), fresh_referee.clone()] {
        assert!(referee_sends(&mut session, &head, &match_id).iter().all(Result::is_ok));
    }
    // The answer uses the token of the question.
    let answers = |head: &ReceivedEnvelope| Credential::from(back.answering_pass(head, &match_id).unwrap());
    assert!(answers(&referee_of(&match_id)).is(&token().digest().player_pass(&league(), &match_id)));
    assert!(answers(&fresh_referee).is(&fresh.digest().player_pass(&league(), &match_id)));
    // The manager knows the new token, so its old pass is invalid.
    all_refused(manager_sends(&mut session, &manager(), Some(&league())), ErrorCode::E012, "the manager's former pass");
    let elsewhere =
        from(Sender::referee(&referee()), token().digest().referee_pass(&league(), &first_of(2), &referee()));
    all_refused(referee_sends(&mut session, &elsewhere, &match_id), ErrorCode::E012, "another match's former pass");
}

/// A round in which a foreign referee may run the match of P01 and P02.
fn without_passes(round: u32) -> RoundAnnouncement {
    RoundAnnouncement { referees_show_passes: Some(false), ..announcement(round, &[(1, 2), (3, 4)]) }
}

/// Foreign referees: with an own token, without any token, and without a sender.
fn referees_of_other_make() -> [ReceivedEnvelope; 3] {
    let named = from(Sender::referee(&referee()), Credential::new("tok-ref-01-xyz789"));
    [named.clone(), ReceivedEnvelope { auth_token: None, ..named }, ReceivedEnvelope::default()]
}

#[test]
fn the_latest_announcement_decides_whether_referees_need_passes() {
    let (mut session, match_id) = (session(), first_of(1));
    for (announcement, trusted) in [
        (None, false),
        (Some(without_passes(1)), true),
        (Some(announcement(1, &[(1, 2)])), false),
        (Some(without_passes(1)), true),
    ] {
        if let Some(announcement) = announcement {
            session.round_announced(&manager(), &announcement).unwrap();
        }
        for head in referees_of_other_make() {
            assert_eq!(session.trusts_without_pass(&head, &match_id), trusted);
            assert!(referee_sends(&mut session, &head, &match_id).iter().all(|answer| answer.is_ok() == trusted));
        }
    }
    // A referee with a valid pass is still recognised by it.
    assert!(!session.trusts_without_pass(&referee_of(&match_id), &match_id));
    assert!(referee_sends(&mut session, &referee_of(&match_id), &match_id).iter().all(Result::is_ok));
}

#[test]
fn a_referee_without_passes_weakens_only_the_match_that_it_holds_and_gets_no_pass() {
    let (mut session, match_id) = (session(), first_of(1));
    let announced = |shows: bool| {
        let mut round = without_passes(1);
        round.matches.iter_mut().for_each(|one| one.referee_shows_passes = Some(shows));
        round
    };
    for (shows, trusted) in [(true, false), (false, true), (true, false)] {
        session.round_announced(&manager(), &announced(shows)).unwrap();
        for head in referees_of_other_make() {
            assert_eq!(session.trusts_without_pass(&head, &match_id), trusted);
            assert!(session.identity().unwrap().answering_pass(&head, &match_id).is_none());
        }
    }
    assert!(session.identity().unwrap().answering_pass(&referee_of(&match_id), &match_id).is_some());
}

#[test]
fn only_the_manager_may_declare_referees_trusted() {
    let (mut session, match_id) = (session(), first_of(1));
    let key = token().digest();
    let pretenders: [Credential; 3] = [
        Credential::new("pass-please"),
        key.referee_pass(&league(), &match_id, &referee()).into(),
        key.manager_pass(&"elsewhere".parse().unwrap()).into(),
    ];
    let pretenders = pretenders.map(|credential| from(Sender::manager(), credential));
    for head in pretenders.into_iter().chain([ReceivedEnvelope { auth_token: None, ..manager() }]) {
        assert!(session.round_announced(&head, &without_passes(1)).is_err());
        for head in referees_of_other_make() {
            assert!(referee_sends(&mut session, &head, &match_id).iter().all(Result::is_err));
        }
    }
}

#[test]
fn referees_without_passes_are_trusted_only_in_the_players_matches_of_that_round() {
    let mut session = session();
    session.round_announced(&manager(), &without_passes(1)).unwrap();
    let [head, ..] = referees_of_other_make();
    let elsewhere = MatchId::of(RoundId(1), 2);
    for other in [&elsewhere, &first_of(2)] {
        all_refused(referee_sends(&mut session, &head, other), ErrorCode::E012, "another match");
    }
    // The last result may arrive after the next round has begun.
    session.round_announced(&manager(), &announcement(2, &[(1, 3)])).unwrap();
    assert!(session.match_over(&head, &won(&first_of(1))).is_ok());
    all_refused(referee_sends(&mut session, &head, &first_of(2)), ErrorCode::E012, "the next round");
}

#[test]
fn an_invitation_can_be_declined_with_a_reason() {
    let (mut session, match_id) = (session(), first_of(1));
    let mut declined =
        |head: &ReceivedEnvelope| session.declined(head, &invitation(&match_id), "no chess".into(), Timestamp::EPOCH);
    let answer = declined(&referee_of(&match_id)).unwrap();
    assert_eq!((answer.accept, answer.reason.as_deref(), answer.draw_nonce), (Some(false), Some("no chess"), None));
    assert!(declined(&ReceivedEnvelope::default()).is_err(), "unknown peers get no answer");
}
