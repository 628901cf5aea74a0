//! The log in PostgreSQL. `cargo xtask ci postgres` starts the server and names it in `LEAGUE_POSTGRES`. Each test has its
//! own database.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use league_core::season::event::Event;
use league_protocol::id::{LeagueId, MatchId};
use league_protocol::message::transcript::TranscriptDigest;
use league_protocol::time::Timestamp;
use league_store::home::Home;
use league_store::log::lease::LeaseHolder;
use league_store::log::{EventLog, LogDamage, LogError, LogHead, PostgresLog, PostgresStore};
use tokio_postgres::NoTls;

use super::support::{halted, league, played};
use super::{all, keeps_the_contract};

struct TestDatabase {
    url: String,
}

impl TestDatabase {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let server = std::env::var("LEAGUE_POSTGRES").unwrap();
        let name = format!("test_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        run(&server, &format!("CREATE DATABASE {name}"));
        let (server, _) = server.rsplit_once('/').unwrap();
        Self { url: format!("{server}/{name}") }
    }

    fn store(&self) -> PostgresStore {
        PostgresStore::open(&self.url.parse().unwrap()).unwrap()
    }

    fn log(&self) -> PostgresLog {
        self.store().log(&league())
    }

    fn run(&self, statements: &str) {
        run(&self.url, statements);
    }

    fn number(&self, query: &str) -> i64 {
        let (url, query) = (self.url.clone(), query.to_owned());
        in_runtime(async move { connect(&url).await.query_one(&query, &[]).await.unwrap().get(0) })
    }
}

fn in_runtime<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn run(url: &str, statements: &str) {
    in_runtime(async { connect(url).await.batch_execute(statements).await.unwrap() });
}

fn events(count: i64) -> Vec<Event> {
    (0..count).map(|second| Event { at: Timestamp::from_unix(second), ..halted() }).collect()
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_keeps_the_contract() {
    let database = TestDatabase::new();
    let log = database.log();
    keeps_the_contract(&log);
    drop(log);
    assert_eq!(all(&database.log()).unwrap().0, played(6, 2).events, "it is there again");
    let other: LeagueId = "another".parse().unwrap();
    keeps_the_contract(&database.store().log(&other));
    let leagues: Vec<LeagueId> = database.store().leagues().unwrap().into_iter().map(|(league, _)| league).collect();
    assert_eq!(leagues, [other, league()], "the newest first");
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_reads_a_long_log_in_order() {
    let database = TestDatabase::new();
    let log = database.log();
    let head = log.append(LogHead::GENESIS, events(10_000)).wait().unwrap();
    assert_eq!(all(&log), Ok((events(10_000), head)));
    drop(log);
    let home = tempfile::tempdir().unwrap();
    let home = Home::at(home.path()).with_store(database.store());
    assert_eq!((home.log(&league()).head(), home.has_league(&league())), (Ok(head), Ok(true)));
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_names_damage() {
    let database = TestDatabase::new();
    let log = database.log();
    let head = log.append(LogHead::GENESIS, events(2500)).wait().unwrap();
    for (seq, at) in [(1, 2), (1024, 1025), (1025, 1026), (2499, 2500)] {
        for (change, expected) in [
            ("body = body || ' '", LogDamage::Body { seq }),
            ("hash = '\\x00'", LogDamage::Hash { seq }),
            ("seq = 90000", LogDamage::Missing { seq, next: at }),
        ] {
            database.run(&format!(
                "CREATE TABLE league.copy AS SELECT * FROM league.event; UPDATE league.event SET {change} WHERE seq = {seq}"
            ));
            match all(&log) {
                Err(LogError::Damaged { damage, .. }) => assert_eq!(damage, expected, "event {seq}: {change}"),
                other => panic!("event {seq}: {change}: {other:?}"),
            }
            database.run(
                "TRUNCATE league.event; INSERT INTO league.event SELECT * FROM league.copy; DROP TABLE league.copy",
            );
        }
    }
    assert_eq!(all(&log).unwrap().1, head);
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_refuses_a_newer_schema_and_never_prints_the_password() {
    let database = TestDatabase::new();
    database.log().append(LogHead::GENESIS, events(1)).wait().unwrap();
    database.run("INSERT INTO league.schema_version VALUES (99)");
    let refused = PostgresStore::open(&database.url.parse().unwrap()).unwrap_err();
    assert!(matches!(refused, LogError::OtherVersion { format: 99, .. }), "{refused:?}");
    assert!(refused.to_string().contains("a newer version"), "{refused}");
    let wrong = database.url.replace("s3cret", "wr0ng");
    assert_ne!(wrong, database.url);
    let nowhere = database.url.replace("127.0.0.1", "127.0.0.1:1,127.0.0.1");
    for url in [&database.url, &wrong, &nowhere] {
        let error = PostgresStore::open(&url.parse().unwrap()).unwrap_err();
        let printed = format!("{error} {error:?}");
        assert!(!printed.contains("s3cret") && !printed.contains("wr0ng"), "{printed}");
    }
    assert!(!format!("{:?}", TestDatabase::new().log()).contains("s3cret"));
}

/// Back to the tables of the first version.
const TO_VERSION_1: &str = "
    ALTER TABLE league.lease DROP COLUMN url, DROP COLUMN relay_key;
    DROP TABLE league.credential, league.transcript;
    DELETE FROM league.schema_version WHERE version > 1";

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_rolls_a_migration_back_that_fails_in_the_middle() {
    let database = TestDatabase::new();
    let store = database.store();
    // The second migration fails: it creates this table.
    database.run("CREATE SCHEMA league; CREATE TABLE league.credential ()");
    let refused = store.log(&league()).lead(&LeaseHolder::named("the manager")).unwrap_err();
    assert!(refused.to_string().contains("already exists"), "{refused}");
    let left = "SELECT count(*) FROM pg_tables WHERE schemaname = 'league'";
    assert_eq!(database.number(left), 1, "nothing of the first migration is left");
    let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'";
    assert_eq!(database.number(open), 0, "no transaction is open");
    database.run("DROP TABLE league.credential");
    keeps_the_contract(&store.log(&league()));
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_rolls_a_migration_back_that_is_interrupted_and_tries_it_again() {
    let database = TestDatabase::new();
    let head = database.log().append(LogHead::GENESIS, events(3)).wait().unwrap();
    database.run(TO_VERSION_1);
    let (url, log) = (database.url.clone(), database.log());
    let migrating = in_runtime(async move {
        let mut other = connect(&url).await;
        let locking = other.transaction().await.unwrap();
        locking.batch_execute("LOCK TABLE league.lease").await.unwrap();
        let migrating = spawn(move || {
            log.lead(&LeaseHolder::named("the manager")).unwrap();
            log
        });
        let waiting = "SELECT pid FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%ALTER TABLE%'";
        let pid: i32 = loop {
            match locking.query(waiting, &[]).await.unwrap().first() {
                Some(row) => break row.get(0),
                None => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        };
        locking.execute("SELECT pg_terminate_backend($1)", &[&pid]).await.unwrap();
        let version = "SELECT max(version) FROM league.schema_version";
        assert_eq!(locking.query_one(version, &[]).await.unwrap().get::<_, i64>(0), 1);
        locking.rollback().await.unwrap();
        migrating
    });
    let log = migrating.join().unwrap();
    assert_eq!(log.append(head, events(1)).wait().unwrap().seq, 4);
    assert_eq!(database.number("SELECT count(*) FROM league.schema_version WHERE version = 2"), 1);
    let columns = "SELECT count(*) FROM pg_attribute WHERE attrelid = 'league.lease'::regclass AND attname = 'url'";
    assert_eq!(database.number(columns), 1);
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_lets_one_manager_write() {
    let database = TestDatabase::new();
    let (first, second) = (database.log(), database.log());
    first.lead(&LeaseHolder::named("the first")).unwrap();
    let head = first.append(LogHead::GENESIS, events(3)).wait().unwrap();
    let refused = second.append(head, events(1)).wait().unwrap_err();
    assert!(matches!(&refused, LogError::Led { holder, .. } if holder == "the first"), "{refused:?}");
    let began = Instant::now();
    assert!(
        matches!(second.lead(&LeaseHolder::named("the second")), Err(LogError::Led { .. })),
        "the first renews its lease"
    );
    assert!(began.elapsed() > Duration::from_secs(5));
    drop(first);
    let began = Instant::now();
    second.lead(&LeaseHolder::named("the second")).unwrap();
    assert!(began.elapsed() < Duration::from_secs(1), "the lease was given back");
    assert_eq!(second.append(head, events(1)).wait().unwrap().seq, 4);
    assert_eq!(database.number("SELECT epoch FROM league.lease"), 2);
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_stops_a_manager_that_was_frozen() {
    let database = TestDatabase::new();
    let (first, second) = (database.log(), database.log());
    let head = first.append(LogHead::GENESIS, events(3)).wait().unwrap();
    // As after a pause of the first manager that is longer than its lease.
    let taken = "UPDATE league.lease SET expires_at = clock_timestamp()";
    loop {
        database.run(taken);
        if let Ok(end) = second.append(head, events(2)).wait() {
            assert_eq!(end.seq, 5);
            break;
        }
    }
    let refused = first.append(head, events(1)).wait().unwrap_err();
    assert!(matches!(refused, LogError::Deposed { .. }), "{refused:?}");
    assert!(matches!(first.append(head, events(1)).wait(), Err(LogError::Deposed { .. })));
    assert_eq!(database.log().head().unwrap().seq, 5);
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_renews_a_lease_that_expired_unnoticed() {
    let database = TestDatabase::new();
    let log = database.log();
    let mut head = log.append(LogHead::GENESIS, events(1)).wait().unwrap();
    for _ in 0..20 {
        database.run("UPDATE league.lease SET expires_at = clock_timestamp()");
        head = log.append(head, events(1)).wait().unwrap();
    }
    assert_eq!((head.seq, database.number("SELECT epoch FROM league.lease")), (21, 1));
}

/// The server closes all connections again and again. An append whose answer is lost is neither lost nor doubled.
#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_survives_the_loss_of_its_connections() {
    let database = TestDatabase::new();
    let log = database.log();
    log.lead(&LeaseHolder::named("the manager")).unwrap();
    let url = database.url.clone();
    let cutting = spawn(move || {
        for _ in 0..60 {
            run(
                &url,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE pid <> pg_backend_pid() AND datname = current_database() AND application_name = 'league'",
            );
            sleep(Duration::from_millis(25));
        }
    });
    let (mut head, mut appends) = (LogHead::GENESIS, 0);
    while !cutting.is_finished() {
        head = log.append(head, events(7)).wait().unwrap();
        appends += 1;
    }
    cutting.join().unwrap();
    assert_eq!(head.seq, appends * 7);
    assert_eq!(all(&log).unwrap().1, head);
    assert_eq!(database.number("SELECT epoch FROM league.lease"), 1);
}

/// A referee that sends another transcript of the same match again and again does not fill the disk.
#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_keeps_one_transcript_of_a_match() {
    let database = TestDatabase::new();
    let log = database.log();
    log.lead(&LeaseHolder::named("the manager")).unwrap();
    let lease = log.held_lease();
    let (first, second): (MatchId, MatchId) = ("R1M1".parse().unwrap(), "R1M2".parse().unwrap());
    let bodies = ["[]", "[1]", "[2]"].map(|body| (TranscriptDigest::of(body.as_bytes()), body));
    lease.keep_transcript(&second, bodies[0].0, bodies[0].1.to_owned()).unwrap();
    for (digest, body) in bodies {
        lease.keep_transcript(&first, digest, body.to_owned()).unwrap();
    }
    let kept = |id: &MatchId, digest| database.store().transcript(&league(), id, digest).unwrap();
    assert_eq!(bodies.map(|(digest, _)| kept(&first, digest)), [None, None, Some(String::from("[2]"))]);
    assert_eq!(kept(&second, bodies[0].0).as_deref(), Some("[]"));
}

#[test]
#[ignore = "needs PostgreSQL; cargo xtask ci postgres"]
fn postgres_without_tls_is_refused_with_advice() {
    let url = format!("{}?sslmode=require", TestDatabase::new().url);
    let refused = PostgresStore::open(&url.parse().unwrap()).unwrap_err().to_string();
    assert!(refused.contains("?sslmode=disable"), "{refused}");
}
