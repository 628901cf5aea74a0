use super::*;
use crate::session::DrawCheck;
use league_protocol::draw::DrawCommitment;

fn invited_to(seat: &mut PlayerSession, invitation: &GameInvitation, own: &str) -> DrawNonce {
    let head = referee_of(&invitation.match_id);
    seat.invited(&head, invitation, nonce(own), Timestamp::EPOCH).unwrap().draw_nonce.unwrap()
}

#[test]
fn the_same_invitation_gets_the_same_answer_at_any_time() {
    let (mut seat, match_id) = (seat(), first_of(1));
    assert_eq!(seat.is_invited(&match_id, "first"), nonce("first"));
    assert_eq!(seat.is_invited(&match_id, "second"), nonce("first"));
    seat.is_asked(&match_id);
    assert_eq!(seat.is_invited(&match_id, "third"), nonce("first"));
    assert_eq!(seat.state(), SessionState::ChoosingParity);
    seat.chooses(&match_id, Parity::Even);
    seat.is_told(&won(&match_id));
    assert_eq!(seat.is_invited(&match_id, "fourth"), nonce("first"));
    assert_eq!(seat.state(), SessionState::MatchComplete);
}

#[test]
fn another_attempt_or_commitment_is_another_match() {
    let (first, match_id) = (invitation(&first_of(1)), first_of(1));
    let changed = [
        GameInvitation { attempt: Some(2), ..first.clone() },
        GameInvitation { draw_commitment: Some(DrawCommitment([1; 32])), ..first.clone() },
    ];
    for again in changed {
        let mut seat = seat();
        assert_eq!(invited_to(&mut seat, &first, "old"), nonce("old"));
        seat.is_asked(&match_id);
        seat.chooses(&match_id, Parity::Even);
        assert_eq!(invited_to(&mut seat, &again, "new"), nonce("new"));
        assert_eq!(seat.state(), SessionState::WaitingForChoiceRequest);
        assert_eq!(seat.is_asked(&match_id).answered, None);
        assert_eq!(seat.chooses(&match_id, Parity::Odd), Parity::Odd);
    }
}

#[test]
fn an_unmarked_invitation_is_the_same_until_there_is_a_result() {
    let (mut seat, match_id) = (seat(), first_of(1));
    let foreign = foreign_invitation(&match_id);
    assert_eq!(invited_to(&mut seat, &foreign, "one"), nonce("one"));
    assert_eq!(invited_to(&mut seat, &foreign, "two"), nonce("one"));
    seat.is_told(&won(&match_id));
    assert_eq!(invited_to(&mut seat, &foreign, "three"), nonce("three"));
    assert_eq!(seat.state(), SessionState::WaitingForChoiceRequest);
}

#[test]
fn the_same_question_gets_the_same_choice() {
    let (mut seat, match_id) = (seat(), first_of(1));
    seat.is_invited(&match_id, "mine");
    assert_eq!(seat.is_asked(&match_id).answered, None);
    assert_eq!(seat.is_asked(&match_id).answered, None, "the strategy is still thinking");
    assert_eq!(seat.chooses(&match_id, Parity::Odd), Parity::Odd);
    assert_eq!(seat.chooses(&match_id, Parity::Even), Parity::Odd);
    assert_eq!(seat.is_asked(&match_id).answered, word("odd"));
    assert_eq!(seat.state(), SessionState::WaitingForResult);
    assert_eq!(seat.chooses(&match_id, Parity::Even), Parity::Odd);
    seat.is_told(&won(&match_id));
    assert_eq!(seat.is_asked(&match_id).answered, word("odd"));
    assert_eq!(seat.chooses(&match_id, Parity::Even), Parity::Odd);
    assert_eq!(seat.state(), SessionState::MatchComplete, "a question that comes late opens nothing");
}

#[test]
fn a_move_belongs_to_its_position() {
    let (mut seat, match_id) = (seat(), first_of(1));
    let ask =
        |seat: &mut PlayerSession, board: &str| seat.asked(&referee_of(&match_id), move_call(&match_id, board).into());
    seat.is_invited(&match_id, "mine");
    let boards = ["X........", "X...O.X.."];
    for (board, cell) in boards.into_iter().zip(["5", "4"]) {
        let question = ask(&mut seat, board).unwrap();
        assert_eq!((question.view.as_str(), question.answered), (board, None));
        assert_eq!(seat.state(), SessionState::ChoosingParity);
        assert_eq!(seat.answered(&match_id, Method::MakeMove, cell.into()).unwrap(), cell);
        assert_eq!(seat.answered(&match_id, Method::MakeMove, "9".into()).unwrap(), cell);
    }
    assert_eq!(ask(&mut seat, boards[0]).unwrap().answered, word("5"), "also after the game has gone on");
    assert_eq!(ask(&mut seat, boards[1]).unwrap().answered, word("4"));
}

#[test]
fn a_result_counts_once_however_often_it_is_told() {
    let (mut seat, match_id) = (seat(), first_of(1));
    let own = seat.is_invited(&match_id, "mine");
    let over = proved(&match_id, Side::A, &own, 1);
    for _ in 0..3 {
        seat.is_told(&over);
        assert_eq!(seat.history().matches().len(), 1);
        assert_eq!(seat.history().matches()[0].draw, DrawCheck::Proved);
        assert_eq!(seat.history().matches()[0].opponent_id, Some(opponent()));
    }
}

#[test]
fn a_player_that_starts_again_remembers_what_it_found_out() {
    let (mut seat, match_id) = (seat(), first_of(1));
    let own = seat.is_invited(&match_id, "mine");
    let mut over = proved(&match_id, Side::A, &own, 1);
    over.draw.as_mut().unwrap().secret = DrawSecret([8; 32]);
    seat.is_told(&over);
    let mut restarted = PlayerSession::new("Alpha".into(), seat.history().clone());
    restarted.registered(identity(true));
    restarted.is_told(&over);
    assert_eq!(restarted.history(), seat.history());
    assert_eq!(restarted.history().matches()[0].draw, DrawCheck::Broken);
    assert_eq!(restarted.state(), SessionState::Registered, "it was no news");
}

#[test]
fn the_result_of_a_new_attempt_replaces_the_old_one() {
    let (mut seat, match_id) = (seat(), first_of(1));
    seat.plays(&match_id);
    seat.is_told(&won(&match_id));
    invited_to(&mut seat, &GameInvitation { attempt: Some(2), ..invitation(&match_id) }, "new");
    assert_eq!(seat.state(), SessionState::WaitingForChoiceRequest);
    seat.is_told(&lost(&match_id));
    assert_eq!((seat.history().matches().len(), seat.last_result()), (1, OwnResult::Loss));
    assert_eq!(seat.state(), SessionState::MatchComplete);
}

#[test]
fn a_new_attempt_that_never_reached_the_player_replaces_the_result_too() {
    let (mut seat, match_id) = (seat(), first_of(1));
    seat.plays(&match_id);
    seat.is_told(&won(&match_id));
    let technical = result(ResultStatus::TechnicalLoss, Some(&opponent()));
    seat.is_told(&GameOver { game_result: Some(technical), ..blank(&match_id) });
    assert_eq!((seat.history().matches().len(), seat.last_result()), (1, OwnResult::TechnicalLoss));
}
