//! The list of leagues, and the operator's form for a new one.

use league_core::rules::registry::known_games;
use maud::{DOCTYPE, Markup, html};

use super::links::named;
use super::paging::Paging;
use super::{league, podium};
use crate::index::ListedLeague;
use crate::league_snapshot::LeagueSnapshot;

pub(crate) const ROWS: usize = 100;

pub(crate) fn page(leagues: &[ListedLeague], paging: &Paging, needs_token: bool) -> Markup {
    let title = |league: &ListedLeague| match &league.dashboard {
        Some(dashboard) => dashboard.shared.state.snapshot().season().config().title().to_owned(),
        None => league.league_id.to_string(),
    };
    let wanted: Vec<&ListedLeague> =
        leagues.iter().filter(|league| paging.wants(league.league_id.as_str(), &title(league))).collect();
    let content = html! {
        section #leagues aria-labelledby="leagues-title" {
            div.bar { h1 #leagues-title { "Leagues" } (paging.search("/", "Find a league")) }
            @if wanted.is_empty() {
                p.empty { @if paging.search.is_empty() { "There is no league here yet." } @else { "No league has that name." } }
            } @else {
                div.wide tabindex="0" role="region" aria-label="Table of leagues" { table {
                    thead { tr {
                        th.name scope="col" { "League" } th.name scope="col" { "State" } th.name scope="col" { "In the lead" }
                        th scope="col" { "Players" } th scope="col" { "Matches" } th.name scope="col" { "For agents" }
                    } }
                    tbody { @for league in paging.piece(&wanted) { (row(league, &title(league))) } }
                } }
                (paging.links("/", wanted.len()))
            }
        }
        (form(needs_token))
    };
    frame("Leagues", &content)
}

fn row(league: &ListedLeague, title: &str) -> Markup {
    html! {
        tr data-league=(league.league_id) {
            th.name scope="row" { a href=(league.path) { (named(title)) } @if title != league.league_id.as_str() { " " small { (league.league_id) } } }
            @match &league.dashboard {
                Some(dashboard) => (facts(&dashboard.shared.state.snapshot(), &league.path)),
                None => { td.name { "being opened" } td {} td {} td {} }
            }
            td.name { code { (league.endpoint) } }
        }
    }
}

fn facts(snapshot: &LeagueSnapshot, path: &str) -> Markup {
    let status = snapshot.season().status();
    let total = Some(status.total_matches).filter(|total| *total > 0 && league::has_known_end(snapshot));
    html! {
        td.name { (league::pill(snapshot)) }
        td.name { (podium::in_short(snapshot, path)) }
        td { (status.players) }
        td { (status.matches_completed) @if let Some(total) = total { " of " (total) } }
    }
}

fn form(needs_token: bool) -> Markup {
    html! {
        section #operate.operate aria-labelledby="operate-title" {
            details {
                summary #operate-title { "For the operator: a new league" }
                form action="/leagues" method="post" {
                    @if needs_token { label { "Operator's token" input type="password" name="token" autocomplete="current-password" required; } }
                    label { "Id" input name="league_id" required maxlength="64" pattern="[A-Za-z0-9_:\\-][A-Za-z0-9_:.\\-]*"; }
                    label { "Name" input name="display_name" maxlength="64"; }
                    label { "Game" select name="game" { option value="" { "as configured" } @for game in known_games() { option value=(game) { (game) } } } }
                    label { "Format" input name="format" placeholder="round_robin"; }
                    label { "Games per match" input type="number" name="games_per_match" min="1" max="1000"; }
                    label { "Start with this many players" input type="number" name="expect_players" min="2"; }
                    label { "and this many referees" input type="number" name="expect_referees" min="1"; }
                    label { "or after this many seconds" input type="number" name="registration_window" min="1"; }
                    button { "Create the league" }
                }
            }
        }
    }
}

pub(crate) fn error(title: &str, why: &str) -> Markup {
    let content = html! { section #nothing { h1 { (title) } p { (why) } p { a href="/" { "To the leagues" } } } };
    frame(title, &content)
}

fn frame(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="stylesheet" href="/static/style.css";
                link rel="icon" href="/static/icon.svg" type="image/svg+xml";
            }
            body {
                a.skip href="#main" { "Skip to content" }
                header.top { a.brand href="/" { img.mark src="/static/icon.svg" alt="" width="28" height="28"; "Leagues" } }
                main #main tabindex="-1" { (content) }
                footer { p { a href="/api/v1/leagues" { "API" } " · " a href="/metrics" { "Metrics" } } }
            }
        }
    }
}
