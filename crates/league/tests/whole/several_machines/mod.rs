//! Several machines: manager, referees and players on separate hosts.
//!
//! The hosts are network namespaces. Where those are not allowed, `cargo xtask ci` skips these tests and says so.

mod fleet;
pub(crate) mod network;
mod partition;

use std::fs;
use std::process::Command;

use network::{Host, Network};
use serde_json::Value;

use crate::browser::{look, looker, watch_live};
use crate::support::{Kit, Process, assert_contains, read_json, wait_for_all};

const PAGE: &str = include_str!("../../../../../docs/operate.md");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn lines_at(address: &str) -> Vec<&'static str> {
    let fence = format!("```console {address}\n");
    let block = PAGE.split(&fence).nth(1).unwrap_or_else(|| panic!("the page has no lines for {address}"));
    block.split("\n```").next().unwrap().lines().collect()
}

fn run_line(host: &Host, line: &str) -> Process {
    match line.split_once(' ').unwrap() {
        ("league", arguments) => host.league(arguments),
        (program, arguments) => {
            let mut command = Command::new(program);
            host.start(command.args(arguments.split_whitespace()).current_dir(ROOT))
        }
    }
}

/// What the manager prints at its start.
struct Printed {
    address: String,
    others: String,
    site: String,
    player: String,
    referee: String,
}

impl Printed {
    fn by(manager: &mut Process) -> Self {
        let address = manager.address();
        let mut after = |words: &str| manager.wait_for_line(words).split_once(words).unwrap().1.to_owned();
        let others = after("Other addresses of the manager: ");
        let site = after("Watch it at ");
        let player = after("Players join with: ");
        Self { address, others, site, player, referee: after("Referees join with: ") }
    }

    fn key(&self) -> &str {
        key_in(&self.referee)
    }
}

fn key_in(line: &str) -> &str {
    line.split_once(" --join-key ").unwrap().1
}

#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed and installs a browser"]
fn the_lines_of_the_page_play_a_league_across_three_machines() {
    let network = Network::new();
    let lines = lines_at("192.168.1.10");
    let mut manager = run_line(&network.manager, lines[0]);
    let printed = Printed::by(&mut manager);
    assert_eq!((lines.len(), printed.address.as_str()), (1, "http://192.168.1.10:8000/mcp"));
    let mut agents = Vec::new();
    watch_live(&mut network.players.command(&looker("live", &printed.site)), || {
        for line in lines_at("192.168.1.11") {
            let line = line.replace("KEY", printed.key());
            assert!(line.starts_with(&printed.referee), "{line} is not what the manager prints: {}", printed.referee);
            agents.push(run_line(&network.referees, &line));
        }
        for line in lines_at("192.168.1.12") {
            let flags = printed.player.strip_prefix("league player ").unwrap();
            assert!(line.contains(flags), "{line} is not what the manager prints: {}", printed.player);
            agents.push(run_line(&network.players, line));
        }
    });
    manager.wait_for_line("The league is over.");
    wait_for_all(agents);
    // Browsers offer SHA-256 only to pages from their own machine, and this page is from another one.
    look(&mut network.players.command(&looker("verify", &printed.site)));
}

#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed"]
fn a_manager_answers_to_the_names_that_lead_to_it_and_to_no_other() {
    let network = Network::new();
    let mut manager = network.manager.league("manager --host 0.0.0.0");
    let printed = Printed::by(&mut manager);
    let names = "http://teacher-laptop:8000/mcp http://teacher-laptop.local:8000/mcp";
    assert_eq!(printed.others, names, "its other address is of version six, at which it does not listen");
    for place in ["teacher-laptop.local:8000", "http://teacher-laptop:8000/mcp", "192.168.1.10:8000"] {
        let status = network.players.league(&format!("status --json --manager {place}")).wait().success().json();
        assert_eq!(status["state"], "WAITING_FOR_REGISTRATIONS", "{place}");
    }
    let refused = network.players.league("status --manager elsewhere.example:8000");
    refused.wait().fails_with(&["--advertise http://elsewhere.example:8000/mcp"]);
    let mut show = network.manager.league("show --host 0.0.0.0 --port 8080");
    assert_contains(&show.wait_for_line("is shown at"), &["http://192.168.1.10:8080/"]);
    assert_contains(&show.wait_for_line("It is also at"), &["http://teacher-laptop.local:8080/"]);
}

#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed"]
fn a_refused_agent_is_told_which_flag_to_set() {
    let network = Network::new();
    let mut manager = network.manager.league("manager --host 0.0.0.0 --referee-key sesame-sesame-open");
    let printed = Printed::by(&mut manager);
    assert_eq!(printed.key(), "KEY", "a chosen key is not shown");
    let flags = "Start your player with --host 192.168.1.12 or with --advertise http://192.168.1.12:8101/mcp";
    let player = "player --port 8101 --manager 192.168.1.10:8000";
    let error = network.players.league(player).wait().fails_with(&[flags]);
    assert!(!error.contains("--allow-host"), "{error}");
    let elsewhere = network.players.league(&format!("{player} --advertise players.example:8101"));
    elsewhere.wait().fails_with(&["the operator starts the manager with --allow-host players.example"]);
    let keyless = network.referees.league("referee --host 0.0.0.0 --manager 192.168.1.10:8000");
    keyless.wait().fails_with(&["give it with --join-key"]);
}

#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed"]
fn a_machine_in_no_network_says_so_and_plays_by_itself() {
    let island = Host::new("island");
    let mut manager =
        island.league("manager --host 0.0.0.0 --expect-players 2 --referee-key sesame-sesame-open --exit-when-done");
    assert_eq!(manager.address(), "http://localhost:8000/mcp");
    manager.wait_for_line("This machine has no address but loopback, so only agents on this machine can join.");
    let mut referee = island.league("referee --host 0.0.0.0 --join-key sesame-sesame-open");
    referee.wait_for_line("This machine has no address but loopback, so others cannot reach http://127.0.0.1:");
    let _players = [island.league("player --host 0.0.0.0"), island.league("player")];
    manager.wait_for_line("which agents on other machines cannot reach; start it with --host 0.0.0.0");
    manager.wait().success();
}

#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed"]
fn agents_are_checked_from_another_machine() {
    let network = Network::new();
    let mut player = network.players.league("player --host 0.0.0.0 --port 8101 --manager 192.168.1.10:8000");
    let mut referee = network.referees.league("referee --host 0.0.0.0 --port 8001 --manager 192.168.1.10:8000");
    player.wait_for_line("Waiting for the manager");
    referee.wait_for_line("Waiting for the manager");
    for arguments in ["players.local:8101", "192.168.1.11:8001 --role referee --host 0.0.0.0 --listen 8000"] {
        let report = network.manager.league(&format!("check {arguments}")).wait();
        assert_eq!(report.code, Some(0), "{arguments}: {}{}", report.stdout, report.stderr);
    }
}

#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed"]
fn a_referee_behind_nat_plays_a_league_by_pulling() {
    let network = Network::new();
    let (_router, inside) = network.behind_nat();
    assert!(!network.manager.can("ip route get 10.0.0.2"), "the manager must not reach the referee");
    let options = "--host 0.0.0.0 --expect-players 4 --expect-referees 1 --operator-token chalk-on-the-blackboard";
    let mut manager = network.manager.league(&format!("manager {options} --exit-when-done --json"));
    let printed = Printed::by(&mut manager);
    let line = lines_at("10.0.0.2")[0].replace("KEY", printed.key());
    let mut referee = run_line(&inside, &line);
    referee.wait_for_line("REF01 is ready");
    let agents = operate(&network.players, "agents --token chalk-on-the-blackboard").wait().success().json();
    assert_eq!(agents[0]["endpoint"], "pull://192.168.1.1", "{agents}");
    let player = "player --host 0.0.0.0 --manager http://192.168.1.10:8000/mcp";
    let players: Vec<Process> = (0..4).map(|_| network.players.league(player)).collect();
    let standings = manager.wait().success().json();
    assert!(standings.as_array().unwrap().iter().all(|row| row["played"] == 3), "{standings}");
    referee.wait().success();
    wait_for_all(players);
    let report = network.manager.league("verify --json").wait().success().json();
    assert_eq!((&report["matches"], &report["differences"]), (&Value::from(6), &serde_json::json!([])), "{report}");
    let files = fs::read_dir(network.manager.home().join("SHARED/data/matches/league_2025_even_odd")).unwrap();
    let matches: Vec<Value> = files.map(|file| read_json(&file.unwrap().path())).collect();
    let is_whole = |game: &Value| {
        game["transcript"].as_array().is_some_and(|entries| !entries.is_empty())
            && game["result"]["details"]["technical_losses"].is_null()
    };
    assert!(matches.len() == 6 && matches.iter().all(is_whole), "{matches:?}");
}

fn operate(host: &Host, command: &str) -> Process {
    host.league(&format!("{command} --json --manager http://192.168.1.10:8000/mcp"))
}

#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed and installs what the kits are written with"]
fn every_kit_plays_from_another_machine() {
    let network = Network::new();
    let options =
        "--host 0.0.0.0 --registration-window 600 --players-need-key --operator-token chalk-on-the-blackboard";
    let mut manager = network.manager.league(&format!("manager {options} --exit-when-done --json"));
    let printed = Printed::by(&mut manager);
    let key = key_in(&printed.player);
    let mut agents = vec![network.referees.league(printed.referee.strip_prefix("league ").unwrap())];
    // On the manager's machine, which it calls by loopback; the referee reaches it all the same.
    let beside = "player --host 0.0.0.0 --manager localhost:8000 --name Beside --join-key";
    agents.push(network.manager.league(&format!("{beside} {key}")));
    for (kit, port) in Kit::ALL.into_iter().zip(8101..) {
        let name = format!("{kit:?}");
        let flags = ["--host", "0.0.0.0", "--join-key", key];
        agents.push(network.players.start(&kit.command(port, "192.168.1.10:8000", &name, &flags)));
    }
    for agent in &mut agents[1..] {
        agent.wait_for_line("P0");
    }
    let agents_known = operate(&network.players, "agents --token chalk-on-the-blackboard").wait().success().json();
    let endpoint = |name: &str| {
        let known = agents_known.as_array().unwrap().iter().find(|agent| agent["name"] == name);
        known.unwrap_or_else(|| panic!("{name}: {agents_known}"))["endpoint"].as_str().unwrap().to_owned()
    };
    for (kit, port) in Kit::ALL.into_iter().zip(8101..) {
        assert_eq!(endpoint(&format!("{kit:?}")), format!("http://192.168.1.12:{port}/mcp"));
    }
    assert!(endpoint("Beside").starts_with("http://192.168.1.10:"));
    operate(&network.players, "start").wait().fails_with(&[]);
    operate(&network.players, "start --token chalk-on-the-blackboard").wait().success();
    let standings = manager.wait().success().json();
    wait_for_all(agents);
    assert_eq!(standings.as_array().unwrap().len(), 6, "{standings}");
    let files = fs::read_dir(network.referees.home().join("SHARED/data/matches/league_2025_even_odd")).unwrap();
    let matches: Vec<Value> = files.map(|file| read_json(&file.unwrap().path())).collect();
    assert_eq!(matches.len(), 15);
    assert!(matches.iter().all(|game| game["result"]["details"]["technical_losses"].is_null()), "{matches:?}");
}

#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed"]
fn a_league_is_played_over_version_six() {
    let network = Network::new();
    let mut manager = network.manager.league("manager --host :: --expect-players 2 --exit-when-done");
    let printed = Printed::by(&mut manager);
    assert!(printed.others.contains("http://[fd00::10]:8000/mcp"), "{}", printed.others);
    let at = "--host :: --manager http://[fd00::10]:8000/mcp";
    let _referee = network.referees.league(&format!("referee {at} --join-key {}", printed.key()));
    let mut player = network.players.league(&format!("player {at}"));
    // A player that registers over IPv4 is called over IPv4.
    let _other = network.players.league("player --host :: --manager 192.168.1.10:8000");
    player.wait_for_line("P0");
    manager.wait().success();
    let registered =
        fs::read_to_string(network.manager.home().join("SHARED/config/agents/agents_config.json")).unwrap();
    assert!(registered.contains("http://[fd00::12]:") && registered.contains("http://192.168.1.12:"), "{registered}");
}
