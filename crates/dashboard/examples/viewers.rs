//! Watches a league as a crowd does, and says how long the league took and how long what happened was on its way to a screen.
//!
//! `viewers <host:port> <count>` prints one line of JSON. The league is timed by its own stream of events, from the first event of
//! round [`FROM`] to its end, so that nothing counts that happens while the crowd is still finding its seats. Some of the crowd read what
//! they get, each message at the moment at which it is there; the others take it packed, as browsers do, and let it go.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{self, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::watch;

/// The round whose first event starts the clock.
const FROM: u64 = 20;
/// One in so many reads what it gets.
const READS: usize = 20;

/// When something was known, by its number.
type Seen = Vec<(u64, Instant)>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut words = std::env::args().skip(1);
    let (Some(site), Some(count)) = (words.next(), words.next().and_then(|count| count.parse::<usize>().ok())) else {
        return Err(io::Error::other("viewers <host:port> <count>"));
    };
    let (over, ended) = watch::channel(false);
    let seated = Arc::new(AtomicUsize::new(0));
    let screens: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let mut crowd = Vec::new();
    for number in 0..count {
        let (site, seated, screens, ended) = (site.clone(), Arc::clone(&seated), Arc::clone(&screens), ended.clone());
        crowd.push(tokio::spawn(async move {
            let watched =
                if number % READS == 0 { read(&site, &seated, ended).await } else { take(&site, &seated, ended).await };
            screens.lock().unwrap_or_else(PoisonError::into_inner).push(watched.unwrap_or_default());
        }));
        // A crowd does not come through the door at once.
        if number % 25 == 24 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let (happened, took) = follow(&site, &seated, count).await?;
    // What is on its way may arrive.
    tokio::time::sleep(Duration::from_millis(500)).await;
    over.send_replace(true);
    for viewer in crowd {
        drop(viewer.await);
    }
    let screens = screens.lock().unwrap_or_else(PoisonError::into_inner);
    let mut spans: Vec<Duration> = screens.iter().flat_map(|screen| delays(&happened, screen)).collect();
    spans.sort_unstable();
    let share =
        |part: usize| spans.get(spans.len().saturating_sub(1) * part / 100).map(|span| span.as_secs_f64() * 1e3);
    println!(
        "{}",
        json!({ "seconds": took.as_secs_f64(), "events": happened.len(), "p50_ms": share(50), "p95_ms": share(95) })
    );
    Ok(())
}

/// Asks for a stream.
async fn ask(site: &str, path: &str, more: &str) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(site).await?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: {site}\r\n{more}\r\n").as_bytes()).await?;
    Ok(stream)
}

/// Follows the events to the end of the league: when each was told from the round on that counts, and how long all of it took.
async fn follow(site: &str, seated: &AtomicUsize, count: usize) -> io::Result<(Seen, Duration)> {
    let mut lines = BufReader::new(ask(site, "/api/v1/events?after=0", "").await?).lines();
    let mut began: Option<Instant> = None;
    let mut happened = Seen::new();
    while let Some(line) = lines.next_line().await? {
        let Some(event) = line.strip_prefix("data: ").and_then(|data| serde_json::from_str::<Value>(data).ok()) else {
            continue;
        };
        let now = Instant::now();
        if event["kind"] == "round_started" && event["fact"]["round"] == FROM {
            let there = seated.load(Ordering::Relaxed);
            if there < count {
                return Err(io::Error::other(format!("only {there} of {count} had a seat when round {FROM} began")));
            }
            began = Some(now);
        }
        if let Some(began) = began {
            happened.extend(event["seq"].as_u64().map(|seq| (seq, now)));
            if event["kind"] == "league_completed" {
                return Ok((happened, now - began));
            }
        }
    }
    Err(io::Error::other("the league went away"))
}

/// Watches the first page and reads it.
async fn read(site: &str, seated: &AtomicUsize, mut ended: watch::Receiver<bool>) -> io::Result<Seen> {
    let mut lines = BufReader::with_capacity(1 << 16, ask(site, "/live", "").await?).lines();
    let (mut seen, mut sat) = (Seen::new(), false);
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line?,
            _ = ended.changed() => return Ok(seen),
        };
        let Some(line) = line else { return Ok(seen) };
        if let Some(seq) = line.strip_prefix("id: ").and_then(|seq| seq.parse().ok()) {
            seen.push((seq, Instant::now()));
            if !std::mem::replace(&mut sat, true) {
                seated.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Watches the first page and lets it go.
async fn take(site: &str, seated: &AtomicUsize, mut ended: watch::Receiver<bool>) -> io::Result<Seen> {
    let mut stream = ask(site, "/live", "accept-encoding: gzip\r\n").await?;
    let (mut piece, mut sat) = (vec![0; 1 << 14], false);
    loop {
        let length = tokio::select! {
            length = stream.read(&mut piece) => length?,
            _ = ended.changed() => return Ok(Seen::new()),
        };
        if length == 0 {
            return Ok(Seen::new());
        }
        if !std::mem::replace(&mut sat, true) {
            seated.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// How long each event was on its way to a screen.
fn delays(happened: &Seen, screen: &Seen) -> Vec<Duration> {
    let shown = |seq: u64| screen.get(screen.partition_point(|(shown, _)| *shown < seq)).map(|(_, at)| *at);
    happened.iter().filter_map(|(seq, at)| Some(shown(*seq)?.saturating_duration_since(*at))).collect()
}
