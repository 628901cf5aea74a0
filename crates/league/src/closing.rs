//! The closing lines of a league: the winner, and the technical losses with their reasons.

use std::collections::BTreeMap;

use league_core::season::Season;
use league_protocol::id::PlayerId;
use league_store::home::Home;

use crate::results;

/// `league matches` lists everything.
const PLAYERS: usize = 10;
const REASONS: usize = 3;

pub(crate) fn of_league(home: &Home, season: &Season) -> Vec<String> {
    let champion = season.champion().map(|champion| {
        let (name, id, players) = (&champion.display_name, &champion.player_id, season.players().len());
        format!("{id} {name} finished 1st of {players} with {} points.", champion.points)
    });
    champion.into_iter().chain(technical_losses(home, season)).collect()
}

/// The player with the most losses first.
pub(crate) fn technical_losses(home: &Home, season: &Season) -> Vec<String> {
    let counts =
        (0..).zip(season.players()).map(|(place, player)| (season.table().row(place).technical_losses, player));
    let mut lost: Vec<_> = counts.filter(|(count, _)| *count > 0).collect();
    if lost.is_empty() {
        return Vec::new();
    }
    lost.sort_by(|(one, _), (other, _)| other.cmp(one));
    let reasons = reasons(home, season);
    let mut lines: Vec<String> = lost
        .iter()
        .take(PLAYERS)
        .map(|(count, player)| {
            let what = if *count == 1 { "technical loss" } else { "technical losses" };
            let known = reasons.get(&player.id).map(|reasons| format!(": {}", reasons.join("; ")));
            format!("{} {}: {count} {what}{}", player.id, player.profile.name, known.unwrap_or_default())
        })
        .collect();
    if lost.len() > PLAYERS {
        lines.push(format!("And {} other players; league matches lists all matches.", lost.len() - PLAYERS));
    }
    lines
}

/// The first reasons of each player.
fn reasons(home: &Home, season: &Season) -> BTreeMap<PlayerId, Vec<String>> {
    let mut reasons: BTreeMap<PlayerId, Vec<String>> = BTreeMap::new();
    let results = match results::read(home, season) {
        Ok(results) => results,
        Err(error) => {
            tracing::warn!(%error, "the reasons of technical losses cannot be read");
            return reasons;
        }
    };
    let mut results: Vec<_> = results.iter().collect();
    results.sort_by_key(|(match_id, _)| *match_id);
    for (match_id, ended) in results {
        for (player, problem) in ended.problems() {
            let known = reasons.entry(player.clone()).or_default();
            if known.len() < REASONS {
                known.push(format!("{match_id}, {}", problem.brief()));
            } else if known.len() == REASONS {
                known.push(String::from("…"));
            }
        }
    }
    reasons
}
