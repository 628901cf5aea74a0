//! The first page: state, standings, current matches and latest events.

use league_core::rules::registry::new_game;
use league_core::season::LeaguePhase;
use league_core::season::config::LeagueConfig;
use league_core::season::event::Fact;
use league_core::season::format::KnownFormat;
use league_protocol::id::{MatchId, RoundId};
use league_protocol::message::standings::StandingsRow;
use maud::{Markup, html};

use super::links::{form, match_link, named, player_link};
use super::paging::Paging;
use super::{chart, podium, schedule};
use crate::league_snapshot::LeagueSnapshot;
use crate::phases::Phases;
use crate::recent_events;
use crate::waiting_room::WaitingRoom;

pub(crate) const ROWS: usize = 50;
pub(crate) const MATCHES: usize = 24;
const FORM: usize = 5;
/// The names in the waiting room.
const NAMES: usize = 200;

/// Each part has its name as its id, and is sent again when it changes.
pub(crate) fn parts(
    snapshot: &LeagueSnapshot,
    phases: &Phases,
    room: Option<&WaitingRoom>,
) -> [(&'static str, String); 5] {
    let (paging, rows) = (Paging::first(ROWS), snapshot.season().standings());
    [
        ("status", status(snapshot, &rows, room).into_string()),
        ("standings", standings(snapshot, &rows, &paging).into_string()),
        ("round", round(snapshot, phases, room).into_string()),
        ("chart", chart::ranks(snapshot, &rows).into_string()),
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
    let rows = snapshot.season().standings();
    html! {
        (status(snapshot, &rows, room))
        div.columns {
            div {
                // The bracket of a knockout says more than its table.
                @if !podium::by_points(snapshot) { (chart::ranks(snapshot, &rows)) }
                (standings(snapshot, &rows, paging))
                @if podium::by_points(snapshot) { (chart::ranks(snapshot, &rows)) }
            }
            div {
                (round(snapshot, phases, room))
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

pub(super) fn pill(snapshot: &LeagueSnapshot) -> Markup {
    let season = snapshot.season();
    html! { span.pill data-state=(if season.is_halted() { "stopped" } else { season.phase().as_str() }) { (state(snapshot)) } }
}

fn status(snapshot: &LeagueSnapshot, rows: &[StandingsRow], room: Option<&WaitingRoom>) -> Markup {
    let season = snapshot.season();
    let (status, config) = (season.status(), season.config());
    let waits = season.phase() == LeaguePhase::WaitingForRegistrations;
    let room = room.filter(|_| waits);
    let total = has_known_end(snapshot);
    let expected = room.map_or([None, None], |room| room.expected(snapshot));
    html! {
        section #status data-phase=(phase(snapshot)) aria-label="Where the league stands" {
            div.bar {
                h1 { (config.title()) " " (pill(snapshot)) }
                a #to-projector.quiet href="projector" { "Projector" }
            }
            @if season.is_halted() {
                p #stopped.notice { "The operator has stopped the league: no match begins until the operator lets it go on." }
            }
            @let waiting = waiting_matches(snapshot);
            @if !waiting.is_empty() {
                p #waiting.notice role="status" {
                    strong { (waiting.join(", ")) }
                    @if waiting.len() == 1 { " waits" } @else { " wait" } " for the operator's decision. "
                    a href="agents#alerts" { "See why" }
                }
            }
            (podium::headline(snapshot, rows))
            @if let Some(room) = room { (room.shown(snapshot)) }
            dl.facts {
                div { dt { "Game" } dd { (game(config)) } }
                @if config.format != KnownFormat::default() { div { dt { "Format" } dd { (config.format.to_string()) } } }
                @if let Some(games) = status.games_per_match { div { dt { "Games per match" } dd { (games) } } }
                div { dt { "Players" } dd { (status.players) (of(expected[0])) } }
                div { dt { "Referees" } dd { (status.referees) (of(expected[1])) } }
                @if !waits {
                    div { dt { "Round" } dd { (status.current_round) (of(total.then_some(status.total_rounds))) } }
                    div { dt { "Matches" } dd { (status.matches_completed) (of(total.then_some(status.total_matches))) } }
                }
            }
            @if total && status.total_matches > 0 {
                progress max=(status.total_matches) value=(status.matches_completed) aria-label="Matches played" {}
            }
        }
    }
}

/// A knockout plays drawn ties again, so its number of rounds is known at its end.
pub(super) fn has_known_end(snapshot: &LeagueSnapshot) -> bool {
    podium::by_points(snapshot) || snapshot.season().phase() == LeaguePhase::LeagueCompleted
}

/// The state of a league, for styles and scripts.
pub(crate) fn phase(snapshot: &LeagueSnapshot) -> &'static str {
    let season = snapshot.season();
    match season.phase() {
        LeaguePhase::WaitingForRegistrations => "waiting",
        LeaguePhase::CreatingSchedule => "ready",
        LeaguePhase::RunningLeague if season.is_halted() => "stopped",
        LeaguePhase::RunningLeague => "live",
        LeaguePhase::LeagueCompleted => "finished",
    }
}

/// The name of the game; its type when this program does not know it.
pub(crate) fn game(config: &LeagueConfig) -> String {
    new_game(&config.game_type).map_or_else(|| config.game_type.to_string(), |game| game.about().name.to_owned())
}

/// Whether a match is one move of each player, so that a line can show it.
pub(crate) fn has_one_move(config: &LeagueConfig) -> bool {
    config.match_about().is_none_or(|about| about.max_turns == 1)
}

fn of(expected: Option<u32>) -> Markup {
    html! { @if let Some(expected) = expected { " of " (expected) } }
}

fn standings(snapshot: &LeagueSnapshot, all: &[StandingsRow], paging: &Paging) -> Markup {
    let season = snapshot.season();
    if season.phase() == LeaguePhase::WaitingForRegistrations {
        return present(snapshot);
    }
    let rows: Vec<&StandingsRow> =
        all.iter().filter(|row| paging.wants(row.player_id.as_str(), &row.display_name)).collect();
    html! {
        section #standings aria-labelledby="standings-title" {
            div.bar {
                h2 #standings-title { "Standings" }
                @if season.players().len() > ROWS || !paging.search.is_empty() { (paging.search("", "Name or id")) }
            }
            @if rows.is_empty() {
                p.empty { @if paging.search.is_empty() { "No player takes part." } @else { "No player has that name." } }
            } @else {
                (table(snapshot, paging.piece(&rows)))
                (paging.links("", rows.len()))
            }
        }
    }
}

/// The headers with `data-sort` become buttons where scripts run.
pub(super) fn table(snapshot: &LeagueSnapshot, rows: &[&StandingsRow]) -> Markup {
    let scored = rows.iter().any(|row| row.score.is_some());
    html! {
        div.wide tabindex="0" role="region" aria-label="Table of standings" {
            table #standings-table {
                thead { tr {
                    th scope="col" data-sort="rank" { "#" } th.name scope="col" data-sort="text" { "Player" }
                    @if scored { th scope="col" data-sort="number" title="Mean score of a match" { "Score" } }
                    th scope="col" data-sort="number" { "Points" }
                    th.wdl scope="col" data-sort="number" title="Played" { "P" } th.wdl scope="col" data-sort="number" title="Won" { "W" }
                    th.wdl scope="col" data-sort="number" title="Drawn" { "D" } th.wdl scope="col" data-sort="number" title="Lost" { "L" }
                    th scope="col" { "Form" }
                } }
                tbody { @for row in rows { (line(snapshot, row, scored)) } }
            }
        }
    }
}

/// The waiting room: who has registered.
pub(super) fn present(snapshot: &LeagueSnapshot) -> Markup {
    let season = snapshot.season();
    let (players, referees) = (season.players(), season.referees());
    html! {
        section #standings aria-labelledby="standings-title" {
            h2 #standings-title { "Who is here" }
            @if players.is_empty() { p.empty { "No player has registered yet." } } @else {
                ul.present #present {
                    @for player in players.iter().take(NAMES) { li id={ "row-" (player.id) } { (player_link(player)) " " small { (player.id) } } }
                }
                @if players.len() > NAMES { p { "and " (players.len() - NAMES) " more: " a href="agents" { "all agents" } } }
            }
            @if referees.is_empty() { p.empty { "No referee has registered yet." } } @else {
                p { "Referees: " @for (index, referee) in referees.iter().take(NAMES).enumerate() { @if index > 0 { ", " } (named(&referee.profile.name)) } }
            }
        }
    }
}

fn line(snapshot: &LeagueSnapshot, row: &StandingsRow, scored: bool) -> Markup {
    let marks = snapshot.place(&row.player_id).map(|place| snapshot.form(place, FORM)).unwrap_or_default();
    html! {
        tr id={ "row-" (row.player_id) } {
            td data-value=(row.rank) { (row.rank) (podium::rank_change(snapshot, row)) }
            th.name scope="row" { a href={ "players/" (row.player_id) } { (named(&row.display_name)) } small { (row.player_id) } (withdrawn(row)) }
            @if scored { td.points { (podium::figure(row)) } }
            td.points { (row.points) }
            td.wdl { (row.played) } td.wdl { (row.wins) } td.wdl { (row.draws) } td.wdl { (row.losses) }
            td { (form(&marks)) }
        }
    }
}

pub(crate) fn withdrawn(row: &StandingsRow) -> Markup {
    html! { @if row.withdrawn { " " span.pill data-state="WITHDRAWN" { "withdrawn" } } }
}

fn round(snapshot: &LeagueSnapshot, phases: &Phases, room: Option<&WaitingRoom>) -> Markup {
    let season = snapshot.season();
    let number = season.current_round().unwrap_or(RoundId(1));
    let Some(round) = season.scheduled_round(number) else {
        return html! {
            section #round aria-labelledby="round-title" {
                h2 #round-title { "How it begins" }
                p { @match room { Some(room) => (room.rule(snapshot)), None => "The league begins when its manager closes the registration." } }
                p.empty { "The schedule is made when registration closes." }
            }
        };
    };
    let done = round.matches.iter().filter(|game| snapshot.record(&game.match_id).is_some()).count();
    html! {
        section #round aria-labelledby="round-title" {
            div.bar {
                h2 #round-title { "Round " (number) }
                span.small { (done) " of " (round.matches.len()) " played" }
            }
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

fn news(snapshot: &LeagueSnapshot) -> Markup {
    html! {
        section #news aria-labelledby="news-title" {
            h2 #news-title { "What just happened" }
            ol.news reversed {
                // The events that an operator's action caused are in the list; the call itself is in the log.
                @for (seq, event) in snapshot.news().filter(|(_, event)| !matches!(event.fact, Fact::OperatorActed { .. })) {
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
