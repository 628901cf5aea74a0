//! A Swiss league of thousands of players with the real store and referees that pull, against stub players.
//!
//! Manager and referees are processes with homes of their own; all players are one server in this process. The cost of a
//! match is the processor time of manager and referees. In a large league it must be about that of a smaller one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use futures_util::{StreamExt, stream};
use league_core::rules::outcome::Outcome;
use league_protocol::id::PlayerId;
use league_store::home::Home;
use league_store::log::scan;
use league_test_agents::http_server::{HttpReply, HttpRequest, HttpServer, ReservedPort};
use league_test_agents::post::post;
use serde_json::{Value, json};

use crate::process::{Running, Used, run as finish};

const LEAGUE: &str = "crowd";
/// How much more a match of the large league may cost.
const DEARER: f64 = 1.3;
/// All agents are on one machine, and register at once.
const RATES: &str = r#"{ "rate_limits": { "registrations_here": { "per_second": 100000, "burst": 100000 } } }"#;
const REGISTERING_AT_ONCE: usize = 32;
const CONCURRENCY: u32 = 64;
/// How often the use of the referees is read.
const SAMPLE: Duration = Duration::from_millis(50);

/// Play a small and a large Swiss league, and fail if a match of the large one costs too much.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The program that is measured.
    #[arg(long, value_name = "PROGRAM")]
    league: PathBuf,
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    players: u32,
    /// Players of the league that it is compared with.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    fewer: u32,
    #[arg(long, default_value_t = 14, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    referees: u32,
    /// Do not judge the cost: in small leagues it says nothing.
    #[arg(long)]
    any_cost: bool,
}

struct Played {
    players: u32,
    matches: u32,
    registering: Duration,
    playing: Duration,
    manager: Used,
    referees: Used,
    verifying: Duration,
}

impl Played {
    /// Milliseconds of a processor.
    fn cost(&self) -> f64 {
        (self.manager.cpu_seconds + self.referees.cpu_seconds) * 1000.0 / f64::from(self.matches)
    }

    fn print(&self) {
        let rate = f64::from(self.matches) / self.playing.as_secs_f64();
        println!(
            "{} players: {} matches in {:.1} s ({rate:.0} a second), registered in {:.1} s, verified in {:.1} s",
            self.players,
            self.matches,
            self.playing.as_secs_f64(),
            self.registering.as_secs_f64(),
            self.verifying.as_secs_f64()
        );
        println!(
            "  manager: {:.1} s of a processor, {} MB at most; referees: {:.1} s, {} MB; {:.3} ms per match",
            self.manager.cpu_seconds,
            self.manager.peak_mb,
            self.referees.cpu_seconds,
            self.referees.peak_mb,
            self.cost()
        );
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let [fewer, all] = [options.fewer, options.players].map(|players| play(options, players));
    let (fewer, all) = (fewer?, all?);
    let ratio = all.cost() / fewer.cost();
    println!("a match of {} players costs {ratio:.2} of a match of {} players", all.players, fewer.players);
    if ratio > DEARER && !options.any_cost {
        bail!("at most {DEARER} is allowed");
    }
    Ok(())
}

fn play(options: &Options, players: u32) -> Result<Played> {
    let directory = tempfile::tempdir()?;
    let home = directory.path().join("manager");
    fs::create_dir_all(home.join("config"))?;
    fs::write(home.join("config/system.json"), RATES)?;
    let mut manager = Running::start(
        manager(options, &home)
            .env("LEAGUE_MAX_PLAYERS", players.to_string())
            .args(["--expect-players", &players.to_string()]),
    )?;
    let url = manager.find(|line| Some(line.split_once("the manager is at ")?.1.trim().to_owned()))?;
    let referees = (1..=options.referees).map(|number| {
        let mut referee = Command::new(&options.league);
        referee.args(["referee", "--pull", "--port", "0", "--manager", &url, "--home"]);
        referee.arg(directory.path().join(format!("referee-{number}")));
        Running::start(referee.args(["--concurrency", &CONCURRENCY.to_string()]))
    });
    let mut referees = referees.collect::<Result<Vec<_>>>()?;
    for referee in &mut referees {
        referee.line(|line| line.contains("is ready").then_some(()))?;
    }
    let (server, began) = (stub_players()?, Instant::now());
    register(&url, &server.endpoint(), players)?;
    let registering = began.elapsed();
    let (ended, of_referees) =
        watch_until(&referees, || manager.line(|line| line.contains("The league is over").then_some(())));
    ended?;
    let playing = began.elapsed() - registering;
    let of_referees = Used {
        cpu_seconds: of_referees.iter().map(|used| used.cpu_seconds).sum(),
        peak_mb: of_referees.iter().map(|used| used.peak_mb).sum(),
    };
    let of_manager = manager.used().context("the use of the machine is known only on Linux")?;
    drop((manager, referees));
    let began = Instant::now();
    finish(Command::new(&options.league).args(["verify", "--home"]).arg(&home)).context("the league is wrong")?;
    let forfeits = forfeits(&home)?;
    ensure!(forfeits == 0, "{forfeits} matches were lost without play, so this is the cost of forfeits");
    let matches = players / 2 * options.rounds;
    let played = Played {
        players,
        matches,
        registering,
        playing,
        manager: of_manager,
        referees: of_referees,
        verifying: began.elapsed(),
    };
    played.print();
    Ok(played)
}

/// What the referees had used of the machine when `wait` returned. They end by themselves at the end of the league.
fn watch_until<T>(referees: &[Running], wait: impl FnOnce() -> T) -> (T, Vec<Used>) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut used = vec![Used::default(); referees.len()];
            while !is_over.load(Ordering::Relaxed) {
                for (used, referee) in used.iter_mut().zip(referees) {
                    *used = referee.used().unwrap_or(*used);
                }
                thread::sleep(SAMPLE);
            }
            used
        });
        let waited = wait();
        is_over.store(true, Ordering::Relaxed);
        (waited, watching.join().unwrap_or_default())
    })
}

fn forfeits(home: &Path) -> Result<usize> {
    let mut forfeits = 0;
    scan::<anyhow::Error>(&Home::at(home).log(&LEAGUE.parse()?), |_, event| {
        let outcome = event.fact.result().map(|(_, record)| record.outcome);
        forfeits += usize::from(matches!(outcome, Some(Outcome::Forfeit(_) | Outcome::DoubleForfeit)));
        Ok(())
    })?;
    Ok(forfeits)
}

fn manager(options: &Options, home: &Path) -> Command {
    let mut manager = Command::new(&options.league);
    manager.args(["manager", "--port", "0", "--league-id", LEAGUE, "--registration-window", "3600"]);
    manager.args(["--format", &format!("swiss:rounds={}", options.rounds)]);
    manager.args(["--expect-referees", &options.referees.to_string(), "--home"]).arg(home);
    manager
}

/// The path names the player: `/P01`, `/P02` and so on.
fn stub_players() -> Result<HttpServer> {
    Ok(ReservedPort::free()?.serve(|request| std::future::ready(answer(&request)))?)
}

fn answer(request: &HttpRequest) -> HttpReply {
    let (body, id) = (request.json(), request.path.trim_start_matches('/'));
    let asked = &body["params"];
    let (message_type, own) = match body["method"].as_str().unwrap_or_default() {
        "handle_game_invitation" => ("GAME_JOIN_ACK", json!({"accept": true})),
        "choose_parity" => {
            // Anything that differs between players and matches.
            let sum: u32 = id.bytes().chain(asked["match_id"].to_string().bytes()).map(u32::from).sum();
            let choice = if sum.is_multiple_of(2) { "even" } else { "odd" };
            ("CHOOSE_PARITY_RESPONSE", json!({"parity_choice": choice}))
        }
        "notify_match_result" => ("GAME_OVER_ACK", json!({"status": "ok"})),
        _ => return HttpReply::result(&body, &json!({"status": "ok"})),
    };
    let mut message = json!({
        "protocol": "league.v2", "message_type": message_type, "sender": format!("player:{id}"),
        "timestamp": "2025-01-15T10:30:00Z", "conversation_id": asked["conversation_id"],
        "match_id": asked["match_id"], "player_id": id,
    });
    if let (Some(fields), Value::Object(own)) = (message.as_object_mut(), own) {
        fields.extend(own);
    }
    HttpReply::result(&body, &message)
}

fn register(manager: &str, players_at: &str, players: u32) -> Result<()> {
    let site = players_at.rsplit_once('/').map_or(players_at, |(site, _)| site);
    let one = |number: u32| async move {
        let id = PlayerId::numbered(number);
        let meta = json!({
            "display_name": format!("Stub {number}"), "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": format!("{site}/{id}"),
        });
        let params = json!({
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": format!("player:{id}"),
            "timestamp": "2025-01-15T10:30:00Z", "conversation_id": format!("register-{number}"), "player_meta": meta,
        });
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": params});
        let answer = post(manager, &[], &request).await?.json();
        ensure!(answer["result"]["player_id"] == id.as_str(), "{id} is not accepted: {answer}");
        Ok(())
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let registering = stream::iter(1..=players).map(one).buffer_unordered(REGISTERING_AT_ONCE);
    runtime.block_on(registering.collect::<Vec<_>>()).into_iter().collect()
}
