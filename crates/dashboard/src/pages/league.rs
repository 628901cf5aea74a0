//! The first page: state, standings, current matches and latest events.

use league_core::season::LeaguePhase;
use league_core::season::format::KnownFormat;
use league_protocol::id::{MatchId, RoundId};
use league_protocol::message::standings::StandingsRow;
use maud::{Markup, html};

use super::links::{form, match_link, named, player_link};
use super::paging::Paging;
use super::{chart, schedule};
use crate::league_snapshot::LeagueSnapshot;
use crate::phases::Phases;
use crate::recent_events;
use crate::waiting_room::WaitingRoom;

pub(crate) const ROWS: usize = 50;
pub(crate) const MATCHES: usize = 24;
const FORM: usize = 5;

/// Each part has its name as its id, and is sent again when it changes.
pub(crate) fn parts(
    snapshot: &LeagueSnapshot,
    phases: &Phases,
    room: Option<&WaitingRoom>,
) -> [(&'static str, String); 5] {
    let paging = Paging::first(ROWS);
    [
        ("status", status(snapshot, room).into_string()),
        ("standings", standings(snapshot, &paging).into_string()),
        ("round", round(snapshot, phases).into_string()),
        ("chart", chart::points(snapshot).into_string()),
        ("news", news(snapshot).into_string()),
    ]
}

pub(crate) fn page(
    snapshot: &LeagueSnapshot,
    phases: &Phases,
    room: Option<&WaitingRoom>,
    paging: &Paging,
    operate: &Markup,
) -> Markup {
    html! {
        (status(snapshot, room))
        @let waiting = waiting_matches(snapshot);
        @if !waiting.is_empty() {
            p #waiting role="status" {
                strong { (waiting.join(", ")) }
                @if waiting.len() == 1 { " waits" } @else { " wait" } " for the operator's decision. "
                a href="/agents#alerts" { "See why" }
            }
        }
        div.columns {
            div {
                (standings(snapshot, paging))
                (chart::points(snapshot))
            }
            div {
                (round(snapshot, phases))
                (news(snapshot))
                (operate)
            }
        }
    }
}

/// The matches that go on when the operator has decided about their alerts.
fn waiting_matches(snapshot: &LeagueSnapshot) -> Vec<String> {
    let waiting = snapshot.season().alerts().filter(|(_, _, waits)| *waits);
    let mut matches: Vec<String> = waiting.map(|(match_id, _, _)| match_id.to_string()).collect();
    matches.dedup();
    matches
}

pub(crate) fn state(snapshot: &LeagueSnapshot) -> &'static str {
    let season = snapshot.season();
    match season.phase() {
        LeaguePhase::WaitingForRegistrations => "Registration is open",
        LeaguePhase::CreatingSchedule => "Ready to start",
        LeaguePhase::RunningLeague if season.is_halted() => "Stopped",
        LeaguePhase::RunningLeague => "Running",
        LeaguePhase::LeagueCompleted => "Over",
    }
}

fn status(snapshot: &LeagueSnapshot, room: Option<&WaitingRoom>) -> Markup {
    let season = snapshot.season();
    let status = season.status();
    let room = room.filter(|_| season.phase() == LeaguePhase::WaitingForRegistrations);
    let expected = room.map_or([None, None], |room| room.expected(snapshot));
    let champion = (season.phase() == LeaguePhase::LeagueCompleted).then(|| season.champion()).flatten();
    html! {
        section #status aria-label="Where the league stands" {
            h1 { (season.config().title()) " " span.pill data-state=(season.phase().as_str()) { (state(snapshot)) } }
            @if let Some(champion) = champion {
                p.champion #champion {
                    span aria-hidden="true" { "★ " } "Champion: "
                    a href={ "players/" (champion.player_id) } { (named(&champion.display_name)) } " with " (champion.points) " points"
                }
            }
            dl.facts {
                div { dt { "Players" } dd { (status.players) (of(expected[0])) } }
                div { dt { "Referees" } dd { (status.referees) (of(expected[1])) } }
                @if room.is_none() {
                    @if season.config().format != KnownFormat::default() { div { dt { "Format" } dd { (season.config().format.to_string()) } } }
                    @if let Some(games) = status.games_per_match { div { dt { "Games per match" } dd { (games) } } }
                    div { dt { "Round" } dd { (status.current_round) " of " (status.total_rounds) } }
                    div { dt { "Matches" } dd { (status.matches_completed) " of " (status.total_matches) } }
                }
            }
            @if let Some(room) = room { (room.shown()) }
            @if status.total_matches > 0 {
                progress max=(status.total_matches) value=(status.matches_completed) aria-label="Matches played" {}
            }
        }
    }
}

fn of(expected: Option<u32>) -> Markup {
    html! { @if let Some(expected) = expected { " of " (expected) } }
}

fn standings(snapshot: &LeagueSnapshot, paging: &Paging) -> Markup {
    let season = snapshot.season();
    let rows: Vec<StandingsRow> =
        season.standings().into_iter().filter(|row| paging.wants(row.player_id.as_str(), &row.display_name)).collect();
    html! {
        section #standings aria-labelledby="standings-title" {
            div.bar {
                h2 #standings-title { "Standings" }
                @if season.players().len() > ROWS || !paging.search.is_empty() { (paging.search("", "Name or id")) }
            }
            @if rows.is_empty() {
                p.empty { @if paging.search.is_empty() { "No player has registered yet." } @else { "No player has that name." } }
            } @else {
                div.wide tabindex="0" role="region" aria-label="Table of standings" {
                    table {
                        thead { tr {
                            th scope="col" { "#" } th.name scope="col" { "Player" } th scope="col" { "Points" }
                            th scope="col" title="Played" { "P" } th scope="col" title="Won" { "W" }
                            th scope="col" title="Drawn" { "D" } th scope="col" title="Lost" { "L" }
                            th scope="col" { "Form" }
                        } }
                        tbody { @for row in paging.piece(&rows) { (line(snapshot, row)) } }
                    }
                }
                (paging.links("", rows.len()))
            }
        }
    }
}

fn line(snapshot: &LeagueSnapshot, row: &StandingsRow) -> Markup {
    let marks = snapshot.place(&row.player_id).map(|place| snapshot.form(place, FORM)).unwrap_or_default();
    html! {
        tr id={ "row-" (row.player_id) } {
            td { (row.rank) }
            th.name scope="row" { a href={ "players/" (row.player_id) } { (named(&row.display_name)) } small { (row.player_id) } (withdrawn(row)) }
            td.points { (row.points) }
            td { (row.played) } td { (row.wins) } td { (row.draws) } td { (row.losses) }
            td { (form(&marks)) }
        }
    }
}

pub(crate) fn withdrawn(row: &StandingsRow) -> Markup {
    html! { @if row.withdrawn { " " span.pill data-state="WITHDRAWN" { "withdrawn" } } }
}

fn round(snapshot: &LeagueSnapshot, phases: &Phases) -> Markup {
    let season = snapshot.season();
    let number = season.current_round().unwrap_or(RoundId(1));
    let round = season.scheduled_round(number);
    html! {
        section #round aria-labelledby="round-title" {
            h2 #round-title { "Round " (number) }
            @match round {
                None => p.empty { "The schedule is made when registration closes." },
                Some(round) => {
                    ul.matches {
                        @for game in schedule::by_state(&round).into_iter().take(MATCHES) { (schedule::entry(snapshot, game, phases.get(&game.match_id).copied())) }
                    }
                    (schedule::byes(season, number))
                    @if round.matches.len() > MATCHES {
                        p { a href={ "schedule?round=" (number) } { "All " (round.matches.len()) " matches of this round" } }
                    }
                }
            }
        }
    }
}

fn news(snapshot: &LeagueSnapshot) -> Markup {
    html! {
        section #news aria-labelledby="news-title" {
            h2 #news-title { "What just happened" }
            ol.news reversed {
                @for (seq, event) in snapshot.news() {
                    li value=(seq) { (recent_events::sentence(snapshot.season(), &event.fact)) }
                }
            }
        }
    }
}

pub(crate) fn players_of(snapshot: &LeagueSnapshot, match_id: &MatchId) -> Markup {
    match snapshot.season().contestants(match_id) {
        Some(players) => html! { (player_link(players.a)) " – " (player_link(players.b)) },
        None => match_link(match_id),
    }
}
