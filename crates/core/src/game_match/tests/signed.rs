//! Signatures of joins and moves, and the nonces of a draw.

use league_protocol::draw::Signature;
use league_protocol::message::report::{PlayerSignatures, SignedIllegalMove};

use super::games::Heap;
use super::*;
use crate::record::MatchRecord;
use crate::rules::draw::Draw;
use crate::rules::outcome::Outcome;

use Side::{A, B};

fn signature(number: u8) -> Signature {
    Signature([number; 32])
}

fn signed_join(side: Side, call: u32, number: u8) -> Input {
    let nonce = format!("nonce {number}").parse().unwrap();
    Input::Joined { side, call: Some(CallNumber(call)), nonce, signature: Some(signature(number)) }
}

fn signed_move(side: Side, call: Option<u32>, text: &str, number: u8) -> Input {
    Input::Moved { side, call: call.map(CallNumber), text: text.into(), signature: Some(signature(number)) }
}

#[test]
fn the_signatures_of_a_side_are_those_of_its_join_and_its_moves_in_order() {
    let mut test_match = TestMatch::started(Heap::of(5));
    test_match.feed(signed_join(A, 1, 1));
    test_match.feed(joined(B, 2));
    let moves = [
        signed_move(A, Some(3), "1", 2),
        moved(B, 4, "1"),
        signed_move(A, None, "1", 3),
        moved(B, 6, "1"),
        moved(A, 7, "1"),
    ];
    for input in moves {
        test_match.feed(input);
    }
    let expected = PlayerSignatures {
        combined: None,
        draw_nonce: Some("nonce 1".parse().unwrap()),
        join: Some(signature(1)),
        moves: vec![Some(signature(2)), Some(signature(3)), None],
        illegal_move: None,
    };
    assert_eq!(test_match.machine.signatures(A), expected);
    assert!(test_match.machine.signatures(B).is_empty(), "a side that signs nothing");
}

#[test]
fn an_answer_that_does_not_count_leaves_no_signature() {
    let mut test_match = TestMatch::joined(EvenOdd::default());
    test_match.feed(signed_move(A, Some(3), "even", 2));
    test_match.ignores([signed_move(A, Some(3), "odd", 3), signed_move(A, None, "odd", 3), signed_join(A, 1, 4)]);
    assert_eq!(test_match.machine.signatures(A).moves, [Some(signature(2))]);
}

#[test]
fn the_last_signed_illegal_move_is_evidence_against_a_side_that_lost_by_it() {
    let mut test_match = TestMatch::joined(Heap::of(5));
    test_match.feed(signed_move(A, Some(3), "9", 1));
    test_match.feed(moved(A, 4, "1"));
    test_match.feed(moved(B, 5, "1"));
    test_match.feed(signed_move(A, Some(6), "7", 2));
    assert_eq!(test_match.machine.signatures(A), PlayerSignatures::default(), "the match is not lost yet");
    test_match.feed(signed_move(A, Some(7), "8", 3));
    test_match.feed(moved(A, 8, "9"));
    assert_eq!(test_match.machine.ending().unwrap().outcome, Outcome::Forfeit(A));
    let illegal_move = Some(SignedIllegalMove { played: "8".into(), signature: signature(3) });
    let expected =
        PlayerSignatures { draw_nonce: Some(nonce(A)), moves: vec![None], illegal_move, ..PlayerSignatures::default() };
    assert_eq!(test_match.machine.signatures(A), expected);
}

#[test]
fn an_illegal_move_is_no_evidence_against_a_side_that_fell_silent() {
    let mut test_match = TestMatch::joined(Heap::of(5));
    test_match.feed(signed_move(A, Some(3), "9", 1));
    test_match.feed(signed_move(A, Some(4), "9", 2));
    test_match.feed(failed(A, 5, CallFailure::TimedOut));
    assert_eq!(test_match.machine.ending().unwrap().outcome, Outcome::Forfeit(A));
    assert!(test_match.machine.signatures(A).is_empty());
}

#[test]
fn the_nonce_of_the_manager_stands_in_for_each_nonce_that_a_player_did_not_send() {
    let manager_nonce: DrawNonce = "of the manager".parse().unwrap();
    let bound = MatchTerms { manager_nonce: manager_nonce.clone(), ..terms() };
    let mut test_match = TestMatch::joined_on(bound, EvenOdd::default());
    test_match.feed(moved(A, 3, "even"));
    test_match.feed(signed_move(B, Some(4), "odd", 1));
    let drawn = test_match.machine.ending().unwrap().sealed.clone().unwrap();
    assert_eq!(drawn.nonces, Pair::new(nonce(A), manager_nonce));
    assert_eq!(test_match.machine.signatures(B).draw_nonce, None, "what the player sent, not what entered the draw");
}

#[test]
fn every_attempt_at_a_match_of_a_seeded_league_has_the_same_number() {
    let drawn = |seeded: bool, attempt: u32| {
        let mut test_match = TestMatch::joined_on(MatchTerms { seeded, attempt, ..terms() }, EvenOdd::default());
        test_match.feed(moved(A, 3, "even"));
        test_match.feed(moved(B, 4, "odd"));
        let (machine, ending) = (&test_match.machine, test_match.machine.ending().unwrap());
        let record = MatchRecord::of(machine, ending);
        let proof = record.proof.as_ref().unwrap();
        assert_eq!(proof.seeded, seeded);
        let (game, match_id) = ("even_odd".parse().unwrap(), "R1M1".parse().unwrap());
        assert_eq!(record.check(&game, &match_id, attempt), Ok(()));
        assert_eq!(record.check(&game, &match_id, attempt + 1).is_ok(), seeded);
        (ending.drawn.unwrap(), ending.sealed.clone().unwrap().seal)
    };
    assert_eq!(drawn(true, 1), drawn(true, 2));
    assert_ne!(drawn(false, 1).1, drawn(false, 2).1);
    let zero = Draw {
        attempt: 0,
        secret: terms().secret,
        match_id: terms().match_id,
        nonces: Pair::from_fn(nonce),
        seeded: false,
    };
    assert_eq!(drawn(true, 2).1, zero.seal());
}
