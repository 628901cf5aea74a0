//! The bracket of a knockout: one column per stage.

use league_core::season::format::BracketTie;
use maud::{Markup, html};

use super::links::{match_link, player_link};
use crate::league_snapshot::LeagueSnapshot;

/// Ties of a stage; larger brackets show their last stages only.
const TIES: usize = 64;

/// Nothing in other formats.
pub(crate) fn section(snapshot: &LeagueSnapshot) -> Markup {
    let stages = snapshot.season().bracket().unwrap_or_default();
    let places = stages.first().map_or(0, |first| first.len() * 2);
    let shown: Vec<(usize, &Vec<BracketTie>)> =
        stages.iter().enumerate().filter(|(_, ties)| ties.len() <= TIES).collect();
    html! {
        @if !shown.is_empty() {
            div.wide tabindex="0" role="region" aria-label="Ties by stage" {
                ol.bracket #bracket {
                    @for (index, ties) in shown {
                        li { b.stage-name { (name(places >> index)) } ul { @for each in ties { (tie(snapshot, each)) } } }
                    }
                    // A bracket has a power of two of places.
                    @for index in stages.len()..places.max(1).ilog2() as usize {
                        li { b.stage-name { (name(places >> index)) } ul { @for _ in 0..places >> (index + 1) { li.tie.open { p.empty { "to be decided" } } } } }
                    }
                }
            }
        }
    }
}

/// The stage that is played, and how many players are still in.
pub(crate) fn headline(snapshot: &LeagueSnapshot) -> String {
    let stages = snapshot.season().bracket().unwrap_or_default();
    let places = stages.first().map_or(0, |first| first.len() * 2);
    let open = stages.iter().enumerate().find(|(_, ties)| ties.iter().any(|tie| tie.winner.is_none()));
    let Some((index, ties)) = open.or(stages.iter().enumerate().next_back()) else { return String::new() };
    let decided = ties.iter().filter(|tie| tie.winner.is_some()).count();
    let still_in: usize =
        ties.iter().map(|tie| if tie.winner.is_some() { 1 } else { tie.players.iter().flatten().count() }).sum();
    format!(
        "{}: {decided} of {} ties decided, {still_in} of {} players are still in.",
        name(places >> index),
        ties.len(),
        snapshot.season().players().len()
    )
}

fn name(players: usize) -> String {
    match players {
        2 => String::from("Final"),
        4 => String::from("Semifinals"),
        8 => String::from("Quarterfinals"),
        players => format!("Last {players}"),
    }
}

fn tie(snapshot: &LeagueSnapshot, tie: &BracketTie) -> Markup {
    html! {
        li.tie {
            @for (player, wins) in tie.players.iter().zip(tie.wins) {
                @match player.and_then(|place| snapshot.season().players().get(place as usize)) {
                    Some(known) => p data-through=(tie.winner.is_some() && tie.winner == *player) { (player_link(known)) b { (wins) } },
                    None => p.empty { "bye" },
                }
            }
            @if !tie.matches.is_empty() {
                small { @for each in &tie.matches { (match_link(each)) " " } @if tie.by_lot { "by lot" } }
            }
        }
    }
}
