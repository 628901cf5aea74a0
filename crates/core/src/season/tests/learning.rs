use league_protocol::dialect::PeerDialect;
use league_protocol::frame::Frame;
use league_protocol::message::report::LearnedDialect;
use league_protocol::quirk::{Quirk, Quirks};

use super::*;
use crate::season::agent::AgentId;

fn learned(dialect: Option<PeerDialect>, quirks: &[Quirk]) -> LearnedDialect {
    LearnedDialect { dialect, quirks: quirks.iter().copied().collect(), shows_token: false }
}

fn who(number: u32) -> AgentId {
    AgentId::Player(p(number))
}

#[track_caller]
fn learn(league: &mut League, agent: &AgentId, learned: &LearnedDialect) -> usize {
    let events: Vec<_> = league.season.learn(agent, learned, now()).into_iter().collect();
    let count = events.len();
    league.enact(CommandOutcome { events, reply: () });
    assert_eq!(league.replayed(), league.season);
    count
}

#[test]
fn a_learned_dialect_is_recorded_once_and_survives_a_restart() {
    let mut league = League::running(2, &[1]);
    let parity = PeerDialect::default().calling(league_protocol::table::Method::ChooseParity, "parity_choose");
    let news = learned(Some(parity.clone()), &[Quirk::NoToken]);
    assert_eq!(learn(&mut league, &who(1), &news), 1);
    assert_eq!(learn(&mut league, &who(1), &news), 0);
    assert_eq!(learn(&mut league, &who(1), &learned(None, &[Quirk::NoToken, Quirk::OddTime])), 1);
    let (dialect, quirks) = league.season.dialect_of(&who(1)).unwrap();
    assert_eq!(*dialect, parity);
    assert!(quirks.has(Quirk::NoToken) && quirks.has(Quirk::OddTime));
    assert_eq!(learn(&mut league, &AgentId::Referee(r(1)), &learned(None, &[Quirk::TakesNoOrders])), 1);
}

#[test]
fn nothing_is_recorded_about_canonical_or_unknown_agents() {
    let mut league = League::running(2, &[1]);
    assert_eq!(learn(&mut league, &who(1), &learned(Some(PeerDialect::default()), &[])), 0);
    assert_eq!(learn(&mut league, &who(9), &learned(Some(PeerDialect::from(Frame::Typed)), &[])), 0);
}

#[test]
fn the_order_says_whether_a_player_has_shown_its_token() {
    let mut league = League::running(2, &[1]);
    let shown = LearnedDialect { shows_token: true, ..LearnedDialect::default() };
    assert_eq!(learn(&mut league, &who(2), &shown), 1);
    assert_eq!(learn(&mut league, &who(2), &shown), 0);
    assert_eq!(learn(&mut league, &AgentId::Referee(r(1)), &shown), 0);
    let assigned = league.assign();
    let order = league.season.order(&assigned[0], Default::default(), None).unwrap();
    assert_eq!((order.players.a.shows_token, order.players.b.shows_token), (false, true));
}

#[test]
fn the_order_names_the_dialect_of_a_player() {
    let mut league = League::running(2, &[1]);
    learn(&mut league, &who(2), &learned(Some(PeerDialect::from(Frame::Bare)), &[]));
    let assigned = league.assign();
    let order = league.season.order(&assigned[0], Default::default(), None).unwrap();
    assert_eq!(order.players.a.dialect, PeerDialect::default());
    assert_eq!(order.players.b.dialect.frame(), Frame::Bare);
}

#[test]
fn a_registration_gives_the_first_dialect_and_does_not_replace_a_learned_one() {
    let mut league = League::open();
    let register = |league: &mut League, dialect: PeerDialect| {
        let random = league.random();
        let outcome = league.season.register_player(&player(1), None, &random, now()).unwrap();
        let outcome = league.season.note_dialect(outcome, dialect, Quirks::default(), now());
        let events = outcome.events.len();
        league.enact(outcome);
        events
    };
    assert_eq!(register(&mut League::open(), PeerDialect::default()), 1, "the canonical dialect is not recorded");
    assert_eq!(register(&mut league, Frame::Nested.into()), 2);
    assert_eq!(league.season.dialect_of(&who(1)).unwrap().0.frame(), Frame::Nested);
    learn(&mut league, &who(1), &learned(Some(PeerDialect::from(Frame::Typed)), &[]));
    register(&mut league, Frame::Nested.into());
    let (dialect, quirks) = league.season.dialect_of(&who(1)).unwrap();
    assert_eq!((dialect.frame(), quirks.has(Quirk::RegistersOften)), (Frame::Typed, true));
    assert_eq!(league.replayed(), league.season);
}

#[test]
fn an_event_that_records_a_known_dialect_is_refused() {
    let mut league = League::running(2, &[1]);
    let event = league.season.learn(&who(1), &learned(None, &[Quirk::NoToken]), now()).unwrap();
    league.season.apply(&event).unwrap();
    assert!(league.season.apply(&event).is_err());
}
