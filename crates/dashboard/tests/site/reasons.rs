//! "Why did I lose?" on the pages.

use league_core::record::MatchRecord;
use league_core::rules::outcome::Outcome;
use league_core::season::config::LeagueConfig;
use league_core::season::event::Fact;
use league_protocol::id::PlayerId;
use league_protocol::message::game_over::ByPlayer;
use league_protocol::message::report::Account;
use league_protocol::problem::Problem;
use league_protocol::side::{Pair, Side};

use crate::leagues::{Story, league, now};
use crate::markup;
use crate::support::Site;

/// P01 loses the only match because it sent `sent`.
fn lost_by(sent: &str) -> Story {
    lost_because(Problem::of_choice(sent).unwrap())
}

fn lost_because(problem: Problem) -> Story {
    let mut snapshot = Story::open(LeagueConfig::even_odd(league()), 1);
    snapshot.register(2, 1);
    snapshot.happen(snapshot.season.start(now()).unwrap().events);
    if let Ok(started) = snapshot.season.start_round(now()) {
        snapshot.happen(started.events);
    }
    snapshot.happen(snapshot.season.assign(now()).events);
    let held = snapshot.season.assignments().remove(0);
    let loser = PlayerId::numbered(1);
    let players = snapshot.season.contestants(&held.match_id).unwrap();
    let side = if players.a.id == loser { Side::A } else { Side::B };
    let problems = ByPlayer(vec![(loser, problem)]);
    let account = Box::new(Account { problems, ..Account::default() });
    snapshot.fact(Fact::MatchExplained { match_id: held.match_id.clone(), attempt: held.attempt, account });
    let (outcome, moves) = (Outcome::Forfeit(side), Pair::new(None, None));
    let record = MatchRecord { outcome, moves, course: Vec::new(), drawn: None, proof: None };
    let counted = snapshot.season.report(&held.referee, &held.match_id, Some(held.attempt), record, now()).unwrap();
    snapshot.happen(counted.events);
    snapshot
}

#[tokio::test]
async fn a_player_that_never_made_a_legal_move_reads_what_to_fix_and_no_reassurance() {
    let site = Site::of(&lost_by("ODD").events).await;
    let page = site.get("/players/P01").await.body;
    markup::check(&page);
    for part in [
        "What to fix",
        "you sent `ODD`; send `odd`",
        "matches/R1M1",
        "no legal move yet",
        "It has made no legal choice.",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains(">active<") && !page.contains("does any harm"), "{page}");
    assert!(!site.get("/players/P02").await.body.contains("What to fix"));
    // The skip link of a page contains the requested path.
    assert_eq!(site.get("/players/p01").await.body.replace("/p01", "/P01"), page, "ids are the same in small letters");
    assert_eq!(site.get("/matches/r1m1").await.status, 200);
}

#[tokio::test]
async fn a_player_that_did_not_listen_is_told_so_without_its_address() {
    let site = Site::of(&lost_because(Problem::not_listening("http://192.0.2.7:8101/mcp")).events).await;
    let page = site.get("/players/P01").await.body;
    assert!(page.contains("nothing listened at the registered address: is the player still running?"), "{page}");
    for path in ["/players/P01", "/matches/R1M1", "/log", "/api/v1/log?limit=500", "/api/v1/matches/R1M1"] {
        assert!(!site.get(path).await.body.contains("192.0.2.7"), "{path}");
    }
}

#[tokio::test]
async fn what_a_stranger_sent_is_shown_escaped() {
    let site = Site::of(&lost_by("<script>alert(1)</script>").events).await;
    let page = site.get("/players/P01").await.body;
    markup::check(&page);
    assert!(
        page.contains("you sent `&lt;script&gt;alert(1)&lt;/script&gt;`") && !page.contains("<script>alert"),
        "{page}"
    );
}
