//! The texts for people: what a league waits for, how to watch it, what a home holds, what was stopped.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::home::LEAGUE;
use crate::support::{Process, TestHome, Venue, league, ports};

fn play(home: &TestHome, more: &[&str]) -> crate::support::Ended {
    league(&[&["run", "--port", "0", "--home", home.path()], more].concat()).well()
}

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_terminal_shows_whom_the_league_waits_for_and_no_full_bar() {
    let home = TestHome::new();
    let command =
        format!("'{}' run --players 2 --guests 1 --port 0 --home '{}'", env!("CARGO_BIN_EXE_league"), home.path());
    let mut terminal = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut screen, mut seen, mut bytes) = (terminal.stdout.take().unwrap(), String::new(), [0; 4096]);
    let wanted = "waiting for 1 guest: start yours with --manager http://127.0.0.1:";
    while !seen.contains(wanted) {
        let read = screen.read(&mut bytes).unwrap();
        assert!(read > 0, "the league ended: {seen}");
        seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    assert!(seen.contains("2 players, 1 guest to come, 2 referees, manager at "), "{seen}");
    assert!(!seen.contains("0/0"), "{seen}");
    let (_, rest) = seen.split_once("manager at ").unwrap();
    let manager = rest.split_whitespace().next().unwrap().to_owned();
    let guest = Process::start(&["player", "--port", "0", "--manager", &manager, "--home", home.path()]);
    screen.read_to_string(&mut seen).unwrap();
    assert!(terminal.wait().unwrap().success(), "{seen}");
    guest.ended().well();
    home.verify(3);
}

#[test]
fn without_a_terminal_the_guests_are_named_once() {
    let home = TestHome::new();
    let mut run = Process::start(&["run", "--players", "2", "--guests", "2", "--port", "0", "--home", home.path()]);
    let line = run.says("Waiting for 2 guests: start an agent with --manager http://127.0.0.1:");
    assert!(line.ends_with("/mcp"), "{line}");
}

#[test]
fn a_league_ends_with_the_commands_that_look_at_it() {
    let home = TestHome::new();
    let told = play(&home, &["--players", "2"]).talk;
    for command in ["verify", "show"] {
        assert!(told.contains(&format!("league {command} --home {} --league-id {LEAGUE}", home.path())), "{told}");
    }
    assert!(told.contains("1 match in "), "{told}");
    assert!(told.contains("2 players, 2 referees"), "{told}");
}

#[test]
fn a_league_that_is_stopped_says_so() {
    let venue = Venue::new();
    let _manager = venue.manager_with(2, 1, &["--stepped"]);
    let mut referee = venue.referee("REF01");
    referee.says("is ready");
    let _players = ["P01", "P02"].map(|id| venue.player(id, "random"));
    let place = ["--manager", venue.address.as_str()];
    let asked = |command: &str, more: &[&str]| league(&[&[command], &place[..], more].concat()).well();
    let endpoint = venue.home.tells("agents")[0]["endpoint"].as_str().unwrap().to_owned();
    let waits = |state: &Value| state["result"]["waiting_for"] == "collect_choices";
    crate::support::http::until(&endpoint, "get_match_state", &serde_json::json!({"match_id": "R1M1"}), waits);
    assert_eq!(asked("status", &["--json"]).json()["halted"], false);
    assert!(!asked("status", &[]).out.contains("stopped"));
    assert!(asked("stop", &[]).out.contains("RUNNING_LEAGUE, stopped by the operator; league start goes on with it"));
    assert_eq!(asked("status", &["--json"]).json()["halted"], true);
    assert!(asked("status", &[]).out.contains("stopped by the operator"));
    let listed = league(&["leagues", "--home", venue.home.path()]).well().out;
    assert!(listed.contains("RUNNING_LEAGUE, stopped"), "{listed}");
    assert_eq!(asked("start", &["--json"]).json()["halted"], false);
}

#[test]
fn a_home_lists_its_leagues() {
    let home = TestHome::new();
    let nothing = league(&["leagues", "--home", home.path()]).well();
    assert!(nothing.out.is_empty() && nothing.talk.contains("There is no league in"), "{}", nothing.talk);
    assert_eq!(home.tells("leagues"), serde_json::json!([]));
    play(&home, &["--players", "2"]);
    play(&home, &["--league-id", "cup", "--players", "3"]);
    let listed = home.tells("leagues");
    let of = |id: &str| listed.as_array().unwrap().iter().find(|kept| kept["league_id"] == id).unwrap();
    assert_eq!(of("cup")["status"]["players"], 3);
    assert_eq!(of(LEAGUE)["status"]["state"], "LEAGUE_COMPLETED");
    assert!(of("cup")["last_written"].as_str().unwrap().ends_with('Z'));
    let table = league(&["leagues", "--home", home.path()]).well().out;
    assert!(table.contains(of("cup")["champion"].as_str().unwrap()), "{table}");
    for command in [&["standings"][..], &["verify"], &["show", "--port", "0"]] {
        let told = league(&[command, &["--home", home.path(), "--league-id", "cap"]].concat()).badly();
        assert!(told.contains("there is no league cap") && told.contains("cup") && told.contains(LEAGUE), "{told}");
    }
}

#[test]
fn a_run_that_cannot_begin_leaves_no_league() {
    let (home, taken) = (TestHome::new(), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = taken.local_addr().unwrap().port().to_string();
    let told = league(&["run", "--port", &port, "--home", home.path()]).badly();
    assert!(told.contains("cannot listen"), "{told}");
    assert_eq!(home.tells("leagues"), serde_json::json!([]));
    assert!(!play(&home, &[]).talk.contains("Going on with"));
}

#[test]
fn a_busy_port_of_a_house_player_is_replaced() {
    let home = TestHome::new();
    let first = ports::free();
    let taken = [1, 101].map(|offset| TcpListener::bind(("127.0.0.1", first + offset)));
    assert!(taken.iter().any(Result::is_ok));
    league(&["run", "--port", &first.to_string(), "--home", home.path()]).well();
    home.verify(6);
    let endpoints = home.tells("agents").to_string();
    assert!(!endpoints.contains(&format!(":{}/", first + 101)), "{endpoints}");
}

#[test]
fn starting_a_league_is_logged() {
    let home = TestHome::new();
    play(&home, &[]);
    let log = lines(&home.join("logs/system/orchestrator.log.jsonl"));
    let events: Vec<&str> = log.iter().map(|line| line["event_type"].as_str().unwrap()).collect();
    assert_eq!((events.first(), events.last()), (Some(&"LEAGUE_STARTED"), Some(&"LEAGUE_COMPLETED")), "{events:?}");
    assert_eq!(events.iter().filter(|event| **event == "AGENT_STARTED").count(), 6);
    assert!(log.iter().all(|line| line["component"] == "orchestrator" && line["level"] == "INFO"), "{log:?}");
}

#[test]
fn agents_start_as_the_registry_of_the_home_says() {
    let venue = Venue::new();
    let registry = serde_json::json!({
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
    fs::create_dir_all(venue.home.join("config/agents")).unwrap();
    fs::write(venue.home.join("config/agents/agents_config.json"), registry.to_string()).unwrap();
    let told = venue.player("P02", "random").ended().badly();
    assert!(told.contains("says that P02 is not active; set its `active` to true"), "{told}");
    let told = venue.player("P04", "random").ended().badly();
    assert!(told.contains("lists chess as the game_types of P04, which offers even_odd, tic_tac_toe"), "{told}");
    let told = venue.referee("REF02").ended().badly();
    assert!(told.contains("lists chess as the game_types of REF02"), "{told}");
    let mut manager = venue.manager_with(2, 1, &[]);
    manager.address();
    let _referee = venue.referee("REF01");
    let _players = [venue.player("P01", "random"), venue.agent(&["player", "--player-id", "P03"], &["--name", "Flag"])];
    manager.says("The league is over. Serving until Ctrl-C.");
    let agents = venue.home.tells("agents");
    let names: Vec<&str> = agents.as_array().unwrap().iter().map(|agent| agent["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Referee Alpha", "Agent Alpha", "Flag"]);
    let events = rusqlite::Connection::open(venue.home.database()).unwrap();
    let registered: String = events
        .query_row("SELECT body FROM events WHERE body LIKE '%Referee Alpha%' LIMIT 1", [], |row| row.get(0))
        .unwrap();
    assert!(
        registered.contains("\"capacity\":2") || registered.contains("\"max_concurrent_matches\":2"),
        "{registered}"
    );
}

/// Whether the program accepts the output of `league`, and its own output.
fn examined(program: &str, arguments: &[&str], text: &str) -> (bool, String) {
    let place = TestHome::new();
    let file = place.join("printed");
    fs::write(&file, text).unwrap();
    let ran = Command::new(program).args(arguments).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    (ran.status.success(), said)
}

#[test]
fn shells_complete_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = league(&["completions", shell]).well().out;
        assert!(script.contains("standings") && script.contains("expect-players"), "{shell}: {script}");
    }
    let (well, said) = examined("bash", &["-n"], &league(&["completions", "bash"]).well().out);
    assert!(well && said.is_empty(), "{said}");
    let ended = league(&["completions", "tcsh"]);
    assert!(ended.code == Some(2) && ended.talk.contains("bash, elvish, fish, powershell, zsh"), "{}", ended.talk);
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let printed = league(&["man"]).well().out;
    assert!(printed.contains(".TH league 1") && printed.contains("withdraw"), "{printed}");
    let directory = TestHome::new();
    league(&["man", directory.path()]).well();
    for (page, flag) in
        [("league", "\\-\\-version"), ("league-player", "\\-\\-strategy"), ("league-run", "\\-\\-config")]
    {
        let text = fs::read_to_string(directory.join(&format!("{page}.1"))).unwrap();
        assert!(text.contains(&format!(".TH {page} 1")) && text.contains(flag), "{page}: {text}");
        // If a renderer is installed, it must accept the manual pages.
        if Command::new("groff").arg("--version").output().is_ok() {
            let (well, said) = examined("groff", &["-man", "-Tascii", "-ww", "-z"], &text);
            assert!(well && said.is_empty(), "{page}: {said}");
        }
    }
    let told = league(&["man", "/nowhere/at/all"]).badly();
    assert!(told.contains("/nowhere/at/all is not a directory"), "{told}");
}

#[test]
fn help_groups_the_commands() {
    let help = league(&["--help"]).well().out;
    let places = [
        "Play:",
        "run",
        "Look:",
        "standings",
        "Operate:",
        "withdraw",
        "Check:",
        "verify",
        "Set up:",
        "Options:",
        "Examples:",
    ];
    let found: Vec<usize> = places
        .iter()
        .map(|word| help.find(&format!("\n{word}")).or_else(|| help.find(&format!("\n  {word}"))).unwrap())
        .collect();
    assert!(found.is_sorted(), "{help}");
    assert!(help.contains("Usage: league [COMMAND]"), "{help}");
}
