//! What a referee that pulls does with a player that only acknowledges: its posts cannot arrive.

use super::*;

/// Joins, and only acknowledges the calls that are in `acknowledged`: those after the opponent has moved.
async fn acknowledging(id: &'static str, acknowledged: &'static [&'static str]) -> HttpServer {
    stub(move |request| {
        if acknowledged.contains(&request["params"]["message_type"].as_str().unwrap()) {
            std::thread::sleep(Duration::from_millis(300));
            return result(request, &json!({"status": "RECEIVED"}));
        }
        result(request, &answer(&request["params"], id))
    })
    .await
}

async fn pulling(manager: &HttpServer) -> Referee {
    let settings = RefereeSettings { pulls: true, ..settings(manager) };
    let referee = Referee::new(settings, Client::default(), None, Environment::real());
    referee.register().await.unwrap();
    referee
}

fn quick(a: &HttpServer, b: &HttpServer, manner_of_b: &Value) -> StartMatch {
    let extra = json!({
        "timeouts": {"game_join_ack_timeout_sec": 1.0, "move_timeout_sec": 1.0, "game_over_timeout_sec": 1.0,
            "max_retries": 2, "base_delay_sec": 0.0},
        "players": [{"player_id": "P01", "endpoint": a.endpoint()},
            {"player_id": "P02", "endpoint": b.endpoint(), "manner": manner_of_b}],
    });
    order([&a.endpoint(), &b.endpoint()], &extra)
}

/// The players that lose the match for a technical reason; `None` if it is not reported.
async fn losers(b: &HttpServer, manner_of_b: Value) -> Option<Value> {
    let (manager, a) = (manager().await, canonical("P01").await);
    let referee = pulling(&manager).await;
    referee.call(incoming(Call::StartMatch(quick(&a, b, &manner_of_b)))).await.unwrap();
    while referee.running() > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let report = manager.calls("report_match_result").pop()?;
    Some(report["params"]["result"]["details"]["technical_losses"].clone())
}

#[tokio::test]
async fn a_match_in_which_the_opponent_has_moved_ends_here() {
    let b = acknowledging("P02", &["CHOOSE_PARITY_CALL"]).await;
    assert_eq!(losers(&b, json!({})).await, Some(json!(["P02"])));
}

#[tokio::test]
async fn a_match_without_a_move_goes_back_unless_the_manager_knows_that_the_player_posts() {
    let b = acknowledging("P02", &["GAME_INVITATION"]).await;
    assert_eq!(losers(&b, json!({})).await, None);
    assert_eq!(losers(&b, json!({"frame": "A", "posts": true})).await, Some(json!(["P02"])));
}
