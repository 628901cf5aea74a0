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
        Self(BufReader::new(site.ask("GET", path, headers, "").await).lines())
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
    let snapshot = played(16, 9);
    let (before, after) = snapshot.events.split_at(40);
    let site = Site::of(before).await;
    let telling = async {
        for some in after.chunks(7) {
            site.happen(some).await;
        }
    };
    let reading = async {
        let mut seen: Vec<u64> = Vec::new();
        // The client reconnects again and again. Its first read starts in the log, before the events in memory.
        while seen.len() < snapshot.events.len() {
            let last = seen.last().copied().unwrap_or(0);
            let mut reader = Reader::of(&site, "/api/v1/events", &[&format!("last-event-id: {last}")]).await;
            let some = (snapshot.events.len() - seen.len()).min(37);
            seen.extend(reader.ids(some).await);
        }
        seen
    };
    let (seen, ()) = tokio::join!(reading, telling);
    assert_eq!(seen, (1..=snapshot.events.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_event_says_what_happened_and_no_more() {
    let snapshot = begun(4, 2);
    let site = Site::of(&snapshot.events).await;
    let mut reader = Reader::of(&site, "/api/v1/events?after=0", &[]).await;
    assert_eq!(reader.next("HTTP/1.1 ").await.as_deref(), Some("200 OK"));
    let first: Value = serde_json::from_str(&reader.next("data: ").await.unwrap()).unwrap();
    assert_eq!((&first["seq"], &first["kind"]), (&1.into(), &"opened".into()));
    let second: Value = serde_json::from_str(&reader.next("data: ").await.unwrap()).unwrap();
    assert_eq!(second["kind"], "referee_registered");
    assert!(second["fact"]["grant"].is_null() && second["fact"]["profile"]["endpoint"].is_null(), "{second}");
}

#[tokio::test]
async fn without_a_beginning_only_what_happens_from_now_on_is_told() {
    let snapshot = played(6, 4);
    let (before, after) = snapshot.events.split_at(20);
    let site = Site::of(before).await;
    let mut reader = Reader::of(&site, "/api/v1/events", &[]).await;
    reader.next(": welcome").await.unwrap();
    site.happen(after).await;
    assert_eq!(reader.ids(3).await, [21, 22, 23]);
}

#[tokio::test]
async fn the_parts_of_the_first_page_come_when_they_have_changed() {
    let snapshot = played(6, 4);
    let (before, after) = snapshot.events.split_at(20);
    let site = Site::of(before).await;
    // The page already shows event 20, so nothing is new.
    let mut reader = Reader::of(&site, "/live?since=20", &[]).await;
    reader.next("retry: ").await.unwrap();
    site.happen(after).await;
    let last = snapshot.events.len() as u64;
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
async fn there_are_only_so_many_places_and_they_are_given_again() {
    let settings = DashboardSettings { most_streams: 2, ..DashboardSettings::default() };
    let site = Site::with(&begun(4, 1).events, settings).await;
    let mut one = Reader::of(&site, "/live", &[]).await;
    let mut two = Reader::of(&site, "/api/v1/events", &[]).await;
    one.next("retry: ").await.unwrap();
    two.next(": welcome").await.unwrap();
    assert_eq!(site.get("/live").await.status, 503);
    assert_eq!(site.get("/").await.status, 200);
    drop(one);
    // The server notices the closed connection at its next read or write.
    loop {
        let mut three = Reader::of(&site, "/live", &[]).await;
        if three.next("HTTP/1.1 ").await.as_deref() == Some("200 OK") {
            break;
        }
    }
}

#[tokio::test]
async fn a_server_that_closes_ends_its_streams() {
    let site = Site::of(&begun(4, 1).events).await;
    let mut one = Reader::of(&site, "/live", &[]).await;
    let mut two = Reader::of(&site, "/api/v1/events", &[]).await;
    one.next("retry: ").await.unwrap();
    two.next(": welcome").await.unwrap();
    site.dashboard.close();
    assert_eq!(one.next("never").await, None);
    assert_eq!(two.next("never").await, None);
}
