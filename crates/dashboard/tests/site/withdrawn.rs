//! A withdrawn player, on every page that shows it.

use league_core::season::event::Fact;

use crate::leagues::eventful;
use crate::support::{Site, begun};

#[tokio::test]
async fn a_withdrawn_player_is_marked_and_its_unplayed_matches_say_why() {
    let generated = eventful(3);
    let site = Site::of(&generated.events).await;
    for page in ["/", "/crosstable", "/agents", "/players/P02"] {
        assert!(site.get(page).await.body.contains("data-state=\"WITHDRAWN\""), "{page}");
    }
    let standings = site.get("/api/v1/standings").await.json();
    let rows = standings["items"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row["withdrawn"] == true).count(), 1);
    assert_eq!(site.get("/api/v1/players/P02").await.json()["agent"]["state"], "WITHDRAWN");
    let matches = site.get("/api/v1/matches").await.json();
    let unplayed = matches["items"].as_array().unwrap().iter().find(|game| {
        game["ending"] == "technical_loss"
            && (game["player_A_id"] == "P02" || game["player_B_id"] == "P02")
            && game["winner"] != "P02"
    });
    let id = unplayed.unwrap()["match_id"].as_str().unwrap().to_owned();
    let page = site.get(&format!("/matches/{id}")).await.body;
    assert!(page.contains("it was not played"), "{page}");
    let whole = site.get(&format!("/api/v1/matches/{id}")).await.json();
    assert_eq!((&whole["status"], whole["attempt"].is_null()), (&serde_json::json!("COMPLETED"), true));
    let csv = site.get("/export/standings.csv").await.body;
    assert_eq!(csv.lines().filter(|line| line.ends_with(",true")).count(), 1, "{csv}");
}

#[tokio::test]
async fn the_schedule_marks_future_matches_of_a_withdrawn_player() {
    let generated = eventful(3);
    let position = |wanted: fn(&Fact) -> bool| generated.events.iter().position(|event| wanted(&event.fact)).unwrap();
    let withdrawn = position(|fact| matches!(fact, Fact::PlayerWithdrawn { player } if player.as_str() == "P02"));
    let site = Site::of(&generated.events[..=withdrawn]).await;
    assert!(site.get("/schedule").await.body.contains("will not be played"));
    let reopened = position(|fact| matches!(fact, Fact::RegistrationReopened));
    let page = site.get(&format!("/at/{}/", reopened + 1)).await.body;
    assert!(page.contains("Registration is open") && page.contains("opens the registration again"), "{page}");
}

#[tokio::test]
async fn a_withdrawn_player_gives_up_its_place_on_the_podium() {
    let mut generated = begun(6, 9);
    let leader = generated.season.standings()[0].player_id.clone();
    let podium = |page: &str| page.split("id=\"podium\"").nth(1).unwrap().split("</ol>").next().unwrap().to_owned();
    let before = podium(&Site::of(&generated.events).await.get("/").await.body);
    assert!(before.contains(&format!("players/{leader}\"")), "{before}");
    generated.add(Fact::PlayerWithdrawn { player: leader.clone() });
    let after = podium(&Site::of(&generated.events).await.get("/").await.body);
    assert!(!after.contains(&format!("players/{leader}\"")) && after.contains("data-place=\"1\""), "{after}");
}
