use league_protocol::message::game_over::OwnResult;

use super::*;
use crate::record::MatchRecord;
use crate::season::tests::{self, League, config, player};
use crate::season::{Assignment, ReportOutcome};

fn league(double_forfeit: DoubleForfeit) -> (League, Assignment) {
    let mut config = config();
    config.scoring.double_forfeit = double_forfeit;
    let mut league = League::running_with(config, 2, &[1]);
    let assignment = league.assign().remove(0);
    (league, assignment)
}

#[test]
fn an_order_has_everything_that_a_referee_needs() {
    let mut league = League::open();
    let tokens = Pair::new(1, 2).map(|number| league.admit(&player(number)).token);
    league.admit_referee(&tests::referee(1, 1));
    league.start();
    let assignment = league.assign().remove(0);
    let (season, league_id, match_id) = (&league.season, &config().league_id, "R1M1".parse().unwrap());
    let ordered = season.order(&assignment, MatchMode::Stepped, None).unwrap();
    assert_eq!((&ordered.match_id, ordered.attempt, ordered.mode), (&match_id, 1, MatchMode::Stepped));
    assert_eq!((ordered.round_id.map(|round| round.0), ordered.draw_secret), (Some(1), None));
    assert_eq!(ordered.scoring, MatchPoints::default());
    for (side, number) in [(Side::A, 1), (Side::B, 2)] {
        let (contestant, key) = (&ordered.players[side], tokens[side].digest());
        assert_eq!((&contestant.player_id, contestant.attempts), (&PlayerId::numbered(number), Some(3)));
        assert_eq!(contestant.endpoint, format!("http://localhost:810{number}/mcp"));
        assert_eq!(contestant.display_name, format!("Player {number}"));
        let passes = [key.referee_pass(league_id, &match_id, &referee()), key.player_pass(league_id, &match_id)];
        let given = [&contestant.referee_pass, &contestant.player_pass].map(|pass| pass.as_ref().unwrap().reveal());
        assert_eq!(given, passes.each_ref().map(|pass| pass.reveal()));
    }
    let wire: StartMatch = serde_json::from_str(&serde_json::to_string(&ordered).unwrap()).unwrap();
    assert_eq!(format!("{wire:?}"), format!("{ordered:?}"));
    for unknown in ["R9M9", "final"] {
        let assignment = Assignment { match_id: unknown.parse().unwrap(), ..assignment.clone() };
        assert!(season.order(&assignment, MatchMode::Flowing, None).is_none());
    }
}

#[test]
fn a_league_that_gives_nothing_for_a_double_forfeit_says_so_in_its_orders() {
    let (league, assignment) = league(DoubleForfeit::TechnicalLoss);
    let ordered = league.season.order(&assignment, MatchMode::Flowing, Some(SECRET)).unwrap();
    assert_eq!((ordered.scoring.double_forfeit, ordered.draw_secret), (DoubleForfeit::TechnicalLoss, Some(SECRET)));
}

#[test]
fn a_report_is_read_as_exactly_what_happened() {
    for double_forfeit in [DoubleForfeit::Draw, DoubleForfeit::TechnicalLoss] {
        for (name, by_hand, conduct) in endings() {
            let (mut league, assignment) = league(double_forfeit);
            let secret = by_hand.draw_secret;
            let order = league.season.order(&assignment, MatchMode::Flowing, secret).unwrap();
            let match_machine = played(&order, conduct);
            let commitment = match_machine.commitment();
            let match_messages = MatchMessages::new(&match_machine, &order, &assignment.referee, commitment);
            let written = serde_json::to_string(&match_messages.report().unwrap()).unwrap();
            let report: MatchResultReport = serde_json::from_str(&written).unwrap();
            assert_eq!(report, match_messages.report().unwrap(), "{name}");
            let record = league.season.read_report(&report).unwrap();
            let expected = MatchRecord::of(&match_machine, match_machine.ending().unwrap());
            assert_eq!(record, expected, "{name}");
            assert_eq!(league.report(&assignment, record.clone()), Ok(ReportOutcome::Now), "{name}");
            assert_eq!(league.report(&assignment, record), Ok(ReportOutcome::Before), "{name}");
            for (player, points) in &report.result.score.0 {
                assert_eq!(league.season.record_of(player).points, *points, "{name}: {player}");
            }
            for side in Side::BOTH {
                let row = league.season.record_of(&order.players[side].player_id);
                let counts = match match_messages.over(side).unwrap().result.unwrap() {
                    OwnResult::Win => (1, 0, 0),
                    OwnResult::Draw => (0, 1, 0),
                    OwnResult::Loss | OwnResult::TechnicalLoss => (0, 0, 1),
                };
                assert_eq!((row.wins, row.draws, row.losses), counts, "{name}: {side:?} is told what is counted");
            }
        }
    }
}
