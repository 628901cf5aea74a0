//! Only the operator may act.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use league_dashboard::DashboardSettings;
use league_dashboard::operate::{ActionFuture, Operator, OperatorAction};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{MatchId, RefereeId};
use league_protocol::message::step::MatchState;
use league_protocol::token::Credential;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::support::{Site, begun};

/// Records the actions, and answers with the state that a test gives.
#[derive(Debug, Default)]
pub(crate) struct RecordingOperator(Mutex<Vec<OperatorAction>>, pub(crate) OnceLock<serde_json::Value>);

impl Operator for RecordingOperator {
    fn act(&self, action: OperatorAction) -> ActionFuture<'_, ()> {
        Box::pin(async move {
            if action == OperatorAction::Stop {
                return Err(RequestError::new(ErrorCode::E010, None, "not <now>"));
            }
            self.0.lock().unwrap().push(action);
            Ok(())
        })
    }

    fn referee_latency(&self, referee: &RefereeId) -> Option<Duration> {
        (referee.as_str() == "REF01").then(|| Duration::from_micros(4200))
    }

    fn match_state(&self, match_id: MatchId) -> ActionFuture<'_, MatchState> {
        Box::pin(async move {
            let state = serde_json::json!({
                "match_id": match_id, "attempt": 1, "game_type": "even_odd", "state": "COLLECTING_CHOICES",
                "waiting_for": "collect_choices", "player_A_id": "P01", "player_B_id": "P02",
            });
            Ok(serde_json::from_value(self.1.get().cloned().unwrap_or(state)).unwrap())
        })
    }
}

async fn operated(token: Option<&str>) -> (Site, Arc<RecordingOperator>) {
    let token = token.map(|token| Credential::new(token).digest());
    let site = Site::with(&begun(4, 1).events, DashboardSettings { token, ..DashboardSettings::default() }).await;
    let operator = Arc::new(RecordingOperator::default());
    site.dashboard.operated_by(operator.clone());
    (site, operator)
}

#[tokio::test]
async fn only_the_operators_token_operates() {
    let (site, operator) = operated(Some("right")).await;
    let page = site.get("/").await.body;
    assert!(page.contains("id=\"operate\"") && page.contains("name=\"token\""), "{page}");
    for body in ["action=start", "action=start&token=", "action=start&token=wrong"] {
        assert_eq!(site.post("/operate", &[], body).await.status, 403, "{body}");
    }
    assert!(operator.0.lock().unwrap().is_empty());
    let done = site.post("/operate", &[], "action=start&token=right").await;
    assert_eq!((done.status, done.header("location")), (303, Some("/")));
    assert_eq!(*operator.0.lock().unwrap(), [OperatorAction::Start]);
}

#[tokio::test]
async fn without_a_token_this_machine_operates_but_no_other_page() {
    let (site, operator) = operated(None).await;
    for foreign in ["origin: http://127.0.0.1:1", "origin: null", "sec-fetch-site: cross-site"] {
        assert_eq!(site.post("/operate", &[foreign], "action=start").await.status, 403, "{foreign}");
    }
    let own = format!("origin: http://{}", site.address);
    assert_eq!(site.post("/operate", &[&own], "action=start").await.status, 303);
    assert_eq!(*operator.0.lock().unwrap(), [OperatorAction::Start]);
    assert_eq!(site.post("/operate", &[], "action=dance").await.status, 400);
    assert_eq!(site.get("/operate").await.status, 404);
    let refused = site.post("/operate", &[], "action=stop").await;
    assert_eq!(refused.status, 409);
    assert!(refused.body.contains("not &lt;now&gt;"), "{}", refused.body);
}

#[tokio::test]
async fn the_page_of_a_match_offers_the_step_it_waits_for() {
    let (site, operator) = operated(None).await;
    let running = site.get("/api/v1/schedule").await.json();
    let game = running["items"][0]["matches"].as_array().unwrap().iter().find(|game| game["status"] == "IN_PROGRESS");
    let id = game.unwrap()["match_id"].as_str().unwrap().to_owned();
    let page = site.get(&format!("/matches/{id}")).await.body;
    assert!(page.contains("value=\"collect_choices\""), "{page}");
    let done = site.post("/operate", &[], &format!("action=collect_choices&match={id}")).await;
    assert_eq!(done.header("location"), Some(format!("/matches/{id}").as_str()));
    assert!(matches!(&operator.0.lock().unwrap()[..], [OperatorAction::Step(found, _)] if found.as_str() == id));
}

#[tokio::test]
async fn a_running_match_says_whom_it_waits_for_and_how_long() {
    let (site, operator) = operated(None).await;
    let running = site.get("/api/v1/schedule").await.json();
    let game = running["items"][0]["matches"].as_array().unwrap().iter().find(|game| game["status"] == "IN_PROGRESS");
    let game = game.unwrap();
    let (id, a, b) = (&game["match_id"], &game["player_A_id"], &game["player_B_id"]);
    let state = serde_json::json!({
        "match_id": id, "attempt": 1, "game_type": "even_odd", "state": "COLLECTING_CHOICES",
        "player_A_id": a, "player_B_id": b, "chosen": { b.as_str().unwrap(): true },
        "open_calls": { a.as_str().unwrap(): { "left_ms": 11_500, "limit_ms": 30_000 } },
    });
    operator.1.set(state).unwrap();
    let page = site.get(&format!("/matches/{}", id.as_str().unwrap())).await.body;
    for part in ["Waiting for the move of Player", "<b>12</b> s left", "has moved", "data-running"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("COLLECTING_CHOICES"), "{page}");
}

#[tokio::test]
async fn a_player_has_joined_a_match_only_when_its_referee_says_so() {
    let (site, operator) = operated(None).await;
    let running = site.get("/api/v1/schedule").await.json();
    let game = running["items"][0]["matches"].as_array().unwrap().iter().find(|game| game["status"] == "IN_PROGRESS");
    let game = game.unwrap();
    let (id, a, b) = (&game["match_id"], &game["player_A_id"], &game["player_B_id"]);
    let state = serde_json::json!({
        "match_id": id, "attempt": 1, "game_type": "even_odd", "state": "WAITING_FOR_PLAYERS",
        "player_A_id": a, "player_B_id": b, "joined": { b.as_str().unwrap(): true },
    });
    operator.1.set(state).unwrap();
    let page = site.get(&format!("/matches/{}", id.as_str().unwrap())).await.body;
    let corner = |side: &str| page.split(&format!("class=\"corner\" data-side=\"{side}\"")).nth(1).unwrap();
    assert!(corner("A").split("</div>").next().unwrap().contains("<p class=\"played\">…</p>"), "{page}");
    assert!(corner("B").split("</div>").next().unwrap().contains("<p class=\"played\">joined</p>"), "{page}");
}

#[tokio::test]
async fn the_agents_page_shows_how_fast_referees_answer() {
    let (site, _) = operated(None).await;
    let page = site.get("/agents").await.body;
    assert!(page.contains("4 ms"), "{page}");
    let agents = site.get("/api/v1/agents").await.json();
    assert_eq!(agents["items"][0]["answers_in_ms"], 4.2);
    assert!(agents["items"][1]["answers_in_ms"].is_null());
    let then = site.get("/at/5/agents").await.body;
    assert!(!then.contains("4 ms"), "a past moment knows nothing of the present");
}

#[tokio::test]
async fn a_viewer_of_a_slow_match_sees_its_phase() {
    let (site, _) = operated(None).await;
    let mut stream = BufReader::new(site.request("GET", "/live?since=0", &[], "").await).lines();
    let shown = async {
        while let Some(line) = stream.next_line().await.unwrap() {
            if line.contains(">choosing<") {
                return true;
            }
        }
        false
    };
    assert!(tokio::time::timeout(Duration::from_secs(30), shown).await.unwrap());
    assert!(site.get("/").await.body.contains(">choosing<"));
}

#[tokio::test]
async fn a_league_without_a_manager_cannot_be_operated() {
    let site = Site::of(&begun(4, 1).events).await;
    assert!(!site.get("/").await.body.contains("id=\"operate\""));
    assert_eq!(site.post("/operate", &[], "action=start").await.status, 409);
}

#[tokio::test]
async fn a_player_is_withdrawn_from_its_page() {
    let (site, operator) = operated(Some("right")).await;
    let page = site.get("/players/P02").await.body;
    assert!(page.contains("value=\"withdraw\"") && page.contains("name=\"token\""), "{page}");
    for (body, status) in
        [("player=P02", 403), ("player=P02&token=wrong", 403), ("token=right", 400), ("player=/&token=right", 400)]
    {
        assert_eq!(site.post("/operate", &[], &format!("action=withdraw&{body}")).await.status, status, "{body}");
    }
    assert!(operator.0.lock().unwrap().is_empty());
    let done = site.post("/operate", &[], "action=withdraw&player=P02&token=right").await;
    assert_eq!((done.status, done.header("location")), (303, Some("/agents")));
    assert_eq!(*operator.0.lock().unwrap(), [OperatorAction::Withdraw("P02".parse().unwrap())]);
}

#[tokio::test]
async fn the_operator_can_reopen_registration_before_the_first_result() {
    let (site, _) = operated(None).await;
    assert!(!site.get("/").await.body.contains("value=\"reopen\""), "a match has been played");
    let mut generated = begun(4, 0);
    generated.apply(generated.season.close_registration(crate::leagues::now()).unwrap().events);
    let site = Site::of(&generated.events).await;
    let operator = Arc::new(RecordingOperator::default());
    site.dashboard.operated_by(operator.clone());
    assert!(site.get("/").await.body.contains("value=\"reopen\""));
    assert_eq!(site.post("/operate", &[], "action=reopen").await.status, 303);
    assert_eq!(*operator.0.lock().unwrap(), [OperatorAction::Reopen]);
}
