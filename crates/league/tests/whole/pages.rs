//! The pages of a league: during it, after it, and with its actions for the operator.

use crate::support::{Process, TestHome, Venue, assert_contains, http, poll};

/// No signal tells a test when a page has changed.
fn wait_for_page(address: &str, part: &str) -> String {
    poll(&format!("{part} on {address}"), || Some(http::page(address, None).1).filter(|page| page.contains(part)))
}

fn site_of(process: &mut Process, words: &str) -> String {
    let line = process.wait_for_line(words);
    line.split(' ').find(|word| word.starts_with("http://")).unwrap().to_owned()
}

#[test]
fn a_league_is_shown_while_it_is_played_and_afterwards_and_again_from_its_home() {
    let home = TestHome::new();
    let mut run = home.start(&["run", "--players", "6", "--port", "0", "--stay"]);
    let site = site_of(&mut run, "Watch it at");
    assert_contains(&wait_for_page(&site, "id=\"champion\""), &["id=\"standings\""]);
    run.wait_for_line("Serving until Ctrl-C.");
    let (status, game) = http::page(&format!("{site}matches/R1M1"), None);
    assert_eq!(status, 200);
    assert_contains(&game, &["CHOOSE_PARITY_RESPONSE", "id=\"proof\""]);
    let mut show = home.start(&["show", "--port", "0"]);
    let shown = site_of(&mut show, "is shown at");
    let standings = |site: &str| {
        let (_, response) = http::page(&format!("{site}api/v1/standings"), None);
        response.split("\r\n\r\n").nth(1).unwrap().to_owned()
    };
    assert_eq!(standings(&site), standings(&shown));
    assert!(http::page(&shown, None).1.contains("data-now=\"final\""), "a league that is over is not live");
    assert_eq!(http::page(&format!("{shown}at/10/"), None).0, 200);
    assert_eq!(http::page(&format!("{shown}operate"), Some("action=stop")).0, 409);
}

#[test]
fn an_abandoned_league_is_not_shown_as_live() {
    let home = TestHome::new();
    let mut manager = home.start(&["manager", "--port", "0"]);
    let site = site_of(&mut manager, "Watch it at");
    assert_contains(&http::page(&site, None).1, &["data-now=\"live\""]);
    manager.kill();
    let mut show = home.start(&["show", "--port", "0"]);
    assert_contains(&http::page(&site_of(&mut show, "is shown at"), None).1, &["data-now=\"kept\""]);
}

#[test]
fn a_stepped_match_is_led_to_its_end_on_its_page() {
    let venue = Venue::new();
    let options = ["--stepped", "--exit-when-done", "--json", "--operator-token", "chalk-on-the-blackboard"];
    let mut manager = venue.manager_with(2, 1, &options);
    let site = site_of(&mut manager, "Watch it at");
    let _referee = venue.referee("REF01");
    let _players = ["P01", "P02"].map(|id| venue.player(id, "random"));
    for step in ["collect_choices", "draw_number", "finalize_match"] {
        wait_for_page(&format!("{site}matches/R1M1"), &format!("value=\"{step}\""));
        let form = format!("action={step}&match=R1M1");
        assert_eq!(http::page(&format!("{site}operate"), Some(&form)).0, 403);
        assert_eq!(
            http::page(&format!("{site}operate"), Some(&format!("{form}&token=chalk-on-the-blackboard"))).0,
            303
        );
    }
    manager.wait().success();
    venue.home.verify(1);
}
