use super::*;
use crate::session::DrawCheck;
use league_protocol::draw::DrawCommitment;

fn invited_to(session: &mut PlayerSession, invitation: &GameInvitation, own: &str) -> DrawNonce {
    let head = referee_of(&invitation.match_id);
    session.invited(&head, invitation, nonce(own), Timestamp::EPOCH).unwrap().draw_nonce.unwrap()
}

#[test]
fn the_same_invitation_gets_the_same_answer_at_any_time() {
    let (mut session, match_id) = (session(), first_of(1));
    assert_eq!(session.is_invited(&match_id, "first"), nonce("first"));
    assert_eq!(session.is_invited(&match_id, "second"), nonce("first"));
    session.is_asked(&match_id);
    assert_eq!(session.is_invited(&match_id, "third"), nonce("first"));
    assert_eq!(session.state(), SessionState::ChoosingParity);
    session.chooses(&match_id, Parity::Even);
    session.is_sent(&won(&match_id));
    assert_eq!(session.is_invited(&match_id, "fourth"), nonce("first"));
    assert_eq!(session.state(), SessionState::MatchComplete);
}

#[test]
fn another_attempt_is_another_match() {
    let (first, match_id) = (invitation(&first_of(1)), first_of(1));
    let mut session = session();
    assert_eq!(invited_to(&mut session, &first, "old"), nonce("old"));
    session.is_asked(&match_id);
    session.chooses(&match_id, Parity::Even);
    let again = GameInvitation { attempt: Some(2), ..first.clone() };
    assert_eq!(invited_to(&mut session, &again, "new"), nonce("new"));
    assert_eq!(session.state(), SessionState::WaitingForChoiceRequest);
    assert_eq!(session.is_asked(&match_id).answered, None);
    assert_eq!(session.chooses(&match_id, Parity::Odd), Parity::Odd);
    // A late message of the first attempt does not change the second.
    assert_eq!(invited_to(&mut session, &first, "late"), nonce("old"));
    assert_eq!(session.state(), SessionState::WaitingForResult);
}

#[test]
fn an_unsigned_invitation_with_another_commitment_is_another_match() {
    let (first, match_id) = (invitation(&first_of(1)), first_of(1));
    let mut session = session_of(PlayerIdentity { token: None, ..identity(false) });
    assert_eq!(invited_to(&mut session, &first, "old"), nonce("old"));
    session.chooses(&match_id, Parity::Even);
    let again = GameInvitation { draw_commitment: Some(DrawCommitment([1; 32])), ..first };
    assert_eq!(invited_to(&mut session, &again, "new"), nonce("new"));
    assert_eq!(session.chooses(&match_id, Parity::Odd), Parity::Odd);
}

#[test]
fn an_invitation_without_attempt_is_a_repetition_until_there_is_a_result() {
    let (mut session, match_id) = (session(), first_of(1));
    let foreign = foreign_invitation(&match_id);
    assert_eq!(invited_to(&mut session, &foreign, "one"), nonce("one"));
    assert_eq!(invited_to(&mut session, &foreign, "two"), nonce("one"));
    session.is_sent(&won(&match_id));
    assert_eq!(invited_to(&mut session, &foreign, "three"), nonce("three"));
    assert_eq!(session.state(), SessionState::WaitingForChoiceRequest);
}

#[test]
fn the_same_question_gets_the_same_choice() {
    let (mut session, match_id) = (session(), first_of(1));
    session.is_invited(&match_id, "mine");
    assert_eq!(session.is_asked(&match_id).answered, None);
    assert_eq!(session.is_asked(&match_id).answered, None, "the strategy is still thinking");
    assert_eq!(session.chooses(&match_id, Parity::Odd), Parity::Odd);
    assert_eq!(session.chooses(&match_id, Parity::Even), Parity::Odd);
    assert_eq!(session.is_asked(&match_id).answered, word("odd"));
    assert_eq!(session.state(), SessionState::WaitingForResult);
    assert_eq!(session.chooses(&match_id, Parity::Even), Parity::Odd);
    session.is_sent(&won(&match_id));
    assert_eq!(session.is_asked(&match_id).answered, word("odd"));
    assert_eq!(session.chooses(&match_id, Parity::Even), Parity::Odd);
    assert_eq!(session.state(), SessionState::MatchComplete, "a question that comes late opens nothing");
}

#[test]
fn a_move_belongs_to_its_position() {
    let (mut session, match_id) = (session(), first_of(1));
    let ask = |session: &mut PlayerSession, board: &str| {
        session.move_requested(&referee_of(&match_id), move_call(&match_id, board).into())
    };
    session.is_invited(&match_id, "mine");
    let boards = ["X........", "X...O.X.."];
    for (board, cell) in boards.into_iter().zip(["5", "4"]) {
        let question = ask(&mut session, board).unwrap();
        assert_eq!((question.view.as_str(), question.answered), (board, None));
        assert_eq!(session.state(), SessionState::ChoosingParity);
        let request = MoveRequest::from(move_call(&match_id, board));
        assert_eq!(session.answers(&request, cell).played, cell);
        assert_eq!(session.answers(&request, "9").played, cell);
    }
    assert_eq!(ask(&mut session, boards[0]).unwrap().answered, word("5"), "also after the game has gone on");
    assert_eq!(ask(&mut session, boards[1]).unwrap().answered, word("4"));
}

#[test]
fn a_result_counts_once_however_often_it_is_told() {
    let (mut session, match_id) = (session(), first_of(1));
    let own = session.is_invited(&match_id, "mine");
    let over = proved(&match_id, Side::A, &own, 1);
    for _ in 0..3 {
        session.is_sent(&over);
        assert_eq!(session.history().matches().len(), 1);
        assert_eq!(session.history().matches()[0].draw, DrawCheck::Proved);
        assert_eq!(session.history().matches()[0].opponent_id, Some(opponent()));
    }
}

#[test]
fn a_restarted_player_keeps_its_check_of_a_draw() {
    let (mut session, match_id) = (session(), first_of(1));
    let own = session.is_invited(&match_id, "mine");
    let mut over = proved(&match_id, Side::A, &own, 1);
    over.draw.as_mut().unwrap().secret = DrawSecret([8; 32]);
    session.is_sent(&over);
    let mut restarted = PlayerSession::new("Alpha".into(), session.history().clone());
    restarted.registered(identity(true));
    restarted.is_sent(&over);
    assert_eq!(restarted.history(), session.history());
    assert_eq!(restarted.history().matches()[0].draw, DrawCheck::Broken);
    assert_eq!(restarted.state(), SessionState::Registered, "it was no news");
}

#[test]
fn the_result_of_a_new_attempt_replaces_the_old_one() {
    let (mut session, match_id) = (session(), first_of(1));
    session.plays(&match_id);
    session.is_sent(&won(&match_id));
    invited_to(&mut session, &GameInvitation { attempt: Some(2), ..invitation(&match_id) }, "new");
    assert_eq!(session.state(), SessionState::WaitingForChoiceRequest);
    session.is_sent(&lost(&match_id));
    assert_eq!((session.history().matches().len(), session.last_result()), (1, OwnResult::Loss));
    assert_eq!(session.state(), SessionState::MatchComplete);
}
