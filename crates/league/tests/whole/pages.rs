//! The pages of a league: during it, after it, and with its actions for the operator.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{Process, TestHome, Venue, http, league};

const LIMIT: Duration = Duration::from_secs(60);

fn says(address: &str, part: &str) -> String {
    let end = Instant::now() + LIMIT;
    loop {
        let (status, page) = http::page(address, None);
        if page.contains(part) {
            return page;
        }
        assert!(Instant::now() < end, "{address} does not say {part:?} ({status}): {page}");
        // No signal tells a test when a page has changed.
        sleep(Duration::from_millis(10));
    }
}

fn address_of(process: &mut Process, words: &str) -> String {
    let line = process.says(words);
    line.split(' ').find(|word| word.starts_with("http://")).unwrap().to_owned()
}

#[test]
fn a_league_is_shown_while_it_is_played_and_afterwards_and_again_from_its_home() {
    let home = TestHome::new();
    let mut run = Process::start(&["run", "--players", "6", "--port", "0", "--stay", "--home", home.path()]);
    let site = address_of(&mut run, "Watch it at");
    let page = says(&site, "id=\"champion\"");
    assert!(page.contains("id=\"standings\""), "{page}");
    run.says("Serving until Ctrl-C.");
    let (status, game) = http::page(&format!("{site}matches/R1M1"), None);
    assert!(status == 200 && game.contains("CHOOSE_PARITY_RESPONSE") && game.contains("id=\"proof\""), "{game}");
    let (_, live) = http::page(&format!("{site}api/v1/standings"), None);
    let mut show = Process::start(&["show", "--port", "0", "--home", home.path()]);
    let shown = address_of(&mut show, "is shown at");
    let (_, kept) = http::page(&format!("{shown}api/v1/standings"), None);
    let body = |answer: &str| answer.split("\r\n\r\n").nth(1).unwrap().to_owned();
    assert_eq!(body(&live), body(&kept));
    assert!(http::page(&shown, None).1.contains("data-now=\"final\""), "a league that is over is not live");
    assert_eq!(http::page(&format!("{shown}at/10/"), None).0, 200);
    assert_eq!(http::page(&format!("{shown}operate"), Some("action=stop")).0, 409);
}

#[test]
fn an_abandoned_league_is_not_shown_as_live() {
    let home = TestHome::new();
    let mut manager = Process::start(&["manager", "--port", "0", "--home", home.path()]);
    let site = address_of(&mut manager, "Watch it at");
    assert!(http::page(&site, None).1.contains("data-now=\"live\""));
    manager.kill();
    let mut show = Process::start(&["show", "--port", "0", "--home", home.path()]);
    let shown = address_of(&mut show, "is shown at");
    assert!(http::page(&shown, None).1.contains("data-now=\"kept\""));
}

#[test]
fn nothing_is_shown_where_nothing_is_kept() {
    let home = TestHome::new();
    let refused = league(&["show", "--port", "0", "--home", home.path()]);
    assert!(refused.code == Some(1) && refused.talk.contains("--home"), "{refused:?}");
}

#[test]
fn a_stepped_match_is_led_to_its_end_on_its_page() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(
        2,
        1,
        &["--stepped", "--exit-when-done", "--json", "--operator-token", "chalk-on-the-blackboard"],
    );
    let site = address_of(&mut manager, "Watch it at");
    let _referee = venue.referee("REF01");
    let _players = ["P01", "P02"].map(|id| venue.player(id, "random"));
    let game = format!("{site}matches/R1M1");
    for step in ["collect_choices", "draw_number", "finalize_match"] {
        says(&game, &format!("value=\"{step}\""));
        let form = format!("action={step}&match=R1M1");
        assert_eq!(http::page(&format!("{site}operate"), Some(&form)).0, 403);
        assert_eq!(
            http::page(&format!("{site}operate"), Some(&format!("{form}&token=chalk-on-the-blackboard"))).0,
            303
        );
    }
    manager.ended().well();
    venue.home.verify(1);
}
