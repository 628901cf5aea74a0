//! Streams: no gaps, no duplicates, no stale data, and no waiting for slow viewers.

use std::time::Duration;

use league_dashboard::DashboardSettings;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::leagues::played;
use crate::support::{Site, begun};

const LIMIT: Duration = Duration::from_secs(30);

/// Every message is one chunk, so its lines are whole.
struct Reader(Lines<BufReader<TcpStream>>);

impl Reader {
    async fn of(site: &Site, path: &str, headers: &[&str]) -> Self {
        Self(BufReader::new(site.request("GET", path, headers, "").await).lines())
    }

    /// Returns the rest of the next line with this prefix; `None` at the end of the stream.
    async fn next(&mut self, front: &str) -> Option<String> {
        loop {
            let line = timeout(LIMIT, self.0.next_line()).await.unwrap().ok()??;
            if let Some(rest) = line.strip_prefix(front) {
                return Some(rest.to_owned());
            }
        }
    }

    async fn ids(&mut self, count: usize) -> Vec<u64> {
        let mut ids = Vec::new();
        while ids.len() < count {
            ids.push(self.next("id: ").await.unwrap().parse().unwrap());
        }
        ids
    }
}

#[tokio::test]
async fn a_resumed_stream_has_no_gap_and_no_duplicate() {
    let generated = played(16, 9);
    let (before, after) = generated.events.split_at(40);
    let site = Site::of(before).await;
    let appending = async {
        for batch in after.chunks(7) {
            site.append(batch).await;
        }
    };
    let reading = async {
        let mut seen: Vec<u64> = Vec::new();
        // The client reconnects again and again. Its first read starts in the log, before the events in memory.
        while seen.len() < generated.events.len() {
            let last = seen.last().copied().unwrap_or(0);
            let mut reader = Reader::of(&site, "/api/v1/events", &[&format!("last-event-id: {last}")]).await;
            let count = (generated.events.len() - seen.len()).min(37);
            seen.extend(reader.ids(count).await);
        }
        seen
    };
    let (seen, ()) = tokio::join!(reading, appending);
    assert_eq!(seen, (1..=generated.events.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_event_of_the_stream_has_no_credentials() {
    let generated = begun(4, 2);
    let site = Site::of(&generated.events).await;
    let mut reader = Reader::of(&site, "/api/v1/events?after=0", &[]).await;
    assert_eq!(reader.next("HTTP/1.1 ").await.as_deref(), Some("200 OK"));
    let first: Value = serde_json::from_str(&reader.next("data: ").await.unwrap()).unwrap();
    assert_eq!((&first["seq"], &first["kind"]), (&1.into(), &"opened".into()));
    let second: Value = serde_json::from_str(&reader.next("data: ").await.unwrap()).unwrap();
    assert_eq!(second["kind"], "referee_registered");
    assert!(second["fact"]["grant"].is_null() && second["fact"]["profile"]["endpoint"].is_null(), "{second}");
}

#[tokio::test]
async fn a_stream_without_a_start_sends_only_new_events() {
    let generated = played(6, 4);
    let (before, after) = generated.events.split_at(20);
    let site = Site::of(before).await;
    let mut reader = Reader::of(&site, "/api/v1/events", &[]).await;
    reader.next(": welcome").await.unwrap();
    site.append(after).await;
    assert_eq!(reader.ids(3).await, [21, 22, 23]);
}

#[tokio::test]
async fn a_viewer_gets_the_parts_of_the_first_page_that_have_changed() {
    let generated = played(6, 4);
    let (before, after) = generated.events.split_at(20);
    let site = Site::of(before).await;
    // The page already shows event 20, so nothing is new.
    let mut reader = Reader::of(&site, "/live?since=20", &[]).await;
    reader.next("retry: ").await.unwrap();
    site.append(after).await;
    let last = generated.events.len() as u64;
    let mut parts = std::collections::BTreeMap::new();
    loop {
        let data: Value = serde_json::from_str(&reader.next("data: ").await.unwrap()).unwrap();
        match data["part"].as_str() {
            Some(part) => drop(parts.insert(part.to_owned(), data["html"].as_str().unwrap().to_owned())),
            None if data.as_u64() == Some(last) => break,
            None => {}
        }
    }
    let page = site.get("/").await.body;
    for (part, html) in &parts {
        assert!(page.contains(html), "{part} is not what the page shows");
    }
    assert!(parts.contains_key("standings") && parts["status"].contains("Champion"), "{:?}", parts.keys());
    // A client that has all events gets nothing; one that missed events gets the changes.
    let mut again = Reader::of(&site, "/live", &["last-event-id: 20"]).await;
    again.next("event: part").await.unwrap();
    let mut quiet = Reader::of(&site, "/live?since=20&quiet", &[]).await;
    assert_eq!(quiet.next("event: ").await.as_deref(), Some("seq"));
}

#[tokio::test]
async fn viewers_beyond_the_limit_are_refused_until_a_stream_ends() {
    let settings = DashboardSettings { most_streams: 2, ..DashboardSettings::default() };
    let site = Site::with(&begun(4, 1).events, settings).await;
    let (parts, _events) = both_streams(&site).await;
    assert_eq!(site.get("/live").await.status, 503);
    assert_eq!(site.get("/").await.status, 200);
    drop(parts);
    // The server notices the closed connection at its next read or write.
    loop {
        let mut next = Reader::of(&site, "/live", &[]).await;
        if next.next("HTTP/1.1 ").await.as_deref() == Some("200 OK") {
            break;
        }
    }
}

#[tokio::test]
async fn a_server_that_closes_ends_its_streams() {
    let site = Site::of(&begun(4, 1).events).await;
    let (mut parts, mut events) = both_streams(&site).await;
    site.dashboard.close();
    assert_eq!((parts.next("never").await, events.next("never").await), (None, None));
}

async fn both_streams(site: &Site) -> (Reader, Reader) {
    let mut parts = Reader::of(site, "/live", &[]).await;
    let mut events = Reader::of(site, "/api/v1/events", &[]).await;
    parts.next("retry: ").await.unwrap();
    events.next(": welcome").await.unwrap();
    (parts, events)
}
