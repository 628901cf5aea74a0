//! A page of the past is a shorter replay.

use league_core::season::Season;
use serde_json::json;

use crate::leagues::played;
use crate::support::Site;

#[tokio::test]
async fn the_standings_of_every_moment_are_those_of_the_shorter_log() {
    let generated = played(5, 11);
    let site = Site::of(&generated.events).await;
    // In mixed order, so that replays start both from scratch and from kept snapshots.
    let last = generated.events.len();
    for seq in [last, 10, 30, 20, 1, last - 1, 25] {
        let season = Season::replay(&generated.events[..seq]).unwrap();
        let rows = site.get(&format!("/api/v1/standings?at={seq}")).await.json();
        let expected = season.standings().into_iter().map(|row| json!([row.player_id, row.points]));
        let found = rows["items"].as_array().unwrap().iter().map(|row| json!([row["player_id"], row["points"]]));
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "after event {seq}");
        let page = site.get(&format!("/at/{seq}/")).await;
        assert_eq!(page.status, 200);
        assert!(page.body.contains(&format!("<base href=\"/at/{seq}/\">")) && page.body.contains("data-live=\"no\""));
    }
}

#[tokio::test]
async fn the_slider_redirects_to_a_past_page_of_this_site_only() {
    let site = Site::of(&played(4, 1).events).await;
    let answer = site.get("/at?seq=12&page=schedule").await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/at/12/schedule")));
    let answer = site.get("/at?seq=12&page=/elsewhere.example").await;
    assert_eq!(answer.header("location"), Some("/at/12/"));
    let answer = site.get("/at/12/players/P01").await.body;
    assert!(answer.contains("This is how it was after event 12"), "{answer}");
}
