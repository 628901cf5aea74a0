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
            div.wide tabindex="0" role="region" aria-label="Bracket" {
                ol.bracket #bracket {
                    @for (index, ties) in shown {
                        li { h2 { (name(places >> index)) } ul { @for each in ties { (tie(snapshot, each)) } } }
                    }
                }
            }
        }
    }
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
