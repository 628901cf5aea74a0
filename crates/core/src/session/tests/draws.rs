use league_protocol::draw::DrawSeal;

use super::*;
use crate::session::DrawCheck;

fn checked(invitation: &GameInvitation, over: &GameOver) -> DrawCheck {
    let mut session = session();
    let match_id = &invitation.match_id;
    session.invited(&referee_of(match_id), invitation, nonce("mine"), Timestamp::EPOCH).unwrap();
    session.is_sent(over);
    session.history().matches()[0].draw
}

fn on(side: Side, attempt: u32) -> (GameInvitation, GameOver) {
    let invitation = GameInvitation { role_in_match: Some(side), attempt: Some(attempt), ..invitation(&first_of(1)) };
    (invitation, proved(&first_of(1), side, &nonce("mine"), attempt))
}

fn forged(over: &GameOver, change: impl FnOnce(&mut DrawProof)) -> GameOver {
    let mut over = over.clone();
    change(over.draw.as_mut().unwrap());
    over
}

#[test]
fn an_honest_draw_is_proved_from_both_sides_and_in_every_attempt() {
    for side in Side::BOTH {
        for attempt in [1, 2, 7] {
            let (invitation, over) = on(side, attempt);
            assert_eq!(checked(&invitation, &over), DrawCheck::Proved, "{side:?}, attempt {attempt}");
            let nested = GameOver { drawn_number: None, ..over.clone() };
            assert_eq!(checked(&invitation, &nested), DrawCheck::Proved);
            let flat = GameOver { game_result: None, result: Some(OwnResult::Win), ..over };
            assert_eq!(checked(&invitation, &flat), DrawCheck::Proved);
        }
    }
}

#[test]
fn every_change_breaks_the_proof_of_a_draw() {
    for side in Side::BOTH {
        let (invitation, honest) = on(side, 1);
        let number = honest.drawn_number.unwrap();
        let other = 1 + number % 10;
        let mut renumbered = honest.clone();
        renumbered.drawn_number = Some(other);
        let mut renumbered_inside = honest.clone();
        renumbered_inside.game_result.as_mut().unwrap().drawn_number = Some(other);
        let mut renumbered_everywhere = renumbered_inside.clone();
        renumbered_everywhere.drawn_number = Some(other);
        let broken: Vec<(&str, GameOver)> = vec![
            ("another number", renumbered),
            ("another number inside", renumbered_inside),
            ("another number everywhere", renumbered_everywhere),
            ("no proof", GameOver { draw: None, ..honest.clone() }),
            ("another secret", forged(&honest, |proof| proof.secret = DrawSecret([8; 32]))),
            ("own nonce left out", forged(&honest, |proof| proof.nonces.0.retain(|(id, _)| *id != me()))),
            ("all nonces left out", forged(&honest, |proof| proof.nonces = ByPlayer::default())),
            (
                "the other's nonce changed",
                forged(&honest, |proof| {
                    proof.nonces.0.iter_mut().for_each(|(id, theirs)| {
                        if *id != me() {
                            *theirs = nonce("forged");
                        }
                    })
                }),
            ),
            ("the other's nonce left out", forged(&honest, |proof| proof.nonces.0.retain(|(id, _)| *id == me()))),
            ("another seal", forged(&honest, |proof| proof.seal = Some(DrawSeal([8; 32])))),
            ("own nonce changed", proved(&first_of(1), side, &nonce("yours"), 1)),
            ("an attempt of its choice", proved(&first_of(1), side, &nonce("mine"), 2)),
            ("the sides exchanged", proved(&first_of(1), side.other(), &nonce("mine"), 1)),
        ];
        for (about, over) in broken {
            assert_eq!(checked(&invitation, &over), DrawCheck::Broken, "{about} from {side:?}");
        }
    }
}

#[test]
fn a_referee_that_sends_no_seal_is_checked_by_the_number() {
    let (invitation, honest) = on(Side::A, 1);
    let unsealed = forged(&honest, |proof| proof.seal = None);
    assert_eq!(checked(&invitation, &unsealed), DrawCheck::Proved);
    let number = unsealed.drawn_number.map(|number| 1 + number % 10);
    let renumbered = GameOver { drawn_number: number, game_result: None, result: Some(OwnResult::Win), ..unsealed };
    assert_eq!(checked(&invitation, &renumbered), DrawCheck::Broken);
}

#[test]
fn a_secret_that_was_chosen_afterwards_is_noticed() {
    let (invitation, honest) = on(Side::A, 1);
    let changed = GameInvitation { draw_commitment: Some(DrawSecret([9; 32]).commitment()), ..invitation };
    assert_eq!(checked(&changed, &honest), DrawCheck::Broken);
    let consistent = forged(&honest, |proof| proof.commitment = DrawSecret([9; 32]).commitment());
    assert_eq!(checked(&changed, &consistent), DrawCheck::Broken);
}

#[test]
fn a_draw_without_a_commitment_is_unproved() {
    let (invitation, honest) = on(Side::A, 1);
    let silent = GameInvitation { draw_commitment: None, ..invitation.clone() };
    assert_eq!(checked(&silent, &honest), DrawCheck::Unproved);
    assert_eq!(checked(&silent, &GameOver { draw: None, ..honest.clone() }), DrawCheck::Unproved);
    let sideless = GameInvitation { role_in_match: None, ..invitation.clone() };
    assert_eq!(checked(&sideless, &honest), DrawCheck::Unproved);
    assert_eq!(checked(&sideless, &GameOver { draw: None, ..honest.clone() }), DrawCheck::Broken);
    let unnumbered = GameInvitation { attempt: None, ..invitation };
    assert_eq!(checked(&unnumbered, &honest), DrawCheck::Proved, "an attempt without a number is the first");
}

#[test]
fn a_match_without_a_draw_is_unproved() {
    let (invitation, _) = on(Side::A, 1);
    let over = ended(&first_of(1), ResultStatus::TechnicalLoss, Some(&me()));
    assert_eq!(checked(&invitation, &over), DrawCheck::Unproved);
    let mut uninvited = session();
    uninvited.is_asked(&first_of(1));
    uninvited.is_sent(&proved(&first_of(1), Side::A, &nonce(""), 1));
    assert_eq!(uninvited.history().matches()[0].draw, DrawCheck::Unproved);
}
