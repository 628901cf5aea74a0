//! What viewers cost a league of 100 players, and how soon they see an event.
//!
//! Leagues with and without viewers alternate; the median of the ratios of two neighbours counts. One reader of
//! `/api/v1/events` times both from round 100 on. The viewers are a process of the lowest priority: on other machines
//! they would only cost the manager's work for them.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::process::Running;
use crate::report::median;

const VIEWERS: usize = 500;
const PAIRS: usize = 9;
/// The most that a league may slow down with viewers.
const SLOWER: f64 = 1.05;
/// The longest way of an event to a screen, for 95 of 100.
const ON_SCREEN_MS: f64 = 250.0;
/// The round whose first event starts the clock. All viewers have come by then, also on a fast machine.
const FROM: u64 = 100;
/// One viewer in this many reads the page; the others discard the compressed page.
const READERS: usize = 20;

/// Measure what 500 viewers cost, and fail if it is too much.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The program that is measured.
    #[arg(long, value_name = "PROGRAM")]
    league: PathBuf,
}

/// Watch a league with so many viewers.
#[derive(Debug, Args)]
pub(crate) struct Audience {
    site: String,
    viewers: usize,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Watched {
    seconds: f64,
    p95_ms: Option<f64>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let (mut ratios, mut delays) = (Vec::new(), Vec::new());
    for pair in 1..=PAIRS {
        // The second league finds a warmer machine, so the order alternates.
        let first = league(options, if pair % 2 == 0 { VIEWERS } else { 0 })?;
        let second = league(options, if pair % 2 == 0 { 0 } else { VIEWERS })?;
        let ((alone, alone_cpu), (watched, watched_cpu)) =
            if pair % 2 == 0 { (second, first) } else { (first, second) };
        let (ratio, cpu) = (watched.seconds / alone.seconds, watched_cpu / alone_cpu);
        let delay = watched.p95_ms.context("no viewer saw an event")?;
        let (alone, watched) = (alone.seconds, watched.seconds);
        eprintln!(
            "{pair}: {alone:.2} s alone, {watched:.2} s watched: {ratio:.3} (CPU {cpu:.3}); seen within {delay:.0} ms"
        );
        ratios.push(ratio);
        delays.push(delay);
    }
    let (ratio, delay) = (median(&ratios).unwrap_or_default(), median(&delays).unwrap_or_default());
    println!("{VIEWERS} viewers: {ratio:.3} of the time without them; 95 of 100 events are seen within {delay:.0} ms");
    if ratio > SLOWER || delay > ON_SCREEN_MS {
        bail!("at most {SLOWER} and {ON_SCREEN_MS} ms are allowed");
    }
    Ok(())
}

fn league(options: &Options, viewers: usize) -> Result<(Watched, f64)> {
    let home = tempfile::tempdir()?;
    let mut command = Command::new(&options.league);
    let options = "run --port 0 --stay --json --players 100 --referees 4 --seed 7 --format round_robin:times=4 --home";
    command.args(options.split(' ')).arg(home.path());
    let mut running = Running::start(&mut command)?;
    let site = running.line(|line| {
        line.split_once("Watch it at http://").map(|(_, site)| site.trim().trim_end_matches('/').to_owned())
    })?;
    let program = std::env::current_exe()?;
    let mut audience = if cfg!(unix) { Command::new("nice") } else { Command::new(&program) };
    if cfg!(unix) {
        audience.args(["-n", "19"]).arg(&program);
    }
    let output =
        audience.args(["watch", &site, &viewers.to_string()]).stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    let watched = serde_json::from_slice(&output.stdout).context("the viewers saw no league")?;
    Ok((watched, running.used().map_or(f64::NAN, |used| used.cpu_seconds)))
}

/// The number of each event, and when it was known.
type Seen = Vec<(u64, Instant)>;

pub(crate) fn watch(audience: &Audience) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let watched = runtime.block_on(watch_all(&audience.site, audience.viewers))?;
    println!("{}", serde_json::to_string(&watched)?);
    Ok(())
}

async fn watch_all(site: &str, count: usize) -> Result<Watched> {
    let (over, ended) = watch::channel(false);
    let (connected, screens) = (Arc::new(AtomicUsize::new(0)), Arc::<Mutex<Vec<Seen>>>::default());
    let mut viewers = Vec::new();
    for number in 0..count {
        let (site, ended) = (site.to_owned(), ended.clone());
        let (connected, screens) = (Arc::clone(&connected), Arc::clone(&screens));
        viewers.push(tokio::spawn(async move {
            let seen = view(&site, &connected, ended, number % READERS == 0).await;
            screens.lock().unwrap_or_else(PoisonError::into_inner).push(seen.unwrap_or_default());
        }));
        // Viewers do not all connect at once.
        if number % 25 == 24 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let (events, took) = follow(site, &connected, count).await?;
    // The last event is still on its way.
    tokio::time::sleep(Duration::from_millis(500)).await;
    over.send_replace(true);
    for viewer in viewers {
        drop(viewer.await);
    }
    let screens = screens.lock().unwrap_or_else(PoisonError::into_inner);
    let mut delays: Vec<Duration> = screens.iter().flat_map(|screen| delays(&events, screen)).collect();
    delays.sort_unstable();
    let p95 = delays.get(delays.len().saturating_sub(1) * 95 / 100);
    Ok(Watched { seconds: took.as_secs_f64(), p95_ms: p95.map(|delay| delay.as_secs_f64() * 1e3) })
}

async fn get(site: &str, path: &str, more: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(site).await?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: {site}\r\n{more}\r\n").as_bytes()).await?;
    Ok(stream)
}

/// Follows the events from round [`FROM`] to the end of the league: when each happened, and how long that took.
async fn follow(site: &str, connected: &AtomicUsize, count: usize) -> Result<(Seen, Duration)> {
    let mut lines = BufReader::new(get(site, "/api/v1/events?after=0", "").await?).lines();
    let (mut began, mut events) = (None, Seen::new());
    while let Some(line) = lines.next_line().await? {
        let event = line.strip_prefix("data: ").and_then(|data| serde_json::from_str::<Value>(data).ok());
        let (Some(event), now) = (event, Instant::now()) else { continue };
        if event["kind"] == "round_started" && event["fact"]["round"] == FROM {
            let there = connected.load(Ordering::Relaxed);
            if there < count {
                bail!("only {there} of {count} viewers were there when round {FROM} began");
            }
            began = Some(now);
        }
        if let Some(began) = began {
            events.extend(event["seq"].as_u64().map(|seq| (seq, now)));
            if event["kind"] == "league_completed" {
                return Ok((events, now - began));
            }
        }
    }
    bail!("the league ended without a champion")
}

/// Returns when each event was on the screen, if this viewer `reads`.
async fn view(site: &str, connected: &AtomicUsize, mut ended: watch::Receiver<bool>, reads: bool) -> Result<Seen> {
    let more = if reads { "" } else { "accept-encoding: gzip\r\n" };
    let mut stream = BufReader::with_capacity(1 << 16, get(site, "/live", more).await?);
    let (mut seen, mut line, mut bytes, mut is_connected) = (Seen::new(), String::new(), vec![0; 1 << 14], false);
    loop {
        line.clear();
        let part = async { if reads { stream.read_line(&mut line).await } else { stream.read(&mut bytes).await } };
        let length = tokio::select! {
            length = part => length?,
            _ = ended.changed() => return Ok(seen),
        };
        if length == 0 {
            return Ok(seen);
        }
        let event = line.trim_end().strip_prefix("id: ").and_then(|seq| seq.parse().ok());
        if reads && event.is_none() {
            continue;
        }
        seen.extend(event.map(|seq| (seq, Instant::now())));
        if !std::mem::replace(&mut is_connected, true) {
            connected.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn delays(events: &Seen, screen: &Seen) -> Vec<Duration> {
    let shown = |seq: u64| screen.get(screen.partition_point(|(shown, _)| *shown < seq)).map(|(_, at)| *at);
    events.iter().filter_map(|(seq, at)| Some(shown(*seq)?.saturating_duration_since(*at))).collect()
}
