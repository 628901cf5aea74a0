//! The league actor answers nothing before it is durable.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use league_core::season::agent::AgentId;
use league_core::season::config::LeagueConfig;
use league_core::season::event::{Event, Fact};
use league_core::season::{CommandOutcome, DrawSource, Registered, Season};
use league_manager::league_actor::{LeagueClosed, LeagueHandle};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::PlayerId;
use league_protocol::message::registration::{AgentMeta, LeagueRegisterRequest, RefereeRegisterRequest};
use league_protocol::message::report::LearnedDialect;
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::time::Timestamp;
use league_store::log::memory::SyncMode;
use league_store::log::{EventLog, LogError, LogHead, MemoryDisk, PendingAppend, replay};
use league_wire::environment::Environment;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

fn registration(number: u32) -> LeagueRegisterRequest {
    let contact = format!("http://127.0.0.1:{}/mcp", 8100 + number);
    let meta =
        json!({"display_name": format!("Player {number}"), "game_types": ["even_odd"], "contact_endpoint": contact});
    serde_json::from_value(json!({ "player_meta": meta })).unwrap()
}

fn environment() -> Environment {
    Environment::new(|| Timestamp::EPOCH, || [7; 32])
}

async fn open() -> (MemoryDisk, LeagueHandle, JoinHandle<LeagueClosed>) {
    let disk = MemoryDisk::new(SyncMode::AtOnce);
    let log = disk.open();
    let (season, opened) = Season::open(LeagueConfig::even_odd("league".parse().unwrap()), Timestamp::EPOCH);
    let head = log.append(LogHead::GENESIS, vec![opened]).await.unwrap();
    let (league_handle, work) = LeagueHandle::open(season, head, log, environment(), |_| {});
    (disk, league_handle, tokio::spawn(work))
}

async fn season(league_handle: &LeagueHandle) -> Season {
    league_handle.read(|season, _| season.clone()).await.unwrap()
}

fn stored(disk: &MemoryDisk) -> Season {
    replay(&disk.reader(), |_, _| {}).unwrap().0.finish().unwrap()
}

fn registering(number: u32) -> impl FnOnce(&Season, Timestamp) -> Result<CommandOutcome<Registered>, RequestError> {
    let request = registration(number);
    move |season, now| season.register_player(&request, None, &[number as u8; 32], now)
}

#[tokio::test]
async fn an_answered_command_is_in_the_log() {
    let (disk, league_handle, actor) = open().await;
    let commands = (1..=50).map(|number| league_handle.command(registering(number)));
    let answers = futures_util::future::join_all(commands).await;
    assert!(answers.iter().all(|answer| matches!(answer, Ok(Registered::Admitted(_)))));
    let live = season(&league_handle).await;
    drop(league_handle);
    assert!(matches!(actor.await.unwrap(), LeagueClosed::Stopped));
    disk.crash();
    assert_eq!(stored(&disk), live);
    assert_eq!(live.players().len(), 50);
}

#[tokio::test]
async fn a_refused_command_changes_nothing() {
    let (disk, league_handle, _) = open().await;
    let before = season(&league_handle).await;
    let refused = league_handle.command(|season, now| season.start(now)).await.unwrap_err();
    assert_eq!(refused.code, Some(ErrorCode::E010));
    assert_eq!(season(&league_handle).await, before);
    assert_eq!(disk.reader().head().unwrap().seq, 1);
}

#[tokio::test]
async fn a_decision_that_applies_only_in_part_is_not_logged_and_ends_the_actor() {
    let (disk, league_handle, actor) = open().await;
    league_handle.command(registering(1)).await.unwrap();
    let before = stored(&disk);
    let partial = league_handle.command(move |season, now| {
        let mut outcome = registering(2)(season, now)?;
        outcome.events.push(Event { at: now, fact: Fact::LeagueCompleted });
        Ok(outcome)
    });
    partial.await.unwrap_err();
    assert!(league_handle.read(|_, _| ()).await.is_err(), "the season no longer matches the log");
    assert!(matches!(actor.await.unwrap(), LeagueClosed::Broken(reason) if reason.contains("the end of the league")));
    assert_eq!(stored(&disk), before, "nothing of it is in the log");
}

#[tokio::test]
async fn a_failed_log_stops_the_league_and_acknowledges_nothing() {
    let (disk, league_handle, actor) = open().await;
    disk.fail("the disk is full");
    let error = league_handle.command(registering(1)).await.unwrap_err();
    assert_eq!(error.code, Some(ErrorCode::E015));
    let closed = actor.await.unwrap();
    assert!(matches!(&closed, LeagueClosed::Log(reason) if reason.contains("the disk is full")), "{closed}");
    assert!(league_handle.command(registering(2)).await.is_err());
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

/// Registers a player by a command that waits like a result.
fn register_batched(league_handle: &LeagueHandle, number: u32) -> JoinHandle<Result<Registered, RequestError>> {
    let league_handle = league_handle.clone();
    tokio::spawn(async move { league_handle.command_batched(registering(number)).await })
}

async fn uncommitted_players(league_handle: &LeagueHandle) -> usize {
    league_handle.read_uncommitted(|season| season.players().len()).await.unwrap()
}

async fn until_players(league_handle: &LeagueHandle, count: usize) {
    while uncommitted_players(league_handle).await < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn commands_that_arrive_during_a_commit_are_decided_and_wait_for_the_next_commit() {
    let (log, league_handle) = slow();
    let first = register_batched(&league_handle, 1);
    let (events, end_first) = log.commit().await;
    let more = [2, 3].map(|number| register_batched(&league_handle, number));
    until_players(&league_handle, 3).await;
    let reading = tokio::spawn({
        let league_handle = league_handle.clone();
        async move { league_handle.read(|season, _| season.players().len()).await }
    });
    assert!(log.0.lock().unwrap().is_empty(), "one commit at a time");
    assert!(!first.is_finished());
    end_first();
    assert!(first.await.unwrap().is_ok());
    let (next_events, end_second) = log.commit().await;
    assert_eq!(next_events, 2 * events, "the others share one");
    assert!(!reading.is_finished() && more.iter().all(|waiting| !waiting.is_finished()));
    end_second();
    assert_eq!(reading.await.unwrap().unwrap(), 3);
    for answer in more {
        assert!(answer.await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn decisions_that_follow_a_failed_commit_are_refused_too() {
    let (log, league_handle) = slow();
    let registrations = [1, 2].map(|number| register_batched(&league_handle, number));
    until_players(&league_handle, 2).await;
    let (_, answer) = log.0.lock().unwrap().pop_front().unwrap();
    answer.send(Err(LogError::Ended)).unwrap();
    for answer in registrations {
        assert_eq!(answer.await.unwrap().unwrap_err().code, Some(ErrorCode::E015));
    }
    assert!(league_handle.read_uncommitted(|season| season.players().len()).await.is_err());
}

#[tokio::test]
async fn an_uncommitted_read_shows_results_before_they_are_durable_and_nothing_else() {
    let (log, league_handle) = slow();
    let batched = register_batched(&league_handle, 1);
    let (_, end) = log.commit().await;
    assert_eq!(uncommitted_players(&league_handle).await, 1);
    let handle = league_handle.clone();
    let other = tokio::spawn(async move { handle.command(registering(2)).await });
    end();
    batched.await.unwrap().unwrap();
    let (_, end) = log.commit().await;
    let ended = std::cell::Cell::new(false);
    let reading = async {
        let players = uncommitted_players(&league_handle).await;
        (players, ended.get())
    };
    let ending = async {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        ended.set(true);
        end();
    };
    let (seen, ()) = tokio::join!(reading, ending);
    assert_eq!(seen, (2, true), "it waited for the commit");
    other.await.unwrap().unwrap();
}

async fn playing(capacity: u32) -> LeagueHandle {
    let (_, league_handle, _) = open().await;
    for number in 1..=4 {
        league_handle.command(registering(number)).await.unwrap();
    }
    let referee_meta = AgentMeta { max_concurrent_matches: Some(capacity), ..registration(9).player_meta };
    let referee = RefereeRegisterRequest {
        referee_meta,
        referee_id: None,
        join_key: None,
        draw_commitments: Vec::new(),
        quirks: Quirks::default(),
    };
    league_handle.command(move |season, now| season.register_referee(&referee, None, &[9; 32], now)).await.unwrap();
    league_handle.command(|season, now| season.start(now)).await.unwrap();
    league_handle.command(|season, now| Ok(season.assign(DrawSource::Random(&[7; 32]), now))).await.unwrap();
    league_handle
}

/// Sends a batched command, a second one when the first is decided, and then a read if `reads`. Returns the number of
/// commits and milliseconds.
async fn two_commands(league_handle: &LeagueHandle, reads: bool) -> (u64, u128) {
    let send = async |quirk, decided: oneshot::Sender<()>| {
        let (player, mut learned) = (AgentId::Player(PlayerId::numbered(1)), LearnedDialect::default());
        learned.quirks.note(quirk);
        let command = move |season: &Season, now| {
            decided.send(()).unwrap();
            Ok(CommandOutcome { events: season.learn(&player, &learned, now).into_iter().collect(), reply: () })
        };
        league_handle.command_batched(command).await.unwrap();
    };
    let ((first, first_decided), (second, second_decided)) = (oneshot::channel(), oneshot::channel());
    let follow = async {
        first_decided.await.unwrap();
        send(Quirk::OddSender, second).await;
    };
    let read = async {
        second_decided.await.unwrap();
        if reads {
            league_handle.read(|_, _| ()).await.unwrap();
        }
    };
    let (began, changes) = (Instant::now(), league_handle.changes());
    let before = *changes.borrow();
    tokio::join!(send(Quirk::NoSender, first), follow, read);
    let commits = *changes.borrow() - before;
    (commits, began.elapsed().as_millis())
}

#[tokio::test(start_paused = true)]
async fn results_share_a_commit_while_no_reader_waits() {
    assert_eq!(two_commands(&playing(1).await, false).await, (2, 0), "there is a match that has no referee yet");
    let (commits, took) = two_commands(&playing(2).await, false).await;
    assert!(commits == 1 && took >= 9, "{commits} in {took} ms");
    assert_eq!(two_commands(&playing(2).await, true).await, (1, 0), "with a reader");
}

#[tokio::test]
async fn a_command_changes_the_commit_count_and_a_read_does_not() {
    let (_disk, league_handle, _) = open().await;
    let mut changes = league_handle.changes();
    changes.mark_unchanged();
    league_handle.command(registering(1)).await.unwrap();
    changes.changed().await.unwrap();
    league_handle.read(|season, _| season.status()).await.unwrap();
    assert!(!changes.has_changed().unwrap());
}
