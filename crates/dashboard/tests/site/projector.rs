//! The page for a large screen: every round as it was, without a script.

use league_core::season::Season;
use league_core::season::config::LeagueConfig;
use league_core::season::event::Fact;

use crate::leagues::{GeneratedLeague, league, played};
use crate::markup;
use crate::support::{Site, begun};

#[tokio::test]
async fn the_projector_shows_every_round_with_the_table_after_it() {
    let generated = played(6, 7);
    let site = Site::of(&generated.events).await;
    let ends =
        generated.events.iter().enumerate().filter(|(_, event)| matches!(event.fact, Fact::RoundCompleted { .. }));
    for (round, (end, _)) in (1..).zip(ends) {
        let page = site.get(&format!("/projector?round={round}")).await.body;
        markup::check(&page);
        assert!(page.contains(&format!("data-round=\"{round}\" data-rounds=\"5\"")), "{page}");
        let season = Season::replay(&generated.events[..=end]).unwrap();
        let expected: Vec<String> = season.standings().iter().map(|row| format!("row-{}", row.player_id)).collect();
        let shown: Vec<&str> = page.split("<tr id=\"").skip(1).map(|row| row.split('"').next().unwrap()).collect();
        assert_eq!(shown, expected, "after round {round}");
        assert_eq!(page.matches("data-state=\"done\"").count(), 3);
        assert_eq!(page.contains("id=\"champion\""), round == 5, "the champion is shown after the last round only");
    }
    let page = site.get("/projector").await.body;
    assert!(page.contains("data-round=\"5\"") && page.contains("data-final=\"true\""), "{page}");
    assert!(page.contains("projector?round=4") && !page.contains("projector?round=6"), "{page}");
    assert!(!page.contains("<nav aria-label=\"Pages\"") && !page.contains("id=\"moment\""), "nothing is in the way");
    assert!(site.get("/").await.body.contains("href=\"projector\""));
    assert_eq!(site.get("/projector?round=99").await.status, 200, "the last round");
}

#[tokio::test]
async fn the_projector_says_that_a_league_is_stopped_and_whether_the_page_follows_it() {
    let mut generated = begun(6, 4);
    let page = Site::of(&generated.events).await.get("/projector").await.body;
    let bar = page.split("class=\"projector-bar\"").nth(1).unwrap();
    assert!(bar.contains("id=\"live\"") && !page.contains("Stopped"), "{page}");
    generated.add(Fact::Halted);
    let page = Site::of(&generated.events).await.get("/projector").await.body;
    markup::check(&page);
    let round = page.split("id=\"projector-round\"").nth(1).unwrap().split("</p>").next().unwrap();
    assert!(round.contains("Stopped"), "{page}");
}

#[tokio::test]
async fn the_projector_shows_a_league_that_waits_or_is_played() {
    let opened = GeneratedLeague::open(LeagueConfig::even_odd(league()), 1);
    let page = Site::of(&opened.events).await.get("/projector").await.body;
    markup::check(&page);
    assert!(page.contains("data-phase=\"waiting\"") && page.contains("The league has not begun yet."), "{page}");
    let page = Site::of(&begun(6, 4).events).await.get("/projector").await.body;
    markup::check(&page);
    assert!(page.contains("data-live=\"projector\"") && page.contains("data-complete=\"false\""), "{page}");
}
