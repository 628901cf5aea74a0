//! What the player deposits, disputes and testifies.

use league_protocol::draw::DrawCommitment;
use league_protocol::message::evidence::{DisputeReason, MatchInquiry, MatchTestimony};
use league_protocol::signature::MoveTurn;

use super::signing::{TURN, attempt_by, numbered_call, numbered_move};
use super::*;
use crate::session::Evidence;

const OTHER: DrawCommitment = DrawCommitment([1; 32]);

/// Plays one signed move.
fn played(session: &mut PlayerSession, match_id: &MatchId) -> ChosenMove {
    session.is_invited(match_id, "mine");
    moves(session, numbered_call(match_id, TURN), "even")
}

fn moves(session: &mut PlayerSession, request: MoveRequest, played: &str) -> ChosenMove {
    let head = referee_of(&request.match_id);
    let asked = session.move_requested(&head, request).unwrap().asked();
    session.move_chosen(&head, &asked, played.into()).unwrap()
}

fn disputes(session: &mut PlayerSession) -> Vec<DisputeReason> {
    let evidence = session.take_evidence().into_iter();
    let reason = |evidence| match evidence {
        Evidence::Dispute(dispute) => Some(dispute.reason),
        Evidence::Deposit(_) => None,
    };
    evidence.filter_map(reason).collect()
}

fn announced(attempt: u32, commitment: Option<DrawCommitment>, holder: Option<u32>) -> RoundAnnouncement {
    let mut round = announcement(1, &[(1, 2)]);
    round.matches[0].attempt = Some(attempt);
    round.matches[0].draw_commitment = commitment;
    round.matches[0].referee_id = holder.map(RefereeId::numbered);
    round
}

fn testimony(session: &PlayerSession, attempt: u32) -> MatchTestimony {
    let inquiry = MatchInquiry { league_id: Some(league()), match_id: first_of(1), attempt };
    session.testify(&manager(), &inquiry).unwrap()
}

fn seen(session: &PlayerSession, attempt: u32) -> (bool, bool, u32, bool) {
    let MatchTestimony { called, joined, moves, revealed, asked: _, draw_commitment: _ } = testimony(session, attempt);
    (called, joined, moves, revealed)
}

#[test]
fn a_move_that_is_asked_for_again_is_deposited_once() {
    let (mut session, match_id) = (session(), first_of(1));
    let chosen = played(&mut session, &match_id);
    assert_eq!(session.take_evidence(), []);
    moves(&mut session, numbered_call(&match_id, TURN), "odd");
    let [Evidence::Deposit(deposit)] = &session.take_evidence()[..] else { panic!("one deposit") };
    assert_eq!((deposit.league_id.as_ref(), &deposit.match_id), (Some(&league()), &match_id));
    assert_eq!((deposit.attempt, deposit.game_number, deposit.turn), (1, 1, 1));
    assert_eq!((deposit.played.as_str(), Some(deposit.signature)), ("even", chosen.signature));
    moves(&mut session, numbered_call(&match_id, TURN), "odd");
    session.answer_was_late(&referee_of(&match_id), &match_id);
    assert_eq!(session.take_evidence(), []);
}

#[test]
fn the_last_signed_move_is_deposited_when_the_referee_says_that_it_was_late() {
    let (mut session, match_id) = (session(), first_of(1));
    session.is_invited(&match_id, "mine");
    session.answer_was_late(&referee_of(&match_id), &match_id);
    assert_eq!(session.take_evidence(), [], "there is no answer");
    moves(&mut session, numbered_call(&match_id, TURN), "even");
    moves(&mut session, numbered_call(&match_id, MoveTurn { turn: 2, ..TURN }), "odd");
    session.answer_was_late(&ReceivedEnvelope::default(), &match_id);
    assert_eq!(session.take_evidence(), [], "the sender shows no pass");
    for _ in 0..2 {
        session.answer_was_late(&referee_of(&match_id), &match_id);
    }
    let [Evidence::Deposit(deposit)] = &session.take_evidence()[..] else { panic!("one deposit") };
    assert_eq!((deposit.turn, deposit.played.as_str()), (2, "odd"));
}

#[test]
fn a_player_says_which_moves_it_was_asked_for() {
    let (mut session, match_id) = (session(), first_of(1));
    session.is_invited(&match_id, "mine");
    let joined = testimony(&session, 1);
    assert_eq!((joined.joined, joined.moves, joined.asked), (true, 0, Some(0)));
    session.move_requested(&referee_of(&match_id), numbered_call(&match_id, TURN)).unwrap();
    let asked = testimony(&session, 1);
    assert_eq!((asked.moves, asked.asked), (0, Some(1)), "it has not answered yet");
    moves(&mut session, numbered_call(&match_id, TURN), "even");
    let moved = testimony(&session, 1);
    assert_eq!((moved.moves, moved.asked), (1, Some(1)));
}

#[test]
fn an_unsigned_move_is_not_deposited() {
    let mut session = session();
    session.plays(&first_of(1));
    session.plays(&first_of(1));
    session.answer_was_late(&referee_of(&first_of(1)), &first_of(1));
    assert_eq!(session.take_evidence(), []);
}

#[test]
fn an_invitation_with_another_commitment_than_announced_is_refused_and_disputed() {
    let match_id = first_of(1);
    let right = Some(SECRET.commitment());
    let cases = [
        ("the announced one", announced(1, right, Some(1)), true, 0),
        ("no referee named", announced(1, right, None), true, 0),
        ("no commitment announced", announced(1, None, Some(1)), true, 0),
        ("another attempt", announced(2, Some(OTHER), Some(1)), true, 0),
        ("another commitment", announced(1, Some(OTHER), Some(1)), false, 1),
        ("another commitment, no referee named", announced(1, Some(OTHER), None), false, 1),
        // A dispute about this attempt would blame the referee that holds it.
        ("another referee", announced(1, right, Some(2)), false, 0),
        ("another referee and commitment", announced(1, Some(OTHER), Some(2)), false, 0),
    ];
    for (about, round, joins, disputed) in cases {
        let mut session = session();
        session.round_announced(&manager(), &round).unwrap();
        for _ in 0..2 {
            let answer =
                session.invited(&referee_of(&match_id), &invitation(&match_id), nonce("mine"), Timestamp::EPOCH);
            assert_eq!(answer.is_ok(), joins, "{about}");
        }
        assert_eq!(disputes(&mut session), vec![DisputeReason::OtherCommitment; disputed], "{about}");
        let asked = session.move_requested(&referee_of(&match_id), numbered_call(&match_id, TURN));
        assert_eq!(asked.is_ok(), joins, "{about}");
        let called = joins || disputed > 0;
        assert_eq!(seen(&session, 1), (called, joins, 0, false), "{about}");
        let shown = testimony(&session, 1).draw_commitment;
        assert_eq!(shown, called.then_some(SECRET.commitment()), "{about}");
    }
}

#[test]
fn a_commitment_that_was_left_out_is_disputed() {
    let (mut session, match_id) = (session(), first_of(1));
    session.round_announced(&manager(), &announced(1, Some(SECRET.commitment()), Some(1))).unwrap();
    let without = GameInvitation { draw_commitment: None, ..invitation(&match_id) };
    let refused = session.invited(&referee_of(&match_id), &without, nonce("mine"), Timestamp::EPOCH).unwrap_err();
    assert!(refused.message.contains("than the manager announced"), "{refused}");
    assert_eq!(disputes(&mut session), [DisputeReason::OtherCommitment]);
    assert_eq!(session.state(), SessionState::WaitingForRound);
    session.is_invited(&match_id, "mine");
    assert_eq!(session.state(), SessionState::WaitingForChoiceRequest);
    assert_eq!(seen(&session, 1), (true, true, 0, false), "the right invitation is accepted afterwards");
}

#[test]
fn an_announcement_that_comes_after_the_invitation_is_compared_too() {
    let match_id = first_of(1);
    for (holder, disputed) in [(Some(1), 1), (None, 1), (Some(2), 0)] {
        let mut session = session();
        session.is_invited(&match_id, "mine");
        for _ in 0..2 {
            session.round_announced(&manager(), &announced(1, Some(OTHER), holder)).unwrap();
        }
        assert_eq!(disputes(&mut session), vec![DisputeReason::OtherCommitment; disputed], "{holder:?}");
        assert!(session.move_requested(&referee_of(&match_id), numbered_call(&match_id, TURN)).is_err());
    }
    let mut session = session();
    session.is_invited(&match_id, "mine");
    session.round_announced(&manager(), &announced(1, Some(SECRET.commitment()), Some(1))).unwrap();
    moves(&mut session, numbered_call(&match_id, TURN), "even");
    assert_eq!(disputes(&mut session), []);
}

#[test]
fn a_broken_draw_is_disputed_once() {
    let match_id = first_of(1);
    let honest = proved(&match_id, Side::A, &nonce("mine"), 1);
    let mut broken = honest.clone();
    broken.draw.as_mut().unwrap().secret = DrawSecret([8; 32]);
    for (over, expected) in [(&honest, 0), (&broken, 1)] {
        let mut session = session();
        played(&mut session, &match_id);
        session.is_sent(over);
        session.is_sent(over);
        assert_eq!(disputes(&mut session), vec![DisputeReason::BrokenDraw; expected]);
    }
    let mut unsigned = session_of(PlayerIdentity { token: None, ..identity(false) });
    unsigned.is_invited(&match_id, "mine");
    unsigned.is_sent(&broken);
    assert_eq!(disputes(&mut unsigned), []);
}

#[test]
fn a_result_that_names_another_move_is_disputed() {
    let match_id = first_of(1);
    let flat = |choice: Option<&str>| GameOver {
        result: Some(OwnResult::Loss),
        your_choice: choice.map(SmolStr::new),
        ..blank(&match_id)
    };
    let listed = |choice: Value, status: &str| -> GameOver {
        let choices = json!({ "P01": choice, "P02": "odd" });
        message(json!({
            "match_id": match_id, "game_result": { "status": status, "winner_player_id": "P02", "choices": choices }
        }))
    };
    let cases = [
        (flat(Some("even")), false),
        (flat(None), false),
        (flat(Some("odd")), true),
        (listed(json!("even"), "WIN"), false),
        (listed(json!("odd"), "WIN"), true),
        // The referee says that it received nothing. The deposit contradicts that.
        (listed(Value::Null, "TECHNICAL_LOSS"), false),
        (listed(json!("odd"), "TECHNICAL_LOSS"), true),
    ];
    for (over, expected) in cases {
        let mut session = session();
        played(&mut session, &match_id);
        session.is_sent(&over);
        session.is_sent(&over);
        let found = disputes(&mut session);
        assert_eq!(found, vec![DisputeReason::OtherMove; usize::from(expected)], "{over:?}");
        let mut without_a_move = super::session();
        without_a_move.is_invited(&match_id, "mine");
        without_a_move.is_sent(&over);
        let named = over.your_choice.is_some() || over.game_result.is_some_and(|all| all.choices.0[0].1.is_some());
        assert_eq!(disputes(&mut without_a_move).len(), usize::from(named), "it made no move at all");
    }
}

#[test]
fn the_last_move_counts_in_a_game_of_several_turns() {
    let match_id = first_of(1);
    let over = |choice: &str, result: OwnResult| GameOver {
        result: Some(result),
        your_choice: word(choice),
        ..blank(&match_id)
    };
    // After a technical loss the last move that the referee received may be an earlier one.
    let cases = [
        (over("4", OwnResult::Win), 0),
        (over("5", OwnResult::Win), 1),
        (over("5", OwnResult::TechnicalLoss), 0),
        (over("9", OwnResult::TechnicalLoss), 1),
    ];
    for (over, expected) in cases {
        let mut session = session();
        session.is_invited(&match_id, "mine");
        moves(&mut session, numbered_move(&match_id, ".........", TURN), "5");
        moves(&mut session, numbered_move(&match_id, "X...O....", MoveTurn { turn: 2, ..TURN }), "4");
        session.is_sent(&over);
        assert_eq!(disputes(&mut session).len(), expected, "{over:?}");
    }
}

#[test]
fn a_result_of_a_former_referee_says_nothing_about_the_attempt_of_another() {
    let (mut session, match_id) = (session(), first_of(1));
    played(&mut session, &match_id);
    let second = GameInvitation { attempt: Some(2), draw_commitment: Some(OTHER), ..invitation(&match_id) };
    session.invited(&attempt_by(&match_id, 2), &second, nonce("two"), Timestamp::EPOCH).unwrap();
    session.is_sent(&proved(&match_id, Side::A, &nonce("mine"), 1));
    assert_eq!(disputes(&mut session), []);
    assert_eq!((seen(&session, 1), seen(&session, 2)), ((true, true, 1, true), (true, true, 0, false)));
    assert_eq!(session.state(), SessionState::WaitingForChoiceRequest);
}

#[test]
fn the_player_testifies_what_it_saw_of_an_attempt() {
    let (mut session, match_id) = (session(), first_of(1));
    assert_eq!(testimony(&session, 1), MatchTestimony { asked: Some(0), ..MatchTestimony::default() });
    session.is_invited(&match_id, "mine");
    assert_eq!(seen(&session, 1), (true, true, 0, false));
    assert_eq!(testimony(&session, 1).draw_commitment, Some(SECRET.commitment()));
    moves(&mut session, numbered_call(&match_id, TURN), "even");
    moves(&mut session, numbered_call(&match_id, TURN), "even");
    assert_eq!(seen(&session, 1), (true, true, 1, false));
    assert_eq!(seen(&session, 2), (false, false, 0, false));
    session.is_sent(&won(&match_id));
    assert_eq!(seen(&session, 1), (true, true, 1, true));
    let second = GameInvitation { attempt: Some(2), ..invitation(&match_id) };
    session.invited(&referee_of(&match_id), &second, nonce("two"), Timestamp::EPOCH).unwrap();
    assert_eq!((seen(&session, 1), seen(&session, 2)), ((true, true, 1, true), (true, true, 0, false)));
    let inquiry = MatchInquiry { league_id: None, match_id, attempt: 1 };
    for stranger in [ReceivedEnvelope::default(), referee_of(&first_of(1))] {
        assert!(session.testify(&stranger, &inquiry).is_err(), "only the manager may ask");
    }
}

#[test]
fn a_declined_invitation_is_testified_as_a_call() {
    let mut session = session();
    let invitation = invitation(&first_of(1));
    session.declined(&referee_of(&first_of(1)), &invitation, "no chess".into(), Timestamp::EPOCH).unwrap();
    assert_eq!(seen(&session, 1), (true, false, 0, false));
    assert_eq!(session.state(), SessionState::Registered);
}

#[test]
fn a_move_of_the_opponent_is_revealed_by_the_state() {
    let match_id = first_of(1);
    let cases = [
        (Side::A, ".........", 1, false),
        (Side::A, "XO.......", 2, true),
        (Side::B, "X........", 1, true),
        (Side::B, "", 1, false),
    ];
    for (side, board, turn, expected) in cases {
        let mut session = session();
        let invitation = GameInvitation { role_in_match: Some(side), ..invitation(&match_id) };
        session.invited(&referee_of(&match_id), &invitation, nonce("mine"), Timestamp::EPOCH).unwrap();
        session
            .move_requested(&referee_of(&match_id), numbered_move(&match_id, board, MoveTurn { turn, ..TURN }))
            .unwrap();
        assert_eq!(seen(&session, 1), (true, true, 0, expected), "{side:?} {board} {turn}");
    }
}
