//! What a report waits for, and what its answer brings.

use std::path::Path;
use std::time::Duration;

use league_core::season::config::LeagueConfig;
use league_manager::ManagerSettings;
use league_protocol::message::transcript::{MatchTranscript, PART};
use league_protocol::time::Timestamp;
use league_store::home::Home;
use league_store::log::memory::SyncMode;
use league_store::log::{EventLog, MemoryDisk};
use league_store::views::find_match::find_match;
use league_store::views::match_file::{Direction, TranscriptEntry};
use league_test_agents::player::Plan;
use league_test_agents::player::dialect::Speech;
use league_test_agents::post::Posted;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::hostile::caller::{admitted, code};
use crate::league::League;
use crate::pulling::ByHand;

const LIMIT: Duration = Duration::from_secs(20);

fn rules() -> LeagueConfig {
    LeagueConfig::even_odd("league".parse().unwrap())
}

/// With a home, so that the manager asks for transcripts.
fn settings(players: u32, home: &Path) -> ManagerSettings {
    ManagerSettings {
        expect_players: Some(players),
        expect_referees: Some(1),
        home: Some(Home::at(home)),
        home_mark: Some("the mark of this home".into()),
        ..ManagerSettings::default()
    }
}

/// A match that player A wins.
fn result([a, b]: [&str; 2]) -> Value {
    let details = json!({"drawn_number": 8, "choices": {a: "even", b: "odd"}});
    json!({"winner": a, "score": {a: 3, b: 0}, "details": details})
}

impl ByHand {
    async fn call(&self, method: &str, fields: Value) -> Posted {
        self.caller.call(method, &format!("referee:{}", self.id), Some(&self.token), fields).await
    }

    async fn report(&self, league: &League, match_id: &str, more: Value) -> Posted {
        let id = match_id.parse().unwrap();
        let players = league.season().await.contestants(&id).unwrap().map(|player| player.id.to_string());
        let mut fields = json!({"match_id": match_id, "result": result([&players.a, &players.b])});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call("report_match_result", fields).await
    }
}

fn one_entry(number: u32) -> Vec<u8> {
    let message = format!("[{number}]");
    let (there, kind) = (("REF01".into(), "P01".into()), "GAME_INVITATION".into());
    let entry = TranscriptEntry::new(Timestamp::EPOCH, Direction::Sent, there, kind, message.as_bytes(), None);
    serde_json::to_vec(&[entry]).unwrap()
}

/// Longer than one part.
fn transcript() -> Vec<u8> {
    let entry = |number: usize| {
        let (there, message) = (("REF01".into(), "P01".into()), format!("[{number}, \"{}\"]", "x".repeat(PART / 4)));
        TranscriptEntry::new(
            Timestamp::EPOCH,
            Direction::Sent,
            there,
            "GAME_INVITATION".into(),
            message.as_bytes(),
            None,
        )
    };
    serde_json::to_vec(&(0..6).map(entry).collect::<Vec<_>>()).unwrap()
}

fn match_file(home: &Path, match_id: &str) -> Value {
    let found = find_match(&Home::at(home), &"league".parse().unwrap(), &match_id.parse().unwrap()).unwrap();
    found.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
}

#[tokio::test]
async fn a_report_of_a_referee_that_pulls_counts_only_with_its_transcript() {
    let home = tempfile::tempdir().unwrap();
    let league = League::on(&MemoryDisk::new(SyncMode::AtOnce), rules(), settings(2, home.path())).await;
    let referee = ByHand::register(&league, "By hand").await;
    let _players = league.join(&["A", "B"]).await;
    let playing = async {
        let (match_id, attempt) = referee.first().await;
        let (id, bytes) = (match_id.parse().unwrap(), transcript());
        let parts: Vec<_> = MatchTranscript::parts_of(None, &id, u32::try_from(attempt).unwrap(), &bytes).collect();
        let promised = json!({"account": {"transcript_sha256": parts[0].sha256.to_string()}});
        let early = referee.report(&league, &match_id, promised.clone()).await;
        assert_eq!(code(&early), "E015", "{early:?}");
        assert!(early.text.contains("store_transcript"), "{early:?}");
        assert_eq!(league.season().await.matches_completed(), 0, "a refused report does not count");
        for part in &parts {
            let stored = referee.call("store_transcript", serde_json::to_value(part).unwrap()).await.json();
            assert_eq!(stored["result"]["complete"], part.part == part.parts, "{stored}");
        }
        let before = match_file(home.path(), &match_id);
        assert_eq!((&before["result"], before["transcript"].as_array().unwrap().len()), (&Value::Null, 6), "{before}");
        let again = referee.call("store_transcript", serde_json::to_value(&parts[0]).unwrap()).await.json();
        assert_eq!(again["result"]["complete"], true, "it is here already: {again}");
        for others in 1..=3 {
            let bytes = one_entry(others);
            let other = MatchTranscript::parts_of(None, &id, u32::try_from(attempt).unwrap(), &bytes).next().unwrap();
            let stored = referee.call("store_transcript", serde_json::to_value(&other).unwrap()).await;
            assert_eq!(code(&stored), if others == 3 { "E010" } else { "" }, "{stored:?}");
        }
        for part in &parts {
            let stored = referee.call("store_transcript", serde_json::to_value(part).unwrap()).await.json();
            assert_eq!(stored["result"]["complete"], part.part == part.parts, "the first still counts: {stored}");
        }
        let counted = referee.report(&league, &match_id, promised).await.json();
        assert_eq!(counted["result"]["status"], "ACCEPTED", "{counted}");
        let file = match_file(home.path(), &match_id);
        assert_eq!((&file["result"]["winner"], &file["transcript"]), (&json!("P01"), &before["transcript"]), "{file}");
    };
    tokio::join!(league.play(), playing);
}

#[tokio::test]
async fn the_answer_to_a_report_of_a_referee_that_pulls_brings_the_next_match() {
    let league = League::of(4, 1, ManagerSettings::default()).await;
    let referee = ByHand::register(&league, "By hand").await;
    let _players = league.join(&["A", "B", "C", "D"]).await;
    let playing = async {
        let first = referee.first().await;
        let answer = referee.report(&league, &first.0, json!({})).await.json();
        let next = &answer["result"]["next_match"];
        let second = (next["match_id"].as_str().unwrap().to_owned(), next["attempt"].as_u64().unwrap());
        assert_ne!(second.0, first.0, "{answer}");
        assert_eq!(next["players"].as_array().map(Vec::len), Some(2), "a whole START_MATCH: {answer}");
        // A lost answer loses no match: a poll that does not hold it brings it again.
        assert_eq!(referee.next(json!({})).await, Some(second.clone()));
        let repeated = referee.report(&league, &first.0, json!({})).await.json();
        let found = (&repeated["result"]["duplicate"], &repeated["result"]["next_match"]);
        assert_eq!(
            found,
            (&json!(true), &Value::Null),
            "a match that was handed out is not handed out here: {repeated}"
        );
    };
    tokio::select! {
        () = league.conduct() => panic!("the league has more matches"),
        () = playing => {}
    }
}

/// Makes every append durable, until it is aborted.
fn keep_syncing(disk: &MemoryDisk) -> JoinHandle<()> {
    let disk = disk.clone();
    tokio::spawn(async move {
        loop {
            disk.sync();
            sleep(Duration::from_millis(5)).await;
        }
    })
}

async fn until(is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LIMIT, waiting).await.unwrap();
}

/// Sends a request and returns the connection, on which the answer would come.
async fn send(url: &str, method: &str, params: &Value) -> TcpStream {
    let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let head = format!("Host: {address}\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(format!("POST /mcp HTTP/1.1\r\n{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
    connection
}

#[tokio::test]
async fn a_report_is_finished_although_its_referee_hangs_up() {
    let (home, disk) = (tempfile::tempdir().unwrap(), MemoryDisk::new(SyncMode::OnDemand));
    let league = League::on(&disk, rules(), settings(2, home.path())).await;
    let syncs = keep_syncing(&disk);
    let players = league.join(&["A", "B"]).await;
    let referee = Plan::new("Whistle", Speech::Direct).serve().unwrap();
    let (id, token) = admitted(&league.caller().register("referee", "Whistle", &referee.endpoint(), None).await);
    let reporting = async {
        for player in &players {
            assert!(player.log().receives("ROUND_ANNOUNCEMENT", 1, LIMIT).await);
        }
        // The order to the referee may still teach the manager something.
        sleep(Duration::from_millis(300)).await;
        syncs.abort();
        let report = json!({
            "protocol": "league.v2", "message_type": "MATCH_RESULT_REPORT", "sender": format!("referee:{id}"),
            "timestamp": "2025-01-15T10:00:00Z", "conversation_id": "by-hand", "auth_token": token,
            "match_id": "R1M1", "result": result(["P01", "P02"]),
        });
        let connection = send(&league.url, "report_match_result", &report).await;
        let log = disk.reader();
        until(|| log.end() != log.head().unwrap()).await;
        drop(connection);
        // The manager notices the closed connection.
        sleep(Duration::from_millis(300)).await;
        assert_eq!(match_file(home.path(), "R1M1"), Value::Null, "the report waits for the disk");
        keep_syncing(&disk);
        until(|| match_file(home.path(), "R1M1")["result"]["winner"] == "P01").await;
    };
    tokio::join!(league.play(), reporting);
}
