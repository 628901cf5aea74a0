//! The league for a large screen: one round, its results and the table after it.
//!
//! The script shows the rounds one after the other and reveals the results of a round one by one. Without it, links lead
//! from round to round.

use league_core::season::LeaguePhase;
use league_protocol::id::RoundId;
use league_protocol::message::standings::StandingsRow;
use maud::{Markup, html};

use super::{bracket, league, podium, schedule};
use crate::league_snapshot::LeagueSnapshot;
use crate::waiting_room::WaitingRoom;

/// More rows cannot be read from the back of a room.
const ROWS: usize = 10;
const MATCHES: usize = 16;

/// `then` is the league at the end of the round, or now while the round is played; `now` has all rounds. `sign` tells
/// whether the page follows the league.
pub(crate) fn page(
    then: &LeagueSnapshot,
    now: &LeagueSnapshot,
    round: u32,
    room: Option<&WaitingRoom>,
    sign: &Markup,
) -> Markup {
    let rounds = now.season().round_number().0;
    html! {
        @if now.season().phase() == LeaguePhase::WaitingForRegistrations || rounds == 0 {
            (waiting(now, room))
        } @else {
            (stage(then, now, round))
        }
        nav.projector-bar aria-label="Rounds" {
            @if round > 1 { a rel="prev" href={ "projector?round=" (round - 1) } { "‹ Round " (round - 1) } }
            @if round < rounds { a rel="next" href={ "projector?round=" (round + 1) } { "Round " (round + 1) " ›" } }
            a href="" { "Leave" }
            (sign)
        }
    }
}

/// The league at the end of a round, if it is another one than now.
pub(crate) fn end_of(now: &LeagueSnapshot, round: u32) -> Option<u64> {
    let is_last = round == now.season().round_number().0;
    now.ranks().end_of(round).filter(|_| !is_last)
}

fn waiting(now: &LeagueSnapshot, room: Option<&WaitingRoom>) -> Markup {
    html! {
        section #projector data-phase=(league::phase(now)) {
            h1 { (now.season().config().title()) " " span.pill { (league::state(now)) } }
            @if let Some(room) = room { (room.shown(now)) }
            @else { p.headline { "The league has not begun yet." } }
            (league::present(now))
        }
    }
}

fn stage(then: &LeagueSnapshot, now: &LeagueSnapshot, round: u32) -> Markup {
    let season = then.season();
    let rows = season.standings();
    let is_complete = now.ranks().end_of(round).is_some();
    let is_over = now.season().phase() == LeaguePhase::LeagueCompleted;
    let is_final = is_over && round == now.season().round_number().0;
    html! {
        section #projector data-phase=(league::phase(now)) data-round=(round) data-rounds=(now.season().round_number())
            data-complete=(is_complete) data-final=(is_final) {
            div.bar {
                h1 { (season.config().title()) }
                p #projector-round {
                    @if now.season().is_halted() { span.pill data-state="stopped" { (league::state(now)) } " " }
                    "Round " b { (round) } @if league::has_known_end(now) { " of " (now.season().total_rounds()) }
                }
            }
            div #winner { @if is_final { (podium::headline(then, &rows)) } @else { (podium::sentence(then, &rows)) } }
            div.columns {
                (results(then, round))
                (table(then, &rows))
            }
        }
    }
}

fn results(then: &LeagueSnapshot, round: u32) -> Markup {
    let round = then.season().scheduled_round(RoundId(round));
    html! {
        section #results aria-labelledby="results-title" {
            h2 #results-title { "Results" }
            @match &round {
                None => p.empty { "This round has not begun." },
                Some(round) => {
                    ul.matches { @for game in round.matches.iter().take(MATCHES) { (schedule::entry(then, game, None)) } }
                    (schedule::byes(then.season(), round.round_id))
                    @if round.matches.len() > MATCHES { p.small { "and " (round.matches.len() - MATCHES) " more matches" } }
                }
            }
        }
    }
}

fn table(then: &LeagueSnapshot, rows: &[StandingsRow]) -> Markup {
    let first: Vec<&StandingsRow> = rows.iter().take(ROWS).collect();
    html! {
        section #table aria-labelledby="table-title" {
            @if podium::by_points(then) {
                h2 #table-title { "Standings" }
                (league::table(then, &first))
                @if rows.len() > ROWS { p.small { "The first " (ROWS) " of " (rows.len()) " players" } }
            } @else {
                h2 #table-title { "Bracket" }
                (bracket::section(then))
            }
        }
    }
}
