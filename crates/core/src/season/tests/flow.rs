use league_protocol::id::RoundId;

use super::*;
use crate::season::{LeaguePhase, NextAction};

fn state(league: &League) -> (LeaguePhase, NextAction) {
    (league.season.phase(), league.season.next_action())
}

#[test]
fn a_league_goes_through_its_phases_and_names_the_next_action() {
    let mut league = League::open();
    for number in 1..=4 {
        assert_eq!(state(&league), (LeaguePhase::WaitingForRegistrations, NextAction::AwaitRegistrations));
        league.admit(&player(number));
    }
    league.admit_referee(&referee(1, 2));
    league.close_registration();
    assert_eq!(state(&league), (LeaguePhase::CreatingSchedule, NextAction::AwaitStart));
    league.start();
    for round in 1..=3 {
        assert_eq!(state(&league), (LeaguePhase::RunningLeague, NextAction::Play(RoundId(round))));
        assert_eq!(league.season.current_round(), Some(RoundId(round)));
        league.play_round(|_| Outcome::Draw);
        if round < 3 {
            assert_eq!(state(&league), (LeaguePhase::RunningLeague, NextAction::StartRound(RoundId(round + 1))));
            league.start_round();
        }
    }
    assert_eq!(state(&league), (LeaguePhase::LeagueCompleted, NextAction::Conclude));
    assert_eq!(league.season.matches_completed(), 6);
    assert_eq!(league.replayed(), league.season);
}

#[test]
fn a_league_without_enough_players_or_a_referee_does_not_start() {
    for min_players in [0, 1] {
        let mut league = League::with(LeagueConfig { min_players, ..config() });
        league.admit_referee(&referee(1, 1));
        league.admit(&player(1));
        assert!(league.season.start(now()).is_err(), "a league needs two players in every configuration");
        league.admit(&player(2));
        league.start();
    }
    let mut league = League::with(LeagueConfig { min_players: 3, ..config() });
    let refusal = |league: &League| {
        let (start, close) = (league.season.start(now()), league.season.close_registration(now()));
        let fault = start.unwrap_err();
        assert_eq!(fault, close.unwrap_err());
        assert_eq!(blame(&fault), "E010 10 -");
        fault.message
    };
    assert!(refusal(&league).contains("0 of at least 3 players"));
    league.admit(&player(1));
    league.admit(&player(2));
    assert!(refusal(&league).contains("2 of at least 3 players"));
    league.admit(&player(3));
    assert!(refusal(&league).contains("no referee"));
    league.admit_referee(&referee(1, 1));
    league.lose(1);
    assert!(refusal(&league).contains("no referee"));
    league.admit_referee(&referee(1, 1));
    league.start();
}

#[test]
fn a_command_in_the_wrong_phase_is_refused() {
    let mut league = League::open();
    let refused = |fault: Result<CommandOutcome<()>, RequestError>| assert_eq!(blame(&fault.unwrap_err()), "E010 10 -");
    refused(league.season.stop(now()));
    assert!(league.season.start_round(now()).is_err());
    league.admit(&player(1));
    league.admit(&player(2));
    league.admit_referee(&referee(1, 1));
    league.close_registration();
    refused(league.season.close_registration(now()));
    refused(league.season.stop(now()));
    assert!(league.season.start_round(now()).is_err());
    league.start();
    refused(league.season.close_registration(now()));
    refused(league.season.start(now()));
    assert!(league.season.start_round(now()).is_err());
    league.stop();
    refused(league.season.stop(now()));
    league.start();
    league.play_round(|_| Outcome::Draw);
    refused(league.season.start(now()));
    refused(league.season.stop(now()));
    refused(league.season.close_registration(now()));
    assert!(league.season.start_round(now()).is_err());
}

#[test]
fn a_stopped_league_ends_what_is_running_and_begins_nothing() {
    let mut league = League::running(4, &[1]);
    let running = league.assign();
    assert_eq!(lines(&running), ["R1M1/1 REF01"]);
    league.stop();
    assert!(league.season.is_halted());
    assert_eq!(league.report(&running[0], ended(Outcome::Draw)), Ok(ReportOutcome::Now));
    assert_eq!(lines(&league.assign()), [""; 0]);
    assert_eq!(league.season.next_action(), NextAction::Play(RoundId(1)));
    assert_eq!(league.replayed(), league.season);
    league.start();
    assert_eq!(lines(&league.assign()), ["R1M2/1 REF01"]);
}

#[test]
fn the_next_round_waits_until_a_stopped_league_goes_on() {
    let mut league = League::running(4, &[2]);
    let running = league.assign();
    league.stop();
    for assignment in &running {
        league.report(assignment, ended(Outcome::Draw)).unwrap();
    }
    assert_eq!(league.season.next_action(), NextAction::AwaitStart);
    assert!(league.season.start_round(now()).is_err());
    league.start();
    assert_eq!(league.season.next_action(), NextAction::StartRound(RoundId(2)));
    league.start_round();
    assert_eq!(lines(&league.assign()), ["R2M1/1 REF01", "R2M2/1 REF01"]);
}

#[test]
fn a_league_that_is_stopped_in_its_last_match_is_over_all_the_same() {
    let mut league = League::running(2, &[1]);
    let running = league.assign();
    league.stop();
    league.report(&running[0], ended(Outcome::Draw)).unwrap();
    assert_eq!(state(&league), (LeaguePhase::LeagueCompleted, NextAction::Conclude));
}

#[test]
fn the_schedule_follows_the_ids_and_not_the_arrival() {
    let mut league = League::open();
    for (number, wish) in [(1, "P04"), (2, "P02"), (3, "P10"), (4, "P01")] {
        league.admit(&LeagueRegisterRequest { player_id: wish.parse().ok(), ..player(number) });
    }
    league.admit_referee(&referee(1, 1));
    league.start();
    let ids: Vec<&str> = league.season.players().iter().map(|player| player.id.as_str()).collect();
    assert_eq!(ids, ["P01", "P02", "P04", "P10"]);
    for (match_id, pair) in [("R1M1", ["P01", "P02"]), ("R1M2", ["P04", "P10"])] {
        let met = league.season.contestants(&m(match_id)).unwrap();
        let mut met = [met.a.id.as_str(), met.b.id.as_str()];
        met.sort_unstable();
        assert_eq!(met, pair);
    }
}
