use super::*;

#[test]
fn matches_are_shared_evenly_whatever_capacity_is_claimed() {
    let mut league = League::running(12, &[1, 3, 2]);
    let assigned = league.assign();
    let expected = ["R1M1/1 REF01", "R1M2/1 REF02", "R1M3/1 REF03", "R1M4/1 REF02", "R1M5/1 REF03", "R1M6/1 REF02"];
    assert_eq!(lines(&assigned), expected);
    assert_eq!(lines(&league.season.assignments()), expected);
    let mut league = League::running(12, &[16, 1000]);
    let hoarded = league.assign().into_iter().filter(|assigned| assigned.referee == r(2)).count();
    assert_eq!(hoarded, 3);
}

#[test]
fn a_referee_off_loopback_gets_no_match_of_a_player_beside_it_while_there_is_another() {
    let at = |host: &str, port: u32| format!("http://{host}:{port}/mcp");
    let league = |third: &str, hosts: &[(&str, u32)]| {
        let mut league = League::open();
        for (number, host) in (1..).zip(["10.0.0.1", "10.0.0.2", third, "127.0.0.1"]) {
            let mut request = player(number);
            request.player_meta.contact_endpoint = at(host, 8100 + number);
            league.admit(&request);
        }
        for (number, (host, capacity)) in (1..).zip(hosts) {
            let mut request = referee(number, *capacity);
            request.referee_meta.contact_endpoint = at(host, 8000 + number);
            league.admit_referee(&request);
        }
        league.start();
        league
    };
    // The first round is P01 against P02 and P03 against P04.
    let mut two = league("10.0.0.3", &[("10.0.0.1", 9), ("10.0.0.9", 9)]);
    assert_eq!(lines(&two.assign()), ["R1M1/1 REF02", "R1M2/1 REF01"]);
    // It waits for the other referee.
    let mut busy = league("10.0.0.1", &[("10.0.0.1", 9), ("10.0.0.9", 1)]);
    let assigned = busy.assign();
    assert_eq!(lines(&assigned), ["R1M1/1 REF02"]);
    busy.report(&assigned[0], ended(Outcome::Draw)).unwrap();
    assert_eq!(lines(&busy.assign()), ["R1M2/1 REF02"]);
    let mut alone = league("10.0.0.3", &[("10.0.0.1", 9)]);
    assert_eq!(lines(&alone.assign()), ["R1M1/1 REF01", "R1M2/1 REF01"]);
    let mut house = league("10.0.0.3", &[("127.0.0.1", 9), ("10.0.0.9", 9)]);
    assert_eq!(lines(&house.assign()), ["R1M1/1 REF01", "R1M2/1 REF02"]);
}

#[test]
fn no_referee_gets_more_matches_than_its_capacity() {
    let mut league = League::running(12, &[1, 2]);
    let assigned = league.assign();
    assert_eq!(lines(&assigned), ["R1M1/1 REF01", "R1M2/1 REF02", "R1M3/1 REF02"]);
    assert_eq!(lines(&league.assign()), [""; 0]);
    let running = |league: &League| league.season.referees().iter().map(|referee| referee.running).collect::<Vec<_>>();
    assert_eq!(running(&league), [1, 2]);
    league.report(&assigned[0], ended(Outcome::Draw)).unwrap();
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
    let mut league = League::running(4, &[2, 2]);
    let assigned = league.assign();
    assert_eq!(lines(&assigned), ["R1M1/1 REF01", "R1M2/1 REF02"]);
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
fn a_referee_that_leaves_is_not_lost_and_may_come_back() {
    let mut league = League::running(4, &[1, 1]);
    league.assign();
    league.run(|season| season.leave_referee(&r(1), now()));
    let left = &league.season.referees()[0];
    assert_eq!((left.left, left.lost, left.running, left.is_absent()), (true, false, 0, true));
    assert!(league.season.leave_referee(&r(1), now()).unwrap().events.is_empty());
    assert!(league.season.lose_referee(&r(1), now()).unwrap().events.is_empty());
    assert_eq!(lines(&league.assign()), [""; 0], "the other referee is busy");
    assert_eq!(league.replayed(), league.season);
    league.admit_referee(&referee(1, 1));
    assert_eq!(lines(&league.assign()), ["R1M1/2 REF01"]);
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
    assert_eq!(lines(&before), ["R1M1/1 REF01", "R1M2/1 REF02"]);
    league.admit_referee(&referee(1, 1));
    assert_eq!(league.season.referees()[0].running, 0);
    assert_eq!(lines(&league.assign()), ["R1M1/2 REF01"]);
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
