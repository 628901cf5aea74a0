//! An agent has one valid token at a time; it expires and never appears in a log.

use std::time::Duration;

use league_protocol::message::query::{LeagueQuery, QueryParams, QueryType};
use league_protocol::table::Method;
use league_protocol::token::{Credential, Token};

use super::*;
use crate::season::agent::AgentId;

fn opens(league: &League, token: &str, at: Timestamp) -> Option<AgentId> {
    match league.season.authenticate(&Credential::new(token), Method::LeagueQuery, at) {
        Ok(agent) => Some(agent),
        Err(fault) => {
            assert_eq!(blame(&fault), "E012 6001 auth_token");
            assert!(token.is_empty() || !fault.message.contains(token));
            None
        }
    }
}

#[test]
fn a_token_works_for_its_owner_only() {
    let mut league = League::open();
    let player = league.admit(&player(1)).token;
    let referee = league.admit_referee(&referee(1, 1)).token;
    assert_eq!(opens(&league, player.reveal(), now()), Some(AgentId::Player(p(1))));
    assert_eq!(opens(&league, referee.reveal(), now()), Some(AgentId::Referee(r(1))));
}

#[test]
fn every_wrong_token_is_refused_with_the_same_error() {
    let mut league = League::open();
    let token = league.admit(&player(1)).token;
    league.admit(&player(2));
    let token = token.reveal();
    let random = token.strip_prefix("tok-P01-").unwrap();
    let wrong = [
        String::new(),
        "tok-".into(),
        "tok-P01".into(),
        "tok-P01-".into(),
        random.into(),
        token[..token.len() - 1].into(),
        format!("{token}A"),
        format!(" {token}"),
        token.to_lowercase(),
        format!("tok-P02-{random}"),
        format!("tok-P03-{random}"),
        format!("tok-REF01-{random}"),
        Token::mint("P01", &[9; 32]).reveal().into(),
        format!("pass-{random}"),
        "x".repeat(100_000),
        league.season.players()[0].grant.digest.manager_pass(&league.season.config().league_id).reveal().into(),
        serde_json::to_value(&league.season.players()[0].grant.digest).unwrap().as_str().unwrap().into(),
    ];
    for text in wrong {
        assert_eq!(opens(&league, &text, now()), None, "{text:.80}");
    }
}

#[test]
fn a_token_is_good_until_it_expires_and_not_after() {
    let mut league = League::with(LeagueConfig { token_ttl_hours: 2, ..config() });
    let token = league.admit(&player(1)).token;
    let after = |seconds| opens(&league, token.reveal(), now().after(Duration::from_secs(seconds))).is_some();
    assert_eq!((after(0), after(7199), after(7200), after(7201)), (true, true, false, false));
}

#[test]
fn a_token_without_end_survives_a_restart() {
    let mut league = League::with(LeagueConfig { token_ttl_hours: u32::MAX, ..config() });
    let token = league.admit(&player(1)).token;
    assert!(opens(&league, token.reveal(), now().after(Duration::from_hours(100_000))).is_some());
    assert_eq!(league.replayed(), league.season);
}

#[test]
fn a_fresh_token_replaces_the_one_before() {
    let mut league = League::running(2, &[1]);
    let first = league.admit(&player(1)).token;
    let second = league.admit(&player(1)).token;
    assert_eq!(opens(&league, first.reveal(), now()), None);
    assert_eq!(opens(&league, second.reveal(), now()), Some(AgentId::Player(p(1))));
    let first = league.admit_referee(&referee(1, 1)).token;
    let second = league.admit_referee(&referee(1, 1)).token;
    assert_eq!(opens(&league, first.reveal(), now()), None);
    assert_eq!(opens(&league, second.reveal(), now()), Some(AgentId::Referee(r(1))));
}

#[test]
fn returning_makes_an_expired_token_good_again() {
    let mut league = League::open();
    league.admit(&player(1));
    let later = now().after(Duration::from_hours(25));
    let ruling = league.season.register_player(&player(1), None, &[9; 32], later).unwrap();
    let token = admitted(league.enact(ruling)).token;
    assert!(opens(&league, token.reveal(), later.after(Duration::from_hours(23))).is_some());
}

#[test]
fn neither_the_log_nor_an_answer_holds_a_token() {
    let mut league = League::open();
    let mut tokens: Vec<Token> = (1..=3).map(|number| league.admit(&player(number)).token).collect();
    tokens.push(league.admit_referee(&referee(1, 2)).token);
    tokens.push(league.admit(&player(1)).token);
    tokens.push(league.admit_referee(&referee(1, 2)).token);
    league.start();
    league.play_round(|_| Outcome::Draw);
    let mut shown = serde_json::to_string(&league.log).unwrap();
    shown += &format!("{:?}", league.season);
    for query_type in QueryType::ALL {
        let query = LeagueQuery { league_id: None, query_type, query_params: QueryParams::default() };
        shown += &serde_json::to_string(&league.season.query(&query, &AgentId::Player(p(1))).unwrap()).unwrap();
    }
    for token in tokens {
        let (_, random) = token.reveal().rsplit_once("-").unwrap();
        assert!(!shown.contains(token.reveal()) && !shown.contains(random));
        assert!(shown.contains(serde_json::to_value(token.digest()).unwrap().as_str().unwrap()));
    }
}
