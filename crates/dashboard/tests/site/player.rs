//! The page of a player: how it is doing, against whom it loses, and what to fix.

use league_core::season::event::Fact;
use league_protocol::id::PlayerId;
use league_protocol::message::game_over::{ByPlayer, OwnResult};
use league_protocol::message::report::{Account, AnswerTimes};
use league_protocol::message::start_match::DoubleForfeit;
use league_protocol::side::Side;

use crate::leagues::{GeneratedLeague, played, reported};
use crate::markup;
use crate::support::{Site, begun};

/// The opponents of P01 by result, from the events.
fn opponents(generated: &GeneratedLeague, wanted: &[OwnResult]) -> Vec<PlayerId> {
    let ended = generated.events.iter().filter_map(reported).filter_map(|(match_id, record)| {
        let players = generated.season.contestants(match_id)?;
        let side = Side::BOTH.into_iter().find(|side| players[*side].id.as_str() == "P01")?;
        let result = record.outcome.own_result(side, DoubleForfeit::TechnicalLoss);
        wanted.contains(&result).then(|| players[side.other()].id.clone())
    });
    ended.collect()
}

#[tokio::test]
async fn the_page_names_the_opponents_that_beat_a_player() {
    let generated = played(8, 3);
    let page = Site::of(&generated.events).await.get("/players/P01").await.body;
    markup::check(&page);
    let part = |id: &str| page.split(&format!("<div id=\"{id}\">")).nth(1).unwrap().split("</div>").next().unwrap();
    let groups = [
        ("loses-to", &[OwnResult::Loss, OwnResult::TechnicalLoss][..]),
        ("even-with", &[OwnResult::Draw]),
        ("beats", &[OwnResult::Win]),
    ];
    for (id, results) in groups {
        let expected = opponents(&generated, results);
        assert_eq!(part(id).matches("href=\"players/").count(), expected.len(), "{id}: {page}");
        for opponent in expected {
            assert!(part(id).contains(&format!("players/{opponent}\"")), "{id} {opponent}: {page}");
        }
    }
    let row = generated.season.standings().into_iter().find(|row| row.player_id.as_str() == "P01").unwrap();
    assert!(page.contains(&format!("Rank {} of 8 with {} point", row.rank, row.points)), "{page}");
    assert!(page.contains("Of its last 7 matches it won "), "{page}");
}

fn answered_in(move_ms: u64) -> GeneratedLeague {
    let mut generated = begun(4, 0);
    generated.play(1);
    let held = generated.season.assignments().remove(0);
    let times = AnswerTimes { join_ms: Some(3), move_ms: Some(move_ms) };
    let times = ByPlayer(vec![(PlayerId::numbered(1), times)]);
    let account = Box::new(Account { times, ..Account::default() });
    generated.add(Fact::MatchExplained { match_id: held.match_id, attempt: held.attempt, account });
    generated
}

#[tokio::test]
async fn a_slow_player_is_told_and_the_operator_too() {
    let site = Site::of(&answered_in(24_000).events).await;
    let page = site.get("/players/P01").await.body;
    assert!(page.contains("What to fix") && page.contains("24000 ms, 80 % of the limit"), "{page}");
    let page = site.get("/agents").await.body;
    markup::check(&page);
    assert!(page.contains("data-trouble=\"slow\"") && page.contains("24000 ms, 80 % of its limit"), "{page}");
    let site = Site::of(&answered_in(240).events).await;
    assert!(!site.get("/players/P01").await.body.contains("It answers slowly"));
    assert!(!site.get("/agents").await.body.contains("data-trouble=\"slow\""));
}

#[tokio::test]
async fn the_agents_page_begins_with_agents_that_need_the_operator() {
    let mut generated = begun(4, 6);
    let referee = generated.season.referees()[0].id.clone();
    generated.add(Fact::RefereeLost { referee });
    let page = Site::of(&generated.events).await.get("/agents").await.body;
    let place = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}: {page}"));
    assert!(place("data-trouble=\"missing\"") < place("id=\"referees\""), "{page}");
    assert!(page.contains("does not answer. Its matches go to other referees"), "{page}");
    let page = Site::of(&begun(4, 0).events).await.get("/agents").await.body;
    assert!(page.contains("All agents are here and answer in time."), "{page}");
}
