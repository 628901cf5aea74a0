use super::*;
use crate::season::{LeaguePhase, NextAction};

#[test]
fn reopening_discards_an_unplayed_schedule() {
    let mut league = League::open();
    league.admit(&player(1));
    league.admit(&player(2));
    league.admit_referee(&referee(1, 2));
    league.close_registration();
    assert_eq!(line(&league.register(&player(3))), "2005");
    league.reopen();
    assert_eq!((league.season.next_action(), league.season.was_reopened()), (NextAction::AwaitRegistrations, true));
    assert_eq!(line(&league.register(&player(3))), "P03");
    let before = league.log.len();
    league.reopen();
    assert_eq!(league.log.len(), before, "it was open");
    league.start();
    assert_eq!(league.season.status().total_matches, 3);
    assert_eq!(league.replayed(), league.season);
}

#[test]
fn a_stopped_league_in_which_nothing_has_ended_begins_anew() {
    let mut league = League::running(4, &[2]);
    let old = league.assign();
    assert!(league.season.reopen(now()).unwrap_err().message.contains("stop it first"));
    league.stop();
    league.reopen();
    assert_eq!(league.season.phase(), LeaguePhase::WaitingForRegistrations);
    assert!(!league.season.is_halted());
    assert_eq!(league.season.referees()[0].running, 0);
    assert!(league.report(&old[0], ended(Outcome::Draw)).is_err(), "its match is no more");
    league.admit(&player(5));
    league.start();
    let new = league.assign();
    assert_eq!(lines(&new), ["R1M1/2 REF01", "R1M2/2 REF01"]);
    assert!(league.report(&old[0], ended(Outcome::Draw)).is_err(), "it is another match of the same name");
    assert_eq!(league.report(&new[0], ended(Outcome::Draw)), Ok(ReportOutcome::Now));
    assert_eq!(league.replayed(), league.season);
}

#[test]
fn a_player_withdrawn_before_a_reopening_may_register_again() {
    let mut league = League::running(3, &[1]);
    league.withdraw(2);
    league.stop();
    league.reopen();
    assert_eq!(league.season.players().len(), 2);
    assert!(!league.withdraw(2), "it is out");
    assert_eq!(line(&league.register(&player(2))), "P04");
}

#[test]
fn a_league_with_a_result_cannot_be_reopened() {
    let mut league = League::running(4, &[2]);
    let held = league.assign();
    league.report(&held[0], ended(Outcome::Draw)).unwrap();
    league.stop();
    let refused = league.season.reopen(now()).unwrap_err();
    assert!(refused.message.contains("there are results already (1 of 6)"), "{}", refused.message);
    league.start();
    league.play_round(|_| Outcome::Draw);
    while let NextAction::StartRound(_) = league.season.next_action() {
        league.start_round();
        league.play_round(|_| Outcome::Draw);
    }
    assert!(league.season.reopen(now()).unwrap_err().message.contains("over"));
}
