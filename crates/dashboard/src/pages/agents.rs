//! The referees and players: first those that need the operator, then all of them.

use std::time::Duration;

use league_core::season::agent::{PlayerCondition, RefereeCondition, RegisteredPlayer, RegisteredReferee};
use league_protocol::id::RefereeId;
use maud::{Markup, html};

use super::links::{match_link, named, player_link};
use super::paging::Paging;
use super::player::state;
use crate::answers;
use crate::league_snapshot::LeagueSnapshot;
use crate::waiting_room::WaitingRoom;

pub(crate) const ROWS: usize = 50;
const REFEREES: usize = 100;
/// Orders and pings take milliseconds.
const SLOW_REFEREE: Duration = Duration::from_secs(1);

/// Only the operator sees the endpoints.
pub(crate) fn page(
    snapshot: &LeagueSnapshot,
    paging: &Paging,
    room: Option<&WaitingRoom>,
    trusted: bool,
    latency: impl Fn(&RefereeId) -> Option<Duration>,
) -> Markup {
    let wanted = |player: &&RegisteredPlayer| paging.wants(player.id.as_str(), &player.profile.name);
    let players: Vec<&RegisteredPlayer> = snapshot.season().players().iter().filter(wanted).collect();
    let referees = snapshot.season().referees();
    html! {
        h1 { "Agents" }
        (attention(snapshot, room, &latency))
        (alerts(snapshot))
        section #referees aria-labelledby="referees-title" {
            h2 #referees-title { "Referees" }
            @if referees.is_empty() { p.empty { "No referee has registered yet." } } @else {
                div.wide tabindex="0" role="region" aria-label="Table of referees" {
                    table #referees-table {
                        thead { tr { th.name scope="col" data-sort="text" { "Referee" } th scope="col" data-sort="text" { "State" } th scope="col" data-sort="number" { "Runs" } th scope="col" data-sort="number" { "At most" } th scope="col" data-sort="number" title="Orders and pings of the manager" { "Answers in" } th scope="col" data-sort="text" title="How it is spoken to" { "Frame" } th scope="col" data-sort="number" title="What it does differently" { "Quirks" } th scope="col" data-sort="text" { "Version" } @if trusted { th.name scope="col" { "Endpoint" } } } }
                        tbody { @for referee in referees.iter().take(REFEREES) { (official(referee, latency(&referee.id), trusted)) } }
                    }
                }
            }
        }
        section #players aria-labelledby="players-title" {
            div.bar { h2 #players-title { "Players" } (paging.search("agents", "Name or id")) }
            @if players.is_empty() { p.empty { @if paging.search.is_empty() { "No player has registered yet." } @else { "No player has that name." } } } @else {
                div.wide tabindex="0" role="region" aria-label="Table of players" {
                    table #players-table {
                        thead { tr { th.name scope="col" data-sort="text" { "Player" } th scope="col" data-sort="text" { "State" } th scope="col" data-sort="number" title="Technical losses since it last played a match" { "Missed" } th scope="col" data-sort="number" title="Half of the joins and last moves of its last matches come within this time" { "Answers in" } th scope="col" data-sort="text" title="How it is spoken to" { "Frame" } th scope="col" data-sort="number" title="What it does differently" { "Quirks" } th scope="col" data-sort="text" { "Version" } @if trusted { th.name scope="col" { "Endpoint" } } } }
                        tbody { @for player in paging.piece(&players) { (contestant(snapshot, player, trusted)) } }
                    }
                }
            }
            (paging.links("agents", players.len()))
        }
    }
}

/// An agent that the operator should look at, and why. The order of the kinds is the order on the page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Trouble {
    Missing,
    Suspended,
    Forfeiting,
    Slow,
}

impl Trouble {
    fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Suspended => "suspended",
            Self::Forfeiting => "forfeiting",
            Self::Slow => "slow",
        }
    }
}

fn attention(
    snapshot: &LeagueSnapshot,
    room: Option<&WaitingRoom>,
    latency: &impl Fn(&RefereeId) -> Option<Duration>,
) -> Markup {
    let season = snapshot.season();
    let mut found: Vec<(Trouble, Markup)> = Vec::new();
    if let Some(missing) = room.and_then(|room| room.missing(snapshot)) {
        found.push((Trouble::Missing, html! { "The league waits for " (missing) "." }));
    }
    found.extend(season.referees().iter().filter_map(|referee| troubled_referee(referee, latency(&referee.id))));
    found.extend(season.players().iter().filter_map(|player| troubled_player(snapshot, player)));
    found.sort_by_key(|(trouble, _)| *trouble);
    html! {
        section #attention aria-labelledby="attention-title" {
            h2 #attention-title { "Needs attention" @if !found.is_empty() { " " span.small { (found.len()) } } }
            @if found.is_empty() {
                p.empty { @if season.players().is_empty() && season.referees().is_empty() { "No agent has registered yet." } @else { "All agents are here and answer in time." } }
            } @else {
                ul.troubles { @for (trouble, why) in found.iter().take(ROWS) {
                    li data-trouble=(trouble.word()) { span.pill data-state=(trouble.word()) { (trouble.word()) } " " (why) }
                } }
                @if found.len() > ROWS { p.small { "and " (found.len() - ROWS) " more" } }
            }
        }
    }
}

fn troubled_referee(referee: &RegisteredReferee, latency: Option<Duration>) -> Option<(Trouble, Markup)> {
    let name = html! { (named(&referee.profile.name)) " " small { (referee.id) } };
    Some(match (referee.condition(), latency) {
        (RefereeCondition::Lost, _) => (
            Trouble::Missing,
            html! { (name) " does not answer. Its matches go to other referees until it registers again." },
        ),
        (RefereeCondition::Suspended, _) => (
            Trouble::Suspended,
            html! { (name) " was found at fault " (referee.faults) " times and gets no more matches." },
        ),
        (RefereeCondition::Active, Some(latency)) if latency >= SLOW_REFEREE => {
            (Trouble::Slow, html! { (name) " answers orders and pings in " (latency.as_millis()) " ms." })
        }
        (RefereeCondition::Active, _) if referee.needs_commitments() => {
            (Trouble::Missing, html! { (name) " has no commitment left, so it gets no match until it deposits more." })
        }
        (RefereeCondition::Active | RefereeCondition::Withdrawn, _) => return None,
    })
}

fn troubled_player(snapshot: &LeagueSnapshot, player: &RegisteredPlayer) -> Option<(Trouble, Markup)> {
    let name = html! { (player_link(player)) " " small { (player.id) } };
    let missed = player.forfeits_running;
    let problem = || {
        let problems = snapshot.problems(&player.id);
        html! { @if let Some((problem, _)) = problems.first() { " The last time, " (problem.sentence_about("it")) "." } }
    };
    match snapshot.season().condition(player) {
        PlayerCondition::Withdrawn => None,
        PlayerCondition::Suspended => Some((
            Trouble::Suspended,
            html! { (name) " forfeited its last " (missed) " matches without an answer that counts; referees ask it only once." (problem()) },
        )),
        PlayerCondition::Active if missed > 0 => {
            let matches = if missed == 1 { String::from("match") } else { format!("{missed} matches") };
            Some((
                Trouble::Forfeiting,
                html! { (name) " forfeited its last " (matches) " without an answer that counts." (problem()) },
            ))
        }
        PlayerCondition::Active => {
            let slowest = answers::slowest(&answers::reported(snapshot, &player.id))?;
            slowest.is_slow().then(|| {
                (
                    Trouble::Slow,
                    html! { (name) ": the slowest join or last move of its last matches took " (slowest.took) " ms, " (slowest.percent()) " % of its limit." },
                )
            })
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
                            (match_link(match_id)) ", attempt " (alert.attempt) ", " (alert.referee) ": "
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

fn contestant(snapshot: &LeagueSnapshot, player: &RegisteredPlayer, trusted: bool) -> Markup {
    html! {
        tr {
            th.name scope="row" { (player_link(player)) small { (player.id) } }
            td { (state(snapshot.season(), player)) }
            td { (player.forfeits_running) }
            td { @match answers::middle(&answers::reported(snapshot, &player.id)) { Some(middle) => { (middle) " ms" }, None => "–" } }
            td { (player.dialect.frame()) }
            td { (player.quirks.iter().count()) }
            td { (player.profile.version) }
            @if trusted { td.name { (player.profile.endpoint) } }
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
