//! Players that live on another thread are told from there.

use std::sync::Arc;
use std::thread;

use league_manager::{Heralds, ManagerSettings};
use league_test_agents::player::dialect::Speech;
use league_test_agents::player::{Plan, Player};
use league_wire::call_tally::CallTally;
use league_wire::client::{Client, ClientSettings};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::league::{League, forfeits};

/// What a player hears in a league of one round.
const NOTICES: [&str; 4] = ["LEAGUE_COMPLETED", "LEAGUE_STANDINGS_UPDATE", "ROUND_ANNOUNCEMENT", "ROUND_COMPLETED"];

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// A herald on this runtime who speaks to this player, and what counts its calls.
fn herald(runtime: &Runtime, player: &Player) -> (ManagerSettings, Arc<CallTally>) {
    let (mut heralds, tally) = (Heralds::default(), Arc::new(CallTally::default()));
    let client = Client::new(ClientSettings { tally: Some(Arc::clone(&tally)), ..ClientSettings::default() });
    heralds.add(runtime.handle().clone(), client, [player.endpoint().parse().unwrap()]);
    (ManagerSettings { heralds, ..ManagerSettings::default() }, tally)
}

#[tokio::test]
async fn a_herald_tells_its_own_players_and_the_manager_tells_everybody_else() {
    let runtime = runtime();
    let there = Plan::new("There", Speech::Session).serve().unwrap();
    let (settings, tally) = herald(&runtime, &there);
    let (open, closed) = oneshot::channel::<()>();
    let thread = thread::spawn(move || drop(runtime.block_on(closed)));
    let league = League::of(2, 1, settings).await.with_referee().await;
    there.register(&league.url).await.unwrap();
    let here = Plan::new("Here", Speech::Direct).join(&league.url).await.unwrap();
    let season = league.play().await;
    assert_eq!(forfeits(&season), 0);
    let manner = season.players().iter().find(|player| player.profile.name == "There").unwrap().manner.to_string();
    assert_eq!(manner, "C session", "what a herald finds out is kept");
    let told = tally.take();
    for notice in NOTICES {
        // The first of them was said once more, in its own manner.
        let answered = told[notice].answered;
        assert!(answered >= 1, "{notice}: {answered}");
        assert_eq!(there.log().of(notice).len(), 1, "{notice}");
        assert_eq!(here.log().of(notice).len(), 1, "{notice}");
    }
    drop(open);
    thread.join().unwrap();
}

#[tokio::test]
async fn a_herald_whose_thread_has_ended_holds_up_nobody() {
    let runtime = runtime();
    let there = Plan::new("There", Speech::Direct).serve().unwrap();
    let (settings, tally) = herald(&runtime, &there);
    runtime.shutdown_background();
    let league = League::of(2, 1, settings).await.with_referee().await;
    there.register(&league.url).await.unwrap();
    let _here = Plan::new("Here", Speech::Direct).join(&league.url).await.unwrap();
    let season = league.play().await;
    assert_eq!((season.matches_completed(), tally.take().len()), (1, 0));
}
