use std::collections::HashSet;
use std::time::Duration;

use league_protocol::draw::DrawSecret;
use league_protocol::message::start_match::Backoff;

use super::*;
use crate::game_match::MatchMachine;
use crate::game_match::effect::Effect;
use crate::game_match::input::Input;
use crate::game_match::terms::{AnswerLimits, DriveMode, MatchTerms};
use crate::rules::registry::{all_games, new_game};
use crate::season::{LeaguePhase, NextAction};

fn play(game: &GameType, assignment: &Assignment, seed: u8) -> MatchRecord {
    let span = Duration::from_secs(1);
    let terms = MatchTerms {
        match_id: assignment.match_id.clone(),
        attempt: assignment.attempt,
        secret: DrawSecret([seed; 32]),
        salt: [0; 32],
        tries: Pair::new(1, 1),
        limits: AnswerLimits { to_join: span, to_move: span, to_acknowledge: span },
        base_delay: span,
        backoff: Backoff::Exponential,
        mode: DriveMode::Flowing,
    };
    let mut bout = MatchMachine::new(terms, new_game(game).unwrap());
    let (mut effects, mut asked) = (Vec::new(), usize::from(seed));
    bout.handle(Input::Start, &mut effects);
    while let Some(effect) = effects.pop() {
        let input = match effect {
            Effect::Invite { side, call, .. } => {
                Input::Joined { side, call: Some(call), nonce: format!("{seed}").parse().unwrap() }
            }
            Effect::AskMove { side, call, .. } => {
                asked += 1;
                let legal = bout.game().legal_moves(side);
                Input::Moved { side, call: Some(call), text: legal[asked % legal.len()].clone() }
            }
            Effect::TellError { .. } => continue,
            Effect::Pause { side, call, .. } => Input::PauseOver { side, call },
            Effect::TellOver { side, call, .. } => Input::Told { side, call },
            Effect::Report => Input::Reported,
        };
        bout.handle(input, &mut effects);
    }
    assert!(bout.is_done());
    MatchRecord::of(&bout, bout.ending().unwrap(), false)
}

fn play_out(game: &GameType, players: u32, capacities: &[u32]) -> (League, Vec<MatchRecord>) {
    let mut league = League::with(LeagueConfig { game_type: game.clone(), ..config() });
    for number in 1..=players {
        let mut request = player(number);
        request.player_meta.game_types = vec![game.clone()];
        league.admit(&request);
    }
    for (number, capacity) in (1..).zip(capacities) {
        let mut request = referee(number, *capacity);
        request.referee_meta.game_types = vec![game.clone()];
        league.admit_referee(&request);
    }
    league.start();
    let mut records = Vec::new();
    loop {
        match league.season.next_action() {
            NextAction::StartRound(_) => league.start_round(),
            NextAction::Play(_) => {
                for assignment in league.assign() {
                    let record = play(game, &assignment, u8::try_from(records.len() * 37 % 251).unwrap());
                    records.push(record.clone());
                    assert_eq!(league.report(&assignment, record), Ok(ReportOutcome::Now));
                }
            }
            NextAction::Conclude => return (league, records),
            NextAction::AwaitRegistrations | NextAction::AwaitStart => panic!("nothing is to be awaited"),
        }
    }
}

#[test]
fn every_league_is_played_to_its_end_and_its_points_add_up() {
    for game in all_games() {
        for players in [2, 3, 4, 5, 10] {
            let (league, records) = play_out(&game, players, &[1, 2]);
            let matches = players * (players - 1) / 2;
            assert_eq!(
                (league.season.phase(), league.season.matches_completed()),
                (LeaguePhase::LeagueCompleted, matches)
            );
            assert_eq!(records.len(), matches as usize);
            let rows = league.season.standings();
            assert!(rows.iter().all(|row| row.played == players - 1));
            let drawn = records.iter().filter(|record| record.outcome.winner().is_none()).count();
            let points: u32 = rows.iter().map(|row| row.points).sum();
            assert_eq!(points as usize, 3 * records.len() - drawn, "{game} with {players}");
            assert_eq!(league.season.champion().unwrap().player_id, rows[0].player_id);
            assert_eq!(league.replayed(), league.season);
        }
    }
}

#[test]
fn all_players_meet_once_and_play_once_per_round() {
    for players in [2, 3, 4, 5, 10] {
        let league = League::running(players, &[1]);
        let mut meetings = HashSet::new();
        for round in league.season.scheduled_rounds() {
            let mut seen: HashSet<PlayerId> = round.bye.iter().cloned().collect();
            for each in round.matches {
                assert!(seen.insert(each.player_a_id.clone()) && seen.insert(each.player_b_id.clone()));
                let mut pair = [each.player_a_id, each.player_b_id];
                pair.sort();
                assert!(meetings.insert(pair));
            }
            assert_eq!(seen.len(), players as usize);
        }
        assert_eq!(meetings.len(), (players * (players - 1) / 2) as usize);
    }
}

#[test]
fn every_draw_of_a_league_can_be_proved_from_its_log() {
    let game = GameType::even_odd();
    let (league, _) = play_out(&game, 5, &[2]);
    let mut proved = 0;
    for event in league.log.iter().map(reread) {
        if let crate::season::event::Fact::MatchReported { match_id, attempt, record } = event.fact {
            assert!(record.proof.is_some());
            assert_eq!(record.check(&game, &match_id, attempt), Ok(()));
            proved += 1;
        }
    }
    assert_eq!(proved, 10);
}
