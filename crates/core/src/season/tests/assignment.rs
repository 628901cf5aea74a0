use super::*;

#[test]
fn the_referee_with_the_most_free_capacity_comes_first() {
    let mut league = League::running(12, &[1, 3, 2]);
    let assigned = league.assign();
    let expected = ["R1M1/1 REF02", "R1M2/1 REF02", "R1M3/1 REF03", "R1M4/1 REF01", "R1M5/1 REF02", "R1M6/1 REF03"];
    assert_eq!(lines(&assigned), expected);
    assert_eq!(lines(&league.season.assignments()), expected);
}

#[test]
fn no_referee_gets_more_matches_than_its_capacity() {
    let mut league = League::running(12, &[1, 2]);
    let assigned = league.assign();
    assert_eq!(lines(&assigned), ["R1M1/1 REF02", "R1M2/1 REF01", "R1M3/1 REF02"]);
    assert_eq!(lines(&league.assign()), [""; 0]);
    let running = |league: &League| league.season.referees().iter().map(|referee| referee.running).collect::<Vec<_>>();
    assert_eq!(running(&league), [1, 2]);
    league.report(&assigned[1], ended(Outcome::Draw)).unwrap();
    assert_eq!(running(&league), [0, 2]);
    assert_eq!(lines(&league.assign()), ["R1M4/1 REF01"]);
}

#[test]
fn nothing_is_assigned_before_the_first_round_and_between_rounds() {
    let mut league = League::open();
    league.admit(&player(1));
    assert_eq!(lines(&league.assign()), [""; 0]);
    let mut league = League::running(4, &[2]);
    league.play_round(|_| Outcome::Draw);
    assert_eq!(lines(&league.assign()), [""; 0]);
    assert_eq!(lines(&league.season.assignments()), [""; 0]);
}

#[test]
fn a_match_that_is_given_back_goes_to_another_as_a_new_attempt() {
    let mut league = League::running(4, &[2, 1]);
    let assigned = league.assign();
    assert_eq!(lines(&assigned), ["R1M1/1 REF01", "R1M2/1 REF01"]);
    league.give_back(&assigned[0]);
    assert_eq!(lines(&league.assign()), ["R1M1/2 REF02"]);
    assert_eq!(league.replayed(), league.season);
    // The only referee is offered the match again.
    let mut league = League::running(2, &[1]);
    for attempt in 1..4 {
        let assigned = league.assign();
        assert_eq!(lines(&assigned), [format!("R1M1/{attempt} REF01")]);
        league.give_back(&assigned[0]);
    }
}

#[test]
fn a_referee_can_give_back_only_a_match_that_it_holds() {
    let mut league = League::running(4, &[1, 1]);
    let assigned = league.assign();
    let mut strange = vec![
        Assignment { referee: r(2), ..assigned[0].clone() },
        Assignment { referee: r(9), ..assigned[0].clone() },
        Assignment { attempt: 2, ..assigned[0].clone() },
        Assignment { attempt: 0, ..assigned[0].clone() },
        Assignment { match_id: m("R2M1"), ..assigned[0].clone() },
        Assignment { match_id: m("R1M3"), ..assigned[0].clone() },
        Assignment { match_id: m("final"), ..assigned[0].clone() },
        Assignment { match_id: m("R4294967295M4294967295"), ..assigned[0].clone() },
    ];
    league.report(&assigned[1], ended(Outcome::Draw)).unwrap();
    strange.push(assigned[1].clone());
    for assignment in strange {
        assert!(!league.season.holds(&assignment));
        let fault = league.season.give_back(&assignment, now()).unwrap_err();
        assert_eq!(fault.code.unwrap().as_str(), "E007", "{assignment:?}");
    }
    assert!(league.season.holds(&assigned[0]));
}

#[test]
fn the_matches_of_a_lost_referee_are_played_again_by_another() {
    let mut league = League::running(4, &[1, 1]);
    league.assign();
    league.lose(1);
    assert_eq!(lines(&league.season.assignments()), ["R1M2/1 REF02"]);
    assert_eq!(lines(&league.assign()), [""; 0]);
    league.report(&Assignment { match_id: m("R1M2"), attempt: 1, referee: r(2) }, ended(Outcome::Draw)).unwrap();
    assert_eq!(lines(&league.assign()), ["R1M1/2 REF02"]);
    assert_eq!(league.replayed(), league.season);
}

#[test]
fn a_referee_is_lost_once_and_a_stranger_not_at_all() {
    let mut league = League::running(2, &[1]);
    league.lose(1);
    assert!(league.season.lose_referee(&r(1), now()).unwrap().events.is_empty());
    let fault = league.season.lose_referee(&r(2), now()).unwrap_err();
    assert_eq!(fault.code.unwrap().as_str(), "E013");
}

#[test]
fn a_league_without_referees_waits_for_one_to_return_or_to_come() {
    let mut league = League::running(4, &[1, 1]);
    league.assign();
    league.lose(1);
    league.lose(2);
    assert_eq!(lines(&league.assign()), [""; 0]);
    let mut helped = league.clone();
    league.admit_referee(&referee(2, 1));
    assert_eq!(lines(&league.assign()), ["R1M1/2 REF02"]);
    helped.admit_referee(&referee(3, 2));
    assert_eq!(lines(&helped.assign()), ["R1M1/2 REF03", "R1M2/2 REF03"]);
}

#[test]
fn a_referee_that_registers_again_has_lost_what_it_was_running() {
    let mut league = League::running(4, &[2, 1]);
    let before = league.assign();
    assert_eq!(lines(&before), ["R1M1/1 REF01", "R1M2/1 REF01"]);
    league.admit_referee(&referee(1, 1));
    assert_eq!(league.season.referees()[0].running, 0);
    assert_eq!(lines(&league.assign()), ["R1M1/2 REF01", "R1M2/2 REF02"]);
    let fault = league.report(&before[0], ended(Outcome::Draw)).unwrap_err();
    assert_eq!(blame(&fault), "E007 5002 attempt");
    assert_eq!(league.replayed(), league.season);
}

#[test]
fn lost_offers_are_not_counted_against_a_referee_that_returned() {
    let mut league = League::running(2, &[1]);
    let before = league.assign().remove(0);
    league.admit_referee(&referee(1, 1));
    let ruling = league.season.lose_unresponsive_referee(&before, now()).unwrap();
    assert!(ruling.events.is_empty());
    let again = league.assign().remove(0);
    assert_eq!(lines(std::slice::from_ref(&again)), ["R1M1/2 REF01"]);
    let ruling = league.season.lose_unresponsive_referee(&again, now()).unwrap();
    league.enact(ruling);
    assert!(league.season.referees()[0].lost);
}
