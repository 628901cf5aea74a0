use super::*;
use crate::session::{DrawCheck, PlayerLifecycle};
use league_protocol::id::ConversationId;
use league_protocol::message::standings::StandingsUpdate;

fn update(round: Option<u32>, rank: u32) -> StandingsUpdate {
    let row = json!({ "rank": rank, "player_id": me(), "points": 3 });
    message(json!({ "league_id": LEAGUE, "round_id": round, "standings": [row] }))
}

#[test]
fn a_league_goes_through_every_state_in_order() {
    let mut session = PlayerSession::new("Alpha".into(), History::default());
    assert_eq!(session.state(), SessionState::Unregistered);
    session.registering();
    assert_eq!(session.state(), SessionState::Registering);
    session.registered(identity(true));
    assert_eq!(session.state(), SessionState::Registered);
    for round in 1..=2 {
        let match_id = first_of(round);
        let answer = session.round_announced(&manager(), &announcement(round, &[(1, 2), (3, 4)])).unwrap();
        assert_eq!((answer.player_id, answer.round_id), (Some(me()), Some(RoundId(round))));
        assert_eq!(session.state(), SessionState::WaitingForRound);
        session.is_invited(&match_id, "mine");
        assert_eq!(session.state(), SessionState::WaitingForChoiceRequest);
        assert_eq!(session.player_state(None).current_match, Some(match_id.clone()));
        session.is_asked(&match_id);
        assert_eq!(session.state(), SessionState::ChoosingParity);
        session.chooses(&match_id, Parity::Even);
        assert_eq!(session.state(), SessionState::WaitingForResult);
        session.is_sent(&won(&match_id));
        assert_eq!(session.state(), SessionState::MatchComplete);
        session.standings_updated(&manager(), &update(Some(round), 1)).unwrap();
        assert_eq!(session.state(), SessionState::MatchComplete);
        session.round_completed(&manager(), &completed(round, (round < 2).then_some(round + 1))).unwrap();
        assert_eq!(session.state(), if round < 2 { SessionState::Registered } else { SessionState::MatchComplete });
    }
    session.league_completed(&manager(), &league_completed()).unwrap();
    assert_eq!(session.state(), SessionState::LeagueComplete);
    let state = session.player_state(word("random"));
    assert_eq!((state.state.as_str(), state.rank, state.matches_played), ("LEAGUE_COMPLETE", Some(1), 2));
    assert_eq!((state.current_round, state.current_match), (Some(RoundId(2)), None));
    assert_eq!((state.record.wins, state.record.points), (2, 6));
    session.shut_down(&manager()).unwrap();
}

#[test]
fn the_lifecycle_goes_from_init_to_shutdown() {
    let mut session = PlayerSession::new(SmolStr::new_static("Quay"), History::default());
    assert_eq!(session.lifecycle(), PlayerLifecycle::Init);
    session.registering();
    assert_eq!(session.lifecycle(), PlayerLifecycle::Init);
    session.registered(identity(true));
    assert_eq!(session.lifecycle(), PlayerLifecycle::Registered);
    session.round_announced(&manager(), &announcement(1, &[(1, 2)])).unwrap();
    assert_eq!(session.lifecycle(), PlayerLifecycle::Active);
    // A player that registers again during a league stays in it.
    session.registering();
    assert_eq!(session.lifecycle(), PlayerLifecycle::Active);
    session.registered(identity(true));
    session.shut_down(&manager()).unwrap();
    assert_eq!(session.player_state(None).lifecycle.as_deref(), Some("SHUTDOWN"));
    let mut over = PlayerSession::new(SmolStr::new_static("Quay"), History::default());
    over.registered(identity(true));
    over.league_completed(&manager(), &league_completed()).unwrap();
    assert_eq!(over.lifecycle(), PlayerLifecycle::Shutdown);
}

#[test]
fn a_call_outside_the_conversation_of_its_invitation_is_noticed() {
    let (mut session, match_id) = (session(), first_of(1));
    let in_conversation = |name: &str| ReceivedEnvelope {
        conversation_id: Field::Good(ConversationId::named(name)),
        ..referee_of(&first_of(1))
    };
    assert!(session.continues_invitation(&in_conversation("any"), &match_id), "nothing is known of it");
    session.invited(&in_conversation("one"), &invitation(&match_id), DrawNonce::default(), Timestamp::EPOCH).unwrap();
    assert!(session.continues_invitation(&in_conversation("one"), &match_id));
    assert!(!session.continues_invitation(&in_conversation("two"), &match_id));
}

#[test]
fn the_state_has_no_secrets() {
    let mut session = session();
    session.plays(&first_of(1));
    let written = serde_json::to_string(&session.player_state(None)).unwrap();
    assert!(
        !written.contains(token().reveal()) && !written.contains("mine") && !written.contains("even\""),
        "{written}"
    );
    assert!(!format!("{session:?}").contains(token().reveal()));
}

#[test]
fn a_move_request_contains_all_that_the_session_knows() {
    let mut session = session();
    let match_id = first_of(1);
    session.is_invited(&match_id, "mine");
    let mut call = parity_call(&match_id);
    (call.round_id, call.context.opponent_id) = (None, None);
    call.context.your_standings.points = 4;
    call.deadline = Some(Timestamp::from_unix(30));
    let question = session.move_requested(&referee_of(&match_id), call.into()).unwrap();
    assert_eq!((question.round, question.opponent), (Some(RoundId(1)), Some(opponent())));
    assert_eq!((question.record.points, question.deadline), (4, Some(Timestamp::from_unix(30))));
    assert_eq!((question.game.as_str(), question.view.as_str(), question.answered), ("even_odd", "", None));
    assert_eq!(question.legal_moves, ["even", "odd"]);
}

#[test]
fn a_player_without_a_match_sits_the_round_out() {
    let mut session = session();
    session.round_announced(&manager(), &announcement(1, &[(2, 3)])).unwrap();
    assert_eq!(session.state(), SessionState::Registered);
    session.round_completed(&manager(), &completed(1, Some(2))).unwrap();
    session.round_announced(&manager(), &announcement(2, &[(1, 2)])).unwrap();
    assert_eq!(session.state(), SessionState::WaitingForRound);
    session.plays(&first_of(2));
    session.is_sent(&won(&first_of(2)));
    session.round_announced(&manager(), &announcement(3, &[(2, 3)])).unwrap();
    assert_eq!(session.state(), SessionState::Registered);
    assert_eq!(session.player_state(None).current_round, Some(RoundId(3)));
}

#[test]
fn a_late_announcement_does_not_change_the_state() {
    let mut session = session();
    let (match_id, announced) = (first_of(1), announcement(1, &[(1, 2)]));
    session.is_invited(&match_id, "mine");
    assert_eq!(session.player_state(None).current_round, Some(RoundId(1)));
    session.round_announced(&manager(), &announced).unwrap();
    assert_eq!(session.state(), SessionState::WaitingForChoiceRequest);
    session.is_asked(&match_id);
    session.round_announced(&manager(), &announced).unwrap();
    assert_eq!(session.state(), SessionState::ChoosingParity);
    session.chooses(&match_id, Parity::Odd);
    session.is_sent(&won(&match_id));
    session.round_announced(&manager(), &announced).unwrap();
    assert_eq!(session.state(), SessionState::MatchComplete);
}

#[test]
fn messages_of_an_earlier_round_do_not_change_a_later_one() {
    let mut session = session();
    session.round_announced(&manager(), &announcement(1, &[(1, 2)])).unwrap();
    session.plays(&first_of(1));
    session.is_sent(&won(&first_of(1)));
    session.round_announced(&manager(), &announcement(2, &[(1, 2)])).unwrap();
    session.standings_updated(&manager(), &update(Some(2), 2)).unwrap();
    session.round_announced(&manager(), &announcement(1, &[(1, 2)])).unwrap();
    session.round_completed(&manager(), &completed(1, Some(2))).unwrap();
    session.standings_updated(&manager(), &update(Some(1), 1)).unwrap();
    session.is_sent(&won(&first_of(1)));
    assert_eq!(session.state(), SessionState::WaitingForRound);
    let state = session.player_state(None);
    assert_eq!((state.current_round, state.rank), (Some(RoundId(2)), Some(2)));
    session.standings_updated(&manager(), &update(None, 3)).unwrap();
    assert_eq!(session.player_state(None).rank, Some(3));
}

#[test]
fn a_missing_result_delays_nothing_and_is_accepted_late() {
    let mut session = session();
    session.round_announced(&manager(), &announcement(1, &[(1, 2)])).unwrap();
    let own = session.is_invited(&first_of(1), "mine");
    session.is_asked(&first_of(1));
    session.chooses(&first_of(1), Parity::Even);
    session.round_completed(&manager(), &completed(1, Some(2))).unwrap();
    assert_eq!((session.state(), session.player_state(None).current_match), (SessionState::Registered, None));
    session.round_announced(&manager(), &announcement(2, &[(1, 2)])).unwrap();
    session.is_sent(&proved(&first_of(1), Side::A, &own, 1));
    assert_eq!(session.state(), SessionState::WaitingForRound);
    assert_eq!(session.history().matches()[0].draw, DrawCheck::Proved);
}

#[test]
fn no_message_restarts_a_finished_league() {
    let mut session = session();
    session.plays(&first_of(1));
    let standings =
        json!([{ "rank": 1, "player_id": opponent(), "points": 3 }, { "rank": 2, "player_id": me(), "points": 0 }]);
    let end: LeagueCompleted = message(json!({ "league_id": LEAGUE, "final_standings": standings }));
    session.league_completed(&manager(), &end).unwrap();
    session.is_sent(&lost(&first_of(1)));
    session.round_announced(&manager(), &announcement(1, &[(1, 2)])).unwrap();
    session.round_completed(&manager(), &completed(1, Some(2))).unwrap();
    session.league_completed(&manager(), &end).unwrap();
    assert_eq!((session.state(), session.player_state(None).current_match), (SessionState::LeagueComplete, None));
    assert_eq!((session.player_state(None).rank, session.history().matches().len()), (Some(2), 1));
}

#[test]
fn two_matches_at_once_do_not_mix() {
    let mut session = session();
    let (one, two) = (MatchId::of(RoundId(1), 1), MatchId::of(RoundId(1), 2));
    session.is_invited(&one, "first");
    session.is_invited(&two, "second");
    session.is_asked(&two);
    session.is_asked(&one);
    assert_eq!(session.chooses(&one, Parity::Odd), Parity::Odd);
    assert_eq!(session.chooses(&two, Parity::Even), Parity::Even);
    assert_eq!(session.is_asked(&one).answered, word("odd"));
    assert_eq!((session.is_invited(&one, "x"), session.is_invited(&two, "x")), (nonce("first"), nonce("second")));
    session.is_sent(&won(&two));
    assert_eq!(
        (session.state(), session.player_state(None).current_match),
        (SessionState::WaitingForResult, Some(one.clone()))
    );
    session.is_sent(&lost(&one));
    assert_eq!(session.state(), SessionState::MatchComplete);
    assert_eq!((session.history().record().wins, session.history().record().losses), (1, 1));
}

#[test]
fn a_move_request_needs_no_invitation() {
    let mut session = session();
    let match_id = first_of(1);
    let question = session.is_asked(&match_id);
    assert_eq!((question.opponent, question.round), (Some(opponent()), Some(RoundId(1))));
    assert_eq!(session.state(), SessionState::ChoosingParity);
    assert_eq!(session.chooses(&match_id, Parity::Odd), Parity::Odd);
    session.is_sent(&lost(&match_id));
    assert_eq!((session.state(), session.last_result()), (SessionState::MatchComplete, OwnResult::Loss));
}

#[test]
fn a_result_needs_neither_invitation_nor_move_request() {
    let mut session = session();
    session.is_sent(&ended(&first_of(1), ResultStatus::TechnicalLoss, Some(&opponent())));
    assert_eq!((session.state(), session.last_result()), (SessionState::MatchComplete, OwnResult::TechnicalLoss));
}

#[test]
fn a_choice_for_an_unknown_match_is_refused() {
    let asked = MoveRequest::from(move_call(&first_of(1), "")).asked();
    let fault = session().move_chosen(&referee_of(&first_of(1)), &asked, "5".into()).unwrap_err();
    assert_eq!(fault.code, Some(league_protocol::error::ErrorCode::E007));
}

#[test]
fn a_rejected_player_can_register_again() {
    let mut session = PlayerSession::new("Alpha".into(), History::default());
    session.registering();
    session.rejected();
    assert_eq!((session.state(), session.identity().is_none()), (SessionState::Unregistered, true));
    session.registering();
    session.registered(identity(true));
    session.registering();
    session.rejected();
    assert_eq!(session.state(), SessionState::Registered, "a registered player stays registered");
    assert_eq!(session.player_state(None).player_id, Some(me()));
}

#[test]
fn a_player_that_registers_again_keeps_its_match_only_in_the_same_league() {
    let mut session = session();
    session.standings_updated(&manager(), &update(Some(1), 1)).unwrap();
    session.plays(&first_of(1));
    let fresh = PlayerIdentity { token: Some(Token::mint("P01", &[9; 32])), ..identity(false) };
    session.registering();
    session.registered(fresh);
    assert_eq!(
        (session.state(), session.is_asked(&first_of(1)).answered),
        (SessionState::WaitingForResult, word("even"))
    );
    let elsewhere = PlayerIdentity { league_id: Some("elsewhere".parse().unwrap()), ..identity(false) };
    session.registering();
    session.registered(elsewhere);
    let state = session.player_state(None);
    assert_eq!((session.state(), state.current_match), (SessionState::Registered, None));
    assert_eq!((state.current_round, state.rank), (None, None));
    assert_eq!(session.is_invited(&first_of(1), "new"), nonce("new"));
    assert_eq!(session.is_asked(&first_of(1)).answered, None);
}

#[test]
fn registering_after_the_end_of_a_league_starts_anew() {
    let mut session = session();
    session.plays(&first_of(1));
    session.league_completed(&manager(), &league_completed()).unwrap();
    session.registering();
    session.registered(identity(true));
    assert_eq!((session.state(), session.player_state(None).current_round), (SessionState::Registered, None));
    assert_eq!(session.is_invited(&first_of(1), "new"), nonce("new"));
}

#[test]
fn a_result_of_the_round_before_counts_and_does_not_disturb_the_current_round() {
    let steps: [fn(&mut PlayerSession); 5] = [
        |session| drop(session.round_announced(&manager(), &announcement(2, &[(1, 2)])).unwrap()),
        |session| drop(session.is_invited(&first_of(2), "second")),
        |session| drop(session.is_asked(&first_of(2))),
        |session| assert_eq!(session.chooses(&first_of(2), Parity::Odd), Parity::Odd),
        |session| session.is_sent(&won(&first_of(2))),
    ];
    // The first match is also one that the player was never invited to.
    for (is_invited, done) in [true, false].into_iter().flat_map(|invited| (1..=5).map(move |done| (invited, done))) {
        let mut session = session();
        session.round_announced(&manager(), &announcement(1, &[(1, 2)])).unwrap();
        if is_invited {
            session.plays(&first_of(1));
        }
        session.round_completed(&manager(), &completed(1, Some(2))).unwrap();
        steps[..done].iter().for_each(|step| step(&mut session));
        let before = session.player_state(None);
        let outcome = session.match_over(&referee_of(&first_of(1)), &won(&first_of(1))).unwrap();
        let after = session.player_state(None);
        let about = format!("invited: {is_invited}, {done} steps");
        assert!(!outcome.repeated, "{about}");
        assert_eq!((after.state, after.current_match), (before.state, before.current_match), "{about}");
        assert_eq!((after.current_round, after.record.wins), (Some(RoundId(2)), before.record.wins + 1), "{about}");
    }
}

#[test]
fn a_final_result_replaces_a_provisional_one() {
    let match_id = first_of(1);
    for (last, repeated) in [(won(&match_id), true), (lost(&match_id), false)] {
        let mut session = session();
        session.plays(&match_id);
        let provisional = GameOver { provisional: true, ..won(&match_id) };
        assert!(!session.match_over(&referee_of(&match_id), &provisional).unwrap().repeated);
        assert_eq!(session.history().record().wins, 1);
        assert_eq!(session.match_over(&referee_of(&match_id), &last).unwrap().repeated, repeated);
        assert_eq!(session.history().matches().len(), 1);
        assert_eq!(session.history().record().wins, u32::from(repeated));
    }
}
