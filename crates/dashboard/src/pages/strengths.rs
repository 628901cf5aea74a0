//! Against whom a player wins and loses.

use std::collections::BTreeMap;

use league_protocol::id::MatchId;
use league_protocol::message::game_over::OwnResult;
use maud::{Markup, html};

use super::links::player_link;
use crate::league_snapshot::{LeagueSnapshot, own_result, shown};

/// Opponents in a group; the table of all matches has the rest.
const OPPONENTS: usize = 12;
/// The last meetings with one opponent.
const MEETINGS: usize = 6;

/// The meetings with one opponent, the latest last.
struct Opponent {
    place: u32,
    meetings: Vec<(MatchId, OwnResult)>,
}

impl Opponent {
    /// Wins less losses.
    fn balance(&self) -> i64 {
        let worth = |result: &OwnResult| match result {
            OwnResult::Win => 1,
            OwnResult::Draw => 0,
            OwnResult::Loss | OwnResult::TechnicalLoss => -1,
        };
        self.meetings.iter().map(|(_, result)| worth(result)).sum()
    }
}

fn opponents(snapshot: &LeagueSnapshot, place: u32) -> Vec<Opponent> {
    let mut met: BTreeMap<u32, Vec<(MatchId, OwnResult)>> = BTreeMap::new();
    for (fixture, record) in snapshot.played(place) {
        let result = own_result(record, fixture.side);
        met.entry(fixture.opponent).or_default().push((fixture.match_id, result));
    }
    let mut opponents: Vec<Opponent> = met.into_iter().map(|(place, meetings)| Opponent { place, meetings }).collect();
    // The most one-sided first.
    opponents.sort_by_key(|opponent| -opponent.balance().abs());
    opponents
}

pub(super) fn section(snapshot: &LeagueSnapshot, place: u32) -> Markup {
    let opponents = opponents(snapshot, place);
    let group = |wanted: fn(i64) -> bool| -> Vec<&Opponent> {
        opponents.iter().filter(|opponent| wanted(opponent.balance())).collect()
    };
    let groups = [
        ("loses-to", "Loses to", "It has lost to no opponent.", group(|balance| balance < 0)),
        ("even-with", "Even with", "It is even with no opponent.", group(|balance| balance == 0)),
        ("beats", "Wins against", "It has beaten no opponent.", group(|balance| balance > 0)),
    ];
    html! {
        section #strengths aria-labelledby="strengths-title" {
            h2 #strengths-title { "Against whom" }
            @if opponents.is_empty() { p.empty { "It has not played yet." } } @else {
                div.groups {
                    @for (id, title, none, members) in &groups {
                        div id=(id) {
                            h3 { (title) " " span.small { (members.len()) } }
                            @if members.is_empty() { p.empty { (none) } } @else {
                                ul.rivals { @for opponent in members.iter().take(OPPONENTS) { (rival(snapshot, opponent)) } }
                            }
                            @if members.len() > OPPONENTS { p.small { "and " (members.len() - OPPONENTS) " more in the table of matches" } }
                        }
                    }
                }
            }
        }
    }
}

fn rival(snapshot: &LeagueSnapshot, opponent: &Opponent) -> Markup {
    let latest = &opponent.meetings[opponent.meetings.len().saturating_sub(MEETINGS)..];
    html! {
        li {
            @if let Some(player) = snapshot.season().players().get(opponent.place as usize) { (player_link(player)) }
            span.form { @for (match_id, result) in latest {
                @let (letter, word) = shown(*result);
                a class={ "m" (letter) } href={ "matches/" (match_id) } title={ (match_id) ": " (word) } { (letter) }
            } }
        }
    }
}
