//! Several machines: manager, referees and players on separate hosts.
//!
//! The hosts are network namespaces. Where those are not allowed, `cargo xtask ci` skips these tests and says so.

mod network;

use std::fs;
use std::process::Command;

use network::{Host, Network};
use serde_json::Value;

use crate::browser::{looked, looker, watched};
use crate::support::{Kit, Process};

const PAGE: &str = include_str!("../../../../../docs/operate.md");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn lines_at(address: &str) -> Vec<&'static str> {
    let fence = format!("```console {address}\n");
    let block = PAGE.split(&fence).nth(1).unwrap_or_else(|| panic!("the page has no lines for {address}"));
    block.split("\n```").next().unwrap().lines().collect()
}

fn typed(host: &Host, line: &str) -> Process {
    match line.split_once(' ').unwrap() {
        ("league", arguments) => host.league(arguments),
        (program, arguments) => {
            let mut command = Command::new(program);
            host.start(command.args(arguments.split_whitespace()).current_dir(ROOT))
        }
    }
}

struct Told {
    address: String,
    others: String,
    site: String,
    player: String,
    referee: String,
}

impl Told {
    fn by(manager: &mut Process) -> Self {
        let address = manager.address();
        let mut after = |words: &str| manager.says(words).split_once(words).unwrap().1.to_owned();
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
    let mut manager = typed(&network.manager, lines[0]);
    let told = Told::by(&mut manager);
    assert_eq!((lines.len(), told.address.as_str()), (1, "http://192.168.1.10:8000/mcp"));
    let mut agents = Vec::new();
    watched(&mut network.players.command(&looker("live", &told.site)), || {
        for line in lines_at("192.168.1.11") {
            let line = line.replace("KEY", told.key());
            assert!(line.starts_with(&told.referee), "{line} is not what the manager prints: {}", told.referee);
            agents.push(typed(&network.referees, &line));
        }
        for line in lines_at("192.168.1.12") {
            let flags = told.player.strip_prefix("league player ").unwrap();
            assert!(line.contains(flags), "{line} is not what the manager prints: {}", told.player);
            agents.push(typed(&network.players, line));
        }
    });
    manager.says("The league is over.");
    for agent in agents {
        agent.ended().well();
    }
    // Browsers offer SHA-256 only to pages from their own machine, and this page is from another one.
    looked(&mut network.players.command(&looker("verify", &told.site)));
}

#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed"]
fn a_manager_answers_to_the_names_that_lead_to_it_and_to_no_other() {
    let network = Network::new();
    let mut manager = network.manager.league("manager --host 0.0.0.0");
    let told = Told::by(&mut manager);
    let names = "http://teacher-laptop:8000/mcp http://teacher-laptop.local:8000/mcp";
    assert_eq!(told.others, names, "its other address is of version six, at which it does not listen");
    for place in ["teacher-laptop.local:8000", "http://teacher-laptop:8000/mcp", "192.168.1.10:8000"] {
        let status = network.players.league(&format!("status --json --manager {place}")).ended().well().json();
        assert_eq!(status["state"], "WAITING_FOR_REGISTRATIONS", "{place}");
    }
    let refused = network.players.league("status --manager elsewhere.example:8000").ended().badly();
    assert!(refused.contains("--advertise http://elsewhere.example:8000/mcp"), "{refused}");
    let mut show = network.manager.league("show --host 0.0.0.0 --port 8080");
    assert!(show.says("is shown at").contains("http://192.168.1.10:8080/"));
    assert!(show.says("It is also at").contains("http://teacher-laptop.local:8080/"));
}

#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed"]
fn a_refused_agent_is_told_which_flag_to_set() {
    let network = Network::new();
    let mut manager = network.manager.league("manager --host 0.0.0.0 --referee-key sesame-sesame-open");
    let told = Told::by(&mut manager);
    assert_eq!(told.key(), "KEY", "a chosen key is not shown");
    let player = network.players.league("player --port 8101 --manager 192.168.1.10:8000").ended().badly();
    let flags = "Start your player with --host 192.168.1.12 or with --advertise http://192.168.1.12:8101/mcp";
    assert!(player.contains(flags) && !player.contains("--allow-host"), "{player}");
    let elsewhere = "player --port 8101 --manager 192.168.1.10:8000 --advertise players.example:8101";
    let player = network.players.league(elsewhere).ended().badly();
    assert!(player.contains("the operator starts the manager with --allow-host players.example"), "{player}");
    let keyless = network.referees.league("referee --host 0.0.0.0 --manager 192.168.1.10:8000").ended().badly();
    assert!(keyless.contains("give it with --join-key"), "{keyless}");
}

#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed"]
fn a_machine_in_no_network_says_so_and_plays_by_itself() {
    let island = Host::new("island");
    let mut manager =
        island.league("manager --host 0.0.0.0 --expect-players 2 --referee-key sesame-sesame-open --exit-when-done");
    assert_eq!(manager.address(), "http://localhost:8000/mcp");
    manager.says("This machine has no address but loopback, so only agents on this machine can join.");
    let mut referee = island.league("referee --host 0.0.0.0 --join-key sesame-sesame-open");
    referee.says("This machine has no address but loopback, so others cannot reach http://127.0.0.1:");
    let _players = [island.league("player --host 0.0.0.0"), island.league("player")];
    manager.says("which agents on other machines cannot reach; start it with --host 0.0.0.0");
    manager.ended().well();
}

#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed"]
fn agents_are_checked_from_another_machine() {
    let network = Network::new();
    let mut player = network.players.league("player --host 0.0.0.0 --port 8101 --manager 192.168.1.10:8000");
    let mut referee = network.referees.league("referee --host 0.0.0.0 --port 8001 --manager 192.168.1.10:8000");
    player.says("Waiting for the manager");
    referee.says("Waiting for the manager");
    for arguments in ["players.local:8101", "192.168.1.11:8001 --role referee --host 0.0.0.0 --listen 8000"] {
        let report = network.manager.league(&format!("check {arguments}")).ended();
        assert_eq!(report.code, Some(0), "{arguments}: {}{}", report.out, report.talk);
    }
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
    let told = Told::by(&mut manager);
    let key = key_in(&told.player);
    let mut agents = vec![network.referees.league(told.referee.strip_prefix("league ").unwrap())];
    // On the manager's machine, which it calls by loopback; the referee reaches it all the same.
    let beside = "player --host 0.0.0.0 --manager localhost:8000 --name Beside --join-key";
    agents.push(network.manager.league(&format!("{beside} {key}")));
    for (kit, port) in Kit::ALL.into_iter().zip(8101..) {
        let name = format!("{kit:?}");
        let flags = ["--host", "0.0.0.0", "--join-key", key];
        agents.push(network.players.start(&kit.launch(port, "192.168.1.10:8000", &name, &flags)));
    }
    for agent in &mut agents[1..] {
        agent.says("P0");
    }
    let agents_known = operate(&network.players, "agents --token chalk-on-the-blackboard").ended().well().json();
    let endpoint = |name: &str| {
        let known = agents_known.as_array().unwrap().iter().find(|agent| agent["name"] == name);
        known.unwrap_or_else(|| panic!("{name}: {agents_known}"))["endpoint"].as_str().unwrap().to_owned()
    };
    for (kit, port) in Kit::ALL.into_iter().zip(8101..) {
        assert_eq!(endpoint(&format!("{kit:?}")), format!("http://192.168.1.12:{port}/mcp"));
    }
    assert!(endpoint("Beside").starts_with("http://192.168.1.10:"));
    operate(&network.players, "start").ended().badly();
    operate(&network.players, "start --token chalk-on-the-blackboard").ended().well();
    let standings = manager.ended().well().json();
    for agent in agents {
        agent.ended().well();
    }
    assert_eq!(standings.as_array().unwrap().len(), 6, "{standings}");
    let played = fs::read_dir(network.referees.home().join("SHARED/data/matches/league_2025_even_odd")).unwrap();
    let played: Vec<Value> =
        played.map(|file| serde_json::from_slice(&fs::read(file.unwrap().path()).unwrap()).unwrap()).collect();
    assert_eq!(played.len(), 15);
    for game in played {
        assert!(game["result"]["details"]["technical_losses"].is_null(), "{game}");
    }
}

#[test]
#[ignore = "needs cargo xtask ci, which looks whether namespaces are allowed"]
fn a_league_is_played_over_version_six() {
    let network = Network::new();
    let mut manager = network.manager.league("manager --host :: --expect-players 2 --exit-when-done");
    let told = Told::by(&mut manager);
    assert!(told.others.contains("http://[fd00::10]:8000/mcp"), "{}", told.others);
    let at = "--host :: --manager http://[fd00::10]:8000/mcp";
    let _referee = network.referees.league(&format!("referee {at} --join-key {}", told.key()));
    let mut player = network.players.league(&format!("player {at}"));
    // A player that registers over IPv4 is called over IPv4.
    let _other = network.players.league("player --host :: --manager 192.168.1.10:8000");
    player.says("P0");
    manager.ended().well();
    let registered =
        fs::read_to_string(network.manager.home().join("SHARED/config/agents/agents_config.json")).unwrap();
    assert!(registered.contains("http://[fd00::12]:") && registered.contains("http://192.168.1.12:"), "{registered}");
}
