//! The texts for people: what a league waits for, how to watch it, what a home holds, what was stopped.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::home::LEAGUE;
use crate::support::{TestHome, Venue, assert_contains, http, league, ports, read_json_lines};

#[test]
fn a_terminal_shows_which_agents_the_league_waits_for_and_no_full_bar() {
    let home = TestHome::new();
    let command =
        format!("'{}' run --players 2 --guests 1 --port 0 --home '{}'", env!("CARGO_BIN_EXE_league"), home.path());
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut terminal = script.spawn().unwrap();
    let (mut screen, mut seen, mut bytes) = (terminal.stdout.take().unwrap(), String::new(), [0; 4096]);
    while !seen.contains("waiting for 1 guest: start yours with --manager http://127.0.0.1:") {
        let read = screen.read(&mut bytes).unwrap();
        assert!(read > 0, "the league ended: {seen}");
        seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    assert_contains(&seen, &["2 players, 1 guest to come, 2 referees, manager at "]);
    assert!(!seen.contains("0/0"), "{seen}");
    let (_, rest) = seen.split_once("manager at ").unwrap();
    let manager = rest.split_whitespace().next().unwrap().to_owned();
    let guest = home.start(&["player", "--port", "0", "--manager", &manager]);
    screen.read_to_string(&mut seen).unwrap();
    assert!(terminal.wait().unwrap().success(), "{seen}");
    guest.wait().success();
    home.verify(3);
}

#[test]
fn without_a_terminal_the_expected_guests_are_printed_once() {
    let home = TestHome::new();
    let mut run = home.start(&["run", "--players", "2", "--guests", "2", "--port", "0"]);
    let line = run.wait_for_line("Waiting for 2 guests: start an agent with --manager http://127.0.0.1:");
    assert!(line.ends_with("/mcp"), "{line}");
}

#[test]
fn a_league_ends_with_the_commands_that_show_it_and_is_logged() {
    let home = TestHome::new();
    let stderr = home.run(&["--players", "2"]).stderr;
    let commands = ["verify", "show"].map(|name| format!("league {name} --home {} --league-id {LEAGUE}", home.path()));
    assert_contains(&stderr, &[&commands[0], &commands[1], "1 match in ", "2 players, 2 referees"]);
    let log = read_json_lines(&home.join("logs/system/orchestrator.log.jsonl"));
    let events: Vec<&str> = log.iter().map(|line| line["event_type"].as_str().unwrap()).collect();
    assert_eq!((events.first(), events.last()), (Some(&"LEAGUE_STARTED"), Some(&"LEAGUE_COMPLETED")), "{events:?}");
    assert_eq!(events.iter().filter(|event| **event == "AGENT_STARTED").count(), 4);
    assert!(log.iter().all(|line| line["component"] == "orchestrator" && line["level"] == "INFO"), "{log:?}");
}

#[test]
fn a_stopped_league_is_shown_as_stopped() {
    let venue = Venue::new();
    let _manager = venue.manager_with(2, 1, &["--stepped"]);
    let mut referee = venue.referee("REF01");
    referee.wait_for_line("is ready");
    let _players = ["P01", "P02"].map(|id| venue.player(id, "random"));
    let operate = |command: &str, more: &[&str]| {
        league(&[&[command, "--manager", venue.address.as_str()], more].concat()).success()
    };
    http::until_match(&venue.home.referee_endpoint(), "R1M1", "waiting_for", "collect_choices");
    assert_eq!(operate("status", &["--json"]).json()["halted"], false);
    assert!(!operate("status", &[]).stdout.contains("stopped"));
    let stopped = "RUNNING_LEAGUE, stopped by the operator; league start goes on with it";
    assert_contains(&operate("stop", &[]).stdout, &[stopped]);
    assert_eq!(operate("status", &["--json"]).json()["halted"], true);
    assert_contains(&operate("status", &[]).stdout, &["stopped by the operator"]);
    assert_contains(&venue.home.league(&["leagues"]).success().stdout, &["RUNNING_LEAGUE, stopped"]);
    assert_eq!(operate("start", &["--json"]).json()["halted"], false);
}

#[test]
fn a_home_lists_its_leagues() {
    let home = TestHome::new();
    let exit = home.league(&["leagues"]).success();
    assert!(exit.stdout.is_empty() && exit.stderr.contains("There is no league in"), "{}", exit.stderr);
    assert_eq!(home.json("leagues"), json!([]));
    home.run(&["--players", "2"]);
    home.run(&["--league-id", "cup", "--players", "3"]);
    let listed = home.list("leagues");
    let entry = |id: &str| listed.iter().find(|entry| entry["league_id"] == id).unwrap();
    assert_eq!(entry("cup")["status"]["players"], 3);
    assert_eq!(entry(LEAGUE)["status"]["state"], "LEAGUE_COMPLETED");
    assert!(entry("cup")["last_written"].as_str().unwrap().ends_with('Z'));
    assert_contains(&home.league(&["leagues"]).success().stdout, &[entry("cup")["champion"].as_str().unwrap()]);
    for command in [&["standings"][..], &["verify"], &["show", "--port", "0"]] {
        home.league(&[command, &["--league-id", "cap"]].concat()).fails_with(&[
            "there is no league cap",
            "cup",
            LEAGUE,
        ]);
    }
}

#[test]
fn a_busy_port_of_a_house_player_is_replaced() {
    let home = TestHome::new();
    let first = ports::free();
    let taken = [1, 101].map(|offset| TcpListener::bind(("127.0.0.1", first + offset)));
    assert!(taken.iter().any(Result::is_ok));
    home.league(&["run", "--port", &first.to_string()]).success();
    home.verify(6);
    let agents = home.json("agents").to_string();
    assert!(!agents.contains(&format!(":{}/", first + 101)), "{agents}");
}

#[test]
fn agents_start_as_the_registry_of_the_home_says() {
    let venue = Venue::new();
    let registry = json!({
        "schema_version": "1.0.0",
        "referees": [
            {"referee_id": "REF01", "display_name": "Referee Alpha", "max_concurrent_matches": 2, "game_types": ["even_odd"]},
            {"referee_id": "REF02", "game_types": ["chess"]},
        ],
        "players": [
            {"player_id": "P01", "display_name": "Agent Alpha", "active": true},
            {"player_id": "P02", "display_name": "Agent Beta", "active": false},
            {"player_id": "P03", "display_name": "Agent Gamma"},
            {"player_id": "P04", "game_types": ["chess"]},
        ],
    });
    venue.home.write("config/agents/agents_config.json", &registry);
    let inactive = "says that P02 is not active; set its `active` to true";
    venue.player("P02", "random").wait().fails_with(&[inactive]);
    let no_game = "lists chess as the game_types of P04, which offers even_odd, tic_tac_toe";
    venue.player("P04", "random").wait().fails_with(&[no_game]);
    venue.referee("REF02").wait().fails_with(&["lists chess as the game_types of REF02"]);
    let mut manager = venue.manager_with(2, 1, &[]);
    manager.address();
    let _referee = venue.referee("REF01");
    let _players = [venue.player("P01", "random"), venue.agent(&["player", "--player-id", "P03", "--name", "Flag"])];
    manager.wait_for_end_of_league();
    let agents = venue.home.list("agents");
    let names: Vec<&str> = agents.iter().map(|agent| agent["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Referee Alpha", "Agent Alpha", "Flag"]);
    let log = rusqlite::Connection::open(venue.home.database()).unwrap();
    let query = "SELECT body FROM events WHERE body LIKE '%Referee Alpha%' LIMIT 1";
    let body: String = log.query_row(query, [], |row| row.get(0)).unwrap();
    assert!(body.contains("\"capacity\":2") || body.contains("\"max_concurrent_matches\":2"), "{body}");
}

/// Expects that the program accepts the output of `league` without a word.
fn expect_accepted(program: &str, arguments: &[&str], text: &str) {
    let directory = TestHome::new();
    let file = directory.join("printed");
    fs::write(&file, text).unwrap();
    let output = Command::new(program).args(arguments).arg(&file).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    assert!(output.status.success() && printed.is_empty(), "{program}: {}", String::from_utf8_lossy(&printed));
}

#[test]
fn shells_complete_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        assert_contains(&league(&["completions", shell]).success().stdout, &["standings", "expect-players"]);
    }
    expect_accepted("bash", &["-n"], &league(&["completions", "bash"]).success().stdout);
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    assert_contains(&league(&["man"]).success().stdout, &[".TH league 1", "withdraw"]);
    let directory = TestHome::new();
    league(&["man", directory.path()]).success();
    for (page, flag) in
        [("league", "\\-\\-version"), ("league-player", "\\-\\-strategy"), ("league-run", "\\-\\-config")]
    {
        let text = fs::read_to_string(directory.join(&format!("{page}.1"))).unwrap();
        assert_contains(&text, &[&format!(".TH {page} 1"), flag]);
        // If a renderer is installed, it must accept the manual pages.
        if Command::new("groff").arg("--version").output().is_ok() {
            expect_accepted("groff", &["-man", "-Tascii", "-ww", "-z"], &text);
        }
    }
}

#[test]
fn help_groups_the_commands() {
    let help = league(&["--help"]).success().stdout;
    let order = "Play:|run|Look:|standings|Operate:|withdraw|Check:|verify|Set up:|Options:|Examples:";
    let position = |word: &str| help.find(&format!("\n{word}")).or_else(|| help.find(&format!("\n  {word}"))).unwrap();
    assert!(order.split('|').map(position).is_sorted(), "{help}");
    assert_contains(&help, &["Usage: league [COMMAND]"]);
}
