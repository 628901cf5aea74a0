//! Referees that lie, stall or let a player decide: real processes, and what the operator does about it.

use std::fs;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use league_protocol::message::report::MatchResultReport;
use league_simulation::hostile::lies;
use league_simulation::rng::Rng;
use league_test_agents::http_server::{HttpReply, HttpServer};
use league_test_agents::proxy::{self, Passage};
use serde_json::{Value, json};

use crate::support::{
    Exit, LIMIT, Process, TestHome, Venue, assert_contains, assert_played, http, league, ports, register_player,
};

type Lie = fn(&mut MatchResultReport, &mut Rng);

const PLAYERS: [&str; 4] = ["P01", "P02", "P03", "P04"];

/// Four of our players and two of our referees.
struct LyingLeague {
    venue: Venue,
    manager: Process,
    /// How many reports of the first referee were changed.
    lies: Arc<AtomicUsize>,
    _agents: (HttpServer, Vec<Process>),
}

impl LyingLeague {
    /// Each report of the first referee goes through `lie`.
    fn start(game: &str, strategy: &str, lie: Lie) -> Self {
        let (venue, elsewhere) = (Venue::patient(), TestHome::new());
        let mut manager = venue.manager_with(4, 2, &["--game", game]);
        manager.address();
        let told = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&told);
        let address: SocketAddr = http::authority(&venue.address).0.replace("localhost", "127.0.0.1").parse().unwrap();
        let proxy = proxy::start(address, move |request| {
            if request["method"] == "report_match_result" {
                let honest = lies::read(&request["params"]).unwrap();
                let mut report = honest.clone();
                lie(&mut report, &mut Rng::new(7, &[]));
                count.fetch_add(usize::from(report != honest), Ordering::Relaxed);
                lies::write(&mut request["params"], &report);
            }
            Passage::Forwarded
        });
        let (proxy, port) = (proxy.unwrap(), ports::free().to_string());
        let place = ["--port", &port, "--manager", &proxy.endpoint(), "--home", elsewhere.path()];
        let mut first = Process::start(&[&["referee", "--referee-id", "REF01"], &place[..]].concat());
        first.wait_for_line("is ready");
        let agents = PLAYERS.iter().map(|id| venue.player(id, strategy));
        let agents = agents.chain([first, venue.referee("REF02")]).collect();
        Self { venue, manager, lies: told, _agents: (proxy, agents) }
    }

    fn alerts(&self) -> Vec<Value> {
        let listed = league(&["alerts", "--manager", &self.venue.address, "--json"]).success().json();
        listed.as_array().unwrap().clone()
    }

    fn resolve(&self, match_id: &str, decision: &str) -> Exit {
        league(&["resolve", match_id, decision, "--manager", &self.venue.address])
    }

    /// Decides about each match that waits, in turn. Returns the alerts of these matches.
    fn play(&mut self, decisions: &[&str]) -> Vec<Value> {
        let (mut alerts, mut decisions) = (Vec::new(), decisions.iter().cycle());
        loop {
            let line = self.manager.wait_for_any(&["waits for your decision", "The league is over"]);
            let Some((match_id, _)) = line.split_once(" waits") else { return alerts };
            let alert = self.alerts().into_iter().find(|alert| alert["match_id"] == match_id).unwrap();
            assert_eq!(alert["waits"], true, "{alert}");
            let (_, page) = http::page(&self.venue.address.replace("/mcp", "/agents"), None);
            assert_contains(&page, &["Alerts", match_id, "The match waits for the operator."]);
            self.resolve(match_id, decisions.next().unwrap()).success();
            alerts.push(alert);
        }
    }

    fn end(self) -> Venue {
        self.manager.signal("TERM");
        self.manager.wait().success();
        self.venue.home.verify(6);
        self.venue
    }
}

#[test]
fn a_referee_that_forges_its_reports_changes_no_result_and_is_named() {
    let stripped: Lie = |report, rng| {
        lies::alter_move(report, rng);
        report.signatures.0.clear();
    };
    let lies: [(&str, Lie); 3] = [
        ("the reported number does not follow from the assigned commitment", lies::forge_draw),
        ("did not sign what the referee reports", lies::alter_move),
        ("did not sign what the referee reports", stripped),
    ];
    for (reason, lie) in lies {
        // Two equal choices are a draw, whatever the number is.
        let mut played = LyingLeague::start("even_odd", "always_even", lie);
        let alerts = played.play(&["uphold"]);
        assert!(alerts.len() == played.lies.load(Ordering::Relaxed) && !alerts.is_empty(), "{reason}: {alerts:?}");
        for alert in &alerts {
            assert_eq!((&alert["referee_id"], &alert["reason"]), (&json!("REF01"), &json!(reason)), "{alert}");
        }
        assert_eq!(played.alerts(), Vec::<Value>::new(), "{reason}");
        let home = played.end().home;
        assert!(home.list("standings").iter().all(|row| row["points"] == 3), "{reason}");
    }
}

#[test]
fn a_false_charge_does_not_count_and_the_operator_decides_afterwards() {
    let mut played = LyingLeague::start("even_odd", "always_even", |report, _| lies::charge(report));
    assert_eq!(played.play(&[]), Vec::<Value>::new(), "no player has seen anything, so no match waits");
    let (alerts, told) = (played.alerts(), played.lies.load(Ordering::Relaxed));
    assert!(told > 0 && alerts.len() == told, "{told} lies, {alerts:?}");
    for alert in &alerts {
        let reason = json!("says that it made the move that the referee says is missing");
        assert_eq!((&alert["referee_id"], &alert["reason"]), (&json!("REF01"), &reason), "{alert}");
    }
    let match_id = alerts[0]["match_id"].as_str().unwrap();
    let decided = played.resolve(match_id, "uphold").success();
    assert_contains(&decided.stderr, &[match_id, "the referee is at fault"]);
    assert_eq!(played.alerts().len(), told - 1);
    played.resolve(match_id, "uphold").fails_with(&[match_id, "has no open alert"]);
    let home = played.end().home;
    assert!(home.list("standings").iter().all(|row| row["points"] == 3));
}

#[test]
fn a_match_in_which_moves_were_seen_waits_for_the_operator_and_either_decision_leaves_a_whole_home() {
    let mut played = LyingLeague::start("tic_tac_toe", "random", lies::alter_move);
    let alerts = played.play(&["reject", "uphold"]);
    assert!(alerts.len() == played.lies.load(Ordering::Relaxed) && !alerts.is_empty(), "{alerts:?}");
    played.end();
}

/// How often a match was taken back from a referee that accepts every match and calls no player.
fn stalls(withdraw: bool) -> usize {
    let venue = Venue::new();
    let mut manager = venue.manager_with(4, 2, &[]);
    manager.address();
    let stalling = HttpServer::stub(|request| {
        let request = request.json();
        HttpReply::result(&request, &json!({"status": "ACCEPTED", "match_id": request["params"]["match_id"]}))
    });
    let stalling = stalling.unwrap();
    let meta = json!({"display_name": "Idle", "version": "1.0.0", "game_types": ["even_odd"], "pass_scheme": "hmac-sha256",
        "contact_endpoint": stalling.endpoint(), "max_concurrent_matches": 1000});
    let registered = http::call(&venue.address, "register_referee", &json!({ "referee_meta": meta }));
    assert_eq!(registered["result"]["referee_id"], "REF01", "{registered}");
    let _honest = venue.referee("REF02");
    let _players = PLAYERS.map(|id| venue.player(id, "random"));
    if withdraw {
        stalling.wait_for("start_match", 1, LIMIT);
        let told = league(&["withdraw", "REF01", "--manager", &venue.address]).success().stderr;
        assert_contains(&told, &["REF01"]);
    }
    manager.wait_for_end_of_league();
    manager.signal("TERM");
    manager.wait().success();
    venue.home.verify(6);
    assert_eq!(venue.home.forfeits(), 0);
    for played in venue.home.list("matches") {
        assert_eq!(venue.home.match_file(played["match_id"].as_str().unwrap())["referee_id"], "REF02", "{played}");
    }
    // It gets one match of the two in each round.
    assert!(stalling.calls("start_match").len() <= 3);
    let log = venue.home.files().into_iter().find(|path| path.ends_with("league.log.jsonl")).unwrap();
    fs::read_to_string(log).unwrap().matches("the referee does not call the players").count()
}

#[test]
fn a_referee_that_calls_no_player_loses_its_matches_early() {
    assert_eq!(stalls(false), 3);
}

#[test]
fn a_withdrawn_referee_gets_no_other_match() {
    assert!(stalls(true) <= 1);
}

#[test]
fn a_result_counts_before_a_loser_hears_of_it_and_the_loser_cannot_have_it_played_again() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &[]);
    manager.address();
    let mut referee = venue.referee("REF01");
    referee.wait_for_line("is ready");
    let agents = venue.home.json("agents");
    let (address, seen) = (venue.address.clone(), Arc::new(Mutex::new(Vec::new())));
    let noted = Arc::clone(&seen);
    let loser = HttpServer::stub(move |request| {
        let request = request.json();
        let result = match request["method"].as_str().unwrap() {
            "handle_game_invitation" => json!({"message_type": "GAME_JOIN_ACK", "accept": true}),
            "choose_parity" => json!({"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": "even"}),
            "notify_match_result" => {
                let standings = http::call(&address, "get_standings", &json!({}));
                let meta = json!({"display_name": agents[0]["name"], "version": "1.0.0", "game_types": ["even_odd"],
                    "contact_endpoint": agents[0]["endpoint"], "max_concurrent_matches": 2});
                let again = http::call(&address, "register_referee", &json!({ "referee_meta": meta }));
                noted
                    .lock()
                    .unwrap()
                    .push((standings["result"]["standings"].clone(), again["result"]["status"].clone()));
                json!({"status": "ok"})
            }
            _ => json!({"status": "ok"}),
        };
        HttpReply::result(&request, &result)
    });
    let loser = loser.unwrap();
    register_player(&venue.address, "P02", &loser.endpoint());
    let _player = venue.player("P01", "always_odd");
    manager.wait_for_end_of_league();
    manager.signal("TERM");
    manager.wait().success();
    let seen = seen.lock().unwrap();
    let [(standings, status)] = &seen[..] else { panic!("the loser heard of {} results", seen.len()) };
    assert_played(standings, 1);
    assert_eq!(status, "REJECTED");
    assert_eq!(venue.home.match_file("R1M1")["attempt"], 1);
    venue.home.verify(1);
}
