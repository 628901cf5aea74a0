//! Results per second of eight leagues in one database, led by one, two and four processes of `league serve`.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::postgres::server::TestServer;
use crate::postgres::serving::{Serving, count};
use crate::support::{Process, TestHome, http, ports};

const LEAGUES: usize = 8;
const PLAYERS: usize = 4;
const RUNS: usize = 3;
const LIMIT: Duration = Duration::from_secs(300);
const RATE: &str = "SELECT round(count(*) / extract(epoch FROM max(written) - min(written))) FROM league.event \
                    WHERE body LIKE '%\"match_reported\"%'";

/// Of one run. The processor time is that of all managers together; other programs on the machine do not change it much.
#[derive(Clone, Copy, Debug)]
struct Measured {
    results_per_second: f64,
    processor_seconds: f64,
}

/// All agents run on this machine, too, and take most of its time.
fn measure(processes: usize) -> Measured {
    let server = TestServer::start();
    let serving: Vec<Serving> = (0..processes).map(|_| Serving::start(&server)).collect();
    let home = TestHome::new();
    let (mut agents, mut endpoints) = (Vec::new(), Vec::new());
    for number in 0..LEAGUES {
        let (league, leader) = (format!("league_{number}"), &serving[number % processes]);
        leader.create(&league, &["--format", "round_robin:times=20"]).success();
        let endpoint = leader.endpoint(&league);
        let mut start = |arguments: &[&str]| {
            let port = ports::free().to_string();
            let place = ["--port", &port, "--manager", &endpoint, "--home", home.path()];
            agents.push(Process::start(&[arguments, &place].concat()));
        };
        start(&["referee"]);
        (0..PLAYERS).for_each(|_| start(&["player", "--strategy", "random"]));
        endpoints.push(endpoint);
    }
    // All leagues begin together.
    for endpoint in &endpoints {
        http::until(endpoint, "get_league", &json!({"view": "agents"}), |answer| {
            answer["result"]["agents"].as_array().is_some_and(|agents| agents.len() == PLAYERS + 1)
        });
    }
    for endpoint in &endpoints {
        http::call(endpoint, "start_league", &json!({}));
    }
    for mut agent in agents {
        agent.wait_within(LIMIT).success();
    }
    for number in 0..LEAGUES {
        assert_eq!(count(&server, &format!("league_{number}"), "league_completed"), 1);
    }
    let processor_seconds = serving.iter().map(|serving| processor_seconds(&serving.process)).sum();
    Measured { results_per_second: server.ask(RATE).parse().unwrap(), processor_seconds }
}

/// Linux counts it in hundredths of a second.
fn processor_seconds(process: &Process) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    after_name.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
}

fn median(found: &[Measured], of: fn(&Measured) -> f64) -> f64 {
    let mut values: Vec<f64> = found.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs alternate and the median counts, because other programs on the machine disturb single runs.
#[test]
#[ignore = "a measurement, with PostgreSQL"]
fn throughput_of_eight_leagues_with_one_two_and_four_processes() {
    let mut runs = [1, 2, 4].map(|processes| (processes, Vec::new()));
    for _ in 0..RUNS {
        for (processes, found) in &mut runs {
            found.push(measure(*processes));
        }
    }
    let one = median(&runs[0].1, |run| run.results_per_second);
    for (processes, found) in &runs {
        let (rate, time) = (median(found, |run| run.results_per_second), median(found, |run| run.processor_seconds));
        println!("{processes} processes: {found:?}");
        println!("  medians: {rate} results/s, {:.2} of one process; {time:.1} s of the managers", rate / one);
    }
}
