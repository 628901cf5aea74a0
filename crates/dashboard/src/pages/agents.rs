//! The referees and players, their states and answer times.

use std::time::Duration;

use league_core::season::agent::{RegisteredPlayer, RegisteredReferee};
use league_protocol::id::RefereeId;
use league_store::views::match_file::MatchFile;
use maud::{Markup, html};

use super::links::{named, player_link};
use super::paging::Paging;
use super::player::state;
use crate::answers;
use crate::league_snapshot::LeagueSnapshot;

pub(crate) const ROWS: usize = 50;
const REFEREES: usize = 100;

pub(crate) fn shown<'a>(snapshot: &'a LeagueSnapshot, paging: &Paging) -> (Vec<&'a RegisteredPlayer>, usize) {
    let wanted = |player: &&RegisteredPlayer| paging.wants(player.id.as_str(), &player.profile.name);
    let players: Vec<&RegisteredPlayer> = snapshot.season().players().iter().filter(wanted).collect();
    (paging.piece(&players).to_vec(), players.len())
}

/// Only the operator sees the endpoints.
pub(crate) fn page(
    snapshot: &LeagueSnapshot,
    paging: &Paging,
    files: &[MatchFile],
    trusted: bool,
    latency: impl Fn(&RefereeId) -> Option<Duration>,
) -> Markup {
    let (players, total) = shown(snapshot, paging);
    let referees = snapshot.season().referees();
    html! {
        h1 { "Agents" }
        (alerts(snapshot))
        section #referees aria-labelledby="referees-title" {
            h2 #referees-title { "Referees" }
            @if referees.is_empty() { p.empty { "No referee is there." } } @else {
                div.wide tabindex="0" role="region" aria-label="Referees" {
                    table {
                        thead { tr { th.name scope="col" { "Referee" } th scope="col" { "State" } th scope="col" { "Runs" } th scope="col" { "At most" } th scope="col" title="Orders and pings of the manager" { "Answers in" } th scope="col" title="How it is spoken to" { "Frame" } th scope="col" title="What it does differently" { "Quirks" } th scope="col" { "Version" } @if trusted { th.name scope="col" { "Endpoint" } } } }
                        tbody { @for referee in referees.iter().take(REFEREES) { (official(referee, latency(&referee.id), trusted)) } }
                    }
                }
            }
        }
        section #players aria-labelledby="players-title" {
            div.bar { h2 #players-title { "Players" } (paging.search("agents", "Name or id")) }
            @if players.is_empty() { p.empty { "No player found." } } @else {
                div.wide tabindex="0" role="region" aria-label="Players" {
                    table {
                        thead { tr { th.name scope="col" { "Player" } th scope="col" { "State" } th scope="col" title="Technical losses since it last played a match" { "Missed" } th scope="col" { "Answers in" } th scope="col" title="How it is spoken to" { "Frame" } th scope="col" title="What it does differently" { "Quirks" } th scope="col" { "Version" } @if trusted { th.name scope="col" { "Endpoint" } } } }
                        tbody {
                            @for player in players {
                                tr {
                                    th.name scope="row" { (player_link(player)) small { (player.id) } }
                                    td { (state(snapshot.season(), player)) }
                                    td { (player.forfeits_running) }
                                    td { @match answers::median(files, player.id.as_str()) { Some(median) => { (median) " ms" }, None => "–" } }
                                    td { (player.dialect.frame()) }
                                    td { (player.quirks.iter().count()) }
                                    td { (player.profile.version) }
                                    @if trusted { td.name { (player.profile.endpoint) } }
                                }
                            }
                        }
                    }
                }
            }
            (paging.links("agents", total))
        }
    }
}

/// Evidence that a referee may have cheated, and how the operator decides.
fn alerts(snapshot: &LeagueSnapshot) -> Markup {
    let season = snapshot.season();
    html! {
        @if season.alerts().next().is_some() {
            section #alerts aria-labelledby="alerts-title" {
                h2 #alerts-title { "Alerts" }
                ul {
                    @for (match_id, alert, waits) in season.alerts().take(ROWS) {
                        li {
                            a href=(format!("/matches/{match_id}")) { (match_id) } ", attempt " (alert.attempt) ", " (alert.referee) ": "
                            @if let Some(player) = alert.player.as_ref().and_then(|id| season.player(id)) { (player_link(player)) " " }
                            (alert.kind.words()) "."
                            @if waits { " " strong { "The match waits for the operator." } }
                        }
                    }
                }
                p { "The operator decides with " code { "league resolve MATCH uphold" } " or " code { "reject" } "." }
            }
        }
    }
}

fn official(referee: &RegisteredReferee, latency: Option<Duration>, trusted: bool) -> Markup {
    let (state, word) = (referee.condition().as_str(), referee.condition().word());
    html! {
        tr {
            th.name scope="row" { (named(&referee.profile.name)) small { (referee.id) } }
            td { span.pill data-state=(state) { (word) } }
            td { (referee.running) } td { (referee.capacity) }
            td { @match latency { Some(latency) => { (latency.as_millis()) " ms" }, None => "–" } }
            td { (referee.dialect.frame()) } td { (referee.quirks.iter().count()) } td { (referee.profile.version) }
            @if trusted { td.name { (referee.profile.endpoint) } }
        }
    }
}
