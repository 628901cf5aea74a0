//! The crosstable: all players against all, in the order of the standings.

use std::collections::HashMap;

use league_core::season::LeaguePhase;
use league_protocol::display::escaped;
use league_protocol::id::{MatchId, RoundId};
use league_protocol::message::standings::StandingsRow;
use league_protocol::side::Side;
use maud::{Markup, html};

use super::league::withdrawn;
use super::links::named;
use super::paging::Paging;
use crate::league_snapshot::{LeagueSnapshot, own_result, shown};

/// Players per page, in rows and in columns.
pub(crate) const SIDE: usize = 25;

pub(crate) fn page(snapshot: &LeagueSnapshot, down: &Paging, across: usize) -> Markup {
    let season = snapshot.season();
    let standings = season.standings();
    let rows: Vec<_> = standings.iter().filter(|row| down.wants(row.player_id.as_str(), &row.display_name)).collect();
    let from = across.saturating_sub(1).saturating_mul(SIDE).min(standings.len());
    let columns = &standings[from..standings.len().min(from + SIDE)];
    let places = |rows: &mut dyn Iterator<Item = &StandingsRow>| -> Vec<u32> {
        rows.filter_map(|row| snapshot.place(&row.player_id)).collect()
    };
    let meetings = meetings(snapshot, &places(&mut down.piece(&rows).iter().copied()), &places(&mut columns.iter()));
    html! {
        section #crosstable {
            div.bar {
                h1 { "Crosstable" }
                @if standings.len() > SIDE || !down.search.is_empty() { (down.search("crosstable", "Name or id")) }
            }
            @if season.phase() == LeaguePhase::WaitingForRegistrations || standings.is_empty() {
                p.empty { "Who meets whom is decided when registration closes." }
            } @else {
                p { "How the player of a row did against the player of a column, who has that rank: " b.mW { "W" } " won, " b.mD { "D" } " drawn, " b.mL { "L" } " lost, " b.mF { "F" } " lost without a game, – not played yet." }
                div.wide tabindex="0" role="region" aria-label="Everyone against everyone" {
                    table.cross #cross-table {
                        thead { tr {
                            th scope="col" data-sort="rank" { "#" } th.name scope="col" data-sort="text" { "Player" }
                            th scope="col" data-sort="number" { "Points" }
                            @for column in columns { th scope="col" title=(escaped(&column.display_name)) { (column.rank) } }
                        } }
                        tbody {
                            @for row in down.piece(&rows) {
                                tr {
                                    td { (row.rank) }
                                    th.name scope="row" { a href={ "players/" (row.player_id) } { (named(&row.display_name)) } (withdrawn(row)) }
                                    td.points { (row.points) }
                                    @for column in columns { (cell(snapshot, &meetings, snapshot.place(&row.player_id), snapshot.place(&column.player_id))) }
                                }
                            }
                        }
                    }
                }
                (down.links("crosstable", rows.len()))
                @if standings.len() > SIDE {
                    nav.paging aria-label="Opponents" {
                        span { "Opponents" }
                        @for part in 1..=standings.len().div_ceil(SIDE) {
                            @let last = (part * SIDE).min(standings.len());
                            @if part == across { b { ((part - 1) * SIDE + 1) "–" (last) } }
                            @else { a href={ "crosstable?page=" (down.page) "&across=" (part) } { ((part - 1) * SIDE + 1) "–" (last) } }
                        }
                    }
                }
            }
        }
    }
}

/// By the places of two players, the row's player first.
type Meetings = HashMap<(u32, u32), Vec<(MatchId, Side)>>;

/// Reads every pairing of the league.
fn meetings(snapshot: &LeagueSnapshot, rows: &[u32], columns: &[u32]) -> Meetings {
    let season = snapshot.season();
    let among = |places: &[u32]| {
        let mut among = vec![false; season.players().len()];
        places.iter().for_each(|place| among[*place as usize] = true);
        among
    };
    let (is_row, is_column) = (among(rows), among(columns));
    let mut found = Meetings::new();
    for round in (1..=season.total_rounds()).map(RoundId) {
        let Some(plan) = season.plan(round) else { continue };
        for (pairing, number) in plan.pairings.iter().zip(1..) {
            let (a, b) = (pairing.a as usize, pairing.b as usize);
            if is_row[a] && is_column[b] {
                found.entry((pairing.a, pairing.b)).or_default().push((MatchId::of(round, number), Side::A));
            }
            if is_row[b] && is_column[a] {
                found.entry((pairing.b, pairing.a)).or_default().push((MatchId::of(round, number), Side::B));
            }
        }
    }
    found
}

fn cell(snapshot: &LeagueSnapshot, meetings: &Meetings, player: Option<u32>, opponent: Option<u32>) -> Markup {
    let (Some(player), Some(opponent)) = (player, opponent) else { return html! { td {} } };
    if player == opponent {
        return html! { td.self aria-label="itself" { "·" } };
    }
    let matches = meetings.get(&(player, opponent)).map_or(&[][..], Vec::as_slice);
    let played = || {
        matches.iter().filter_map(|(match_id, side)| Some((match_id, own_result(snapshot.record(match_id)?, *side))))
    };
    let next = matches.iter().find(|(match_id, _)| snapshot.record(match_id).is_none()).and_then(|(id, _)| id.parts());
    if played().next().is_none() {
        let title = next.map(|(round, _)| format!("round {round}"));
        return html! { td.open title=[title] { "–" } };
    }
    html! {
        td { @for (match_id, result) in played() {
            @let (letter, word) = shown(result);
            a class={ "m" (letter) } href={ "matches/" (match_id) } title={ (match_id) ": " (word) } { (letter) }
        } }
    }
}
