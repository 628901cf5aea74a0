use league_protocol::id::RoundId;
use league_protocol::message::query::{LeagueQuery, QueryParams, QueryType};
use league_protocol::side::Side;
use league_protocol::table::Method;
use league_protocol::token::Credential;

use super::*;
use crate::season::agent::{AgentId, PlayerCondition};
use crate::season::{LeaguePhase, NextAction};

fn drawn(_: &MatchId) -> Outcome {
    Outcome::Draw
}

fn finish(league: &mut League) {
    loop {
        league.play_round(drawn);
        match league.season.next_action() {
            NextAction::StartRound(_) => league.start_round(),
            NextAction::Conclude => return,
            NextAction::AwaitRegistrations | NextAction::AwaitStart | NextAction::Play(_) => {
                panic!("{:?}", league.season.next_action())
            }
        }
    }
}

#[test]
fn a_player_withdrawn_before_the_schedule_may_register_as_a_new_one() {
    let mut league = League::open();
    for number in 1..=3 {
        league.admit(&player(number));
    }
    assert!(league.withdraw(2));
    assert!(!league.withdraw(2), "said twice, done once");
    assert_eq!(league.season.players().iter().map(|one| one.id.clone()).collect::<Vec<_>>(), [p(1), p(3)]);
    assert_eq!(line(&league.register(&player(2))), "P04");
    assert_eq!(line(&league.register(&LeagueRegisterRequest { player_id: Some(p(2)), ..player(5) })), "P02");
    assert!(league.withdraw(2), "it is another one");
    assert_eq!(blame(&league.season.withdraw(&p(7), now()).unwrap_err()), "E005 5 player_id", "an unknown player");
    assert_eq!(league.replayed(), league.season);
}

#[test]
fn an_unplayed_schedule_is_made_again_without_the_withdrawn_player() {
    let mut league = League::open();
    for number in 1..=4 {
        league.admit(&player(number));
    }
    league.admit_referee(&referee(1, 2));
    league.close_registration();
    league.withdraw(1);
    let rounds = league.season.scheduled_rounds();
    assert_eq!((rounds.len(), rounds[0].bye.is_some()), (3, true));
    league.withdraw(4);
    assert_eq!(league.season.status().total_matches, 1);
    let refused = league.season.withdraw(&p(2), now()).unwrap_err();
    assert!(refused.message.contains("at least 2 players"), "{}", refused.message);
    league.start();
    assert_eq!(league.season.contestants(&m("R1M1")).unwrap().map(|one| one.id.clone()), Pair::new(p(2), p(3)));
}

#[test]
fn the_results_of_a_withdrawn_player_stand_and_it_loses_the_rest() {
    let mut league = League::running(4, &[4]);
    league.play_round(|_| Outcome::Win(Side::A));
    let before = league.season.table().row(0);
    assert!(league.withdraw(1));
    assert!(!league.withdraw(1));
    league.start_round();
    finish(&mut league);
    assert_eq!(league.season.phase(), LeaguePhase::LeagueCompleted);
    let row = league.season.table().row(0);
    assert_eq!((row.played, row.wins, row.technical_losses, row.points), (3, before.wins, 2, before.points));
    let standings = league.season.standings();
    assert_eq!(
        standings.iter().filter(|row| row.withdrawn).map(|row| row.player_id.clone()).collect::<Vec<_>>(),
        [p(1)]
    );
    assert!(league.season.withdraw(&p(2), now()).unwrap_err().message.contains("over"));
    assert_eq!(league.replayed(), league.season);
}

#[test]
fn a_held_match_of_a_withdrawn_player_is_played_and_a_returned_one_is_not() {
    let mut league = League::running(4, &[4]);
    let held = league.assign();
    league.withdraw(1);
    league.withdraw(3);
    assert_eq!(league.assign(), []);
    assert_eq!(league.report(&held[0], ended(Outcome::Win(Side::A))), Ok(ReportOutcome::Now));
    assert_eq!(league.season.outcome(&held[0].match_id), Some(Outcome::Win(Side::A)));
    league.give_back(&held[1]);
    assert_eq!(league.assign(), []);
    let third = league.season.contestants(&held[1].match_id).unwrap().map(|one| one.id == p(3));
    let lost = if third.a { Side::A } else { Side::B };
    assert_eq!(league.season.outcome(&held[1].match_id), Some(Outcome::Forfeit(lost)));
    let late = league.report(&held[1], ended(Outcome::Draw)).unwrap_err();
    assert_eq!(blame(&late), "E007 5002 match_id");
    assert_eq!(league.season.summary(league.season.current_round().unwrap()).technical_losses, 1);
}

#[test]
fn a_league_whose_players_all_withdrew_has_no_champion() {
    let mut league = League::running(3, &[1]);
    for number in 1..=3 {
        league.withdraw(number);
    }
    finish(&mut league);
    assert_eq!(league.season.matches_completed(), 3);
    assert!(league.season.champion().is_none());
}

#[test]
fn the_champion_is_the_best_player_that_did_not_withdraw() {
    let mut league = League::running(4, &[4]);
    while league.season.next_action() != NextAction::Conclude {
        let season = league.season.clone();
        league.play_round(|id| match season.contestants(id) {
            Some(players) if players.b.id == p(1) => Outcome::Win(Side::B),
            Some(_) | None => Outcome::Win(Side::A),
        });
        match league.season.next_action() {
            NextAction::StartRound(RoundId(3)) => drop(league.withdraw(1)),
            NextAction::StartRound(_) | NextAction::Conclude => {}
            NextAction::AwaitRegistrations | NextAction::AwaitStart | NextAction::Play(_) => {
                panic!("the round is not over")
            }
        }
        if matches!(league.season.next_action(), NextAction::StartRound(_)) {
            league.start_round();
        }
    }
    assert_eq!(league.season.standings()[0].player_id, p(1), "it keeps its place");
    assert_ne!(league.season.champion().unwrap().player_id, p(1));
}

#[test]
fn a_withdrawn_player_loses_its_token_and_cannot_register_again() {
    let mut league = League::with(config());
    let tokens: Vec<Credential> = (1..=3).map(|number| league.admit(&player(number)).token.into()).collect();
    league.admit_referee(&referee(1, 4));
    league.start();
    league.withdraw(2);
    let refused = league.season.authenticate(&tokens[1], Method::LeagueQuery, now()).unwrap_err();
    assert_eq!(blame(&refused), "E012 6001 auth_token");
    assert!(league.season.authenticate(&tokens[0], Method::LeagueQuery, now()).is_ok());
    let Registered::Rejected(rejection) = league.register(&player(2)) else { panic!("it is back") };
    assert!(rejection.reason.contains("withdrawn"), "{}", rejection.reason);
    assert_eq!(league.season.condition(&league.season.players()[1]), PlayerCondition::Withdrawn);
}

#[test]
fn no_player_is_paired_with_a_withdrawn_one() {
    let mut league = League::running(4, &[4]);
    league.play_round(drawn);
    league.withdraw(4);
    league.start_round();
    league.assign();
    let round = league.season.current_round().unwrap();
    assert_eq!(league.season.announced(round, false).len(), 1);
    for number in 1..=3 {
        let next = league.season.next_match(&p(number));
        assert!(next.is_none_or(|next| next.opponent_id != p(4)));
    }
    assert!(league.season.next_match(&p(4)).is_none());
    let query = LeagueQuery {
        league_id: None,
        query_type: QueryType::GetPlayerStats,
        query_params: QueryParams { player_id: Some(p(4)), round_id: None },
    };
    let answer = league.season.query(&query, &AgentId::Player(p(1))).unwrap();
    assert_eq!(answer.data.stats.unwrap().state, "WITHDRAWN");
}

#[test]
fn a_stopped_league_awards_no_match_before_it_resumes() {
    let mut league = League::running(2, &[1]);
    league.stop();
    league.withdraw(1);
    assert_eq!(league.assign(), []);
    assert_eq!(league.season.matches_completed(), 0);
    league.start();
    league.assign();
    assert_eq!(league.season.phase(), LeaguePhase::LeagueCompleted);
    assert_eq!(league.table(), ["1 P02 3", "2 P01 0"]);
}
