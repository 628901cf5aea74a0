//! The list of leagues, and the operator's form for a new one.

use league_core::rules::registry::known_games;
use maud::{DOCTYPE, Markup, html};

use super::links::named;
use super::paging::Paging;
use crate::index::ListedLeague;

pub(crate) const ROWS: usize = 100;

pub(crate) fn page(leagues: &[ListedLeague], paging: &Paging, needs_token: bool) -> Markup {
    let title = |league: &ListedLeague| match league.status.as_ref().and_then(|status| status.display_name.as_ref()) {
        Some(name) => name.to_string(),
        None => league.league_id.to_string(),
    };
    let wanted: Vec<&ListedLeague> =
        leagues.iter().filter(|league| paging.wants(league.league_id.as_str(), &title(league))).collect();
    let content = html! {
        section #leagues aria-labelledby="leagues-title" {
            div.bar { h1 #leagues-title { "Leagues" } (paging.search("/", "Find a league")) }
            @if wanted.is_empty() { p.empty { "There is no league here yet." } }
            @else {
                div.wide { table {
                    thead { tr {
                        th.name scope="col" { "League" } th.name scope="col" { "State" }
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
            th.name scope="row" { a href=(league.path) { (named(title)) } " " small { (league.league_id) } }
            @match &league.status {
                Some(status) => {
                    td.name { span.pill data-state=(status.state) { (words(&status.state)) } @if status.halted { " stopped" } }
                    td { (status.players) }
                    td { (status.matches_completed) " of " (status.total_matches) }
                }
                None => { td.name { "being opened" } td {} td {} }
            }
            td.name { code { (league.endpoint) } }
        }
    }
}

/// `RUNNING_LEAGUE` as people say it.
fn words(state: &str) -> &str {
    match state {
        "WAITING_FOR_REGISTRATIONS" => "open for registration",
        "CREATING_SCHEDULE" => "ready to start",
        "RUNNING_LEAGUE" => "running",
        "LEAGUE_COMPLETED" => "over",
        other => other,
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
                    label { "Game" select name="game" { @for game in known_games() { option value=(game) { (game) } } } }
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
                footer { p { a href="/api/v1/leagues" { "API" } } }
            }
        }
    }
}
