//! Several processes of `league serve` that share the leagues of one database.

use std::time::{Duration, Instant};

use serde_json::json;

use super::server::TestServer;
use super::standbys::TAKEOVER;
use crate::support::{Exit, Process, TestHome, http, poll, ports};

const PLAYERS: usize = 4;
const MATCHES: usize = PLAYERS * (PLAYERS - 1) / 2;

pub(crate) struct Serving {
    home: TestHome,
    pub(crate) process: Process,
    site: String,
}

impl Serving {
    pub(crate) fn start(server: &TestServer) -> Self {
        let (home, port) = (TestHome::new(), ports::free());
        let arguments = ["serve", "--port", &port.to_string(), "--home", home.path()];
        let mut process = Process::start_in(home.path(), &[("LEAGUE_STORE", &server.url())], &arguments);
        process.wait_for_line("The leagues are at");
        Self { home, process, site: format!("http://127.0.0.1:{port}/") }
    }

    pub(crate) fn create(&self, league: &str, more: &[&str]) -> Exit {
        Process::start(&[&["create", league, "--manager", &self.site], more].concat()).wait()
    }

    pub(crate) fn endpoint(&self, league: &str) -> String {
        format!("{}leagues/{league}/mcp", self.site)
    }
}

fn league(server: &TestServer, home: &TestHome, command: &str, league: &str) -> Exit {
    let arguments = [command, "--json", "--home", home.path(), "--league-id", league];
    Process::start_in(home.path(), &[("LEAGUE_STORE", &server.url())], &arguments).wait()
}

pub(crate) fn count(server: &TestServer, league: &str, fact: &str) -> usize {
    let query = format!("SELECT count(*) FROM league.event WHERE league = '{league}' AND body LIKE '%\"{fact}\"%'");
    server.ask(&query).parse().unwrap()
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn a_process_takes_over_all_leagues_of_one_that_is_killed_and_every_league_ends() {
    let server = TestServer::start();
    let mut serving = [Serving::start(&server), Serving::start(&server)];
    let leagues = ["first", "second", "third", "fourth"];
    let expected = ["--expect-players", &PLAYERS.to_string(), "--expect-referees", "1"];
    for (number, league) in leagues.iter().enumerate() {
        serving[number % 2].create(league, &expected).success();
        serving[1 - number % 2].create(league, &expected).fails_with(&["already"]);
    }
    let leaders = || server.ask("SELECT count(DISTINCT url) || '/' || count(DISTINCT holder) FROM league.lease");
    assert_eq!(leaders(), "4/2", "each league has its own URL, and both processes lead some");
    let home = TestHome::new();
    let mut agents = Vec::new();
    for league in leagues {
        let urls = serving.each_ref().map(|serving| serving.endpoint(league)).join(",");
        let mut start = |arguments: &[&str]| {
            let port = ports::free().to_string();
            let place = ["--port", &port, "--manager", &urls, "--home", home.path()];
            agents.push(Process::start(&[arguments, &place].concat()));
        };
        start(&["referee", "--capacity", "1"]);
        // A move takes one second.
        (0..PLAYERS).for_each(|_| start(&["player", "--strategy", "slow:20"]));
    }
    for league in leagues {
        poll("a result in each league", || (count(&server, league, "match_reported") > 0).then_some(()));
    }
    // Both processes show all leagues, and forward the calls of clients that know only them.
    for serving in &serving {
        let index = http::page(&serving.site, None).1;
        assert!(leagues.iter().all(|league| index.contains(&format!("/leagues/{league}/"))), "{index}");
        for league in leagues {
            assert_eq!(http::page(&format!("{}leagues/{league}/", serving.site), None).0, 200);
            let asked = json!({"view": "status", "league_id": league});
            let answer = http::call(&format!("{}mcp", serving.site), "get_league", &asked);
            assert_eq!(answer["result"]["status"]["league_id"], league, "{answer}");
        }
    }
    let assigned = leagues.map(|league| count(&server, league, "match_assigned"));
    let since = Instant::now();
    serving[0].process.kill();
    for (league, before) in [leagues[0], leagues[2]].into_iter().zip([assigned[0], assigned[2]]) {
        poll("the next match", || (count(&server, league, "match_assigned") > before).then_some(()));
    }
    let took = since.elapsed();
    println!("the next match of both leagues began after {took:.1?}");
    assert!(took < TAKEOVER, "{took:?}");
    for league in leagues {
        poll("the end of a league", || (count(&server, league, "league_completed") == 1).then_some(()));
    }
    assert_eq!(leaders(), "4/1");
    for agent in &mut agents {
        agent.wait_within(Duration::from_secs(30)).success();
    }
    serving[1].process.signal("TERM");
    serving[1].process.wait_within(Duration::from_secs(20)).success();
    for id in leagues {
        let report = league(&server, &serving[1].home, "verify", id).json();
        assert_eq!((&report["matches"], &report["differences"]), (&json!(MATCHES), &json!([])), "{report}");
        assert_eq!(count(&server, id, "match_reported"), MATCHES, "no result counts twice");
        let standings = league(&server, &home, "standings", id).success().json();
        assert!(standings.as_array().unwrap().iter().all(|row| row["played"] == PLAYERS - 1), "{standings}");
    }
    let charged = "SELECT count(*) FROM league.event WHERE body LIKE '%\"match_reported\"%forfeit%'";
    assert_eq!(server.ask(charged), "0", "a player was charged");
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn a_process_that_ends_gives_its_leases_back_and_one_that_was_frozen_follows() {
    let server = TestServer::start();
    let mut serving = [Serving::start(&server), Serving::start(&server)];
    serving[0].create("spring", &[]).success();
    let leader = || server.ask("SELECT url FROM league.lease WHERE expires_at > clock_timestamp()");
    assert_eq!(leader(), serving[0].endpoint("spring"));
    serving[0].process.signal("STOP");
    poll("the takeover", || (leader() == serving[1].endpoint("spring")).then_some(()));
    serving[0].process.signal("CONT");
    serving[0].process.wait_for_line("follows the league now");
    serving[1].process.signal("TERM");
    let since = Instant::now();
    serving[1].process.wait_within(Duration::from_secs(20)).success();
    poll("the lease", || (leader() == serving[0].endpoint("spring")).then_some(()));
    assert!(since.elapsed() < Duration::from_secs(5), "the lease was given back: {:?}", since.elapsed());
    // The league is opened a moment after the lease was taken.
    let asked = json!({"view": "status"});
    http::until(&serving[0].endpoint("spring"), "get_league", &asked, |answer| {
        answer["result"]["status"]["league_id"] == "spring"
    });
}
