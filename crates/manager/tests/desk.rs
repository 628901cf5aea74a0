//! The desk decides nothing that does not last, and answers nothing before it does.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use league_core::season::config::Config;
use league_core::season::event::Event;
use league_core::season::{Registered, Season};
use league_manager::desk::{Closed, Desk};
use league_protocol::error::ErrorCode;
use league_protocol::id::GameType;
use league_protocol::message::registration::{AgentMeta, LeagueRegisterRequest};
use league_protocol::quirk::Quirks;
use league_protocol::time::Timestamp;
use league_store::log::memory::Sync;
use league_store::log::{EventLog, MemoryDisk};
use league_wire::world::World;

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
        },
        player_id: None,
        join_key: None,
        quirks: Quirks::default(),
    }
}

fn world() -> World {
    World::new(|| Timestamp::EPOCH, || [7; 32])
}

async fn open(disk: &MemoryDisk) -> (Desk, impl Future<Output = Closed> + use<>) {
    let (log, _) = disk.open();
    let (season, opened) = Season::open(Config::even_odd("league".parse().unwrap()), Timestamp::EPOCH);
    log.append(vec![opened]).await.unwrap();
    Desk::open(season, log, world(), |_| {})
}

async fn register(desk: &Desk, number: u32) -> Result<Registered, league_protocol::error::Fault> {
    let request = registration(number);
    desk.act(move |season, now| season.register_player(&request, None, &[number as u8; 32], now)).await
}

#[tokio::test]
async fn what_was_answered_is_in_the_log() {
    let disk = MemoryDisk::new(Sync::AtOnce);
    let (desk, work) = open(&disk).await;
    let working = tokio::spawn(work);
    let all = futures_util::future::join_all((1..=50).map(|number| register(&desk, number))).await;
    assert!(all.iter().all(|answer| matches!(answer, Ok(Registered::Admitted(_)))));
    let live = desk.look(|season, _| season.clone()).await.unwrap();
    drop(desk);
    assert!(matches!(working.await.unwrap(), Closed::Stopped));
    disk.crash();
    let (_, events): (_, Vec<Event>) = disk.open();
    assert_eq!(Season::replay(&events).unwrap(), live);
    assert_eq!(live.players().len(), 50);
}

#[tokio::test]
async fn a_refused_command_leaves_no_trace() {
    let disk = MemoryDisk::new(Sync::AtOnce);
    let (desk, work) = open(&disk).await;
    tokio::spawn(work);
    let before = desk.look(|season, _| season.clone()).await.unwrap();
    let refused = desk.act(|season, now| season.start(now)).await.unwrap_err();
    assert_eq!(refused.code, Some(ErrorCode::E010));
    assert_eq!(desk.look(|season, _| season.clone()).await.unwrap(), before);
    assert_eq!(disk.open().1.len(), 1);
}

#[tokio::test]
async fn a_log_that_fails_closes_the_desk_and_nobody_is_told_yes() {
    let disk = MemoryDisk::new(Sync::AtOnce);
    let (desk, work) = open(&disk).await;
    let working = tokio::spawn(work);
    disk.fail("the disk is full");
    let answer = register(&desk, 1).await.unwrap_err();
    assert_eq!(answer.code, Some(ErrorCode::E015));
    let closed = working.await.unwrap();
    assert!(matches!(&closed, Closed::Log(reason) if reason.contains("the disk is full")), "{closed}");
    assert!(register(&desk, 2).await.is_err());
}

#[tokio::test]
async fn every_change_is_told_of() {
    let disk = MemoryDisk::new(Sync::AtOnce);
    let (desk, work) = open(&disk).await;
    tokio::spawn(work);
    let mut changes = desk.changes();
    changes.mark_unchanged();
    register(&desk, 1).await.unwrap();
    changes.changed().await.unwrap();
    desk.look(|season, _| season.status()).await.unwrap();
    assert!(!changes.has_changed().unwrap(), "looking changes nothing");
}
