use league_protocol::id::RoundId;
use league_protocol::message::query::{LeagueQuery, LeagueQueryResponse, QueryParams, QueryType};
use league_protocol::message::registration::PASS_SCHEME;
use league_protocol::message::round::RoundSummary;
use league_protocol::side::Side;

use super::*;
use crate::season::agent::AgentId;

fn by_player(number: u32) -> AgentId {
    AgentId::Player(p(number))
}

fn query(query_type: QueryType) -> LeagueQuery {
    LeagueQuery { league_id: None, query_type, query_params: QueryParams::default() }
}

fn about(query_type: QueryType, player: u32) -> LeagueQuery {
    let query_params = QueryParams { player_id: Some(p(player)), round_id: None };
    LeagueQuery { query_params, ..query(query_type) }
}

fn ask(league: &League, query: &LeagueQuery) -> LeagueQueryResponse {
    league.season.query(query, &by_player(1)).unwrap()
}

fn a_wins(_: &MatchId) -> Outcome {
    Outcome::Win(Side::A)
}

#[test]
fn before_the_schedule_players_rank_by_id() {
    let mut league = League::open();
    assert_eq!((league.table(), league.season.champion()), (vec![], None));
    for (number, wish) in [(1, "P07"), (2, "P100"), (3, "P01")] {
        league.admit(&LeagueRegisterRequest { player_id: wish.parse().ok(), ..player(number) });
    }
    assert_eq!(league.table(), ["1 P01 0", "1 P07 0", "1 P100 0"]);
    assert_eq!(league.season.record_of(&p(7)).points, 0);
    let status = ask(&league, &query(QueryType::GetStatus)).data.status.unwrap();
    assert_eq!((status.state.as_str(), status.players, status.total_rounds), ("WAITING_FOR_REGISTRATIONS", 3, 0));
    assert_eq!(ask(&league, &query(QueryType::GetSchedule)).data.schedule, Some(vec![]));
    let next = ask(&league, &query(QueryType::GetNextMatch));
    assert_eq!((next.success, next.error.as_deref()), (false, Some("the schedule is not made yet")));
}

#[test]
fn the_table_counts_what_was_played() {
    let mut league = League::running(4, &[2]);
    league.play_round(a_wins);
    let first = league.season.contestants(&m("R1M1")).unwrap().a.id.clone();
    let second = league.season.contestants(&m("R1M2")).unwrap().a.id.clone();
    let leaders = [&first, &second];
    let rows = league.season.standings();
    assert!(rows[..2].iter().all(|row| leaders.contains(&&row.player_id) && row.points == 3 && row.wins == 1));
    assert!(rows[2..].iter().all(|row| row.points == 0 && row.losses == 1));
    assert_eq!(rows.iter().map(|row| row.rank).collect::<Vec<_>>(), [1, 1, 3, 3]);
    let leader = league.season.champion().unwrap();
    assert_eq!((&leader.player_id, leader.points), (&rows[0].player_id, 3));
    assert_eq!(league.season.record_of(&first).wins, 1);
    assert_eq!(ask(&league, &query(QueryType::GetStandings)).data.standings, Some(rows));
}

#[test]
fn a_round_is_summed_up_by_the_ends_of_its_matches() {
    let mut league = League::running(8, &[4]);
    let assigned = league.assign();
    assert_eq!(league.season.summary(RoundId(1)), RoundSummary { total_matches: 4, ..RoundSummary::default() });
    let outcomes = [Outcome::Win(Side::B), Outcome::Draw, Outcome::Forfeit(Side::A), Outcome::DoubleForfeit];
    for (assignment, outcome) in assigned.iter().zip(outcomes) {
        league.report(assignment, ended(outcome)).unwrap();
    }
    let all = RoundSummary { total_matches: 4, wins: 1, draws: 1, technical_losses: 2 };
    assert_eq!(league.season.summary(RoundId(1)), all);
    for round in [0, 2, 99, u32::MAX] {
        assert_eq!(league.season.summary(RoundId(round)), RoundSummary::default());
    }
}

#[test]
fn the_next_match_is_the_first_without_a_result() {
    let mut league = League::running(4, &[1]);
    let next = |league: &League| ask(league, &query(QueryType::GetNextMatch)).data.next_match;
    let first = next(&league).unwrap();
    assert_eq!((first.match_id, first.referee_endpoint), (m("R1M1"), None));
    let assigned = league.assign();
    assert_eq!(next(&league).unwrap().referee_endpoint.as_deref(), Some("http://localhost:8001/mcp"));
    league.report(&assigned[0], ended(Outcome::Draw)).unwrap();
    assert_eq!(next(&league).unwrap().round_id, RoundId(2));
    league.play_round(a_wins);
    assert_eq!(next(&league).unwrap().round_id, RoundId(2));
    for _ in 0..2 {
        league.start_round();
        league.play_round(a_wins);
    }
    let answer = ask(&league, &query(QueryType::GetNextMatch));
    assert_eq!((answer.success, answer.error.as_deref()), (false, Some("no match is left for P01")));
}

#[test]
fn a_bye_is_skipped_on_the_way_to_the_next_match() {
    let mut league = League::running(5, &[2]);
    for round in 1..=5 {
        let rested = league.season.scheduled_round(RoundId(round)).unwrap().bye.unwrap();
        let next = league.season.next_match(&rested);
        assert_eq!(next.map(|next| next.round_id), (round < 5).then_some(RoundId(round + 1)));
        for number in 1..=5 {
            if let Some(next) = league.season.next_match(&p(number)) {
                let pair = league.season.contestants(&next.match_id).unwrap().map(|player| player.id.clone());
                let found = [(&pair.a, &pair.b), (&pair.b, &pair.a)];
                assert!(found.contains(&(&p(number), &next.opponent_id)), "{next:?}");
            }
        }
        league.play_round(a_wins);
        if round < 5 {
            league.start_round();
        }
    }
}

#[test]
fn the_schedule_is_answered_whole_or_by_round() {
    let mut league = League::running(5, &[1]);
    let assigned = league.assign();
    league.report(&assigned[0], ended(Outcome::Win(Side::B))).unwrap();
    league.assign();
    let rounds = ask(&league, &query(QueryType::GetSchedule)).data.schedule.unwrap();
    assert_eq!(rounds.len(), 5);
    assert!(rounds.iter().all(|round| round.matches.len() == 2 && round.bye.is_some() && !round.completed));
    let first = &rounds[0].matches;
    assert_eq!((first[0].status.as_str(), first[0].winner.as_ref()), ("COMPLETED", Some(&first[0].player_b_id)));
    assert_eq!((first[1].status.as_str(), first[1].winner.as_ref()), ("IN_PROGRESS", None));
    assert_eq!(rounds[1].matches[0].status, "PENDING");
    for round in 0..=7 {
        let query_params = QueryParams { player_id: None, round_id: Some(RoundId(round)) };
        let found = ask(&league, &LeagueQuery { query_params, ..query(QueryType::GetSchedule) }).data.schedule.unwrap();
        let expected = rounds.iter().filter(|each| each.round_id.0 == round).cloned().collect::<Vec<_>>();
        assert_eq!(found, expected);
    }
}

#[test]
fn the_statistics_of_a_player_add_up() {
    let mut league = League::running(4, &[2]);
    league.play_round(|_| Outcome::DoubleForfeit);
    let stats = ask(&league, &about(QueryType::GetPlayerStats, 3)).data.stats.unwrap();
    assert_eq!((stats.standing.player_id, stats.standing.points), (p(3), 1));
    assert_eq!((stats.technical_losses, stats.remaining, stats.state.as_str()), (1, 2, "ACTIVE"));
    let mut strict = League::running_with(LeagueConfig { suspend_after: 1, ..config() }, 4, &[2]);
    strict.play_round(|_| Outcome::DoubleForfeit);
    assert_eq!(ask(&strict, &query(QueryType::GetPlayerStats)).data.stats.unwrap().state, "SUSPENDED");
}

#[test]
fn the_status_counts_rounds_and_matches() {
    let mut league = League::running(5, &[2, 2]);
    league.play_round(a_wins);
    let answer = ask(&league, &query(QueryType::GetStatus));
    assert_eq!((answer.success, answer.current_round), (true, RoundId(1)));
    let status = answer.data.status.unwrap();
    assert_eq!((status.state.as_str(), status.current_round), ("RUNNING_LEAGUE", RoundId(1)));
    assert_eq!((status.players, status.referees, status.total_rounds), (5, 2, 5));
    assert_eq!((status.matches_completed, status.total_matches), (2, 10));
}

#[test]
fn only_referees_learn_the_endpoints_of_agents() {
    let league = League::running(3, &[1]);
    for query_type in [QueryType::GetPlayerDirectory, QueryType::GetRegistrations] {
        let for_player = ask(&league, &query(query_type)).data;
        let for_referee = league.season.query(&query(query_type), &AgentId::Referee(r(1))).unwrap().data;
        let endpoints = |data: &league_protocol::message::query::Findings| {
            let players = data.players.iter().chain(&data.referees).flatten();
            players.map(|entry| entry.endpoint.is_some()).collect::<Vec<_>>()
        };
        let entries = if query_type == QueryType::GetRegistrations { 4 } else { 3 };
        assert_eq!(endpoints(&for_player), vec![false; entries]);
        assert_eq!(endpoints(&for_referee), vec![true; entries]);
    }
}

#[test]
fn a_round_is_announced_with_endpoints_for_referees_only() {
    let mut league = League::running(6, &[1, 1]);
    league.assign();
    let players = league.season.announced(RoundId(1), false);
    let referees = league.season.announced(RoundId(1), true);
    assert!(players.iter().all(|each| each.player_a_endpoint.is_none() && each.player_b_endpoint.is_none()));
    assert!(referees.iter().all(|each| each.player_a_endpoint.is_some() && each.player_b_endpoint.is_some()));
    let appointed: Vec<_> = players.iter().map(|each| each.referee_id.clone().unwrap()).collect();
    assert_eq!(appointed, [r(1), r(2), r(1)]);
    let [own] = league.season.assigned(&r(2)).try_into().unwrap();
    assert_eq!((&own.match_id, own.round_id), (&referees[1].match_id, Some(RoundId(1))));
    assert!(own.player_a_endpoint.is_some() && own.player_b_endpoint.is_some());
    assert_eq!(league.season.announced(RoundId(9), true), []);
    league.lose(1);
    league.lose(2);
    assert!(league.season.announced(RoundId(1), false).iter().all(|each| each.referee_id.is_none()));
}

#[test]
fn unknown_players_and_other_leagues_are_faults() {
    let league = League::running(2, &[1]);
    for query_type in [QueryType::GetNextMatch, QueryType::GetPlayerStats] {
        let fault = league.season.query(&about(query_type, 9), &by_player(1)).unwrap_err();
        assert_eq!(blame(&fault), "E005 5 query_params.player_id");
        let fault = league.season.query(&query(query_type), &AgentId::Referee(r(1))).unwrap_err();
        assert_eq!(blame(&fault), "E003 -32602 query_params.player_id");
    }
    for query_type in QueryType::ALL {
        let elsewhere = LeagueQuery { league_id: "elsewhere".parse().ok(), ..query(query_type) };
        assert_eq!(blame(&league.season.query(&elsewhere, &by_player(1)).unwrap_err()), "E008 6003 league_id");
        let here = LeagueQuery { league_id: Some(config().league_id), ..query(query_type) };
        assert_eq!(ask(&league, &here).query_type, query_type);
    }
}

#[test]
fn referees_show_passes_only_if_all_of_them_do() {
    let mut league = League::open();
    // The third registration is the second referee's return.
    for (number, scheme, all_show) in [(1, PASS_SCHEME, true), (2, "trust me", false), (2, PASS_SCHEME, true)] {
        let mut request = referee(number, 1);
        request.referee_meta.pass_scheme = Some(scheme.into());
        league.admit_referee(&request);
        assert_eq!(league.season.referees_show_passes(), all_show);
    }
}
