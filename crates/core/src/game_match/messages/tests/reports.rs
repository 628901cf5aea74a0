use league_protocol::message::game_over::OwnResult;
use league_protocol::message::registration::{AgentMeta, LeagueRegisterRequest, RefereeRegisterRequest};
use league_protocol::quirk::Quirks;

use super::*;
use crate::record::MatchRecord;
use crate::season::config::LeagueConfig;
use crate::season::event::Event;
use crate::season::{Assignment, ReportOutcome, Season};

fn enact(season: &mut Season, events: &[Event]) {
    events.iter().for_each(|event| season.apply(event).unwrap());
}

fn season(double_forfeit: DoubleForfeit) -> (Season, Assignment) {
    let mut config = LeagueConfig::even_odd("league_2025_even_odd".parse().unwrap());
    config.scoring.double_forfeit = double_forfeit;
    let (mut season, _) = Season::open(config, now());
    let meta = |name: &str, port: u32| AgentMeta {
        display_name: name.into(),
        version: "1.0.0".into(),
        protocol_version: None,
        game_types: vec![GameType::even_odd()],
        contact_endpoint: format!("http://localhost:{port}/mcp"),
        max_concurrent_matches: None,
        pass_scheme: None,
        accepts_batches: false,
    };
    let quirks = Quirks::default();
    let referee =
        RefereeRegisterRequest { referee_meta: meta("Referee", 8001), referee_id: None, join_key: None, quirks };
    let events = season.register_referee(&referee, None, &[3; 32], now()).unwrap().events;
    enact(&mut season, &events);
    for number in [1, 2_u8] {
        let player_meta = meta(&format!("Agent {number}"), 8100 + u32::from(number));
        let player = LeagueRegisterRequest { player_meta, player_id: None, join_key: None, quirks };
        let events = season.register_player(&player, None, &[number; 32], now()).unwrap().events;
        enact(&mut season, &events);
    }
    let events = season.start(now()).unwrap().events;
    enact(&mut season, &events);
    let assigned = season.assign(now());
    enact(&mut season, &assigned.events);
    (season, assigned.reply[0].clone())
}

#[test]
fn an_order_has_everything_that_a_referee_needs() {
    let (season, assignment) = season(DoubleForfeit::Draw);
    let ordered = season.order(&assignment, MatchMode::Stepped, None).unwrap();
    assert_eq!((ordered.match_id.as_str(), ordered.attempt, ordered.mode), ("R1M1", 1, MatchMode::Stepped));
    assert_eq!((ordered.round_id.map(|round| round.0), ordered.draw_secret), (Some(1), None));
    assert_eq!(ordered.scoring, MatchPoints::default());
    let by_hand = order("even_odd");
    for side in Side::BOTH {
        let (made, expected) = (&ordered.players[side], &by_hand.players[side]);
        assert_eq!((&made.player_id, &made.endpoint), (&expected.player_id, &expected.endpoint));
        assert_eq!((&made.display_name, made.attempts), (&expected.display_name, Some(3)));
        let passes = |player: &Contestant| {
            [&player.referee_pass, &player.player_pass].map(|pass| pass.as_ref().unwrap().reveal().to_owned())
        };
        assert_eq!(passes(made), passes(expected));
    }
    let wire: StartMatch = serde_json::from_str(&serde_json::to_string(&ordered).unwrap()).unwrap();
    assert_eq!(format!("{wire:?}"), format!("{ordered:?}"));
    let nowhere = Assignment { match_id: "R9M9".parse().unwrap(), ..assignment.clone() };
    assert!(season.order(&nowhere, MatchMode::Flowing, None).is_none());
    let foreign = Assignment { match_id: "final".parse().unwrap(), ..assignment };
    assert!(season.order(&foreign, MatchMode::Flowing, None).is_none());
}

#[test]
fn a_league_that_gives_nothing_for_a_double_forfeit_says_so_in_its_orders() {
    let (season, assignment) = season(DoubleForfeit::TechnicalLoss);
    let ordered = season.order(&assignment, MatchMode::Flowing, Some(SECRET)).unwrap();
    assert_eq!((ordered.scoring.double_forfeit, ordered.draw_secret), (DoubleForfeit::TechnicalLoss, Some(SECRET)));
}

#[test]
fn a_report_is_read_as_exactly_what_happened() {
    for double_forfeit in [DoubleForfeit::Draw, DoubleForfeit::TechnicalLoss] {
        for (name, by_hand, conduct) in endings() {
            let (mut season, assignment) = season(double_forfeit);
            let secret = by_hand.draw_secret;
            let order = season.order(&assignment, MatchMode::Flowing, secret).unwrap();
            let (match_machine, referee) = (played(&order, conduct), assignment.referee.clone());
            let match_messages = MatchMessages::new(&match_machine, &order, &referee, match_machine.commitment());
            let written = serde_json::to_string(&match_messages.report().unwrap()).unwrap();
            let report: MatchResultReport = serde_json::from_str(&written).unwrap();
            assert_eq!(report, match_messages.report().unwrap(), "{name}");
            let record = season.read_report(&report).unwrap();
            assert_eq!(
                record,
                MatchRecord::of(&match_machine, match_machine.ending().unwrap(), secret.is_some()),
                "{name}"
            );
            let counted = season.report(&referee, &report.match_id, report.attempt, record.clone(), now()).unwrap();
            assert_eq!(counted.reply, ReportOutcome::Now, "{name}");
            enact(&mut season, &counted.events);
            let again = season.report(&referee, &report.match_id, report.attempt, record, now()).unwrap();
            assert_eq!(again.reply, ReportOutcome::Before, "{name}");
            for (player, points) in &report.result.score.0 {
                assert_eq!(season.record_of(player).points, *points, "{name}: {player}");
            }
            for side in Side::BOTH {
                let (own, row) = (match_messages.over(side).unwrap(), season.record_of(&order.players[side].player_id));
                let counts = match own.result.unwrap() {
                    OwnResult::Win => (1, 0, 0),
                    OwnResult::Draw => (0, 1, 0),
                    OwnResult::Loss | OwnResult::TechnicalLoss => (0, 0, 1),
                };
                assert_eq!((row.wins, row.draws, row.losses), counts, "{name}: {side:?} is told what is counted");
            }
        }
    }
}
