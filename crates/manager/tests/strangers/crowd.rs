//! Every known kind of player in one league.

use std::collections::BTreeMap;
use std::time::Duration;

use league_manager::ManagerSettings;
use league_test_agents::player_kinds::kinds;

use crate::league::{League, forfeits};

/// The league takes some seconds; at this limit it hangs.
const LIMIT: Duration = Duration::from_secs(240);

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_plays_one_league_without_a_technical_loss_and_is_understood_after_its_first_answer() {
    let kinds = kinds();
    assert!(kinds.len() >= 18);
    let count = u32::try_from(kinds.len()).unwrap();
    let league = League::of(count, 2, ManagerSettings::default()).await.with_referee().await.with_referee().await;
    let mut crowd = Vec::new();
    for kind in kinds {
        let player = kind.plan.join(&league.url).await.unwrap();
        crowd.push((player, kind.form, kind.quirks));
    }
    let season = league.play_within(LIMIT).await;
    let mut trouble = BTreeMap::new();
    for (player, form, quirks) in &crowd {
        let known = season.players().iter().find(|known| known.id.as_str() == player.id()).unwrap();
        let dialect = known.dialect.to_string();
        let noted = serde_json::to_value(known.quirks).unwrap();
        let noted: Vec<&str> = noted.as_array().unwrap().iter().filter_map(|quirk| quirk.as_str()).collect();
        let mut found = Vec::new();
        if !dialect.starts_with(form) {
            found.push(format!("is spoken to in {dialect}, not in {form}"));
        }
        found.extend(quirks.iter().filter(|quirk| !noted.contains(quirk)).map(|quirk| format!("{quirk} is not noted")));
        found.extend(player.log().wasted_after_answer().iter().map(|topic| format!("{topic} was wasted")));
        let wasted = player.log().wasted();
        found.extend(
            wasted.iter().filter(|(_, count)| **count > 1).map(|(topic, count)| format!("{count} {topic} wasted")),
        );
        if !found.is_empty() {
            trouble.insert(player.name(), found);
        }
    }
    assert_eq!((forfeits(&season), &trouble), (0, &BTreeMap::new()));
}
