//! The crosstable: everyone against everyone, in the order of the standings.

use league_core::season::LeaguePhase;
use league_protocol::id::{MatchId, RoundId};
use league_protocol::side::Side;
use maud::{Markup, html};

use super::league::{place, withdrawn};
use super::paging::Paging;
use crate::league_snapshot::{LeagueSnapshot, Mark};

/// Players of a page, both ways: a thousand against a thousand is no table for people.
pub(crate) const SIDE: usize = 32;

/// The page: rows of `down`, columns of `across`.
pub(crate) fn page(story: &LeagueSnapshot, down: &Paging, across: usize) -> Markup {
    let season = story.season();
    let standings = season.standings();
    let rows: Vec<_> = standings.iter().filter(|row| down.wants(row.player_id.as_str(), &row.display_name)).collect();
    let from = across.saturating_sub(1).saturating_mul(SIDE).min(standings.len());
    let columns = &standings[from..standings.len().min(from + SIDE)];
    html! {
        section #crosstable {
            div.bar {
                h1 { "Crosstable" }
                @if standings.len() > SIDE || !down.search.is_empty() { (down.search("crosstable", "Name or id")) }
            }
            @if season.phase() == LeaguePhase::WaitingForRegistrations || standings.is_empty() {
                p.empty { "Who meets whom is settled when registration closes." }
            } @else {
                p { "W won, D drawn, L lost, F lost without a game; read along the row." }
                div.wide tabindex="0" role="region" aria-label="Everyone against everyone" {
                    table.cross {
                        thead { tr {
                            th scope="col" { "#" } th.name scope="col" { "Player" }
                            @for column in columns { th scope="col" title=(column.display_name) { (column.rank) } }
                            th scope="col" { "Points" }
                        } }
                        tbody {
                            @for row in down.piece(&rows) {
                                tr {
                                    td { (row.rank) }
                                    th.name scope="row" { a href={ "players/" (row.player_id) } { (row.display_name) } (withdrawn(row)) }
                                    @for column in columns { (cell(story, place(story, &row.player_id), place(story, &column.player_id))) }
                                    td.points { (row.points) }
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

fn cell(story: &LeagueSnapshot, player: Option<u32>, opponent: Option<u32>) -> Markup {
    let schedule = story.season().schedule();
    let (Some(player), Some(opponent)) = (player, opponent) else { return html! { td {} } };
    let Some((round, number)) = schedule.meeting(player, opponent) else {
        return html! { td.self aria-label="itself" { "·" } };
    };
    let match_id = MatchId::of(RoundId(round), number);
    let side = match schedule.pairing(round, number) {
        Some(pairing) if pairing.a == player => Side::A,
        Some(_) | None => Side::B,
    };
    match story.played(&match_id) {
        Some(played) => {
            let mark = Mark::of(played.outcome, side);
            html! { td { a class={ "m" (mark.letter()) } href={ "matches/" (match_id) } title={ (match_id) ": " (mark.word()) } { (mark.letter()) } } }
        }
        None => html! { td.open title={ "round " (round) } { "–" } },
    }
}
