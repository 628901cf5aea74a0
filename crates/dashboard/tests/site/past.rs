//! A page of the past is a shorter replay.

use league_core::season::Season;

use crate::leagues::played;
use crate::support::Site;

#[tokio::test]
async fn the_standings_of_every_moment_are_those_of_the_shorter_log() {
    let snapshot = played(5, 11);
    let site = Site::of(&snapshot.events).await;
    // In mixed order, so that replays start both from scratch and from kept snapshots.
    let last = snapshot.events.len();
    for seq in [last, 10, 30, 20, 1, last - 1, 25] {
        let season = Season::replay(&snapshot.events[..seq]).unwrap();
        let rows = site.get(&format!("/api/v1/standings?at={seq}")).await.json();
        let expected: Vec<String> =
            season.standings().iter().map(|row| format!("{}:{}", row.player_id, row.points)).collect();
        let found: Vec<String> = rows["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| format!("{}:{}", row["player_id"].as_str().unwrap(), row["points"]))
            .collect();
        assert_eq!(found, expected, "after event {seq}");
        let page = site.get(&format!("/at/{seq}/")).await;
        assert_eq!(page.status, 200);
        assert!(page.body.contains(&format!("<base href=\"/at/{seq}/\">")) && page.body.contains("data-live=\"no\""));
    }
}

#[tokio::test]
async fn the_slider_leads_to_its_moment_and_nowhere_else() {
    let site = Site::of(&played(4, 1).events).await;
    let answer = site.get("/at?seq=12&page=schedule").await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/at/12/schedule")));
    let answer = site.get("/at?seq=12&page=/elsewhere.example").await;
    assert_eq!(answer.header("location"), Some("/at/12/"));
    let answer = site.get("/at/12/players/P01").await.body;
    assert!(answer.contains("This is how it was after event 12"), "{answer}");
}
