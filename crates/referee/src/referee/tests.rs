use league_protocol::dialect::PeerDialect;

use super::*;

fn referee() -> Referee {
    let nobody: Endpoint = "http://127.0.0.1:9/mcp".parse().unwrap();
    let settings = RefereeSettings::new("Referee", nobody.clone(), nobody);
    let referee = Referee::new(settings, Client::default(), None, Environment::real());
    let identity = RefereeIdentity {
        id: RefereeId::numbered(1),
        league: None,
        token: None,
        passes: false,
        operator_needs_token: false,
        manager: referee.shared.settings.manager.clone(),
        dialect: PeerDialect::default(),
        proven: true,
    };
    *referee.shared.identity.write().unwrap() = Some(identity);
    referee
}

fn order(attempt: u32) -> StartMatch {
    let player = |id: &str| serde_json::json!({"player_id": id, "endpoint": "http://127.0.0.1:9/mcp"});
    let order = serde_json::json!({"match_id": "R1M1", "attempt": attempt, "players": [player("P01"), player("P02")]});
    serde_json::from_value(order).unwrap()
}

fn played(attempt: u32) -> Finished {
    let state = serde_json::json!({
        "match_id": "R1M1", "attempt": attempt, "game_type": "even_odd", "state": "FINISHED",
        "player_A_id": "P01", "player_B_id": "P02",
    });
    Finished { registration: 0, purpose: MatchPurpose::League, state: serde_json::from_value(state).unwrap() }
}

#[tokio::test]
async fn an_attempt_that_has_ended_is_not_played_again() {
    let referee = referee();
    referee.shared.finished(&order(1), played(1));
    assert_eq!(referee.shared.start(order(1), MatchPurpose::League).unwrap().status, "ACCEPTED");
    assert_eq!(referee.running(), 0);
    assert_eq!(referee.shared.start(order(2), MatchPurpose::League).unwrap().status, "ACCEPTED");
    assert_eq!(referee.running(), 1);
}

#[tokio::test]
async fn a_referee_that_is_closing_refuses_matches() {
    let referee = referee();
    assert_eq!(referee.wind_up(Duration::from_secs(1)).await, 0);
    let refused = referee.shared.start(order(1), MatchPurpose::League).unwrap();
    assert_eq!((refused.status.as_str(), refused.reason.as_deref()), ("REFUSED", Some("closing")));
}

#[tokio::test]
async fn a_referee_that_registered_again_plays_a_finished_attempt_again() {
    let referee = referee();
    referee.shared.finished(&order(1), played(1));
    referee.shared.matches().registrations += 1;
    referee.shared.start(order(1), MatchPurpose::League).unwrap();
    assert_eq!(referee.running(), 1);
}
