//! Damaged logs: an event that cannot follow is refused and changes nothing.

use crate::season::evidence::ReturnCause;
use league_protocol::id::RoundId;

use super::*;
use crate::season::BadEvent;
use crate::season::agent::RegisteredPlayer;
use crate::season::event::Fact;

fn refuses(league: &League, fact: Fact) -> BadEvent {
    let mut season = league.season.clone();
    let bad = season.apply(&Event { at: now(), fact }).unwrap_err();
    assert_eq!(season, league.season);
    bad
}

fn assigned(match_id: &str, attempt: u32, referee: u32) -> Fact {
    Fact::MatchAssigned { match_id: m(match_id), attempt, referee: r(referee), draw: None }
}

fn started(round: u32) -> Fact {
    Fact::RoundStarted { round: RoundId(round), pairings: vec![[p(1), p(2)]], byes: vec![] }
}

#[test]
fn a_round_pairs_known_players_and_none_of_them_twice() {
    let mut league = League::running(4, &[2]);
    league.play_round(|_| Outcome::Draw);
    let with = |pairings: &[[u32; 2]]| {
        let pairings = pairings.iter().map(|pair| pair.map(p)).collect();
        Fact::RoundStarted { round: RoundId(2), pairings, byes: vec![] }
    };
    refuses(&league, with(&[]));
    refuses(&league, with(&[[1, 1]]));
    refuses(&league, with(&[[1, 2], [3, 2]]));
    assert_eq!(refuses(&league, with(&[[1, 2], [3, 9]])), BadEvent::Unknown("P09".into()));
}

#[test]
fn a_log_begins_with_its_league_and_opens_it_once() {
    let league = League::running(2, &[1]);
    assert_eq!(Season::replay([]), Err(BadEvent::NotOpened));
    assert_eq!(Season::replay(&league.log[1..]), Err(BadEvent::NotOpened));
    assert_eq!(refuses(&league, league.log[0].fact.clone()), BadEvent::OpenedTwice);
}

#[test]
fn a_round_begins_when_it_is_due() {
    let league = League::running(4, &[2]);
    for round in [0, 1, 2, 3, u32::MAX] {
        refuses(&league, started(round));
    }
    let mut between = league;
    between.play_round(|_| Outcome::Draw);
    for round in [0, 1, 3, u32::MAX] {
        refuses(&between, started(round));
    }
    let mut over = League::running(2, &[1]);
    over.play_round(|_| Outcome::Draw);
    refuses(&over, started(2));
    refuses(&League::open(), started(1));
}

#[test]
fn a_round_ends_once_and_with_all_its_results() {
    let mut league = League::running(4, &[2]);
    refuses(&league, Fact::RoundCompleted { round: RoundId(1) });
    refuses(&league, Fact::LeagueCompleted);
    league.play_round(|_| Outcome::Draw);
    refuses(&league, Fact::RoundCompleted { round: RoundId(1) });
    refuses(&league, Fact::LeagueCompleted);
    let mut over = League::running(2, &[1]);
    over.play_round(|_| Outcome::Draw);
    refuses(&over, Fact::LeagueCompleted);
    refuses(&League::open(), Fact::LeagueCompleted);
}

#[test]
fn a_match_is_assigned_once_to_a_referee_with_capacity() {
    let mut league = League::running(6, &[1, 1]);
    for attempt in [0, 2, u32::MAX] {
        refuses(&league, assigned("R1M1", attempt, 1));
    }
    assert_eq!(refuses(&league, assigned("R1M1", 1, 9)), BadEvent::Unknown("REF09".into()));
    for match_id in ["R1M4", "R2M1", "R0M0", "final"] {
        assert_eq!(refuses(&league, assigned(match_id, 1, 1)), BadEvent::Unknown(match_id.into()));
    }
    league.assign();
    refuses(&league, assigned("R1M1", 1, 2));
    refuses(&league, assigned("R1M1", 2, 2));
    refuses(&league, assigned("R1M3", 1, 1));
    league.lose(2);
    refuses(&league, assigned("R1M2", 2, 2));
    refuses(&league, Fact::RefereeLost { referee: r(2) });
    let mut halted = League::running(4, &[2]);
    halted.stop();
    refuses(&halted, assigned("R1M1", 1, 1));
}

#[test]
fn a_match_is_reported_or_given_back_on_the_attempt_that_is_held() {
    let mut league = League::running(4, &[1]);
    let reported = |match_id: &str, attempt| Fact::MatchReported {
        match_id: m(match_id),
        attempt,
        record: ended(Outcome::Draw),
        commitments: Vec::new(),
    };
    let returned =
        |match_id: &str, attempt| Fact::MatchReturned { match_id: m(match_id), attempt, cause: ReturnCause::Refused };
    let held = league.assign();
    for (match_id, attempt) in [("R1M1", 0), ("R1M1", 2), ("R1M2", 0), ("R1M2", 1), ("R3M1", 1), ("R0M1", 1)] {
        refuses(&league, reported(match_id, attempt));
        refuses(&league, returned(match_id, attempt));
    }
    league.report(&held[0], ended(Outcome::Draw)).unwrap();
    refuses(&league, reported("R1M1", 1));
    refuses(&league, returned("R1M1", 1));
}

#[test]
fn agents_register_once_and_only_known_ones_return() {
    let mut league = League::open();
    league.admit(&player(1));
    league.admit_referee(&referee(1, 1));
    let (first, second) = (league.log[1].fact.clone(), league.log[2].fact.clone());
    refuses(&league, first);
    refuses(&league, second);
    refuses(&league, Fact::RegistrationClosed);
    let RegisteredPlayer { profile, grant, .. } = league.season.players()[0].clone();
    let of_player = || (profile.clone(), grant.clone());
    let (profile, grant) = of_player();
    refuses(&league, Fact::PlayerReturned { player: p(2), profile, grant });
    let (profile, grant) = of_player();
    refuses(&league, Fact::RefereeReturned { referee: r(2), profile, capacity: 1, grant, commitments: Vec::new() });
    refuses(&league, Fact::RefereeLost { referee: r(2) });
    let mut over = League::running(2, &[1]);
    over.play_round(|_| Outcome::Draw);
    let (profile, grant) = of_player();
    refuses(&over, Fact::PlayerRegistered { player: p(3), profile, grant });
    let (profile, grant) = of_player();
    refuses(&over, Fact::RefereeRegistered { referee: r(2), profile, capacity: 1, grant, commitments: Vec::new() });
}

#[test]
fn a_league_is_stopped_while_it_runs_and_goes_on_when_it_was_stopped() {
    let mut league = League::open();
    refuses(&league, Fact::Halted);
    refuses(&league, Fact::Resumed);
    league = League::running(2, &[1]);
    refuses(&league, Fact::Resumed);
    league.stop();
    refuses(&league, Fact::Halted);
}
