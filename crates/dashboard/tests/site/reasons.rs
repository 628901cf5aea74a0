//! "Why did I lose?" on the pages.

use league_core::record::MatchRecord;
use league_core::rules::outcome::Outcome;
use league_core::season::DrawSource;
use league_core::season::config::LeagueConfig;
use league_core::season::event::Fact;
use league_protocol::id::PlayerId;
use league_protocol::message::game_over::ByPlayer;
use league_protocol::message::report::Account;
use league_protocol::problem::Problem;
use league_protocol::side::Side;

use crate::leagues::{GeneratedLeague, league, now};
use crate::markup;
use crate::support::Site;

/// P01 loses the only match because it sent `sent`.
fn lost_by(sent: &str) -> GeneratedLeague {
    lost_because(Problem::of_choice(sent).unwrap())
}

fn lost_because(problem: Problem) -> GeneratedLeague {
    let mut generated = GeneratedLeague::open(LeagueConfig::even_odd(league()), 1);
    generated.register(2, 1);
    generated.apply(generated.season.start(now()).unwrap().events);
    generated.apply(generated.season.assign(DrawSource::Random(&[7; 32]), now()).events);
    let held = generated.season.assignments().remove(0);
    let loser = PlayerId::numbered(1);
    let players = generated.season.contestants(&held.match_id).unwrap();
    let side = if players.a.id == loser { Side::A } else { Side::B };
    let problems = ByPlayer(vec![(loser, problem)]);
    let account = Box::new(Account { problems, ..Account::default() });
    generated.add(Fact::MatchExplained { match_id: held.match_id.clone(), attempt: held.attempt, account });
    let record = MatchRecord::unplayed(Outcome::Forfeit(side));
    let counted = generated.season.report(&held.referee, &held.match_id, Some(held.attempt), record, now()).unwrap();
    generated.apply(counted.events);
    generated
}

#[tokio::test]
async fn the_page_of_a_player_without_legal_moves_tells_what_to_fix() {
    let site = Site::of(&lost_by("ODD").events).await;
    let page = site.get("/players/P01").await.body;
    markup::check(&page);
    let advice = ["What to fix", "you sent `ODD`; send `odd`", "matches/R1M1"];
    for part in advice.into_iter().chain(["no legal move yet", "It has made no legal choice."]) {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains(">active<") && !page.contains("does any harm"), "{page}");
    assert!(!site.get("/players/P02").await.body.contains("What to fix"));
    // The skip link of a page contains the requested path.
    assert_eq!(site.get("/players/p01").await.body.replace("/p01", "/P01"), page, "ids are the same in small letters");
    assert_eq!(site.get("/matches/r1m1").await.status, 200);
}

#[tokio::test]
async fn the_page_of_an_unreachable_player_does_not_show_its_address() {
    let site = Site::of(&lost_because(Problem::not_listening("http://192.0.2.7:8101/mcp")).events).await;
    let page = site.get("/players/P01").await.body;
    assert!(page.contains("nothing listened at the registered address: is the player still running?"), "{page}");
    for path in ["/players/P01", "/matches/R1M1", "/log", "/api/v1/log?limit=500", "/api/v1/matches/R1M1"] {
        assert!(!site.get(path).await.body.contains("192.0.2.7"), "{path}");
    }
}

#[tokio::test]
async fn a_move_with_markup_is_shown_escaped() {
    let site = Site::of(&lost_by("<script>alert(1)</script>").events).await;
    let page = site.get("/players/P01").await.body;
    markup::check(&page);
    assert!(page.contains("you sent `&lt;script&gt;alert(1)&lt;/script&gt;`"), "{page}");
    assert!(!page.contains("<script>alert"), "{page}");
}
