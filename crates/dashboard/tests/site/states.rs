//! Every state of a league in every format: waiting, ready, live, stopped, finished and kept.

use league_core::season::Season;
use league_core::season::config::LeagueConfig;
use league_core::season::event::{Event, Fact, OperatorOrigin};
use league_dashboard::DashboardSettings;
use league_protocol::id::PlayerId;
use tokio::sync::watch;

use crate::leagues::{GeneratedLeague, league, now, played, reported};
use crate::markup;
use crate::pages::walk;
use crate::support::{Site, begun};

/// Looks at every page of the state; returns the first one.
async fn seen(events: &[Event], phase: &str) -> String {
    let site = Site::of(events).await;
    let pages = walk(&site, 40).await;
    assert!(pages.contains("/projector"), "{pages:?}");
    let page = site.get("/").await.body;
    assert!(page.contains(&format!("data-phase=\"{phase}\"")), "{phase}: {page}");
    page
}

#[tokio::test]
async fn every_state_of_every_format_has_its_pages() {
    for format in ["round_robin", "swiss:rounds=3", "knockout"] {
        let config = LeagueConfig::even_odd(league()).with_format(format.parse().unwrap());
        let mut generated = GeneratedLeague::open(config, 3);
        let page = seen(&generated.events, "waiting").await;
        assert!(page.contains("No player has registered yet.") && page.contains("How it begins"), "{page}");
        generated.register(7, 2);
        let page = seen(&generated.events, "waiting").await;
        assert!(page.contains("id=\"present\"") && page.contains("id=\"row-P07\""), "{page}");
        generated.apply(generated.season.close_registration(now()).unwrap().events);
        seen(&generated.events, "ready").await;
        generated.play(4);
        let page = seen(&generated.events, "live").await;
        assert!(page.contains("id=\"archived\""), "no manager runs here: {page}");
        assert_eq!(page.contains("id=\"bracket\""), format == "knockout", "{page}");
        generated.add(Fact::Halted);
        generated.add(Fact::OperatorActed { origin: OperatorOrigin::Loopback, action: "stop_league".into() });
        let page = seen(&generated.events, "stopped").await;
        assert!(page.contains("id=\"stopped\""), "{page}");
        assert!(page.contains("The operator stops the league") && !page.contains("stop_league"), "{page}");
        generated.add(Fact::Resumed);
        generated.play(u32::MAX);
        let page = seen(&generated.events, "finished").await;
        assert!(page.contains("id=\"champion\"") && !page.contains("id=\"archived\""), "{page}");
    }
}

/// A player with a bye ahead has a match less than the others.
#[tokio::test]
async fn a_round_robin_is_decided_when_no_match_that_is_left_can_change_the_lead() {
    let mut surprises = 0;
    for seed in 1..7 {
        let mut generated = GeneratedLeague::open(LeagueConfig::even_odd(league()), seed);
        generated.register(5, 2);
        generated.play(5);
        for _ in 6..10 {
            generated.play(1);
            let (season, left) = (&generated.season, |id: &PlayerId| {
                let rounds = generated.season.scheduled_rounds();
                let matches = rounds.iter().flat_map(|round| &round.matches);
                let open = matches.filter(|game| game.player_a_id == *id || game.player_b_id == *id);
                open.filter(|game| {
                    !generated
                        .events
                        .iter()
                        .any(|event| reported(event).is_some_and(|(done, _)| *done == game.match_id))
                })
                .count()
            });
            let standings = season.standings();
            let (first, others) = standings.split_first().unwrap();
            let reached = |points: u32, matches: usize| points as usize + 3 * matches;
            let decided = others.iter().all(|row| reached(row.points, left(&row.player_id)) < first.points as usize);
            let page = Site::of(&generated.events).await.get("/").await.body;
            assert_eq!(page.contains("It is decided"), decided, "seed {seed}: {page}");
            let rounds = season.total_rounds() - season.last_completed().map_or(0, |round| round.0);
            surprises += usize::from(
                decided && others.iter().any(|row| reached(row.points, rounds as usize) >= first.points as usize),
            );
        }
    }
    assert!(surprises > 0, "in some of these leagues the number of rounds decides nothing");
}

/// A standby shows a league that another manager leads.
#[tokio::test]
async fn the_pages_of_a_standby_say_where_the_leader_is() {
    let generated = begun(4, 3);
    let (leader, known) = watch::channel(None);
    let settings = DashboardSettings { leader: Some(known), ..DashboardSettings::default() };
    let site = Site::with(&generated.events, settings).await;
    let page = site.get("/").await.body;
    assert!(page.contains("No manager leads the league at this moment."), "{page}");
    assert!(!page.contains("id=\"archived\"") && page.contains("data-now=\"live\""), "{page}");
    leader.send_replace(Some(String::from("http://one:8000/?a=\"&b")));
    for path in ["/", "/schedule", "/agents", "/players/P01", "/matches/R1M1", "/projector"] {
        let page = site.get(path).await.body;
        markup::check(&page);
        let link = "The league is led at <a href=\"http://one:8000/?a=&quot;&amp;b\">";
        assert!(page.contains("A standby manager shows this page.") && page.contains(link), "{path}: {page}");
    }
    assert!(!site.get("/at/5/").await.body.contains("standby"), "a page of the past shows the past");
    let page = site.get("/matches/R1M1").await.body;
    assert!(page.contains("No transcript of this match is kept here."), "{page}");
    for path in ["/agents", "/api/v1/agents"] {
        let page = site.get(path).await.body;
        assert!(!page.contains("127.0.0.1:800"), "the leader may hide this from clients on its machine: {page}");
    }
}

/// The places won (positive) and lost that the row of a player shows.
fn shown_change(page: &str, player: &PlayerId) -> i64 {
    let row = page.split(&format!("<tr id=\"row-{player}\">")).nth(1).unwrap().split("</td>").next().unwrap();
    let number = |arrow: char| row.split(arrow).nth(1).map(|rest| rest.split('<').next().unwrap().parse().unwrap());
    number('▲').or_else(|| number('▼').map(|lost: i64| -lost)).unwrap_or(0)
}

#[tokio::test]
async fn rank_changes_follow_the_order_with_its_tie_breaks() {
    let mut ties = 0;
    for seed in 1..8 {
        let generated = played(8, seed);
        let end = |round: u32| {
            let ended = |event: &Event| matches!(event.fact, Fact::RoundCompleted { round: ended } if ended.0 == round);
            Season::replay(&generated.events[..=generated.events.iter().position(ended).unwrap()]).unwrap()
        };
        let before = end(6).standings();
        let site = Site::of(&generated.events).await;
        // A snapshot of the past follows the events one by one; that of the present was read from the log.
        let past = site.get(&format!("/at/{}/", generated.events.len())).await.body;
        let page = site.get("/").await.body;
        for row in generated.season.standings() {
            let was = before.iter().find(|other| other.player_id == row.player_id).unwrap();
            let expected = i64::from(was.rank) - i64::from(row.rank);
            assert_eq!(shown_change(&page, &row.player_id), expected, "seed {seed}, {}", row.player_id);
            assert_eq!(shown_change(&past, &row.player_id), expected, "seed {seed}, {}", row.player_id);
        }
        ties +=
            before.windows(2).filter(|pair| pair[0].points == pair[1].points && pair[0].rank < pair[1].rank).count();
    }
    assert!(ties > 0, "a tie-break decides some of these places");
}
