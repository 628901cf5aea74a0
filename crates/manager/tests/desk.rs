//! The league actor answers nothing before it is durable.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use league_core::season::agent::AgentId;
use league_core::season::config::LeagueConfig;
use league_core::season::event::{Event, Fact};
use league_core::season::{CommandOutcome, Registered, Season};
use league_manager::league_actor::{LeagueClosed, LeagueHandle};
use league_protocol::error::ErrorCode;
use league_protocol::id::{GameType, PlayerId};
use league_protocol::message::registration::{AgentMeta, LeagueRegisterRequest, RefereeRegisterRequest};
use league_protocol::message::report::LearnedDialect;
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::time::Timestamp;
use league_store::log::memory::SyncMode;
use league_store::log::{EventLog, LogError, LogHead, MemoryDisk, PendingAppend, replay};
use league_wire::environment::Environment;
use tokio::sync::oneshot;
use tokio::time::Instant;

fn registration(number: u32) -> LeagueRegisterRequest {
    LeagueRegisterRequest {
        player_meta: AgentMeta {
            display_name: format!("Player {number}").into(),
            version: "1.0.0".into(),
            protocol_version: None,
            game_types: vec![GameType::even_odd()],
            contact_endpoint: format!("http://127.0.0.1:{}/mcp", 8100 + number),
            max_concurrent_matches: None,
            pass_scheme: None,
            accepts_batches: false,
        },
        player_id: None,
        join_key: None,
        quirks: Quirks::default(),
    }
}

fn environment() -> Environment {
    Environment::new(|| Timestamp::EPOCH, || [7; 32])
}

async fn open(disk: &MemoryDisk) -> (LeagueHandle, impl Future<Output = LeagueClosed> + use<>) {
    let log = disk.open();
    let (season, opened) = Season::open(LeagueConfig::even_odd("league".parse().unwrap()), Timestamp::EPOCH);
    let head = log.append(LogHead::GENESIS, vec![opened]).await.unwrap();
    LeagueHandle::open(season, head, log, environment(), |_| {})
}

fn stored(disk: &MemoryDisk) -> Season {
    replay(&disk.reader(), drop).unwrap().0.finish().unwrap()
}

async fn register(
    league_handle: &LeagueHandle,
    number: u32,
) -> Result<Registered, league_protocol::error::RequestError> {
    let request = registration(number);
    league_handle.command(move |season, now| season.register_player(&request, None, &[number as u8; 32], now)).await
}

#[tokio::test]
async fn what_was_answered_is_in_the_log() {
    let disk = MemoryDisk::new(SyncMode::AtOnce);
    let (league_handle, work) = open(&disk).await;
    let working = tokio::spawn(work);
    let all = futures_util::future::join_all((1..=50).map(|number| register(&league_handle, number))).await;
    assert!(all.iter().all(|answer| matches!(answer, Ok(Registered::Admitted(_)))));
    let live = league_handle.read(|season, _| season.clone()).await.unwrap();
    drop(league_handle);
    assert!(matches!(working.await.unwrap(), LeagueClosed::Stopped));
    disk.crash();
    assert_eq!(stored(&disk), live);
    assert_eq!(live.players().len(), 50);
}

#[tokio::test]
async fn a_refused_command_leaves_no_trace() {
    let disk = MemoryDisk::new(SyncMode::AtOnce);
    let (league_handle, work) = open(&disk).await;
    tokio::spawn(work);
    let before = league_handle.read(|season, _| season.clone()).await.unwrap();
    let refused = league_handle.command(|season, now| season.start(now)).await.unwrap_err();
    assert_eq!(refused.code, Some(ErrorCode::E010));
    assert_eq!(league_handle.read(|season, _| season.clone()).await.unwrap(), before);
    assert_eq!(disk.reader().head().unwrap().seq, 1);
}

#[tokio::test]
async fn a_decision_of_which_only_a_part_fits_is_not_logged_and_ends_the_actor() {
    let disk = MemoryDisk::new(SyncMode::AtOnce);
    let (league_handle, work) = open(&disk).await;
    let working = tokio::spawn(work);
    register(&league_handle, 1).await.unwrap();
    let before = stored(&disk);
    let request = registration(2);
    let torn = league_handle.command(move |season, now| {
        let mut outcome = season.register_player(&request, None, &[2; 32], now)?;
        outcome.events.push(Event { at: now, fact: Fact::LeagueCompleted });
        Ok(outcome)
    });
    torn.await.unwrap_err();
    assert!(league_handle.read(|_, _| ()).await.is_err(), "a season that is not that of the log is not shown");
    assert!(matches!(working.await.unwrap(), LeagueClosed::Broken(reason) if reason.contains("the end of the league")));
    assert_eq!(stored(&disk), before, "nothing of it is in the log");
}

#[tokio::test]
async fn a_failed_log_stops_the_league_and_acknowledges_nothing() {
    let disk = MemoryDisk::new(SyncMode::AtOnce);
    let (league_handle, work) = open(&disk).await;
    let working = tokio::spawn(work);
    disk.fail("the disk is full");
    let answer = register(&league_handle, 1).await.unwrap_err();
    assert_eq!(answer.code, Some(ErrorCode::E015));
    let closed = working.await.unwrap();
    assert!(matches!(&closed, LeagueClosed::Log(reason) if reason.contains("the disk is full")), "{closed}");
    assert!(register(&league_handle, 2).await.is_err());
}

/// The test decides when each commit ends.
#[derive(Clone, Default)]
struct SlowLog(Arc<Mutex<VecDeque<Commit>>>);

type Commit = (usize, oneshot::Sender<Result<LogHead, LogError>>);

impl EventLog for SlowLog {
    fn append(&self, _: LogHead, events: Vec<Event>) -> PendingAppend {
        let (answer, appending) = PendingAppend::pending();
        self.0.lock().unwrap().push_back((events.len(), answer));
        appending
    }

    fn head(&self) -> Result<LogHead, LogError> {
        Ok(LogHead::GENESIS)
    }

    fn read(&self, _: u64, _: usize) -> Result<Vec<(LogHead, Event)>, LogError> {
        Ok(Vec::new())
    }
}

impl SlowLog {
    /// Waits until a commit is under way; returns its number of events and a function that ends it.
    async fn commit(&self) -> (usize, impl FnOnce()) {
        loop {
            if let Some((events, answer)) = self.0.lock().unwrap().pop_front() {
                return (events, move || answer.send(Ok(LogHead::GENESIS)).unwrap());
            }
            tokio::task::yield_now().await;
        }
    }
}

fn slow() -> (SlowLog, LeagueHandle) {
    let (season, _) = Season::open(LeagueConfig::even_odd("league".parse().unwrap()), Timestamp::EPOCH);
    let log = SlowLog::default();
    let (league_handle, work) = LeagueHandle::open(season, LogHead::GENESIS, log.clone(), environment(), |_| {});
    tokio::spawn(work);
    (log, league_handle)
}

/// Like [`register`], but batched like a result.
async fn register_patiently(
    league_handle: &LeagueHandle,
    number: u32,
) -> Result<Registered, league_protocol::error::RequestError> {
    let request = registration(number);
    league_handle
        .command_batched(move |season, now| season.register_player(&request, None, &[number as u8; 32], now))
        .await
}

#[tokio::test]
async fn what_arrives_while_the_log_commits_is_decided_and_waits_for_the_next() {
    let (log, league_handle) = slow();
    let in_background = |number| {
        let league_handle = league_handle.clone();
        tokio::spawn(async move { register_patiently(&league_handle, number).await })
    };
    let first = in_background(1);
    let (events, end_first) = log.commit().await;
    let more = [2, 3].map(in_background);
    while league_handle.read_uncommitted(|season| season.players().len()).await.unwrap() < 3 {
        tokio::task::yield_now().await;
    }
    let looking = tokio::spawn({
        let league_handle = league_handle.clone();
        async move { league_handle.read(|season, _| season.players().len()).await }
    });
    assert!(log.0.lock().unwrap().is_empty(), "one commit at a time");
    assert!(!first.is_finished());
    end_first();
    assert!(first.await.unwrap().is_ok());
    let (next_events, end_second) = log.commit().await;
    assert_eq!(next_events, 2 * events, "the others share one");
    assert!(!looking.is_finished() && more.iter().all(|waiting| !waiting.is_finished()));
    end_second();
    assert_eq!(looking.await.unwrap().unwrap(), 3);
    for answer in more {
        assert!(answer.await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn what_was_decided_on_a_commit_that_failed_is_refused_like_it() {
    let (log, league_handle) = slow();
    let registering = [1, 2].map(|number| {
        let league_handle = league_handle.clone();
        async move { register_patiently(&league_handle, number).await }
    });
    let [first, second] = registering.map(tokio::spawn);
    while league_handle.read_uncommitted(|season| season.players().len()).await.unwrap() < 2 {
        tokio::task::yield_now().await;
    }
    let (_, answer) = log.0.lock().unwrap().pop_front().unwrap();
    answer.send(Err(LogError::Ended)).unwrap();
    for answer in [first, second] {
        assert_eq!(answer.await.unwrap().unwrap_err().code, Some(ErrorCode::E015));
    }
    assert!(league_handle.read_uncommitted(|season| season.players().len()).await.is_err());
}

#[tokio::test]
async fn a_glance_shows_results_before_they_are_durable_and_nothing_else() {
    let (log, league_handle) = slow();
    let players = async || league_handle.read_uncommitted(|season| season.players().len()).await.unwrap();
    let (patient, other) = (league_handle.clone(), league_handle.clone());
    let patient = tokio::spawn(async move { register_patiently(&patient, 1).await });
    let (_, end) = log.commit().await;
    assert_eq!(players().await, 1);
    let other = tokio::spawn(async move { register(&other, 2).await });
    end();
    patient.await.unwrap().unwrap();
    let (_, end) = log.commit().await;
    let ended = std::cell::Cell::new(false);
    let glancing = async {
        let seen = players().await;
        (seen, ended.get())
    };
    let ending = async {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        ended.set(true);
        end();
    };
    let (seen, ()) = tokio::join!(glancing, ending);
    assert_eq!(seen, (2, true), "it waited for the commit");
    other.await.unwrap().unwrap();
}

async fn playing(capacity: u32) -> LeagueHandle {
    let (league_handle, work) = open(&MemoryDisk::new(SyncMode::AtOnce)).await;
    tokio::spawn(work);
    for number in 1..=4 {
        register(&league_handle, number).await.unwrap();
    }
    let referee_meta = AgentMeta { max_concurrent_matches: Some(capacity), ..registration(9).player_meta };
    let referee = RefereeRegisterRequest { referee_meta, referee_id: None, join_key: None, quirks: Quirks::default() };
    league_handle.command(move |season, now| season.register_referee(&referee, None, &[9; 32], now)).await.unwrap();
    league_handle.command(|season, now| season.start(now)).await.unwrap();
    league_handle.command(|season, now| Ok(season.assign(now))).await.unwrap();
    league_handle
}

/// Runs two batched commands within a millisecond, and a read if `looks`. Returns the number of commits and milliseconds.
async fn two_things(league_handle: &LeagueHandle, looks: bool) -> (u64, u128) {
    let happens = async |quirk, after| {
        tokio::time::sleep(Duration::from_millis(after)).await;
        let (player, mut learned) = (AgentId::Player(PlayerId::numbered(1)), LearnedDialect::default());
        learned.quirks.note(quirk);
        let command = move |season: &Season, now| {
            Ok(CommandOutcome { events: season.learn(&player, &learned, now).into_iter().collect(), reply: () })
        };
        league_handle.command_batched(command).await.unwrap();
    };
    let look = async {
        tokio::time::sleep(Duration::from_millis(2)).await;
        if looks {
            league_handle.read(|_, _| ()).await.unwrap();
        }
    };
    let (began, changes) = (Instant::now(), league_handle.changes());
    let before = *changes.borrow();
    tokio::join!(happens(Quirk::NoSender, 0), happens(Quirk::OddSender, 1), look);
    let commits = *changes.borrow() - before;
    (commits, began.elapsed().as_millis())
}

#[tokio::test(start_paused = true)]
async fn results_share_a_commit_while_no_reader_waits() {
    assert_eq!(two_things(&playing(1).await, false).await, (2, 2), "there is a match that has no referee yet");
    let league_handle = playing(2).await;
    let (commits, took) = two_things(&league_handle, false).await;
    assert!(commits == 1 && took >= 9, "{commits} in {took} ms");
    let (commits, took) = two_things(&playing(2).await, true).await;
    assert!(commits == 1 && took <= 3, "with a reader: {commits} in {took} ms");
}

#[tokio::test]
async fn every_change_is_told_of() {
    let disk = MemoryDisk::new(SyncMode::AtOnce);
    let (league_handle, work) = open(&disk).await;
    tokio::spawn(work);
    let mut changes = league_handle.changes();
    changes.mark_unchanged();
    register(&league_handle, 1).await.unwrap();
    changes.changed().await.unwrap();
    league_handle.read(|season, _| season.status()).await.unwrap();
    assert!(!changes.has_changed().unwrap(), "looking changes nothing");
}
