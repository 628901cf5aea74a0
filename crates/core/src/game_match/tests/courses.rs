//! Matches that are played out, forfeited or retried.

use super::games::Heap;
use super::*;
use crate::game_match::ending::{Ending, ForfeitReason, SealedChance};
use crate::game_match::phase::MatchPhase;
use crate::rules::draw::Draw;
use crate::rules::outcome::Outcome;

use CallFailure::{TimedOut, Unreachable, Unreadable};
use Side::{A, B};

#[test]
fn both_join_and_move_at_once_and_the_draw_decides() {
    let mut test_match = TestMatch::new(EvenOdd::default());
    assert_eq!(test_match.machine.phase(), MatchPhase::WaitingForPlayers);
    test_match.plays([
        (Input::Start, &["invite A #1 try 1 in 5s", "invite B #2 try 1 in 5s"]),
        (joined(B, 2), &[]),
        (joined(A, 1), &["ask A #3 try 1 in 30s", "ask B #4 try 1 in 30s"]),
    ]);
    assert_eq!(test_match.machine.phase().as_str(), "COLLECTING_CHOICES");
    assert_eq!(test_match.machine.ending(), None);
    test_match.plays([(moved(A, 3, "even"), &[]), (moved(B, 4, "odd"), &["report"])]);
    assert_eq!(test_match.machine.phase().as_str(), "FINISHED");

    let nonces = Pair::from_fn(nonce);
    let draw =
        Draw { secret: terms().secret, match_id: terms().match_id, attempt: 1, nonces: nonces.clone(), seeded: false };
    let number = draw.number();
    assert_eq!(draw.verify(&test_match.machine.commitment(), None, number.get()), Ok(()));
    let winner = if number.get().is_multiple_of(2) { A } else { B };
    let ending = Ending {
        outcome: Outcome::Win(winner),
        moves: Pair::new(Some("even".into()), Some("odd".into())),
        course: Vec::new(),
        drawn: Some(number),
        score: None,
        sealed: Some(SealedChance { seal: draw.seal(), nonces }),
        faults: Pair::default(),
    };
    assert_eq!(test_match.machine.ending(), Some(&ending));
    let reason = test_match.machine.reason(Pair::new("P01", "P02")).unwrap();
    assert!(reason.starts_with(&format!("{} is ", number.get())), "{reason}");

    test_match.plays([(ACCEPTED, &["over A #5 in 6s", "over B #6 in 6s"]), (over_sent(B, 6), &[])]);
    assert!(!test_match.machine.is_done());
    test_match.plays([(over_sent(A, 5), &[])]);
    assert!(test_match.machine.is_done() && !test_match.machine.is_provisional());
    assert_eq!(test_match.machine.ending(), Some(&ending));
}

#[test]
fn a_game_with_turns_asks_one_side_after_the_other() {
    let mut test_match = TestMatch::joined(Heap::of(4));
    assert_eq!(test_match.machine.game().view(A), "4");
    test_match.plays([
        (moved(A, 3, "2"), &["ask B #4 try 1 in 30s"]),
        (moved(B, 4, "1"), &["ask A #5 try 1 in 30s"]),
        (moved(A, 5, "1"), &["report"]),
        (ACCEPTED, &["over A #6 in 6s", "over B #7 in 6s"]),
        (over_sent(A, 6), &[]),
        (over_sent(B, 7), &[]),
    ]);
    let ending = Ending {
        outcome: Outcome::Win(A),
        moves: Pair::new(Some("1".into()), Some("1".into())),
        course: vec![(A, "2".into()), (B, "1".into()), (A, "1".into())],
        drawn: None,
        score: None,
        sealed: None,
        faults: Pair::default(),
    };
    assert_eq!(test_match.machine.ending(), Some(&ending));
}

#[test]
fn silence_and_lost_connections_are_followed_by_growing_pauses() {
    for (fault, word, lost) in
        [(TimedOut, "timed out", ForfeitReason::TimedOut), (Unreachable, "unreachable", ForfeitReason::Unreachable)]
    {
        let mut test_match = TestMatch::new(EvenOdd::default());
        test_match.plays([
            (Input::Start, &["invite A #1 try 1 in 5s", "invite B #2 try 1 in 5s"]),
            (joined(B, 2), &[]),
            (failed(A, 1, fault), &[&format!("error A join: {word}, 1/3, pause 2s"), "pause A #3 2s"]),
            (pause_over(A, 3), &["invite A #4 try 2 in 5s"]),
            (failed(A, 4, fault), &[&format!("error A join: {word}, 2/3, pause 4s"), "pause A #5 4s"]),
            (pause_over(A, 5), &["invite A #6 try 3 in 5s"]),
            (failed(A, 6, fault), &["report"]),
        ]);
        assert_forfeit(&test_match, A, lost);

        let mut test_match = TestMatch::joined(EvenOdd::default());
        test_match.plays([
            (moved(A, 3, "even"), &[]),
            (failed(B, 4, fault), &[&format!("error B move: {word}, 1/3, pause 2s"), "pause B #5 2s"]),
            (pause_over(B, 5), &["ask B #6 try 2 in 30s"]),
            (failed(B, 6, fault), &[&format!("error B move: {word}, 2/3, pause 4s"), "pause B #7 4s"]),
            (pause_over(B, 7), &["ask B #8 try 3 in 30s"]),
            (failed(B, 8, fault), &["report"]),
        ]);
        assert_forfeit(&test_match, B, lost);
        let ending = test_match.machine.ending().unwrap();
        assert_eq!((ending.moves.a.as_deref(), &ending.moves.b, &ending.drawn), (Some("even"), &None, &None));
    }
}

#[test]
fn unreadable_answers_are_asked_again_at_once() {
    let mut test_match = TestMatch::new(EvenOdd::default());
    test_match.plays([
        (Input::Start, &["invite A #1 try 1 in 5s", "invite B #2 try 1 in 5s"]),
        (joined(B, 2), &[]),
        (failed(A, 1, Unreadable), &["error A join: unreadable, 1/3, pause 0ns", "invite A #3 try 2 in 5s"]),
        (failed(A, 3, Unreadable), &["error A join: unreadable, 2/3, pause 0ns", "invite A #4 try 3 in 5s"]),
        (failed(A, 4, Unreadable), &["report"]),
    ]);
    assert_forfeit(&test_match, A, ForfeitReason::Unreadable);
}

#[test]
fn illegal_moves_are_asked_again_at_once() {
    let mut test_match = TestMatch::joined(Heap::of(3));
    test_match.plays([
        (moved(A, 3, "3"), &["error A move: illegal \"3\", 1/3, pause 0ns", "ask A #4 try 2 in 30s"]),
        (moved(A, 4, ""), &["error A move: illegal \"\", 2/3, pause 0ns", "ask A #5 try 3 in 30s"]),
        (moved(A, 5, "one"), &["report"]),
    ]);
    assert_forfeit(&test_match, A, ForfeitReason::IllegalMoves);
}

#[test]
fn the_length_of_a_pause_depends_on_the_number_of_the_try() {
    // The second pause follows the second try, whatever the first failure was.
    let mut test_match = TestMatch::joined(Heap::of(3));
    test_match.plays([
        (moved(A, 3, "9"), &["error A move: illegal \"9\", 1/3, pause 0ns", "ask A #4 try 2 in 30s"]),
        (failed(A, 4, TimedOut), &["error A move: timed out, 2/3, pause 4s", "pause A #5 4s"]),
        (pause_over(A, 5), &["ask A #6 try 3 in 30s"]),
        (moved(A, 6, "1"), &["ask B #7 try 1 in 30s"]),
    ]);
}

#[test]
fn every_question_has_its_own_tries() {
    let mut test_match = TestMatch::started(Heap::of(3));
    test_match.feed(joined(B, 2));
    for call in [1, 3] {
        test_match.feed(failed(A, call, Unreadable));
    }
    test_match.plays([
        (joined(A, 4), &["ask A #5 try 1 in 30s"]),
        (failed(A, 5, Unreadable), &["error A move: unreadable, 1/3, pause 0ns", "ask A #6 try 2 in 30s"]),
        (moved(A, 6, "1"), &["ask B #7 try 1 in 30s"]),
        (moved(B, 7, "1"), &["ask A #8 try 1 in 30s"]),
    ]);
}

#[test]
fn a_suspended_player_has_one_try() {
    let suspended = MatchTerms { tries: Pair::new(1, 3), ..terms() };
    let mut test_match = TestMatch::started_on(suspended.clone(), EvenOdd::default());
    test_match.plays([(failed(A, 1, TimedOut), &[]), (joined(B, 2), &["report"])]);
    assert_forfeit(&test_match, A, ForfeitReason::TimedOut);

    let mut test_match = TestMatch::joined_on(suspended, EvenOdd::default());
    test_match.plays([(moved(A, 3, "?"), &[]), (moved(B, 4, "even"), &["report"])]);
    assert_forfeit(&test_match, A, ForfeitReason::IllegalMoves);
}

#[test]
fn every_player_is_asked_at_least_once() {
    let mut test_match = TestMatch::joined_on(MatchTerms { tries: Pair::new(0, 0), ..terms() }, EvenOdd::default());
    test_match.plays([(moved(A, 3, "even"), &[]), (moved(B, 4, "even"), &["report"])]);
    assert_eq!(test_match.machine.ending().unwrap().outcome, Outcome::Draw);
}

#[test]
fn pauses_grow_up_to_the_longest_duration() {
    let patient = MatchTerms { tries: Pair::new(255, 255), base_delay: Duration::MAX / 2, ..terms() };
    let mut test_match = TestMatch::started_on(patient, EvenOdd::default());
    let mut call = 1;
    for number in 1..255 {
        // B has call 2. A's pauses and calls alternate from 3 on.
        let pause = if number == 1 { 3 } else { call + 1 };
        let [error, _] = test_match.feed(failed(A, call, TimedOut)).try_into().unwrap();
        assert!(number != 60 || error.ends_with(&format!("pause {:?}", Duration::MAX)), "{error}");
        test_match.feed(pause_over(A, pause));
        call = pause + 1;
    }
    test_match.plays([(failed(A, call, TimedOut), &[])]);
}

#[test]
fn a_side_that_declines_loses_after_the_opponent_has_answered() {
    let mut test_match = TestMatch::started(EvenOdd::default());
    test_match.plays([
        (declined(B, 2), &[]),
        (failed(A, 1, TimedOut), &["error A join: timed out, 1/3, pause 2s", "pause A #3 2s"]),
        (pause_over(A, 3), &["invite A #4 try 2 in 5s"]),
        (joined(A, 4), &["report"]),
    ]);
    assert_forfeit(&test_match, B, ForfeitReason::Declined);
}

#[test]
fn a_turn_that_is_lost_ends_the_match_at_once() {
    let once = MatchTerms { tries: Pair::new(3, 1), ..terms() };
    let mut test_match = TestMatch::joined_on(once, Heap::of(3));
    test_match.plays([(moved(A, 3, "1"), &["ask B #4 try 1 in 30s"]), (failed(B, 4, Unreachable), &["report"])]);
    assert_forfeit(&test_match, B, ForfeitReason::Unreachable);
}

#[test]
fn both_sides_can_forfeit_an_invitation_or_a_move() {
    let mut test_match = TestMatch::started(EvenOdd::default());
    test_match.plays([(declined(A, 1), &[]), (declined(B, 2), &["report"])]);
    assert_double(&test_match, Pair::new(ForfeitReason::Declined, ForfeitReason::Declined));

    let once = MatchTerms { tries: Pair::new(1, 1), ..terms() };
    let mut test_match = TestMatch::joined_on(once, EvenOdd::default());
    test_match.plays([(failed(B, 4, Unreachable), &[]), (moved(A, 3, "EVEN"), &["report"])]);
    assert_double(&test_match, Pair::new(ForfeitReason::IllegalMoves, ForfeitReason::Unreachable));
}

#[track_caller]
fn assert_forfeit(test_match: &TestMatch, loser: Side, fault: ForfeitReason) {
    let ending = test_match.machine.ending().unwrap();
    let mut faults = Pair::default();
    faults[loser] = Some(fault);
    assert_eq!((ending.outcome, ending.faults), (Outcome::Forfeit(loser), faults));
    let names = Pair::new("P01", "P02");
    let reason = format!("{} {fault}. {} wins by technical loss.", names[loser], names[loser.other()]);
    assert_eq!(test_match.machine.reason(names), Some(reason));
}

#[track_caller]
fn assert_double(test_match: &TestMatch, faults: Pair<ForfeitReason>) {
    let ending = test_match.machine.ending().unwrap();
    assert_eq!((ending.outcome, ending.faults), (Outcome::DoubleForfeit, faults.map(Some)));
    assert_eq!(ending.drawn, None);
    let reason = format!("P01 {}, and P02 {}. Both forfeit.", faults.a, faults.b);
    assert_eq!(test_match.machine.reason(Pair::new("P01", "P02")), Some(reason));
}
